"""`grep`: which lines it finds, what it leaves out, and that no pattern can hang it."""

from __future__ import annotations

import asyncio
import io
import json
import os
import re
import subprocess
import sys
import time
import warnings
from collections.abc import Callable
from dataclasses import asdict
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from agent_magics.tools import searching
from agent_magics.tools.grepping import Job, Search, serve
from tests.test_tools_kit import Kit


@pytest.fixture
def kit(tmp_path: Path) -> Kit:
    return Kit(tmp_path)


def test_matches_are_given_by_path_and_line(kit):
    kit.file("b.py", "x\nneedle one\n")
    kit.file("a/c.py", "needle two\nx\nneedle\n")
    assert kit.text("grep", pattern="need.e").split("\n") == [
        *("a/c.py:1: needle two", "a/c.py:3: needle", "b.py:2: needle one"),
    ]
    assert kit.text("grep", pattern="two", path="a") == "a/c.py:1: needle two"
    assert kit.text("grep", pattern="two", path="a/c.py") == "a/c.py:1: needle two"


def test_case_counts_unless_said(kit):
    kit.file("a.py", "Needle\n")
    assert "No matches in 1 file." in kit.text("grep", pattern="needle")
    assert kit.text("grep", pattern="needle", ignore_case=True) == "a.py:1: Needle"


@pytest.mark.parametrize(
    ("glob", "path", "found"),
    [
        ("*.py", ".", ["src/a.py", "top.py"]),
        ("src/*.py", ".", ["src/a.py"]),
        ("**/*.{md,py}", ".", ["src/a.py", "src/b.md", "top.py"]),
        ("*.py", "src", ["src/a.py"]),
        ("src/*.md", "src", ["src/b.md"]),
        ("!*.py", ".", ["src/b.md"]),
        ("top.*", ".", ["top.py"]),
        ("", ".", ["src/a.py", "src/b.md", "top.py"]),
    ],
)
def test_a_glob_says_which_files(kit, glob, path, found):
    for name in ("src/a.py", "src/b.md", "top.py"):
        kit.file(name, "needle\n")
    text = kit.text("grep", pattern="needle", glob=glob, path=path)
    assert [line.split(":")[0] for line in text.split("\n")] == found


def test_the_limit_is_kept_and_the_next_one_is_proposed(kit):
    kit.file("a.txt", "x\n" * 150)
    text = kit.text("grep", pattern="x").split("\n")
    assert len(text) == 101
    assert (
        text[-1] == "[100 matches, and there are more: use limit=200 or a narrower pattern or path]"
    )
    assert "more" not in kit.text("grep", pattern="x", limit=150)
    kit.file("b.txt", ("y" * 300 + "\n") * 500)
    assert re.search(
        r"\[\d+ of 500 matches; use a narrower", kit.text("grep", pattern="y", limit=900)
    )


def test_a_long_line_is_cut_around_its_match(kit):
    kit.file("a.js", "x" * 5000 + "needle" + "y" * 5000)
    text = kit.text("grep", pattern="needle")
    assert len(text) < 500
    assert "xneedley" in text
    assert "10,006 characters" in text


def test_line_ends_are_no_part_of_a_line(kit):
    kit.file("a.txt", b"one\r\ntwo\r\n")
    assert kit.text("grep", pattern="one$") == "a.txt:1: one"
    assert "No matches" in kit.text("grep", pattern="^$")
    assert "line by line" in kit.text("grep", pattern=r"one\r\ntwo")


def test_files_in_every_encoding_are_searched(kit):
    kit.file("a.txt", "grün\n".encode("utf-16"))
    kit.file("b.txt", "gr\xfcn\n".encode("latin-1"))
    assert kit.text("grep", pattern="grün").split("\n") == ["a.txt:1: grün", "b.txt:1: grün"]


def test_secrets_binary_and_special_files_are_not_searched(kit):
    kit.file("a.bin", b"\0needle")
    kit.file(".env", "needle")
    kit.file("keys/id_rsa", "needle")
    kit.file(".ssh/config", "needle")
    os.mkfifo(kit.root / "fifo")
    kit.file("b.txt", "needle")
    assert kit.text("grep", pattern="needle") == "b.txt:1: needle"
    assert "The file is not text" in kit.text("grep", pattern="needle", path="a.bin")


def test_links_are_not_followed_out_of_the_workspace_or_to_secrets(kit, tmp_path):
    kit.root = tmp_path / "work"
    kit.file(".env", "needle")
    (tmp_path / "private.txt").write_text("needle")
    (kit.root / "a.txt").symlink_to("../private.txt")
    (kit.root / "b.txt").symlink_to(".env")
    (kit.root / "c").symlink_to("..")
    assert "needle" not in kit.text("grep", pattern="needle").split("\n")[0]
    assert kit.outside("grep", pattern="needle", path="a.txt")
    assert kit.outside("grep", pattern="needle", path="b.txt")
    assert kit.outside("grep", pattern="needle", path="c")


def test_a_protected_file_is_searched_when_a_person_allowed_that_very_file(kit):
    kit.file(".env", "needle=1\n")
    assert kit.outside("grep", pattern="x", path=".env")
    assert kit.text("grep", pattern="needle", path=".env") == ".env:1: needle=1"


def test_a_notebook_is_searched_in_its_sources_only(kit):
    output = {"output_type": "stream", "name": "stdout", "text": "needle in output"}
    cells = [
        {"cell_type": "markdown", "source": ["# T\n", "needle\n"], "metadata": {}},
        {"cell_type": "code", "source": "x\nneedle = 1", "outputs": [output], "metadata": {}},
    ]
    kit.file("a.ipynb", json.dumps({"cells": cells, "nbformat": 4, "metadata": {"needle": 1}}))
    kit.file("b.ipynb", "needle, but no notebook\n")
    assert kit.text("grep", pattern="needle").split("\n") == [
        *("a.ipynb:cell 1:2: needle", "a.ipynb:cell 2:2: needle = 1"),
        "b.ipynb:1: needle, but no notebook",
    ]


def test_a_large_file_is_searched_line_by_line(kit):
    kit.file("a.txt", b"x" * 999 + b"\n" + (b"y" * 999 + b"\n") * 10_500 + b"needle\xff\n")
    assert kit.text("grep", pattern="needle") == "a.txt:10502: needle\ufffd"


@pytest.mark.parametrize("pattern", ["foo(", "[a", "*x", "(?P<n>", "a{2,1}", "\\"])
def test_a_broken_pattern_is_explained(kit, pattern):
    message = kit.refusal("grep", pattern=pattern)
    assert "regular expression of Python" in message
    assert "backslash" in message


def test_an_empty_pattern_and_a_missing_path_are_refused(kit):
    kit.file("src/a.py")
    assert "empty" in kit.refusal("grep", pattern="")
    assert "Did you mean src?" in kit.refusal("grep", pattern="x", path="srx")
    assert "alternatives" in kit.refusal("grep", pattern="x", glob="{a,b}" * 20)


def test_nothing_to_search_is_not_the_same_as_nothing_found(kit):
    kit.file("a.py", "x")
    assert "No files to search in" in kit.text("grep", pattern="x", glob="*.rs")


def test_a_pattern_that_takes_for_ever_ends_with_an_interrupt_and_leaves_no_process(kit):
    """Python cannot be interrupted inside a regular expression, so it runs beside the kernel."""
    kit.file("a.txt", "a" * 60 + "!\n")

    async def interrupted() -> None:
        run = kit.tool("grep").run({"pattern": "(a|aa)+$"}, print)
        task = asyncio.create_task(run)
        await asyncio.to_thread(_until, lambda: bool(_searches()))
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task

    asyncio.run(interrupted())
    _until(lambda: not _searches())


def _until(condition: Callable[[], bool]) -> None:
    deadline = time.monotonic() + 60
    while not condition():
        assert time.monotonic() < deadline
        time.sleep(0.01)


def _searches() -> list[str]:
    """The search processes that this one has started and that still live."""
    found = []
    for stat in Path("/proc").glob("[0-9]*/stat"):
        try:
            parent = stat.read_text().rsplit(")", 1)[1].split()
            command = (stat.parent / "cmdline").read_bytes()
        except OSError:
            continue
        if parent[1] == str(os.getpid()) and parent[0] != "Z" and b"grepping" in command:
            found.append(stat.parent.name)
    return found


def test_a_search_without_an_end_gives_what_it_found_until_then(kit, tmp_path):
    kit.file("a.txt", "aaa\n")
    kit.file("b.txt", "a" * 60 + "!\n")
    job = Job("(a|aa)+$", str(tmp_path), str(tmp_path))
    hits, _, timed_out = asyncio.run(searching.searched(job, seconds=2))
    assert timed_out
    assert [hit.path for hit in hits] == ["a.txt"]


def test_the_search_process_imports_only_what_it_needs(tmp_path):
    """A search should cost less than a blink: no event loop, no openai, no IPython."""
    code = searching.ENTRY.replace("main()", "import sys; print(*sys.modules)")
    places = json.dumps([sys.path, str(Path(searching.__file__).parent)])
    run = subprocess.run(
        [sys.executable, "-I", "-S", "-c", code, places], capture_output=True, text=True, check=True
    )
    heavy = {"asyncio", "openai", "IPython", "nbformat", "jsonschema", "subprocess", "pathspec"}
    assert heavy.isdisjoint(run.stdout.split())


def test_a_file_of_the_searched_folder_is_never_imported(kit):
    kit.file("pathspec.py", "raise SystemExit('imported')\n")
    kit.file("re.py", "raise SystemExit('imported')\n")
    kit.file(".gitignore", "*.log\n")
    here = Path.cwd()
    os.chdir(kit.root)
    sys.path[:0] = ["", str(kit.root)]
    try:
        assert "pathspec.py:1" in kit.text("grep", pattern="imported")
    finally:
        del sys.path[:2]
        os.chdir(here)


def test_the_search_answers_in_lines_of_json(tmp_path):
    (tmp_path / "a.txt").write_text("x\n")
    answer = io.StringIO()
    order = {**asdict(Job("x", str(tmp_path), str(tmp_path))), "advised": False}
    serve(io.BytesIO(json.dumps(order).encode() + b"\n"), answer)
    hit, summary = map(json.loads, answer.getvalue().splitlines())
    assert hit == {"path": "a.txt", "where": "1", "text": "x"}
    assert summary["files"] == 1


_PARTS = (
    *(
        "a",
        "b",
        ".",
        "*",
        "+",
        "?",
        "|",
        "(",
        ")",
        "[",
        "]",
        "^",
        "$",
        "(?:",
        "(?=",
        "(?!",
        "(?<!b)",
    ),
    *(
        r"\w",
        r"\W",
        r"\s",
        r"\S",
        r"\b",
        r"\B",
        r"\D",
        r"\Z",
        r"\A",
        r"\n",
        r"\\",
        " ",
        "[^a]",
        "-",
    ),
)


@settings(max_examples=500, deadline=None)
@given(
    pattern=st.lists(st.sampled_from(_PARTS), min_size=1, max_size=6).map("".join),
    lines=st.lists(st.text("ab \t\\", max_size=5), max_size=6),
    end=st.sampled_from(["\n", "\r\n", ""]),
)
def test_the_lines_found_are_those_in_which_python_finds_the_pattern(
    tmp_path_factory, pattern, lines, end
):
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            expression = re.compile(pattern)
    except re.error:
        return
    root = tmp_path_factory.getbasetemp()
    file = root / "lines.txt"
    file.write_bytes((end or "\n").join(lines).encode() + end.encode())
    found = [int(hit.where) for hit in Search(Job(pattern, str(file), str(root))).hits()]
    content = (lines or [""]) if end else lines if lines and lines[-1] else lines[:-1]
    assert found == [n for n, line in enumerate(content, 1) if expression.search(line)]
