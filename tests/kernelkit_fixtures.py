"""Fixtures for tests with a real kernel; a test file names this module in `pytest_plugins`."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from tests.kernelkit import FrontEnd, Kernel
from tests.lab_endpoint import Endpoint


@pytest.fixture(scope="module")
def kernel() -> Iterator[Kernel]:
    """One kernel for the tests of a file."""
    running = Kernel()
    try:
        yield running
    finally:
        running.close()


@pytest.fixture
def page(kernel: Kernel) -> Iterator[FrontEnd]:
    """A notebook page: shows widgets and takes input."""
    with kernel.page() as front_end:
        yield front_end


@pytest.fixture
def place(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A workspace, with data and configuration that belong to the test."""
    monkeypatch.setenv("HOME", str(tmp_path / "home"))
    monkeypatch.setenv("AGENT_MAGICS_DATA", str(tmp_path / "data"))
    monkeypatch.setenv("AGENT_MAGICS_CONFIG", str(tmp_path / "config.yaml"))
    for name in ("OPENAI_API_KEY", "OPENAI_BASE_URL"):
        monkeypatch.delenv(name, raising=False)
    work = tmp_path / "work"
    work.mkdir()
    return work


@pytest.fixture
def new_page(
    place: Path, allowed: str, endpoint: Endpoint, model: str
) -> Iterator[Callable[..., FrontEnd]]:
    """Starts kernels with the extension loaded and a model that says what the test wrote."""
    started: list[tuple[Kernel, FrontEnd]] = []

    def start(*, allow: bool = True) -> FrontEnd:
        kernel = Kernel()
        page = FrontEnd(kernel)
        started.append((kernel, page))
        lines = [
            f"%cd -q {place}",
            "%load_ext agent_magics",
            f"%config AgentMagics.base_url = {endpoint.url!r}",
            f"%agent model {model}",
            *([f"%agent allow {allowed}"] if allow else []),
        ]
        cell = page.do("\n".join(lines))
        assert f"Model: {model}" in cell.text, cell.text
        return page

    yield start
    for kernel, page in started:
        page.close()
        kernel.close()
