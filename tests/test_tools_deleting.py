"""`delete`: what goes and what never does, what a person sees first."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from agent_magics.errors import ToolError
from agent_magics.policy import CallFacts
from agent_magics.tools import deleting, entries
from tests.test_tools_kit import Kit, powerless


@pytest.fixture
def kit(tmp_path: Path) -> Kit:
    return Kit(tmp_path)


def tree(root: Path) -> list[str]:
    return sorted(p.relative_to(root).as_posix() for p in root.rglob("*"))


def refused_preview(kit: Kit, **arguments: object) -> str:
    with pytest.raises(ToolError) as caught:
        kit.preview("delete", **arguments)
    return str(caught.value)


def test_a_file_goes_and_its_text_is_shown_first_as_a_difference(kit):
    kit.file("a.txt", "one\ntwo")
    listing, diff = kit.preview("delete", path="a.txt")
    assert listing.text == "Deletes the file a.txt (7 bytes)."
    assert diff.kind == "diff"
    assert diff.text.startswith("--- a/a.txt\n+++ /dev/null\n@@ -1,2 +0,0 @@\n-one\n-two\n")
    assert kit.text("delete", path="a.txt") == "Deleted the file a.txt (7 bytes)."
    assert tree(kit.root) == []


@pytest.mark.parametrize(
    ("content", "why"),
    [(b"", "it is empty"), (b"\x89PNG\0", "a PNG image"), (b"x" * 70_000, "70.0 kB are too much")],
)
def test_a_text_that_is_not_shown_is_said_to_be_left_out(kit, content, why):
    kit.file("a", content)
    (listing,) = kit.preview("delete", path="a")
    assert why in listing.text
    kit.text("delete", path="a")
    assert tree(kit.root) == []


def test_a_folder_with_something_in_it_goes_only_when_that_is_said(kit):
    kit.file("d/a.txt", "x")
    assert "recursive=true" in refused_preview(kit, path="d")
    assert "recursive=true" in kit.refusal("delete", path="d")
    assert tree(kit.root) == ["d", "d/a.txt"]
    kit.text("delete", path="d", recursive=True)
    assert tree(kit.root) == []


def test_an_empty_folder_goes(kit):
    (kit.root / "d").mkdir()
    assert kit.text("delete", path="d") == "Deleted the empty folder d."
    assert tree(kit.root) == []


def test_all_of_a_folder_is_listed_with_its_size_and_its_protected_files_are_counted(kit):
    kit.file("d/a.py", "x = 1\n")
    kit.file("d/.env", "TOKEN=1\n")
    kit.file("d/e/data.bin", b"\0" * 1000)
    (kit.root / "d/link").symlink_to("/etc")
    listing, diff = kit.preview("delete", path="d", recursive=True)
    assert listing.text.split("\n") == [
        "Deletes the folder d with 3 files, 1 folder, 1 link, 1.0 kB.",
        "Protected among them: 1 path (d/.env).",
        "  .env (8 bytes, content not shown)",
        "  a.py (6 bytes)",
        "  e/",
        "  e/data.bin (1.0 kB, content not shown)",
        "  link -> /etc",
    ]
    assert "-x = 1" in diff.text
    assert "TOKEN" not in diff.text
    kit.text("delete", path="d", recursive=True)
    assert tree(kit.root) == []
    assert Path("/etc/passwd").exists()


def test_a_long_list_is_cut_with_a_word_on_how_much_is_left_out(kit, monkeypatch):
    monkeypatch.setattr(deleting, "LISTED", 3)
    for n in range(5):
        kit.file(f"d/{n}", "")
    (listing,) = kit.preview("delete", path="d", recursive=True)
    assert listing.text.split("\n")[-1] == "  … and 2 more"


def test_a_link_goes_and_what_it_leads_to_stays(kit):
    kit.file("d/a.txt", "x")
    (kit.root / "link").symlink_to("d")
    (kit.root / "dangling").symlink_to("nowhere")
    assert "stays" in kit.preview("delete", path="link/")[0].text
    kit.text("delete", path="link")
    kit.text("delete", path="dangling")
    assert tree(kit.root) == ["d", "d/a.txt"]


@pytest.mark.parametrize("path", [".", "..", "/", "d/..", "~", "../"])
def test_the_working_folder_and_those_around_it_are_not_deleted(kit, monkeypatch, path):
    monkeypatch.setenv("HOME", str(kit.root))
    (kit.root / "d").mkdir()
    kit.refusal("delete", path=path, recursive=True)
    assert tree(kit.root) == ["d"]


@pytest.mark.parametrize("path", ["repo", "repo/.git", "."])
def test_a_projects_history_is_not_deleted(kit, path):
    kit.file("repo/.git/HEAD", "ref: refs/heads/main\n")
    kit.refusal("delete", path=path, recursive=True)
    assert "repo/.git/HEAD" in tree(kit.root)


@pytest.mark.parametrize("path", [".git/index.lock", ".env", "../x", "/etc/hosts", "d"])
def test_what_is_protected_or_outside_or_holds_such_needs_its_own_word(kit, path):
    kit.file("d/deep/.ssh/config", "x")
    assert kit.outside("delete", path=path)
    assert all(s.rule.pattern for s in kit.tool("delete").scopes({"path": path}))


def test_a_link_in_the_workspace_that_leads_out_of_it_is_inside(kit):
    (kit.root / "link").symlink_to("/etc/hosts")
    assert not kit.outside("delete", path="link")
    kit.text("delete", path="link")
    assert Path("/etc/hosts").exists()


def test_a_path_through_a_link_that_leads_out_is_outside(kit, tmp_path_factory):
    other = tmp_path_factory.mktemp("other")
    (other / "x").write_text("x")
    (kit.root / "out").symlink_to(other)
    assert kit.outside("delete", path="out/x")


def test_always_offers_the_path_first_and_then_the_workspace(kit):
    kit.file("a.txt")
    narrow, wide = kit.tool("delete").scopes({"path": "a.txt"})
    assert narrow.rule.matches(CallFacts("delete", "write", "a.txt"))
    assert not narrow.rule.matches(CallFacts("delete", "write", "b.txt"))
    assert wide.label == "delete files and folders in the workspace, this session"


def test_a_file_that_changed_after_the_person_saw_it_is_not_deleted(kit):
    path = kit.file("d/a.txt", "one")
    kit.preview("delete", path="d", recursive=True)
    path.write_text("two")
    assert "after the person saw" in kit.refusal("delete", path="d", recursive=True)
    kit.preview("delete", path="d", recursive=True)
    kit.file("d/b.txt")
    assert "after the person saw" in kit.refusal("delete", path="d", recursive=True)
    assert tree(kit.root) == ["d", "d/a.txt", "d/b.txt"]


@pytest.mark.parametrize(("limit", "value"), [("MAX_ENTRIES", 3), ("MAX_BYTES", 10)])
def test_more_than_is_kept_for_undo_is_not_deleted(kit, monkeypatch, limit, value):
    monkeypatch.setattr(entries, limit, value)
    for n in range(4):
        kit.file(f"d/{n}", "xxxx")
    assert "more than is kept for undo" in refused_preview(kit, path="d", recursive=True)
    kit.refusal("delete", path="d", recursive=True)
    assert len(tree(kit.root)) == 5


def test_special_and_write_protected_files_are_not_deleted(kit):
    os.mkfifo(kit.root / "fifo")
    kit.file("ro.txt", "x").chmod(0o444)
    assert "no ordinary file" in refused_preview(kit, path="fifo")
    assert "write-protected" in refused_preview(kit, path="ro.txt")
    assert "does not exist" in refused_preview(kit, path="nothing")


def test_nobody_is_asked_when_a_folder_lets_nothing_go():
    with powerless() as root:
        kit = Kit(root)
        kit.file("closed/a", "x")
        (root / "closed").chmod(0o555)
        assert "write-protected" in refused_preview(kit, path="closed/a")
        assert "write-protected" in refused_preview(kit, path="closed", recursive=True)
        assert (root / "closed/a").exists()


def test_a_deleted_file_counts_as_not_read_when_it_is_there_again(kit):
    path = kit.file("a.txt", "x\n")
    kit.text("read", path="a.txt")
    kit.text("delete", path="a.txt")
    path.write_text("x\n")
    assert "read it first" in kit.refusal("edit", path="a.txt", old="x", new="y")
