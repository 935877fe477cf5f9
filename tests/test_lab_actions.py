"""Quick actions by a person's hands: JupyterLab in Chromium."""

from __future__ import annotations

import json

import pytest

from tests.environments import NEWEST
from tests.lab_endpoint import Says
from tests.lab_notebook import CURRENT

pytestmark = [pytest.mark.browser, pytest.mark.kernel]

PROMPT = 'Count the <b>rows</b> of "sales.csv".\nThen say what is odd.'
MAKE = f"""\
import json, os, pathlib
root = pathlib.Path(os.environ["HOME"], ".agents/skills/rows")
root.mkdir(parents=True, exist_ok=True)
(root / "SKILL.md").write_text("---\\nname: rows\\ndescription: Counts.\\n---\\nCount them.\\n")
palette = [{{"id": "count", "title": "Count the <i>rows</i>", "prompt": {PROMPT!r}}}]
(root / "plugin.json").write_text(json.dumps({{"version": 1, "palette": palette}}))"""
DETAILS = "%skills rows"
LINE = "%agent action rows:count"
RUN = "%%agent --action rows:count"


def sources(page) -> list[str]:
    script = f"() => {CURRENT}.content.widgets.map(w => w.model.sharedModel.getSource())"
    return page.page.evaluate(script)


def test_a_button_and_a_line_magic_put_the_ready_cell_below_and_nothing_runs(talk, endpoint, model):
    page = talk(NEWEST, [Says("There are 3.")], [MAKE, DETAILS, LINE, RUN])
    page.done(1, 2)
    button = page.button(2, "Insert cell")
    assert button.inner_text() == "Insert cell: Count the <i>rows</i>"
    page.screenshot("quick-actions")
    button.click()
    cell = f"%%agent --skill rows\n{PROMPT}"
    page.until(lambda: sources(page)[3] == cell, lambda: str(sources(page)))
    assert page.prompt(3) == "[ ]:"
    page.done(4)
    assert "copy it" in page.text(4)
    page.until(lambda: sources(page)[5] == cell, lambda: str(sources(page)))
    page.screenshot("quick-actions-inserted")
    page.done(6)
    assert "There are 3." in page.text(6)
    assert f"rows:count: {PROMPT}" in page.text(6)
    assert page.dialogs == []


def test_the_button_works_in_a_saved_notebook_and_has_no_height_outside_of_lab(
    talk, endpoint, model
):
    page = talk(NEWEST, [], [MAKE, DETAILS])
    page.done(1, 2)
    page.reveal(2)
    height = "node => node.parentElement.getBoundingClientRect().height"
    button = page.button(2, "Insert cell")
    assert button.evaluate(height) > 10
    script = "document.body.style.setProperty('--jp-datagrid-font-size', 'initial')"
    page.page.evaluate(f"() => {{ {script}; }}")
    assert button.evaluate(height) == 0
    page.page.evaluate("() => document.body.style.removeProperty('--jp-datagrid-font-size')")
    saved = json.dumps(page.save().cells[2].outputs)
    assert "data-commandlinker-command" in saved
    assert "<script" not in saved
