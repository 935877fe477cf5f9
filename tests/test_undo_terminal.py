"""Undo in a terminal: twenty edits, the process is killed, and the next one takes them back."""

from __future__ import annotations

import os
import signal

import pytest

from tests.conftest import loading
from tests.lab_endpoint import Says
from tests.test_terminal import QUESTION, terminal

pytestmark = pytest.mark.terminal
__all__ = ["terminal"]  # a fixture


def test_twenty_edits_survive_kill_9_and_are_taken_back_after_the_restart(
    terminal, endpoint, model, tmp_path
):
    folder = tmp_path / "project"
    folder.mkdir()
    (folder / "cart.py").write_text("TAX = 0\n", encoding="utf-8")
    steps = [
        ("edit", {"path": "cart.py", "old": f"= {n}\n", "new": f"= {n + 1}\n"}) for n in range(20)
    ]
    reads = ("read", {"path": "cart.py"})
    waits = ("run_shell", {"command": "true"})
    endpoint.script(model, *(Says("", (call,)) for call in (reads, *steps, waits)))
    first = terminal(folder)
    for line in loading(endpoint.url, model).splitlines():
        first.says(line)
    first.type("%%agent", "Raise the tax.")
    first.until(QUESTION)
    # Edits of the file are allowed from here on; the shell command asks.
    first.type("a1")
    first.until(QUESTION)
    assert (folder / "cart.py").read_text(encoding="utf-8") == "TAX = 20\n"
    os.kill(first.child.pid, signal.SIGKILL)
    second = terminal(folder)
    second.says("%load_ext agent_magics")
    shown = second.says("%agent undo")
    assert "before a restart" in shown
    assert "-TAX = 20\n+TAX = 0\n" in shown
    assert (folder / "cart.py").read_text(encoding="utf-8") == "TAX = 20\n"
    assert "cart.py changed back" in second.says("%agent undo --yes")
    assert (folder / "cart.py").read_text(encoding="utf-8") == "TAX = 0\n"
    second.says("%agent redo --yes")
    assert (folder / "cart.py").read_text(encoding="utf-8") == "TAX = 20\n"
