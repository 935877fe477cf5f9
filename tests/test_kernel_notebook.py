"""The notebook around a cell, over the wire: what failed, where it is, and the next cell."""

from __future__ import annotations

import pytest

from tests.lab_endpoint import Says

pytest_plugins = ("tests.kernelkit_fixtures",)
pytestmark = pytest.mark.kernel

CELL = "df = 1\nprint('proposed')"


@pytest.fixture
def allowed() -> str:
    """The tool that runs without a question in `new_page`."""
    return "run_shell"


def test_a_failed_cell_is_known_and_a_proposed_cell_is_the_next_input(new_page, endpoint, model):
    endpoint.script(
        model,
        Says(calls=(("notebook_outline", {}),)),
        Says(calls=(("propose_cell", {"source": CELL}),)),
        Says("Mended:\n\n```python\nimport asyncio\nz = await asyncio.sleep(0, 41)\nz + 1\n```"),
    )
    page = new_page()
    assert page.do("{}['a']").error == "KeyError"
    cell = page.do("%%agent\nWhy?")
    first = endpoint.requests(model, 3)[0]["messages"][-1]["content"]
    assert first.startswith('<attached title="the cell that failed right before, [2]">')
    assert first.endswith("</attached>\n\nWhy?\n")
    assert "KeyError: 'a'" in first
    outline, proposed = endpoint.told(model)
    assert "id=In[" not in outline.split("\n")[1] or "its file is not known" in outline
    assert "✗ KeyError" in outline
    assert "offered to the front end as the next cell" in proposed
    assert cell.reply["payload"] == [{"source": "set_next_input", "text": CELL, "replace": False}]
    assert "Proposed cell · not run" in cell.text
    assert page.do("'df' in globals()").result == "False"
    block = page.do("%agent run")
    assert "Running block 1 of 1" in block.text
    assert block.error == ""
    assert page.do("z").result == "41"


def test_nobody_is_offered_a_cell_where_nobody_sits(new_page, endpoint, model):
    endpoint.script(model, Says(calls=(("propose_cell", {"source": CELL}),)), Says("Done."))
    page = new_page()
    cell = page.do("%%agent\nGo.", allow_stdin=False)
    assert cell.reply["payload"] == []
    assert "to be copied" in endpoint.told(model)[0]
    assert "Proposed cell · not run" in cell.text


def test_the_result_says_which_files_were_changed(new_page, endpoint, model):
    endpoint.script(
        model,
        Says(calls=(("write", {"path": "new/a.txt", "content": "x\n"}),)),
        Says(calls=(("write", {"path": "b.txt", "content": "y\n"}),)),
        Says("Done."),
        Says("Nothing to do."),
    )
    page = new_page()
    page.do("%agent allow write")
    assert page.do("%%agent --out r\nGo.").error == ""
    assert page.do("r.changed_files").result == "('new/a.txt', 'b.txt')"
    page.do("%%agent --out r\nGo on.")
    assert page.do("r.changed_files").result == "()"
