"""`ls` and `glob`: which names there are, and which are left out."""

from __future__ import annotations

import os
import subprocess
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from agent_magics.errors import ToolError
from agent_magics.tools.globs import matcher, split_pattern
from agent_magics.tools.grepping import Job, Search
from agent_magics.tools.walking import Tally, walk
from tests.test_tools_kit import Kit, powerless


@pytest.fixture
def kit(tmp_path: Path) -> Kit:
    return Kit(tmp_path)


# -- ls ---------------------------------------------------------------------------------------


def test_ls_gives_folders_first_and_marks_folders_links_and_large_files(kit):
    kit.file("b/x")
    kit.file("a.txt")
    kit.file(".hidden")
    kit.file("large.csv", "x" * 60_000)
    (kit.root / "link").symlink_to("b")
    (kit.root / "gone").symlink_to("nowhere")
    assert kit.text("ls").split("\n") == [
        *("b/", "link/ -> b", ".hidden", "a.txt", "gone -> nowhere (missing)"),
        "large.csv  (60.0 kB)",
    ]


def test_ls_marks_what_git_ignores(kit):
    kit.file(".gitignore", "*.log\nbuild/\n/link\n")
    kit.file("sub/.gitignore", "!keep.log\n")
    for name in ("a.log", "a.txt", "build/x", "sub/keep.log", "sub/b.log"):
        kit.file(name)
    (kit.root / "link").symlink_to("sub")
    assert kit.text("ls").split("\n") == [
        *("build/  (git ignores it)", "link/ -> sub  (git ignores it)", "sub/", ".gitignore"),
        *("a.log  (git ignores it)", "a.txt"),
    ]
    assert kit.text("ls", path="sub").split("\n") == [
        *(".gitignore", "b.log  (git ignores it)", "keep.log"),
    ]
    assert kit.text("ls", path="build") == "x"


def test_ls_says_when_a_folder_is_empty_a_file_or_missing(kit):
    kit.file("src/module.py")
    (kit.root / "empty").mkdir()
    assert kit.text("ls", path="empty") == "(empty is empty)"
    assert "read shows it" in kit.refusal("ls", path="src/module.py")
    assert "Did you mean src?" in kit.refusal("ls", path="srx")


def test_ls_counts_what_it_leaves_out_and_says_how_to_go_on(kit):
    for n in range(620):
        kit.file(f"d/{n:04}.txt")
    lines = kit.text("ls", path="d").split("\n")
    assert len(lines) == 501
    assert "500 of 620 entries; use glob" in lines[-1]


def test_a_name_with_a_line_end_stays_on_its_line(kit):
    kit.file("a\nREADME.md\x1b[2J")
    assert kit.text("ls") == "a\\nREADME.md\\x1b[2J"
    assert kit.text("glob", pattern="*") == "a\\nREADME.md\\x1b[2J"


def test_a_name_that_is_no_text_can_be_shown(kit):
    (kit.root / os.fsdecode(b"caf\xe9")).write_text("x")
    for name, arguments in (("ls", {}), ("glob", {"pattern": "*"}), ("grep", {"pattern": "x"})):
        kit.text(name, **arguments).encode("utf-8")


# -- glob -------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("pattern", "path", "found"),
    [
        ("*.py", ".", ["a.py"]),
        ("**/*.py", ".", ["a.py", "src/b.py", "src/deep/c.py", "src/test/d.py"]),
        ("src/**/*.py", ".", ["src/b.py", "src/deep/c.py", "src/test/d.py"]),
        ("./src/*.py", ".", ["src/b.py"]),
        ("*/*.py", ".", ["src/b.py"]),
        ("**/test/*", ".", ["src/test/d.py"]),
        ("src/**", ".", ["src/b.py", "src/deep/c.py", "src/test/d.py"]),
        ("*.{py,md}", ".", ["a.py", "read.md"]),
        ("{src,doc}/**/[bc].p?", ".", ["src/b.py", "src/deep/c.py"]),
        ("*.py", "src", ["src/b.py"]),
        ("**/*", "src/deep", ["src/deep/c.py"]),
        ("a.py", ".", ["a.py"]),
        ("src/b.py", "", ["src/b.py"]),
        ("**/deep/", ".", ["src/deep/"]),
        ("*/", ".", [".github/", "src/"]),
        ("../src/*.py", "src", ["src/b.py"]),
        (".github/**", ".", [".github/ci.yml"]),
    ],
)
def test_glob_finds_what_its_pattern_says(kit, pattern, path, found):
    for name in ("a.py", "read.md", "src/b.py", "src/deep/c.py", "src/test/d.py", ".github/ci.yml"):
        kit.file(name)
    assert kit.text("glob", pattern=pattern, path=path).split("\n") == found


def test_the_order_is_that_of_the_sorted_paths(kit):
    for name in ("a/x", "a.txt", "a-b", "a/b/c", "B", "a b"):
        kit.file(name)
    found = kit.text("glob", pattern="**/*").split("\n")
    assert found == sorted(found)


def test_glob_says_when_only_folders_match_or_nothing(kit):
    kit.file("src/a.py")
    assert "end the pattern with /" in kit.text("glob", pattern="*")
    assert kit.text("glob", pattern="*.zip").startswith("No files match.")
    assert "No folders" in kit.text("glob", pattern="zip*/")


def test_glob_counts_what_it_leaves_out(kit):
    for n in range(620):
        kit.file(f"d/{n:04}.txt")
    assert kit.text("glob", pattern="**/*").endswith("[500 of 620; use a narrower pattern or path]")


@pytest.mark.parametrize("pattern", ["*/../x", "a*/../../b", "**/..", "..", "", ".", "./"])
def test_patterns_that_cannot_be_meant_are_refused(kit, pattern):
    assert "pattern" in kit.refusal("glob", pattern=pattern)
    assert not kit.outside("glob", pattern=pattern)


@pytest.mark.parametrize(
    ("pattern", "path"),
    [
        *(("/etc/*.conf", "."), ("../*", "."), ("*", ".."), ("*", "/"), ("~/*", ".")),
        *(("src/../../x/*", "."), ("*", "src/../.."), ("/*", "."), ("link/*", "."), ("/x", ".")),
        *((".ssh/*", "."), ("../other/{a,b}", ".")),
    ],
)
def test_a_pattern_or_path_that_leaves_the_workspace_is_outside(kit, tmp_path, pattern, path):
    kit.root = tmp_path / "work"
    kit.file("src/a")
    (kit.root / "link").symlink_to(tmp_path)
    assert kit.outside("glob", pattern=pattern, path=path)


def test_glob_braces_cannot_explode(kit):
    assert "alternatives" in kit.refusal("glob", pattern="{a,b}" * 20)


def test_links_to_folders_are_named_but_never_walked(kit, tmp_path):
    kit.file("src/a.py")
    (kit.root / "src" / "loop").symlink_to("..")
    (kit.root / "out").symlink_to("/etc")
    assert kit.text("glob", pattern="**/*").split("\n") == ["out", "src/a.py", "src/loop"]


# -- what git ignores -----------------------------------------------------------------------------


def test_git_agrees_about_what_is_ignored(kit):
    """The one authority on .gitignore is git."""
    subprocess.run(["git", "init", "-q"], cwd=kit.root, check=True)
    kit.file(".gitignore", "*.log\nbuild/\n!keep.log\n/top.txt\ndoc/*.pdf\n# c\n\\#x\nsp ace \n")
    kit.file("sub/.gitignore", "!*.log\nlocal\n/only_here\n**/deep/x\n")
    kit.file("sub/inner/.gitignore", "*\n!.gitignore\n!seen\n")
    kit.file(".git/info/exclude", "secret_*\n")
    names = (
        *("a.log", "keep.log", "top.txt", "build/x", "sub/build/x", "build.txt", "sub/a.log"),
        *("sub/local", "sub/x/local", "sub/only_here", "sub/x/only_here", "doc/a.pdf", "#x"),
        *("doc/sub/a.pdf", "secret_1", "sub/secret_2", "sub/deep/x", "sub/q/deep/x", "local"),
        *("sub/inner/seen", "sub/inner/unseen", "sub/inner/d/seen", "sp ace"),
    )
    for name in names:
        kit.file(name, "x\n")
    listed = subprocess.run(
        ["git", "ls-files", "-z", "--others", "--exclude-standard"],
        cwd=kit.root,
        check=True,
        capture_output=True,
    ).stdout
    expected = sorted(name for name in listed.decode().split("\0") if name)
    assert kit.text("glob", pattern="**/*").split("\n") == expected
    # And the other way of walking finds the same files.
    grep = kit.text("grep", pattern="^x$", limit=1000)
    assert {line.split(":")[0] for line in grep.split("\n")} == {
        name for name in expected if not name.endswith(".gitignore")
    }


def test_a_workspace_inside_a_repository_obeys_the_rules_above_it(kit, tmp_path):
    subprocess.run(["git", "init", "-q"], cwd=tmp_path, check=True)
    kit.file(".gitignore", "*.tmp\n/work/data\n")
    kit.root = tmp_path / "work"
    for name in ("a.tmp", "data/x", "a.py"):
        kit.file(name)
    assert kit.text("glob", pattern="**/*") == "a.py"


def test_an_ignored_folder_is_walked_when_it_is_named(kit):
    kit.file(".gitignore", "node_modules/\n*.log\n")
    kit.file("node_modules/p/index.js", "needle\n")
    kit.file("node_modules/p/.gitignore", "skip\n")
    kit.file("node_modules/p/skip")
    assert kit.text("glob", pattern="**/*.js").startswith("No files")
    assert kit.text("glob", pattern="node_modules/**/*.js") == "node_modules/p/index.js"
    assert "index.js:1" in kit.text("grep", pattern="needle", path="node_modules")


def test_broken_ignore_files_do_not_hide_anything_or_break_the_walk(kit, recwarn):
    kit.file(".gitignore", "[[:odd:]]\n!\n\\\n*.log\n[\n\xff\n")
    (kit.root / "sub").mkdir()
    os.mkfifo(kit.root / "sub" / ".gitignore")
    (kit.root / "sub2" / ".gitignore").mkdir(parents=True)
    for name in ("a.py", "a.log", "sub/b.py", "sub2/c.py"):
        kit.file(name)
    assert kit.text("glob", pattern="**/*.{py,log}").split("\n") == [
        "a.py",
        "sub/b.py",
        "sub2/c.py",
    ]
    assert not recwarn.list


def test_caches_and_the_insides_of_git_are_never_walked(kit):
    kept = kit.file("a.py", "needle\n")
    for name in (".git/x", "src/__pycache__/x", ".ipynb_checkpoints/x", "sub/.git/x"):
        kit.file(name, "needle\n")
    assert kit.text("glob", pattern="**/*") == kept.name
    assert kit.text("grep", pattern="needle") == "a.py:1: needle"


def test_unreadable_folders_are_counted():
    with powerless() as root:
        kit = Kit(root)
        kit.file("a/x", "needle\n")
        kit.file("b/x", "needle\n")
        (root / "a").chmod(0)
        assert kit.text("glob", pattern="**/*") == "b/x\n[1 folder could not be read]"
        search = Search(Job("needle", str(root), str(root)))
        assert [hit.path for hit in search.hits()] == ["b/x"]
        assert search.summary.unreadable == 1
        assert "Permission denied" in kit.refusal("ls", path="a")


def test_ten_thousand_files_are_walked(kit):
    for folder in range(100):
        base = kit.root / f"d{folder}"
        base.mkdir()
        for n in range(100):
            (base / f"{n}.txt").write_text("needle\n" if n == 7 else "hay\n")
    assert "[500 of 10000;" in kit.text("glob", pattern="**/*.txt")
    assert kit.text("grep", pattern="needle", limit=1000).count("\n") == 99


def test_a_walk_that_nobody_waits_for_stops(kit):
    for n in range(50):
        kit.file(f"d{n}/x")
    asked = 0

    def stop() -> bool:
        nonlocal asked
        asked += 1
        return asked > 3

    tally = Tally()
    assert len(list(walk(kit.root, kit.root, tally, stop))) < 20
    assert tally.stopped


# -- patterns -------------------------------------------------------------------------------------

_NAMES = st.text("ab.*?[]{},!-", min_size=1, max_size=6)


@settings(max_examples=300)
@given(st.lists(_NAMES | st.just("**"), max_size=6).map("/".join), st.lists(_NAMES, max_size=6))
def test_every_pattern_can_be_matched_or_is_refused(pattern, parts):
    try:
        matches = matcher(pattern)
    except ToolError:
        return
    assert matches(parts) in (True, False)


@given(st.lists(st.text("ab", min_size=1, max_size=3), min_size=1, max_size=6), st.data())
def test_double_stars_stand_for_any_number_of_names(parts, data):
    start = data.draw(st.integers(0, len(parts)))
    end = data.draw(st.integers(start, len(parts)))
    pattern = "/".join((*parts[:start], "**", *parts[end:]))
    assert matcher(pattern)(parts)
    assert matcher("/".join(parts))(parts)
    assert not matcher("/".join((*parts, "c", "**")))(parts)


def test_no_pattern_takes_for_ever():
    name = "a" * 250
    assert not matcher("*a" * 60 + "b")([name])
    assert not matcher("**/a/" * 60 + "b")(["a"] * 250)


@pytest.mark.parametrize(
    ("pattern", "parts"),
    [
        *(("src/**/*.py", ("src", "**/*.py")), ("*.py", ("", "*.py")), ("/etc/*", ("/etc", "*"))),
        *(("/*", ("/", "*")), ("a/b.py", ("a", "b.py")), ("a", ("", "a"))),
        *((r"src\*.py", ("src", "*.py")), ("../x/{a,b}/c", ("../x", "{a,b}/c"))),
    ],
)
def test_a_pattern_is_split_into_a_folder_and_the_wild_rest(pattern, parts):
    assert split_pattern(pattern) == parts
