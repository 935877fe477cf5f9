"""`agent_magics.run` and `map` in a real kernel, without the extension: shown in their own cell."""

from __future__ import annotations

import re
import threading

import pytest

from tests.lab_endpoint import Says
from tests.mapkit import echo, input_of

pytest_plugins = ("tests.kernelkit_fixtures",)
pytestmark = pytest.mark.kernel


@pytest.fixture
def program(page, endpoint, tmp_path, model):
    """A page whose kernel knows the endpoint."""
    (tmp_path / "work").mkdir()
    variables = {
        "AGENT_MAGICS_CONFIG": str(tmp_path / "config.yaml"),
        "AGENT_MAGICS_DATA": str(tmp_path / "data"),
        "AGENT_MAGICS_MODEL": model,
        "OPENAI_BASE_URL": endpoint.url,
    }
    page.do(f"import os; os.environ.update({variables!r}); os.chdir({str(tmp_path / 'work')!r})")
    page.do("import agent_magics")
    return page


def test_a_map_shows_one_line_that_stays_as_plain_output(program, endpoint, model):
    endpoint.answering(model, echo)
    cell = program.do("result = agent_magics.map('Say.', range(12))")
    (display,) = cell.displays
    assert display["data"]["text/plain"].startswith("12 of 12 items done · ")
    assert set(display["data"]) == {"text/plain", "text/html"}
    table = program.do("result")
    assert "echo 11" in table.displays[0]["data"]["text/html"]
    assert program.do("agent_magics.map('Say.', range(3), progress=False);").displays == []
    assert program.do("result.texts[-1]").result == "'echo 11'"


def test_an_interrupt_ends_the_cell_with_an_error_and_the_answers_are_at_hand(
    program, endpoint, model
):
    held = threading.Event()

    def answer(request):
        if int(input_of(request)) < 4:
            return echo(request)
        held.set()
        return Says("never", hold=True)

    endpoint.answering(model, answer)
    cell = program.run("agent_magics.map('Say.', range(9), workers=1)")
    program.wait(held.is_set, "the item that is held")
    program.interrupt()
    program.finish(cell)
    assert cell.error == "MapInterrupted"
    assert re.search(r"stopped: 4 of 5 items done .* sys\.last_value\.result", cell.text, re.DOTALL)
    assert "echo 3" in program.do("import sys; sys.last_value.result.texts[3]").result
    assert endpoint.hung_up(model)


def test_a_run_works_while_the_kernels_loop_runs_and_shows_when_it_is_asked_to(
    program, endpoint, model
):
    endpoint.script(model, Says("quietly"), Says("**aloud**"), Says("awaited"))
    assert program.do("agent_magics.run('Go.').text").result == "'quietly'"
    shown = program.do("r = agent_magics.run('Go.', show=True)")
    assert any("<strong>aloud</strong>" in d["data"].get("text/html", "") for d in shown.displays)
    assert program.do("(await agent_magics.arun('Go.')).text").result == "'awaited'"
    assert program.do("type(get_ipython().kernel).__name__").error == ""


def test_a_function_may_ask_with_input(program, endpoint, model):
    endpoint.script(model, Says("", (("write", {"path": "a", "content": ""}),)), Says("done"))
    code = "agent_magics.run('Go.', approve=lambda q: input(q.title) == 'y').calls[0].outcome"
    cell = program.run(code)
    program.answer("y")
    assert program.finish(cell).result == "'done'"
