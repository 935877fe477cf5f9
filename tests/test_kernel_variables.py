"""What the agent's code does to the variables of a real kernel: told, limited, given back."""

from __future__ import annotations

import json

import pytest

from tests.lab_endpoint import Endpoint, Says

pytest_plugins = ("tests.kernelkit_fixtures",)
pytestmark = pytest.mark.kernel


@pytest.fixture
def allowed() -> str:
    """The tool that runs without a question in `new_page`."""
    return "python"


def python(code: str, **more: object) -> Says:
    return Says("I run it.", (("python", {"code": code, **more}),))


def told(endpoint: Endpoint, model: str) -> str:
    """The last result that the model was given."""
    return endpoint.requests(model)[-1]["messages"][-1]["content"]


def test_new_changed_and_deleted_names_are_told_to_the_model_and_the_person(
    new_page, endpoint, model
):
    endpoint.script(model, python("b = [1, 2]\na = 'x'\ndel gone\nmine.append(3)"), Says("Done."))
    page = new_page()
    page.do("a = 1; gone = {}; mine = []")
    names = page.do("sorted(globals())").result
    line = (
        "names new: b (list 2 items); changed: a (int → str 1 character), "
        "mine (list 0 items → 1 item); deleted: gone (dict 0 items)"
    )
    cell = page.do("%%agent\nDo it.")
    assert cell.error == ""
    assert line in cell.text
    assert any(line in o["data"].get("text/html", "") for o in cell.displays)
    assert told(endpoint, model) == f"(no output)\n[{line}]"
    grown = set(eval(page.do("sorted(globals())").result)) - set(eval(names))
    assert {name for name in grown if not name.startswith("_")} == {"b"}


def test_code_is_interrupted_when_its_time_is_up_and_the_turn_goes_on(new_page, endpoint, model):
    endpoint.script(
        model,
        python("print('started')\nx = 1\nwhile True: pass", timeout=0.3),
        Says("It was too slow."),
    )
    page = new_page()
    cell = page.do("%%agent\nDo it.")
    assert cell.error == ""
    assert "It was too slow." in cell.text
    result = told(endpoint, model)
    assert result.startswith("Interrupted at the time limit of 0.3 s. It stopped there.\nstarted")
    assert "KeyboardInterrupt" in result
    assert "[names new: x (int)]" in result
    assert page.do("x").result == "1"


def test_code_that_takes_the_interrupt_and_ends_gives_its_result(new_page, endpoint, model):
    code = "import time\ntry:\n    time.sleep(60)\nexcept KeyboardInterrupt:\n    y = 'saved'\ny"
    endpoint.script(model, python(code, timeout=0.3), Says("Fine."))
    page = new_page()
    assert page.do("%%agent\nDo it.").error == ""
    result = told(endpoint, model)
    assert result.startswith("Interrupted at the time limit of 0.3 s. It went on to its end")
    assert "'saved'" in result


def test_a_time_limit_that_is_not_reached_changes_nothing(new_page, endpoint, model):
    endpoint.script(model, python("6 * 7", timeout=60), Says("Fine."))
    page = new_page()
    assert page.do("%%agent\nDo it.").error == ""
    assert told(endpoint, model) == "42"


def test_names_are_given_back_and_the_model_is_told(new_page, endpoint, model):
    endpoint.script(
        model, python("df = 'clean'\nn += 1"), python("del n"), Says("Done."), Says(".")
    )
    page = new_page()
    page.do("df = ['rows']; n = 1; kept = id(df)")
    page.do("%%agent\nDo it.")
    assert page.do("df").result == "'clean'"
    assert "Given back: df, n." in page.do("%agent undo-names").text
    assert page.do("df, n, id(df) == kept").result == "(['rows'], 1, True)"
    assert "nothing to give back" in page.do("%agent undo-names").text
    page.do("%%agent\nAnd now?")
    sent = json.dumps(endpoint.requests(model)[-1]["messages"])
    assert "they stand for their earlier objects again: df, n" in sent


def test_a_mention_attaches_a_variable_and_the_preview_shows_it(new_page, endpoint, model):
    endpoint.script(model, Says("I see."))
    page = new_page()
    page.do("frame = {'rows': [1, 2]}")
    preview = page.do("%%agent --preview\nWhat is in @frame?")
    assert "attached: @frame (about" in preview.text
    assert "rows: list 2 items" in preview.text
    cell = page.do("%%agent\nWhat is in @frame, and @missing?")
    shown = " ".join(display["data"]["text/plain"] for display in cell.displays)
    assert "Sent with the prompt: @frame" in shown
    assert "@missing: no variable of that name." in cell.text
    sent = endpoint.requests(model)[-1]["messages"][-1]["content"]
    assert sent.endswith("What is in @frame, and @missing?\n")
    assert '<variable name="frame" type="dict 1 item">' in sent


def test_the_variables_tool_looks_at_the_live_kernel_without_a_question(new_page, endpoint, model):
    endpoint.script(
        model, Says("I look.", (("variables", {}), ("variables", {"names": ["f"]}))), Says("Done.")
    )
    page = new_page(allow=False)
    page.do("def f(x):\n    return x + 1\nn = 3")
    assert page.do("%%agent\nLook.").error == ""
    listing, source = [m["content"] for m in endpoint.requests(model)[-1]["messages"][-2:]]
    assert [row.split() for row in listing.splitlines()[1:-1]] == [
        ["f", "function"],
        ["n", "int", "3"],
    ]
    assert "return x + 1" in source


def test_a_resumed_session_says_which_variables_are_gone(new_page, endpoint, model):
    endpoint.script(
        model,
        python("made = [1]\nother = 1\ntemporary = 2"),
        python("del temporary"),
        Says("Made."),
        Says("I make it again."),
    )
    page = new_page()
    page.do("mine = 1")
    page.do("%%agent\nMake them from @mine.")
    page = new_page()
    page.do("other = 'a text'")
    line = "do not exist any more: mine, made; are of another type now: other (was int, is str)"
    assert line in page.do("%agent resume").text
    page.do("%%agent\nGo on.")
    sent = json.dumps(endpoint.requests(model)[-1]["messages"], ensure_ascii=False)
    assert line in sent


def test_a_figure_goes_to_the_model_as_an_image(new_page, endpoint, model):
    pytest.importorskip("matplotlib")
    code = "import matplotlib.pyplot as plt\nfig = plt.figure()\nplt.plot([1, 2]);"
    endpoint.script(model, python(f"%matplotlib inline\n{code}"), Says("A line."))
    page = new_page()
    cell = page.do("%%agent\nPlot.")
    assert cell.error == ""
    assert any("image/png" in output["data"] for output in cell.displays)
    result, images = endpoint.requests(model)[-1]["messages"][-2:]
    assert "[figure 1, shown to the user and sent as an image: image/png" in result["content"]
    assert images["content"][1]["image_url"]["url"].startswith("data:image/png;base64,iVBOR")


def test_a_yes_for_this_cell_ends_with_the_cell(new_page, endpoint, model):
    endpoint.script(model, python("a = 1"), python("b = 2"), Says("Done."), python("c = 3"))
    page = new_page(allow=False)
    cell = page.run("%%agent\nDo it.")
    page.click("Always: python, this cell")
    page.finish(cell)
    assert page.do("a, b").result == "(1, 2)"
    cell = page.run("%%agent\nOnce more.")
    page.button("Approve")
    page.interrupt()
    page.finish(cell)
    assert "NameError" in page.do("c").text


def test_the_result_of_a_turn_has_its_changed_names(new_page, endpoint, model):
    endpoint.script(model, python("a = 1; brief = 2"), python("a = 2; del brief"), Says("Done."))
    page = new_page()
    page.do("%%agent --out result\nDo it.")
    assert page.do("result.changed_names").result == "{'a': 'new'}"
