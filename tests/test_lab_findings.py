"""Findings in JupyterLab by hand: narrowed down, ordered, and kept as a static table."""

from __future__ import annotations

import nbformat
import pytest

from agent_magics.findings import MIME
from tests.environments import NEWEST

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
