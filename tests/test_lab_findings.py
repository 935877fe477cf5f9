"""Findings in JupyterLab by hand: narrowed down, ordered, and kept as a static table."""

from __future__ import annotations

import nbformat
import pytest

from agent_magics.findings import MIME
from tests.environments import NEWEST
from tests.hostile import HOSTILE
from tests.test_lab_hostile import ACTIVE, EFFECTS, UNFOLD

pytestmark = [pytest.mark.browser, pytest.mark.kernel]

CELLS = [
    "%load_ext agent_magics\nimport os\nfrom agent_magics.quickstart import sample_repository\n"
    "os.chdir(sample_repository())",
    "%use code-review\n%agent allow git_diff\n%agent allow report_findings",
    "%%agent\nReview my uncommitted changes.",
    "%agent findings",
    "%agent last",
]


def test_findings_are_sorted_and_filtered_by_hand_and_a_view_is_kept(notebook):
    page = notebook(CELLS, NEWEST)
    page.done(*range(4))
    live = page.output(3)
    rows = live.locator("tbody tr")

    def wait_rows(count: int) -> None:
        page.until(lambda: rows.count() == count, lambda: page.text(3))

    wait_rows(4)
    live.locator("select").nth(0).select_option(label="high (2)")
    wait_rows(2)
    live.locator("select").nth(1).select_option(label="by file")
    live.locator("input").nth(0).fill("report")
    live.locator("input").nth(0).press("Enter")
    wait_rows(1)
    rows.locator("summary").click()
    assert "most_common(count)" in rows.inner_text()
    page.screenshot("findings-filtered")
    live.get_by_role("button", name="Keep this view").click()
    page.until(lambda: live.locator("select").count() == 0, lambda: page.text(3))
    assert "1 finding: 1 high" in page.text(3)
    page.done(4)
    assert "4 findings: 2 high, 2 low" in page.text(4)
    saved = page.save()
    nbformat.validate(saved)
    assert "widget-view" not in nbformat.writes(saved)
    (kept,) = saved.cells[3].outputs
    assert [f["file"] for f in kept.data[MIME]["findings"]] == ["shop/report.py"]


def test_hostile_findings_are_text_in_the_table_and_under_the_controls(lab):
    hostile = (
        f"TEXTS = {[*ACTIVE, *(text for _, text in HOSTILE if text.strip())]!r}\n"
        "from agent_magics.findings import Finding, Findings\n"
        "from agent_magics.frontends.findings_browser import FindingsBrowser\n"
        "from agent_magics.frontends.publisher import CellOutput\n"
        "found = Findings(tuple(Finding(t, 1, 'high', t, t, t, code=t, code_start=1) "
        "for t in TEXTS))"
    )
    browse = "FindingsBrowser(found, CellOutput(get_ipython().kernel)).show()"
    cells = ["%load_ext agent_magics", hostile, "found", browse]
    page = lab.notebook("hostile-findings", cells, f"ipykernel-{NEWEST}", own_page=True)
    page.done(0, 1, 2, 3)
    for cell in (2, 3):
        page.until(
            lambda cell=cell: page.output(cell).locator("table").count() > 0,
            lambda cell=cell: page.text(cell),
        )
        page.reveal(cell)
        page.page.evaluate(UNFOLD)
        assert page.page.evaluate(EFFECTS) == []
        assert ACTIVE[1] in page.text(cell)
    assert page.dialogs == []
    ours = (page.address, "data:", "blob:")
    assert [url for url in page.requests if not url.startswith(ours)] == []
    lab.close(page)
