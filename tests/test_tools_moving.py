"""`move`: both ends are judged, nothing is overwritten by the way, what was read stays read."""

from __future__ import annotations

import errno
import os
from pathlib import Path

import pytest

from agent_magics.errors import ToolError
from agent_magics.tools import entries, moving
from tests.test_tools_deleting import tree
from tests.test_tools_kit import Kit, powerless


@pytest.fixture
def kit(tmp_path: Path) -> Kit:
    return Kit(tmp_path)


def refused_preview(kit: Kit, source: str, destination: str, **more: object) -> str:
    with pytest.raises(ToolError) as caught:
        kit.preview("move", source=source, destination=destination, **more)
    message = str(caught.value)
    assert kit.refusal("move", source=source, destination=destination, **more) == message
    return message


def test_a_file_is_moved_and_the_folders_on_the_way_are_made(kit):
    kit.file("a.txt", "one\n").chmod(0o640)
    (shown,) = kit.preview("move", source="a.txt", destination="x/y/b.txt")
    assert shown.text == "Moves a.txt (4 bytes) to x/y/b.txt."
    moved = kit.text("move", source="a.txt", destination="x/y/b.txt")
    assert moved == "Moved a.txt to x/y/b.txt."
    assert tree(kit.root) == ["x", "x/y", "x/y/b.txt"]
    assert (kit.root / "x/y/b.txt").stat().st_mode & 0o777 == 0o640


def test_a_folder_is_moved_with_all_that_is_in_it(kit):
    kit.file("d/a.txt", "x")
    kit.file("d/e/b.txt", "x")
    (shown,) = kit.preview("move", source="d", destination="f/g")
    assert "the folder d (with 2 files, 1 folder" in shown.text
    kit.text("move", source="d", destination="f/g")
    assert tree(kit.root) == ["f", "f/g", "f/g/a.txt", "f/g/e", "f/g/e/b.txt"]


def test_nothing_is_overwritten_unless_that_is_asked_for_and_shown(kit):
    kit.file("a.txt", "new\n")
    kit.file("b.txt", "old\n")
    assert "overwrite=true" in refused_preview(kit, "a.txt", "b.txt")
    _, diff = kit.preview("move", source="a.txt", destination="b.txt", overwrite=True)
    assert diff.text.endswith("-old\n+new\n")
    kit.text("move", source="a.txt", destination="b.txt", overwrite=True)
    assert tree(kit.root) == ["b.txt"]
    assert (kit.root / "b.txt").read_text() == "new\n"


def test_a_folder_does_not_replace_a_file_or_a_link(kit):
    kit.file("d/x", "x")
    kit.file("a.txt", "x")
    (kit.root / "link").symlink_to("nowhere")
    for there in ("a.txt", "link"):
        assert "cannot replace it" in refused_preview(kit, "d", there, overwrite=True)


def test_a_folder_is_never_overwritten_and_a_move_into_it_is_explained(kit):
    kit.file("a.txt", "x")
    (kit.root / "d").mkdir()
    for overwrite in (False, True):
        assert "d/NAME" in refused_preview(kit, "a.txt", "d", overwrite=overwrite)
    assert "d/e/a.txt" in refused_preview(kit, "a.txt", "d/e/")
    assert tree(kit.root) == ["a.txt", "d"]


@pytest.mark.parametrize("destination", ["d/e", "d/d", "d/x/y"])
def test_a_folder_is_not_moved_into_itself(kit, destination):
    kit.file("d/x/a.txt", "x")
    assert "into itself" in refused_preview(kit, "d", destination)


@pytest.mark.parametrize(
    ("source", "destination"),
    [("nothing", "x"), (".", "x"), ("..", "x"), ("a.txt", "a.txt"), ("a.txt", "a.txt/b")],
)
def test_a_move_that_cannot_be_is_refused_before_anyone_is_asked(kit, source, destination):
    kit.file("a.txt", "x")
    refused_preview(kit, source, destination)
    assert tree(kit.root) == ["a.txt"]


@pytest.mark.parametrize(
    ("source", "destination"),
    [
        *((".env", "env.txt"), ("a.txt", ".bashrc"), ("a.txt", "../b.txt"), ("/etc/hosts", "h")),
        *(("hidden", "shown"), ("conf", ".config"), ("a.txt", ".git/hooks/pre-commit")),
    ],
)
def test_both_ends_and_all_that_is_moved_are_judged(kit, source, destination):
    kit.file(".env", "x")
    kit.file("a.txt", "x")
    kit.file("hidden/deep/id_rsa", "x")
    kit.file("conf/git/config", "harmless here, but not in .config")
    assert kit.outside("move", source=source, destination=destination)
    arguments = {"source": source, "destination": destination}
    assert all(s.rule.pattern for s in kit.tool("move").scopes(arguments))


def test_an_ordinary_move_is_inside_and_its_operand_names_both_ends(kit):
    kit.file("a.txt", "x")
    arguments = {"source": "./a.txt", "destination": "d/../b.txt"}
    assert kit.tool("move").facts(arguments).operand == "a.txt -> b.txt"
    assert not kit.outside("move", **arguments)
    narrow, wide = kit.tool("move").scopes(arguments)
    assert narrow.rule.pattern == "a.txt -> b.txt"
    assert not wide.rule.pattern


def test_what_was_read_stays_read_under_its_new_name(kit):
    kit.file("d/a.txt", "one\n")
    kit.text("read", path="d/a.txt")
    kit.text("move", source="d", destination="e")
    kit.text("edit", path="e/a.txt", old="one", new="two")
    assert (kit.root / "e/a.txt").read_text() == "two\n"
    kit.file("d/a.txt", "two\n")
    assert "read it first" in kit.refusal("edit", path="d/a.txt", old="two", new="x")


def test_what_changed_after_the_person_was_asked_is_not_moved(kit):
    path = kit.file("a.txt", "x")
    kit.preview("move", source="a.txt", destination="b.txt")
    path.write_text("y")
    assert "after the person" in kit.refusal("move", source="a.txt", destination="b.txt")
    kit.preview("move", source="a.txt", destination="b.txt")
    kit.file("b.txt", "somebody's")
    kit.refusal("move", source="a.txt", destination="b.txt")
    assert (kit.root / "b.txt").read_text() == "somebody's"


def test_a_link_is_moved_itself_with_a_warning_when_it_is_relative(kit):
    kit.file("a.txt", "x")
    (kit.root / "link").symlink_to("a.txt")
    assert "relative" in kit.text("move", source="link", destination="d/link")
    assert os.readlink(kit.root / "d/link") == "a.txt"
    assert (kit.root / "a.txt").exists()


def test_only_the_case_of_a_name_can_change(kit):
    kit.file("readme.md", "x")
    kit.text("move", source="readme.md", destination="README.md")
    assert tree(kit.root) == ["README.md"]


def test_a_disk_that_ignores_case_takes_a_new_case_for_no_overwriting(kit, monkeypatch):
    kit.file("readme.md", "x")
    exists = os.path.lexists
    monkeypatch.setattr(os.path, "lexists", lambda p: exists(p) or Path(p).name == "README.md")
    (warning, _) = kit.preview("move", source="readme.md", destination="README.md")
    assert "cannot be undone" in warning.text


def test_two_names_of_one_file_become_one(kit):
    kit.file("a.txt", "x")
    os.link(kit.root / "a.txt", kit.root / "b.txt")
    assert "overwrite=true" in refused_preview(kit, "a.txt", "b.txt")
    kit.text("move", source="a.txt", destination="b.txt", overwrite=True)
    assert tree(kit.root) == ["b.txt"]


def test_a_link_that_replaces_its_own_target_is_put_there_itself(kit):
    kit.file("b.txt", "x")
    (kit.root / "a").symlink_to("elsewhere")
    kit.text("move", source="a", destination="b.txt", overwrite=True)
    assert os.readlink(kit.root / "b.txt") == "elsewhere"


def test_a_move_to_another_disk_copies_whole_or_is_refused(kit, monkeypatch):
    def crossing(self, target):
        if Path(self).name.startswith(".agent_magics-"):
            return os.replace(self, target)
        raise OSError(errno.EXDEV, "Invalid cross-device link")

    monkeypatch.setattr(moving.Path, "rename", crossing)
    monkeypatch.setattr(moving.Path, "replace", crossing)
    kit.file("a.txt", "one").chmod(0o751)
    kit.text("move", source="a.txt", destination="n/b.txt")
    assert (kit.root / "n/b.txt").stat().st_mode & 0o777 == 0o751
    kit.file("d/x", "x")
    assert "another file system" in kit.refusal("move", source="d", destination="m/d")
    assert tree(kit.root) == ["d", "d/x", "n", "n/b.txt"]


def test_more_than_is_kept_for_undo_is_moved_with_a_warning(kit, monkeypatch):
    monkeypatch.setattr(entries, "MAX_BYTES", 10)
    kit.file("a.txt", "x" * 20)
    warning, _ = kit.preview("move", source="a.txt", destination="b.txt")
    assert warning.text == "This cannot be undone: it is larger than 10 bytes."
    assert "cannot be undone" in kit.text("move", source="a.txt", destination="b.txt")


def test_nobody_is_asked_when_a_folder_lets_nothing_in_or_out():
    with powerless() as root:
        kit = Kit(root)
        kit.file("closed/a", "x")
        kit.file("b", "x")
        (root / "closed").chmod(0o555)
        assert "write-protected" in refused_preview(kit, "closed/a", "a")
        assert "nothing may be put into" in refused_preview(kit, "b", "closed/b")
