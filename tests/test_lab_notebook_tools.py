"""A failed cell, its explanation and the proposed next cell: JupyterLab in Chromium."""

from __future__ import annotations

import pytest

from tests.environments import NEWEST
from tests.lab_endpoint import Says
from tests.test_lab_actions import sources

pytestmark = [pytest.mark.browser, pytest.mark.kernel]

FAILS = "prices = {'apple': 3}\nprices['pear']"
MEND = "total = sum(prices.values())  # <b>é</b>\ntotal"
EDIT = {
    "path": "other.ipynb",
    "edits": [{"do": "replace", "cell": "#1", "source": "x = 2"}],
}
MAKE = """\
import nbformat
from nbformat.v4 import new_code_cell, new_notebook
nbformat.write(new_notebook(cells=[new_code_cell("x = 1")]), "other.ipynb")"""


def test_the_error_is_known_and_the_mend_stands_in_the_next_cell(talk, endpoint, model):
    answers = [
        Says(calls=(("notebook_read", {"outputs": "short"}),)),
        Says(calls=(("propose_cell", {"source": MEND}),)),
        Says("`pear` is not in `prices`."),
        Says(calls=(("notebook_read", {"path": "other.ipynb"}),)),
        Says(calls=(("notebook_edit", EDIT),)),
        Says("Changed."),
    ]
    cells = [MAKE, FAILS, "%%agent --skill explain-error\nWhy?", "%%agent\nChange it."]
    page = talk(NEWEST, answers, cells)
    page.done(1)
    page.save()
    page.run(2)
    page.wait_text(2, "KeyError")
    page.done(3)
    first = endpoint.requests(model, 3)[0]["messages"][-1]["content"]
    assert "KeyError: 'pear'" in first
    assert first.endswith("\n\nWhy?\n")
    page.until(lambda: sources(page)[4] == MEND, lambda: str(sources(page)))
    assert page.prompt(4) == "[ ]:"
    assert "Sent with the prompt: the cell that failed right before" in page.text(3)
    assert "Proposed cell" in page.text(3)
    read = endpoint.told(model)[0]
    assert read.startswith("This notebook, notebook.ipynb (by the server's session): ")
    assert f"{FAILS}\n--- output (error KeyError: 'pear')" in read
    page.screenshot("notebook-proposed")
    page.button(3, "Insert cell").click()
    page.until(lambda: sources(page).count(MEND) == 2, lambda: str(sources(page)))
    page.run(6)
    page.armed(6, "Approve")
    page.reveal(6)
    page.screenshot("notebook-edit-question")
    assert "x = 2" in page.text(6)
    page.click(6, "Approve")
    page.wait_idle(6)
    assert '"x = 2"' in (page.folder / "other.ipynb").read_text(encoding="utf-8")
    page.screenshot("notebook-edit-done")
    assert page.dialogs == []
