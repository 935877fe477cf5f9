"""The 120 edge cases of skill folders, each read from the disk as a user's would be."""

from __future__ import annotations

from pathlib import Path

import pytest

from agent_magics.library.discovery import Entry, Library, Place
from tests.skill_fixtures import CASES, write_case

TOOLS = ("ls", "glob", "read", "grep", "write", "edit", "run_shell", "python")

# Where this product decided otherwise than the list, and why.
DECIDED = {
    "closing_at_eof": "warn: there are no instructions, which is said in each case of it",
    "node_modules": "nothing: such folders are passed over without a word",
    "tools_syntax_error": "skip: a skill is loaded whole or not at all",
    "tools_import_error": "load: what is installed shows at the import, when it is said",
}


def entries(cid: str, tmp_path: Path) -> tuple[Entry, ...]:
    root = write_case(cid, tmp_path)
    return Library(lambda: (Place(root, "project", root),), TOOLS).entries()


def verdict(entry: Entry) -> str:
    skill = entry.skill
    if skill.broken or not skill.description:
        return "skip"
    return "warn" if any(d.severity == "warning" for d in skill.diagnostics) else "load"


@pytest.mark.parametrize("cid", CASES)
def test_each_kind_of_folder_is_loaded_warned_about_or_left_out_as_it_should(cid, tmp_path):
    found = entries(cid, tmp_path)
    expected = DECIDED.get(cid, CASES[cid]["verdict"]).partition(":")[0]
    assert {verdict(entry) for entry in found} == ({expected} - {"nothing"})
    for entry in found:
        if verdict(entry) != "load":
            assert all(d.message for d in entry.skill.diagnostics)
            assert entry.skill.diagnostics


@pytest.mark.parametrize("cid", [c for c in CASES if CASES[c]["description"]])
def test_the_description_is_what_the_author_wrote(cid, tmp_path):
    assert [e.skill.description for e in entries(cid, tmp_path)] == [CASES[cid]["description"]] * (
        len(entries(cid, tmp_path / "again"))
    )


@pytest.mark.parametrize("cid", [c for c in CASES if CASES[c]["name"] and c != "same_name_twice"])
def test_a_skill_is_found_by_the_name_in_its_header(cid, tmp_path):
    root = write_case(cid, tmp_path)
    library = Library(lambda: (Place(root, "project", root),), TOOLS)
    names = [entry.skill.name for entry in library.entries() if entry.state == "enabled"]
    if cid in DECIDED and not names:
        return
    assert library.find(CASES[cid]["name"]).name in names


@pytest.mark.parametrize("cid", [c for c in CASES if "allowed_tools" in CASES[c]])
def test_allowed_tools_are_read_alike_in_every_spelling(cid, tmp_path):
    (entry,) = entries(cid, tmp_path)
    assert list(entry.skill.allowed_tools) == CASES[cid]["allowed_tools"]
    assert entry.skill.tools is None


@pytest.mark.parametrize("cid", [c for c in CASES if "tools" in CASES[c]])
def test_bundled_functions_are_named_without_running_them(cid, tmp_path):
    (entry,) = entries(cid, tmp_path)
    assert list(entry.skill.bundled) == CASES[cid]["tools"]


@pytest.mark.parametrize("cid", CASES)
def test_looking_at_skills_runs_nothing_and_writes_nothing(cid, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    root = write_case(cid, tmp_path)
    before = sorted(str(path) for path in tmp_path.rglob("*"))
    Library(lambda: (Place(root, "project", root),), TOOLS).entries()
    assert sorted(str(path) for path in tmp_path.rglob("*")) == before


BODIES = ("body_dollars", "body_braces", "body_bang_code", "body_magics", "body_breaks_wrapper")


@pytest.mark.parametrize("cid", BODIES)
def test_instructions_reach_the_model_byte_for_byte(cid, tmp_path):
    (entry,) = entries(cid, tmp_path)
    written = CASES[cid]["files"]["tidy-charts/SKILL.md"].split("---\n", 2)[2].strip()
    assert entry.skill.instructions == written


def test_a_long_body_is_kept_whole_and_its_size_is_said(tmp_path):
    (entry,) = entries("body_300k", tmp_path)
    assert entry.skill.instructions.startswith("HEAD\n")
    assert entry.skill.instructions.endswith("\nTAIL")
    assert "299,009 characters" in str(entry.skill.diagnostics[0])


def test_no_byte_order_mark_or_carriage_return_is_left_anywhere(tmp_path):
    (entry,) = entries("bom_crlf", tmp_path)
    assert not {"\ufeff", "\r"} & set(entry.skill.name + entry.skill.description)
    assert not {"\ufeff", "\r"} & set(entry.skill.instructions)


def test_one_bad_skill_never_hides_another(tmp_path):
    for cid in CASES:
        write_case(cid, tmp_path / "all" / cid)
    good = tmp_path / "all" / "good"
    good.mkdir()
    (good / "SKILL.md").write_text("---\nname: good\ndescription: d\n---\nDo.\n", encoding="utf-8")
    library = Library(lambda: (Place(tmp_path / "all", "configured"),), TOOLS)
    assert library.find("good").description == "d"
    states = {entry.state for entry in library.entries()}
    assert states == {"enabled", "shadowed", "broken"}
