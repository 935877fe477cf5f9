"""Who can answer: read off the cell and the settings, and what then happens in a real kernel."""

from __future__ import annotations

import json

import pytest

from agent_magics.frontends.routes import (
    WORKING,
    Route,
    StageSettings,
    kernel_route,
    terminal_route,
)
from tests.kernelkit import WIDGET_VIEW, FrontEnd

pytest_plugins = ("tests.kernelkit_fixtures",)

LAB_CELL = "0f1c0d3e-5d0a-4f39-9a3c-6c1f3a1b2c3d"
VSCODE_CELL = "vscode-notebook-cell:/home/me/a.ipynb#W0sZmlsZQ%3D%3D"


def route(
    cell: str = LAB_CELL,
    *,
    stdin: bool = True,
    approvals: str = "auto",
    tap: str = WORKING,
    silent: tuple[str, ...] = (),
) -> Route:
    parent = {
        "header": {"session": "page"},
        "metadata": {"cellId": cell} if cell else {},
        "content": {"allow_stdin": stdin},
    }
    settings = StageSettings(approvals=approvals)
    return kernel_route(settings, parent, tap_state=tap, silent_clients=silent)


@pytest.mark.parametrize(
    ("given", "kind", "words"),
    [
        ({}, "widgets", "buttons in the cell"),
        ({"stdin": False}, "nobody", "takes no input"),
        ({"approvals": "deny"}, "nobody", "set to deny"),
        ({"approvals": "prompt"}, "prompt", "typed"),
        ({"approvals": "prompt", "stdin": False}, "nobody", "takes no input"),
        ({"approvals": "widgets", "stdin": False}, "widgets", "buttons"),
        ({"tap": "the self-test failed"}, "prompt", "the self-test failed"),
        ({"tap": "broken", "approvals": "widgets", "stdin": False}, "nobody", "broken"),
        ({"silent": ("page",)}, "prompt", "did not show buttons"),
        ({"silent": ("another page",)}, "widgets", "buttons"),
        ({"cell": ""}, "widgets", "buttons"),
    ],
)
def test_the_route_of_a_cell_and_its_words(given, kind, words):
    found = route(**given)
    assert found.kind == kind
    assert words in found.detail


def test_vs_code_gets_more_time_for_its_first_buttons_and_a_console_less():
    assert route(VSCODE_CELL).patience > route(LAB_CELL).patience > route("").patience > 0


def test_only_front_ends_that_name_the_cell_are_sent_updates():
    assert route(LAB_CELL).updates
    assert not route("").updates
    assert not route("", stdin=False).updates


@pytest.mark.parametrize(
    ("approvals", "tty", "kind"),
    [
        ("auto", True, "prompt"),
        ("auto", False, "nobody"),
        ("widgets", True, "prompt"),
        ("prompt", False, "nobody"),
        ("deny", True, "nobody"),
    ],
)
def test_the_route_of_a_terminal(approvals, tty, kind):
    assert terminal_route(StageSettings(approvals=approvals), tty=tty).kind == kind


def test_a_message_without_any_of_the_signs_is_answered_by_nobody():
    assert kernel_route(StageSettings(), {}, tap_state=WORKING).kind == "nobody"


# In a real kernel -------------------------------------------------------------------------------

ASK = "%%stage {line}\nreturn told(await p.approver.ask(question(scopes={scopes})))"


def typed(page: FrontEnd, *answers: str, scopes: tuple[str, ...] = ()) -> tuple[list, list[str]]:
    """Ask by prompt and type; gives the answer and the prompts."""
    cell = page.run(ASK.format(line="approvals='prompt'", scopes=scopes))
    prompts = [page.answer(answer) for answer in answers]
    page.finish(cell)
    assert cell.error == "", cell.text
    return json.loads(eval(cell.result)), prompts


@pytest.mark.kernel
def test_headless_is_refused_at_once_with_what_to_do(kernel):
    with kernel.page(allow_stdin=False, cell_ids=False) as page:
        cell = page.do(ASK.format(line="", scopes=()))
        allowed, by, reason, *_ = json.loads(eval(cell.result))
        assert (allowed, by) == (False, "nobody")
        assert reason.startswith("nobody can answer here: ")
        assert "%agent allow write" in reason
        assert page.models == {}


@pytest.mark.kernel
def test_a_notebook_set_to_deny_shows_no_card(page):
    cell = page.do(ASK.format(line="approvals='deny'", scopes=()))
    assert json.loads(eval(cell.result))[:2] == [False, "nobody"]
    assert not any(WIDGET_VIEW in output["data"] for output in cell.displays)


@pytest.mark.kernel
def test_buttons_can_be_had_where_no_input_is_taken_if_the_person_says_so(kernel):
    with kernel.page(allow_stdin=False) as page:
        cell = page.run(ASK.format(line="approvals='widgets'", scopes=()))
        page.card(cell)
        page.click("Approve")
        assert json.loads(eval(page.finish(cell).result))[:2] == [True, "click"]
        cell = page.run(ASK.format(line="approvals='widgets', hello_timeout=0.2", scopes=()))
        assert json.loads(eval(page.finish(cell).result))[:2] == [False, "nobody"]


@pytest.mark.kernel
def test_a_typed_answer_yes_no_and_always(page):
    assert typed(page, "y")[0] == [True, "typed", "", None, ""]
    assert typed(page, " Yes ")[0][0]
    assert typed(page, "n: not now")[0] == [False, "typed", "not now", None, ""]
    answer, prompts = typed(page, "a", scopes=("this file",))
    assert answer == [True, "typed", "", None, "this file"]
    assert "always (this file)" in prompts[0].replace("[a]lways", "always")
    assert typed(page, "a2", scopes=("one", "two"))[0][4] == "two"


@pytest.mark.kernel
def test_what_cannot_be_understood_is_asked_again(page):
    answer, prompts = typed(page, "", "perhaps", "a", "yes please", "y")
    assert answer[:2] == [True, "typed"]
    assert len(prompts) == 5


@pytest.mark.kernel
def test_typed_arguments_are_checked_and_empty_ones_run_nothing(page):
    answer, prompts = typed(page, "e", "[1]", "e", "", "e", '{"path": "b.txt"}')
    assert answer[:2] == [True, "typed"]
    assert json.loads(answer[3]) == {"path": "b.txt"}
    assert [("new arguments" in p) for p in prompts] == [False, True] * 3


@pytest.mark.kernel
def test_a_typed_question_is_seen_whole_before_the_box_opens(page):
    cell = page.run(ASK.format(line="approvals='prompt'", scopes=()))
    page.wait(lambda: page.inputs, "the box")
    page.wait(lambda: "+new" in cell.text, "the question")
    page.answer("n")
    page.finish(cell)
    assert set(cell.displays[0]["data"]) == {"text/html", "text/plain"}


@pytest.mark.kernel
def test_a_typed_question_ends_with_its_time_limit_and_the_turn_goes_on(page):
    cell = page.run(
        "%%stage approvals='prompt', approval_timeout=0.4\n"
        "answer = await p.approver.ask(question())\n"
        "return [answer.by, (await p.kernel.run_code('6 * 7')).value]"
    )
    page.finish(cell)
    assert cell.result == "['timeout', '42']"
    page.inputs.clear()
    own = page.run("input('mine? ')")
    assert page.answer("still works") == "mine? "
    assert page.finish(own).result == "'still works'"


@pytest.mark.kernel
def test_a_front_end_that_takes_no_input_after_all_is_a_no(page):
    cell = page.do(
        "%%stage approvals='prompt'\nshell.kernel._allow_stdin = False\n"
        "return told(await p.approver.ask(question()))"
    )
    allowed, by, reason, *_ = json.loads(eval(cell.result))
    assert (allowed, by) == (False, "nobody")
    assert "takes no input" in reason


@pytest.mark.kernel
def test_a_console_sees_each_thing_once_and_types(kernel):
    with kernel.page(cell_ids=False) as page:
        cell = page.run(
            "%%stage hello_timeout=0.5\n"
            "p.renderer.show(TurnStarted('hi', 'model'))\n"
            "p.renderer.show(TextDelta('Let me see.'))\n"
            "answer = await p.approver.ask(question())\n"
            "p.renderer.show(TextDelta(' It is done.'))\n"
            "return answer.allowed"
        )
        page.answer("y")
        page.finish(cell)
        assert cell.result == "True"
        assert not any(kind == "update_display_data" for kind, parent in page.log)
        assert cell.text.count("Run this?") == 1
        assert cell.text.count("It is done.") == 1
