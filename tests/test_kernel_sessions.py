"""A real kernel that is killed while a call runs, and the next one that goes on from there."""

from __future__ import annotations

import json
import os
import signal

import pytest

from tests.kernelkit import FrontEnd
from tests.lab_endpoint import Says

pytest_plugins = ("tests.kernelkit_fixtures",)
pytestmark = pytest.mark.kernel


@pytest.fixture
def allowed() -> str:
    """The tool that runs without a question in `new_page`."""
    return "run_shell"


def killed(page: FrontEnd, pid: int) -> None:
    os.kill(pid, signal.SIGKILL)
    page.wait(lambda: not page.kernel.manager.is_alive(), "the end of the kernel")


def test_a_kernel_killed_during_a_call_is_resumed_and_the_model_is_told(
    place, new_page, endpoint, model
):
    command = "echo $$ > pid; exec sleep 600"
    endpoint.script(
        model,
        Says("I run it.", (("run_shell", {"command": command}), ("ls", {"path": "."}))),
        Says("I see that it was cut off."),
        Says("And on."),
    )
    page = new_page()
    pid = int(page.do("import os; os.getpid()").result)
    page.run("%%agent\nStart the long one.")
    started = place / "pid"
    page.wait(lambda: started.exists() and started.read_text(encoding="utf-8").strip(), "the call")
    child = int(started.read_text(encoding="utf-8"))
    try:
        killed(page, pid)
    finally:
        os.kill(child, signal.SIGKILL)

    page = new_page()
    told = page.do("%agent resume").text
    assert "Start the long one." in told
    assert "broke off while run_shell ran" in told
    assert "had said: allow run_shell" in told
    answer = page.do("%%agent\nWhat happened?")
    assert answer.error == ""
    assert "cut off" in answer.text
    first, second = endpoint.told(model)
    assert "the kernel ended" in first
    assert "effects are unknown" in first
    assert second == "Not run: the kernel ended before this call was started."
    roles = [m["role"] for m in endpoint.requests(model)[-1]["messages"]]
    assert roles == ["system", "user", "assistant", "tool", "tool", "assistant", "user"]
    assert page.do("%%agent\nGo on.").error == ""
    (path,) = (place.parent / "data" / "sessions").glob("*.jsonl")
    kinds = [json.loads(line)["kind"] for line in path.read_text(encoding="utf-8").splitlines()]
    assert kinds.count("turn") == 3
    assert kinds[-1] == "end"


def test_a_session_that_is_open_in_one_kernel_goes_on_in_a_copy_in_the_other(
    place, new_page, endpoint, model
):
    endpoint.script(model, Says("First."), Says("In the copy."), Says("In the first."))
    one = new_page()
    assert one.do("%%agent\nHello.").error == ""
    two = new_page()
    told = two.do("%agent resume").text
    assert "goes on in a copy" in told
    assert "another kernel has it open" in told
    assert "In the copy." in two.do("%%agent\nHere?").text
    assert "In the first." in one.do("%%agent\nThere?").text
    folder = place.parent / "data" / "sessions"
    said = sorted(
        tuple(
            json.loads(line)["message"]["text"].strip()
            for line in path.read_text(encoding="utf-8").splitlines()
            if line.startswith('{"kind":"turn"')
        )
        for path in folder.glob("*.jsonl")
    )
    assert said == [("Hello.", "Here?"), ("Hello.", "There?")]
