"""One notebook in a page of JupyterLab: what a person at it can do and see.

Owns the words in which the browser tests speak. Knows nothing of the product; what a test types and
expects stands in the test.
"""

from __future__ import annotations

import re
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import nbformat

from tests.environments import REPOSITORY

ARTIFACTS = REPOSITORY / "test-artifacts"
PATIENCE = 30.0
"""Seconds until something that has to come counts as missing; what is there is seen at once."""
KERNEL_PATIENCE = 20.0
"""Seconds for one kernel start. ipykernel now and then starts a kernel that never answers."""
NUDGE = 5.0
"""Seconds between nudges, see `Notebook.nudge`."""
CURRENT = "window.jupyterapp.shell.currentWidget"
SCREEN = ".jp-NotebookPanel:not(.lm-mod-hidden) .jp-Notebook"


@dataclass(eq=False)
class Notebook:
    """One notebook in one page, with what went over the page's wires.

    Args:
        root: The folder that JupyterLab serves.
        address: Of the JupyterLab.
        path: Below the root.
        page: Playwright's.
        requests: Every address that the page asked for.
        console: Kind and text of each message.
        dialogs: Texts of the browser's own dialogs, which only a script can open.
        received: Bytes that came over the kernel's websocket.
    """

    root: Path
    address: str
    path: str
    page: Any
    requests: list[str] = field(default_factory=list)
    console: list[tuple[str, str]] = field(default_factory=list)
    dialogs: list[str] = field(default_factory=list)
    received: int = 0

    @property
    def file(self) -> Path:
        """The notebook's file."""
        return self.root / self.path

    @property
    def folder(self) -> Path:
        """The folder that the kernel works in."""
        return self.file.parent

    def listen(self) -> None:
        """Take note of what goes over the page's wires from now on."""
        for event, listener in self._listeners().items():
            self.page.on(event, listener)

    def show(self) -> None:
        """Open it as a tab of its page, and wait until it stands there."""
        self.page.evaluate(
            "path => { window.jupyterapp.commands.execute('docmanager:open', {path}); }", self.path
        )
        self.page.wait_for_function(
            f"path => {CURRENT}?.context?.path === path && {CURRENT}.content.widgets?.length > 0",
            arg=self.path,
        )
        self.page.locator(f"{SCREEN} .jp-Cell").first.wait_for()

    def shut_down(self) -> None:
        """End the kernel and close the tab, unsaved."""
        script = "await w.sessionContext.shutdown(); w.context.model.dirty = false; w.dispose();"
        self.page.evaluate(f"async () => {{ const w = {CURRENT}; if (w) {{ {script} }} }}")
        for event, listener in self._listeners().items():
            self.page.remove_listener(event, listener)

    # What a person does -------------------------------------------------------------------------

    def select(self, cell: int) -> None:
        """Make a cell the current one, in command mode."""
        script = "nb.activeCellIndex = i; nb.deselectAll(); nb.mode = 'command'; nb.activate();"
        self.page.evaluate(f"i => {{ const nb = {CURRENT}.content; {script} }}", cell)

    def reveal(self, cell: int) -> None:
        """Bring a cell into view; Lab draws what is out of view only then."""
        # A notebook that has just been opened gets its cells one by one.
        there = f"const nb = {CURRENT}.content; if (!nb.widgets[i]) return;"
        scroll = "await nb.scrollToItem(i); await nb.widgets[i].ready;"
        drawn = "await new Promise(done => requestAnimationFrame(() => setTimeout(done)));"
        self.page.evaluate(f"async i => {{ {there} {scroll} {drawn} }}", cell)

    def command(self, name: str) -> None:
        """Start one of Lab's commands; it may go on when this returns."""
        self.page.evaluate("name => { window.jupyterapp.commands.execute(name); }", name)

    def run(self, *cells: int) -> None:
        """Queue cells."""
        for cell in cells:
            self.select(cell)
            self.command("notebook:run-cell")

    def done(self, *cells: int) -> None:
        """Run cells and wait until they have ended."""
        self.run(*cells)
        self.wait_idle(*cells)

    def press(self, keys: str) -> None:
        """Press keys one after another, as in `i i`."""
        for key in keys.split():
            self.page.keyboard.press(key)

    def button(self, cell: int, label: str) -> Any:
        """A button in a cell's output, by its label up to a colon."""
        name = re.compile(f"^{re.escape(label)}(:.*)?$")
        return self.output(cell).get_by_role("button", name=name)

    def armed(self, cell: int, label: str) -> Any:
        """The button, once it can be clicked."""
        button = self.button(cell, label)
        button.and_(self.page.locator(":enabled")).wait_for(timeout=1000 * PATIENCE)
        return button

    def click(self, cell: int, label: str) -> None:
        """Click a button as soon as it is armed."""
        self.armed(cell, label).click()

    def restart(self) -> None:
        """Restart the kernel and wait until it is there again."""
        self.page.evaluate(f"() => {CURRENT}.sessionContext.session.kernel.restart()")
        self.wait_kernel()

    def save(self) -> nbformat.NotebookNode:
        """Save, and read the file as it stands on the disk."""
        self.page.evaluate("() => window.jupyterapp.commands.execute('docmanager:save')")
        return nbformat.read(self.file, as_version=4)

    def reload(self) -> None:
        """Reload the page and wait until it knows its kernel again, whatever that is doing."""
        self.page.reload()
        self.page.wait_for_selector(f"{SCREEN} .jp-Cell", timeout=2000 * PATIENCE)
        kernel = f"{CURRENT}?.sessionContext?.session?.kernel"
        self.page.wait_for_function(f"() => {kernel}?.connectionStatus === 'connected'")

    # What a person sees -------------------------------------------------------------------------

    def cell(self, cell: int) -> Any:
        """A whole cell."""
        return self.page.locator(f"{SCREEN} .jp-Cell").nth(cell)

    def output(self, cell: int) -> Any:
        """A cell's output area."""
        return self.cell(cell).locator(".jp-Cell-outputArea")

    def text(self, cell: int) -> str:
        """The output as it reads on screen."""
        text = self._drawn(cell)
        if not text:
            # What is out of view has no text.
            self.reveal(cell)
        return text or self._drawn(cell)

    def prompt(self, cell: int) -> str:
        """`[*]:` while a cell waits or runs, `[1]:` afterwards."""
        node = f"{CURRENT}?.content?.widgets[i]?.node.querySelector('.jp-InputPrompt')"
        # Not the text as drawn: that is empty while the cell is out of view.
        return str(self.page.evaluate(f"i => {node}?.textContent || ''", cell)).strip()

    def trusted(self, cell: int) -> bool:
        """Whether Lab lets a cell's output run scripts."""
        return bool(self.page.evaluate(f"i => {CURRENT}.content.widgets[i].model.trusted", cell))

    def wait_text(self, cell: int, text: str) -> str:
        """Wait until a text stands in a cell's output; gives the whole output."""
        self.until(lambda: text in self.text(cell), lambda: f"{text!r} in {self.text(cell)!r}")
        return self.text(cell)

    def wait_idle(self, *cells: int) -> None:
        """Wait until cells have run."""
        nudged = time.monotonic()

        def ended() -> bool:
            nonlocal nudged
            if time.monotonic() - nudged > NUDGE:
                nudged = time.monotonic()
                self.nudge()
            return all(re.fullmatch(r"\[\d+\]:", self.prompt(cell)) for cell in cells)

        self.until(ended, lambda: f"the end of {[(self.prompt(c), self.text(c)) for c in cells]}")

    def nudge(self) -> None:
        """Send ipykernel 7.0 to 7.3 one more request: it can leave one unread until then.

        That happens when a request arrives while a reply goes out, with no product around; it is
        mended in 7.4.
        """
        kernel = f"{CURRENT}?.sessionContext?.session?.kernel"
        self.page.evaluate(
            f"() => {{ if ({kernel}?.name.includes('-7.3')) {kernel}.requestKernelInfo(); }}"
        )

    def wait_kernel(self) -> None:
        """Wait until the kernel is idle, and start it anew when it never comes to that."""
        for attempt in range(3):
            if self._comes(lambda: self.status() == "idle", KERNEL_PATIENCE):
                return
            if attempt < 2:
                name = "kernelPreference.name"
                self.page.evaluate(
                    f"async () => {{ const c = {CURRENT}.sessionContext; const name = c.{name};"
                    " await c.shutdown(); await c.changeKernel({name}); }"
                )
        raise AssertionError(f"the kernel's status is {self.status()}")

    def status(self) -> str:
        """The kernel's, as the page knows it."""
        return str(self.page.evaluate(f"() => {CURRENT}?.sessionContext?.session?.kernel?.status"))

    def until(self, true: Callable[[], bool], what: Callable[[], str]) -> None:
        """Wait for something; fails with what was waited for."""
        assert self._comes(true, PATIENCE), f"waited for {what()}"

    def screenshot(self, name: str) -> Path:
        """Keep a picture of the page for people to look at."""
        ARTIFACTS.mkdir(exist_ok=True)
        path = ARTIFACTS / f"{name}.png"
        self.page.screenshot(path=str(path))
        return path

    def _comes(self, true: Callable[[], bool], patience: float) -> bool:
        deadline = time.monotonic() + patience
        while not true():
            if time.monotonic() > deadline:
                return False
            self.page.wait_for_timeout(50)
        return True

    def _drawn(self, cell: int) -> str:
        area = f"{CURRENT}?.content?.widgets[i]?.node.querySelector('.jp-Cell-outputArea')"
        return str(self.page.evaluate(f"i => {area}?.innerText || ''", cell))

    def _listeners(self) -> dict[str, Callable[[Any], None]]:
        return {
            "request": self._request,
            "console": self._line,
            "dialog": self._dialog,
            "websocket": self._websocket,
        }

    def _request(self, request: Any) -> None:
        self.requests.append(request.url)

    def _line(self, message: Any) -> None:
        self.console.append((message.type, message.text))

    def _dialog(self, dialog: Any) -> None:
        self.dialogs.append(dialog.message)
        dialog.dismiss()

    def _websocket(self, socket: Any) -> None:
        def count(frame: str | bytes) -> None:
            self.received += len(frame)

        if "/channels" in socket.url:
            socket.on("framereceived", count)
