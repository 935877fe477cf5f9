"""The files of a folder as stats and as one hash, also where something is in the way."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from agent_magics.library import resources, trees
from agent_magics.library.repository import repository_root
from agent_magics.library.resources import resource_files
from agent_magics.library.toolfile import read_toolfile
from agent_magics.library.trees import Node, Tree, digest, read_tree, scanned_tree


def names(tree: Tree) -> list[str]:
    return [node.name for node in tree.nodes]


def fill(root: Path, *paths: str) -> Path:
    for path in paths:
        (root / path).parent.mkdir(parents=True, exist_ok=True)
        (root / path).write_text(path, encoding="utf-8")
    return root


def test_a_tree_holds_every_file_by_name_and_no_folder_that_is_skipped(tmp_path):
    fill(tmp_path, "b", "a/x", "a/y/z", ".hidden", "node_modules/n", ".git/g", "__pycache__/p")
    (tmp_path / "link").symlink_to("a")
    os.mkfifo(tmp_path / "pipe")
    tree = scanned_tree(str(tmp_path))
    assert names(tree) == [".hidden", "a/x", "a/y/z", "b", "link", "pipe"]
    assert [node.kind for node in tree.nodes][-2:] == ["link", "other"]
    assert tree.complete
    assert tree.links() == ("link",)


def test_a_tree_with_too_many_files_is_cut_at_the_same_place_everywhere(tmp_path, monkeypatch):
    monkeypatch.setattr(trees, "MAX_FILES", 3)
    for number in (5, 1, 4, 2, 3):
        fill(tmp_path, f"d{number}/x")
    tree = scanned_tree(str(tmp_path))
    assert names(tree) == ["d1/x", "d2/x", "d3/x"]
    assert not tree.complete
    fill(tmp_path / "flat", *[f"{i}" for i in range(9)])
    assert not scanned_tree(str(tmp_path / "flat")).complete


def test_a_tree_that_is_too_deep_is_cut(tmp_path, monkeypatch):
    monkeypatch.setattr(trees, "MAX_DEPTH", 2)
    fill(tmp_path, "1/2/3/x", "1/y")
    tree = scanned_tree(str(tmp_path))
    assert names(tree) == ["1/y"]
    assert not tree.complete


def test_what_cannot_be_read_counts_as_that(tmp_path):
    class Vanished:
        name, path = "gone", str(tmp_path / "gone")

        def is_dir(self, follow_symlinks):
            raise OSError

    class Closed:
        name, path = "closed", str(tmp_path / "gone")

        def is_dir(self, follow_symlinks):
            return True

    assert read_tree(str(tmp_path), [Vanished(), Closed()]).nodes == (
        Node("closed/", "closed"),
        Node("gone", "closed"),
    )
    missing = Tree((Node("f", "file"), Node("l", "link"), Node("o", "other")))
    assert digest(str(tmp_path), missing, b"") == digest(str(tmp_path), missing, b"")


def test_files_cannot_run_into_each_other_in_the_hash(tmp_path):
    fill(tmp_path / "1", "ab")
    fill(tmp_path / "2", "a", "b")
    (tmp_path / "1" / "ab").write_bytes(b"a0\0b")
    one = digest(str(tmp_path / "1"), scanned_tree(str(tmp_path / "1")), b"")
    two = digest(str(tmp_path / "2"), scanned_tree(str(tmp_path / "2")), b"")
    assert one != two


def test_what_is_beyond_the_bound_is_hashed_by_name_and_size(tmp_path, monkeypatch):
    monkeypatch.setattr(trees, "MAX_CONTENT", 3)
    root = fill(tmp_path / "r", "aa", "bbbbb")
    _, whole = digest(str(root), scanned_tree(str(root)), b"")
    assert not whole


def test_the_root_of_a_repository_is_the_nearest(tmp_path):
    (tmp_path / "a" / ".git").mkdir(parents=True)
    (tmp_path / "a" / "b").mkdir()
    assert repository_root(tmp_path / "a" / "b") == tmp_path / "a"


@pytest.mark.parametrize(
    ("source", "names"),
    [
        ("TOOLS: list = [a, 'b', 3, c.d]\n", ("a", "b")),
        ("TOOLS = make()\n", ()),
        ("__all__ = ['x']\nTOOLS = (y,)\n", ("y",)),
        ("try:\n def a() -> str:\n  'A.'\nexcept E:\n def b() -> str:\n  'B.'\n", ("a", "b")),
        ("x = " + "1\n" * 600_000, ()),
    ],
)
def test_names_are_read_from_the_syntax_tree_as_far_as_they_are_written_out(source, names):
    assert read_toolfile(source.encode()).names == names


def test_the_files_for_a_prompt_are_named_without_the_skills_own(tmp_path):
    fill(tmp_path, "SKILL.md", "tools.py", "references/b.md", "a.txt", ".env", "x/.y/z")
    assert resource_files(tmp_path) == (("a.txt", "references/b.md"), 0)
    fill(tmp_path, *[f"many/{i:03}" for i in range(60)])
    names, more = resource_files(tmp_path)
    assert (len(names), more) == (50, 12)


def test_the_walk_over_a_folder_that_can_be_anything_ends(tmp_path, monkeypatch):
    monkeypatch.setattr(resources, "WALKED", 3)
    fill(tmp_path, *[f"{i}/{i}/{i}" for i in range(9)])
    assert len(resource_files(tmp_path)[0]) < 9
