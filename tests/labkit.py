"""JupyterLab on loopback and Chromium under Playwright, for the tests that use both.

Owns the two processes and their private folders. What a person does in a notebook is in
`lab_notebook`.
"""

from __future__ import annotations

import json
import secrets
import shutil
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Sequence
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import nbformat
from nbformat.v4 import new_code_cell, new_notebook

from tests.environments import KERNELS, kernel_spec, own_variables, unavailable
from tests.lab_notebook import PATIENCE, Notebook

CHROMIUM = "--headless --no-sandbox --disable-gpu --disable-quic --no-first-run"
QUIET = "--disable-background-networking --disable-component-update --disable-sync"
SETTINGS = {
    "apputils-extension/notification": {"fetchNews": "false", "checkForUpdates": False},
    "docmanager-extension/plugin": {"autosave": False},
}


def browser_program() -> str:
    """Chromium, or Chrome; ends the test where one of the three parts is missing."""
    for module in ("jupyterlab", "playwright"):
        if find_spec(module) is None:
            unavailable(f"{module} is not installed: pip install 'agent_magics[test]'")
    candidates = ["/usr/bin/chromium", "chromium", "chromium-browser", "google-chrome"]
    program = next((found for name in candidates if (found := shutil.which(name))), None)
    return program or unavailable("there is neither chromium nor google-chrome on the PATH")


class Lab:
    """One JupyterLab and one browser. Use as a context manager.

    Args:
        folder: For everything that either writes.
    """

    def __init__(self, folder: Path) -> None:
        program = browser_program()
        from playwright.sync_api import sync_playwright

        self.root = folder / "notebooks"
        self.root.mkdir()
        self.home = folder / "home"
        self.token = secrets.token_hex(16)
        self.address = f"http://127.0.0.1:{_free_port()}"
        self._log = (folder / "lab.log").open("w+", encoding="utf-8")
        self._server = self._start_server(folder)
        self._shared: Any = None
        self._playwright = sync_playwright().start()
        self.browser = self._playwright.chromium.launch_persistent_context(
            str(folder / "browser"),
            executable_path=program,
            headless=True,
            args=[*CHROMIUM.split(), *QUIET.split()],
            viewport={"width": 1250, "height": 900},
        )

    def __enter__(self) -> Lab:
        return self

    def __exit__(self, *_: object) -> None:
        try:
            self.browser.close()
            self._playwright.stop()
        finally:
            self._stop_server()

    def notebook(
        self, name: str, cells: Sequence[Any], kernel: str, *, own_page: bool = False
    ) -> Notebook:
        """Write a notebook into a folder of its own, open it, and wait for its kernel.

        Args:
            name: Of the folder; the notebook is `notebook.ipynb` in it.
            cells: Sources of code cells, or whole cells.
            kernel: The name of its kernelspec.
            own_page: As for `open`.
        """
        whole = [new_code_cell(cell) if isinstance(cell, str) else cell for cell in cells]
        notebook = new_notebook(cells=whole)
        notebook.metadata.kernelspec = {
            "name": kernel,
            "display_name": kernel,
            "language": "python",
        }
        # A second try of a test finds the folder of the first one.
        tries = sum(path.name.partition("~")[0] == name for path in self.root.iterdir())
        folder = self.root / (f"{name}~{tries}" if tries else name)
        folder.mkdir()
        nbformat.write(notebook, folder / "notebook.ipynb")
        return self.open(f"{folder.name}/notebook.ipynb", own_page=own_page)

    def open(self, path: str, *, kernel: bool = True, own_page: bool = False) -> Notebook:
        """Open a notebook.

        Args:
            path: Below `root`.
            kernel: Whether to wait for its kernel.
            own_page: In a page that is loaded for it, not as a tab of the page that serves most
                tests; for tests that reload, or that want to see all that a page asks for.
        """
        if not own_page and self._shared is None:
            self._shared = self.browser.new_page()
            self._go(self._shared, "")
        opened = Notebook(
            self.root,
            self.address,
            path,
            self.browser.new_page() if own_page else self._shared,
        )
        opened.listen()
        if own_page:
            self._go(opened.page, f"/tree/{path}")
        else:
            opened.show()
        if kernel:
            opened.wait_kernel()
        return opened

    def close(self, notebook: Notebook, *, clean: bool = True) -> None:
        """End a notebook's kernel and take it off the screen.

        Args:
            notebook: An open one.
            clean: Whether its page can serve other tests; a failed one may have left anything.
        """
        notebook.shut_down()
        if notebook.page is not self._shared:
            notebook.page.close()
        elif not clean:
            self._shared.close()
            self._shared = None

    def _go(self, page: Any, place: str) -> None:
        page.goto(f"{self.address}/lab{place}?token={self.token}&reset")
        page.wait_for_selector(".jp-Cell" if place else ".jp-Launcher", timeout=2000 * PATIENCE)

    def _start_server(self, folder: Path) -> subprocess.Popen[bytes]:
        settings = folder / "config" / "lab" / "user-settings"
        for name, values in SETTINGS.items():
            path = settings / "@jupyterlab" / f"{name}.jupyterlab-settings"
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(json.dumps(values), encoding="utf-8")
        for version in KERNELS:
            kernel_spec(folder / "jupyter", version)
        variables = own_variables(self.home) | {
            "JUPYTER_CONFIG_DIR": str(folder / "config"),
            "JUPYTER_DATA_DIR": str(folder / "data"),
            "JUPYTER_PATH": str(folder / "jupyter"),
            "JUPYTER_RUNTIME_DIR": str(folder / "runtime"),
            "JUPYTERLAB_WORKSPACES_DIR": str(folder / "workspaces"),
            "JUPYTERLAB_SETTINGS_DIR": str(settings),
        }
        port = self.address.rpartition(":")[2]
        command = f"-m jupyterlab --no-browser --allow-root --ip=127.0.0.1 --port={port}"
        options = [
            f"--IdentityProvider.token={self.token}",
            f"--ServerApp.root_dir={self.root}",
            "--ServerApp.port_retries=0",
            "--LabApp.expose_app_in_browser=True",
            "--LabApp.news_url=None",
        ]
        server = subprocess.Popen(
            [sys.executable, *command.split(), *options],
            stdout=self._log,
            stderr=subprocess.STDOUT,
            env=variables,
            cwd=folder,
        )
        deadline = time.monotonic() + 2 * PATIENCE
        while not _listens(int(port)):
            if server.poll() is not None or time.monotonic() > deadline:
                server.kill()
                self._log.seek(0)
                raise RuntimeError(f"JupyterLab did not start: {self._log.read()[-3000:]}")
            time.sleep(0.1)
        return server

    def _stop_server(self) -> None:
        for number in (signal.SIGTERM, signal.SIGKILL):
            self._server.send_signal(number)
            try:
                self._server.wait(10)
                break
            except subprocess.TimeoutExpired:
                continue
        self._log.close()


def _free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


def _listens(port: int) -> bool:
    with socket.socket() as probe:
        probe.settimeout(0.2)
        return probe.connect_ex(("127.0.0.1", port)) == 0
