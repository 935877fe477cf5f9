"""The question about a project's skill in a real kernel: a card below the line magic."""

from __future__ import annotations

import pytest

from tests.shellkit import skill

pytest_plugins = ("tests.kernelkit_fixtures",)
pytestmark = pytest.mark.kernel


def test_a_click_lets_a_project_skill_in(page, tmp_path):
    code = 'def count(text: str) -> str:\n    """Count."""\n    return text\n'
    skill(tmp_path / "skills", "ours", code=code)
    skill(tmp_path / "skills", "other")
    page.do(f"import os; os.chdir({str(tmp_path)!r})")
    page.do(f"os.environ['AGENT_MAGICS_CONFIG'] = {str(tmp_path / 'mine' / 'config.yaml')!r}")
    page.do("%reload_ext agent_magics")
    cell = page.run("%use ours")
    page.card(cell)
    assert "Trust this? skill ours" in cell.displays[0]["data"]["text/plain"]
    page.button("Deny…")
    assert not page.model("ButtonModel", description="Edit…")
    page.click("Approve")
    page.finish(cell)
    assert "Loaded skill ours (bundled: count; built-in: all)" in cell.text
    refused = page.run("%use other")
    page.card(refused)
    page.click("Deny…")
    page.click("Deny")
    page.finish(refused)
    assert refused.error == "SkillError"
    assert "ours" in page.do("%agent").result
    assert "Loaded skill ours" in page.do("%use ours").text
