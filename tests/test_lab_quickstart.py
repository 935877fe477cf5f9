"""The main job by a person's hands: the quickstart's cells in JupyterLab, scripted model."""

from __future__ import annotations

import re

import nbformat
import pytest

from agent_magics.quickstart.run import source_notebook
from tests.environments import NEWEST

pytestmark = [pytest.mark.browser, pytest.mark.kernel]

TALL = {"width": 1250, "height": 2400}


@pytest.fixture
def cells():
    """The sources of the quickstart's code cells by their ids."""
    whole = nbformat.read(source_notebook(), as_version=4)
    return {cell.id: cell.source for cell in whole.cells if cell.cell_type == "code"}


def test_explore_review_and_fix_by_hand(notebook, cells):
    review = cells["review"]
    order = [*cells.values(), review, "%agent", cells["use-explore"], "%agent"]
    at = {name: number for number, name in enumerate(cells)}
    again, panel, use, panel_with = range(len(cells), len(cells) + 4)
    page = notebook(order, NEWEST)
    page.done(at["load"], at["sample"], at["skills"], at["use-explore"], at["explore"])
    assert "agent_magics: skills " in page.text(at["load"])
    assert "M shop/prices.py" in page.text(at["sample"])
    for name in ("explore", "code-review"):
        assert name in page.text(at["skills"])
    loaded = page.text(at["use-explore"]).strip()
    assert loaded == "Loaded skill explore (built-in: ls, glob, read)"
    assert "corner-shop is a small bookkeeping package" in page.text(at["explore"])
    assert "Scripted demonstration." in page.text(at["explore"])

    page.done(at["use-review"])
    loaded = page.text(at["use-review"]).strip()
    tools = "bundled: git_diff, report_findings; built-in: read, glob"
    assert loaded == f"Loaded skill code-review ({tools})"
    page.run(at["review"], at["data"])
    page.click(at["review"], "Edit…")
    page.output(at["review"]).locator("textarea").fill('{"path": "shop"}')
    page.click(at["review"], "Run edited")
    page.click(at["review"], "Approve")
    page.wait_idle(at["review"], at["data"])
    assert "4 findings: 2 high, 2 low" in page.text(at["review"])
    assert "split_bill loses cents" in page.text(at["review"])
    assert "3 findings: 1 high, 2 low" in page.text(at["data"])
    assert re.search(r"git_diff +approved +by click +done", page.text(at["data"]))

    page.run(again)
    page.click(again, "Deny…")
    page.output(again).get_by_role("textbox").fill("not now")
    page.click(again, "Deny")
    page.wait_idle(again)
    assert "I could not read the changes" in page.text(again)

    page.done(at["unuse"], panel)
    assert "default tools are restored" in page.text(at["unuse"])
    assert re.search(r"skill\s+none", page.text(panel))
    page.run(at["fix"], at["check"])
    page.click(at["fix"], "Approve")
    page.wait_idle(at["fix"], at["check"])
    assert re.search(r"shop/report.py +\| 5 \+", page.text(at["check"]))
    assert "[('Cleo'" in page.text(at["check"])
    page.done(use, panel_with)
    assert re.search(r"skill\s+explore", page.text(panel_with))
    assert "edit:" not in page.text(panel_with)
    saved = page.save()
    nbformat.validate(saved)
    assert "widget-view" not in nbformat.writes(saved)


def both_themes(page, name: str) -> None:
    """Keep a picture of the page as it is, in the light and in the dark theme."""
    for theme in ("JupyterLab Dark", "JupyterLab Light"):
        page.page.evaluate(
            "theme => window.jupyterapp.commands.execute('apputils:change-theme', {theme})", theme
        )
        page.page.locator("#jupyterlab-splash").wait_for(state="detached")
        page.screenshot(f"quickstart-{name}-{theme.split()[-1].lower()}")


def test_pictures_of_every_state_in_both_themes(notebook, cells):
    """Nothing to assert but that it runs: the pictures are for people to look at."""
    page = notebook(list(cells.values()), NEWEST)
    at = {name: number for number, name in enumerate(cells)}
    size = page.page.viewport_size
    page.page.set_viewport_size(TALL)
    page.done(*range(at["review"]))
    page.run(at["review"])
    page.armed(at["review"], "Approve")
    both_themes(page, "explore-and-card")
    page.click(at["review"], "Approve")
    page.click(at["review"], "Approve")
    page.wait_idle(at["review"])
    both_themes(page, "findings")
    page.done(at["unuse"])
    page.run(at["fix"])
    page.armed(at["fix"], "Approve").scroll_into_view_if_needed()
    both_themes(page, "change")
    page.click(at["fix"], "Deny…")
    page.armed(at["fix"], "Deny").scroll_into_view_if_needed()
    both_themes(page, "reason-for-a-no")
    page.click(at["fix"], "Back")
    page.click(at["fix"], "Edit…")
    page.armed(at["fix"], "Run edited").scroll_into_view_if_needed()
    both_themes(page, "arguments-to-edit")
    page.click(at["fix"], "Back")
    page.click(at["fix"], "Approve")
    page.wait_idle(at["fix"])
    page.page.evaluate(
        "() => { for (const d of document.querySelectorAll('details')) d.open = true; }"
    )
    page.reveal(at["fix"])
    both_themes(page, "unfolded")
    page.page.set_viewport_size(size)
