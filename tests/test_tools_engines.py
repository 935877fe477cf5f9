"""`grep` with ripgrep and without it: the same answer, whatever the tree and the pattern."""

from __future__ import annotations

import asyncio
import json
import os
import re
import shutil
import stat
import subprocess
import time
import warnings
from collections.abc import Callable
from contextlib import suppress
from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from agent_magics.tools.advice import Advice
from agent_magics.tools.grepping import Hit, Job, Search, Summary
from agent_magics.tools.ripgrep import OPTIONS, Ripgrep
from agent_magics.tools.searching import searched
from agent_magics.tools.superset import harmless, needed, superset
from tests.test_tools_kit import Kit, powerless

RG = shutil.which("rg")
FIRST = Job("", "", "").tried
needs_rg = pytest.mark.skipif(RG is None, reason="ripgrep is not installed")


def absent(_name: str) -> None:
    return None


def kit_with(root: Path, engine: str) -> Kit:
    """A workspace whose search has ripgrep's help, or none."""
    kit = Kit(root)
    kit.workspace.ripgrep = Ripgrep() if engine == "ripgrep" else Ripgrep(absent)
    return kit


@pytest.fixture(params=[pytest.param("ripgrep", marks=needs_rg), "own walker"])
def engine(request: pytest.FixtureRequest) -> str:
    return request.param


NOTEBOOK = json.dumps(
    {
        "nbformat": 4,
        "nbformat_minor": 5,
        "metadata": {"needle": "x"},
        "cells": [
            {"cell_type": "markdown", "id": "a", "metadata": {}, "source": ["# T\n", '"needle"']},
            {
                **{"cell_type": "code", "id": "b", "metadata": {}, "execution_count": 1},
                "source": "x\nneedle = 1",
                "outputs": [{"output_type": "stream", "name": "stdout", "text": "needle out"}],
            },
        ],
    }
)

FILES: dict[str, str | bytes] = {
    # what git ignores, at several levels, with negation
    ".gitignore": "*.log\nbuild/\n!keep.log\n/top\n*.py[cod]\ndocs/_build\nfoo/**\n!foo/bar\n",
    "a.log": "needle\n",
    "keep.log": "needle\n",
    "top": "needle\n",
    "sub/top": "needle\n",
    "build/x": "needle\n",
    "x/build": "needle\n",
    "m.pyc": "needle\n",
    "docs/_build/x": "needle\n",
    "x/docs/_build": "needle\n",
    "foo/a": "needle\n",
    "foo/bar": "needle\n",
    "foo/baz/c": "needle\n",
    "sub/.gitignore": "!a.log\nlocal*\n/only\n**/deep/x\n",
    "sub/a.log": "needle\n",
    "sub/local1": "needle\n",
    "sub/x/only": "needle\n",
    "sub/only": "needle\n",
    "sub/q/deep/x": "needle\n",
    "star/.gitignore": "*\n!*/\n!*.py\n",
    "star/a.py": "needle\n",
    "star/a.txt": "needle\n",
    "star/in/b.py": "needle\n",
    # lines that ripgrep reads otherwise than git, or than other versions of itself
    "odd/.gitignore": "a{b,c}d\n[!a]z\n\\#x\nsp ace \na**e\n[[:alpha:]]9\n",
    "odd/abd": "needle\n",
    "odd/a{b,c}d": "needle\n",
    "odd/bz": "needle\n",
    "odd/az": "needle\n",
    "odd/#x": "needle\n",
    "odd/sp ace": "needle\n",
    "odd/a/b/e": "needle\n",
    "odd/abe": "needle\n",
    "odd/b9": "needle\n",
    "odd/mark/.gitignore": b"\xef\xbb\xbfz*\n",
    "odd/mark/z1": "needle\n",
    "odd/crlf/.gitignore": "z1\r\n*.q\r\n",
    "odd/crlf/z1": "needle\n",
    "odd/crlf/a.q": "needle\n",
    "odd/latin/.gitignore": b"\xff\nz1\n",
    "odd/latin/z1": "needle\n",
    # files that only other programs obey
    ".ignore": "*\n",
    ".rgignore": "*\n",
    ".git/info/exclude": "excluded*\n",
    ".git/HEAD": "ref: refs/heads/needle\n",
    "excluded1": "needle\n",
    # a repository inside the repository
    "inner/.git/info/exclude": "inside\n",
    "inner/inside": "needle\n",
    "inner/x.log": "needle\n",
    "inner/y": "needle\n",
    # hidden, cached, secret
    ".hidden/x.py": "needle\n",
    ".env": "needle=1\n",
    ".env.example": "needle=\n",
    "conf/.env.local": "needle=1\n",
    ".ssh/config": "needle\n",
    "keys/id_rsa": "needle\n",
    "keys/server.pem": "needle\n",
    "__pycache__/x": "needle\n",
    "sub/.ipynb_checkpoints/x": "needle\n",
    "sub/.hg/x": "needle\n",
    # contents
    "crlf.txt": b"one needle\r\nneedle\r\n\r\n",
    "ends.txt": b"needle\r\r\nlast needle",
    "mark.txt": b"\xef\xbb\xbfneedle first\nneedle\n",
    "utf8.txt": "grün needle\nß ſ K İ ı\n日本語 needle\n",
    "latin.txt": b"gr\xfcn needle\ncaf\xe9\n",
    "quotes.txt": b"\x93needle\x94 caf\xe9 \x81\n",
    "mixed.txt": "ü ö needle".encode() + b"\xff\xffneedle\n" + "ü\n".encode() * 3,
    "utf16le.txt": "grün needle\n".encode("utf-16"),
    "utf16be.txt": b"\xfe\xff" + "grün needle\nneedle\n".encode("utf-16-be"),
    "utf16bare.txt": "needle\n".encode("utf-16-le"),
    "utf16bad.txt": b"\xff\xfe\x00\xd8n\x00e\x00e\x00d\x00l\x00e\x00\n\x00",
    "utf32.txt": "needle\n".encode("utf-32"),
    "binary": b"needle\nneedle\0needle\n",
    "late": b"needle\n" + b"x" * 9000 + b"\nsecond needle\0needle\nneedle\n",
    "long.js": "x" * 70_000 + "needle" + "y" * 70_000 + "\nneedle\n",
    "a.ipynb": NOTEBOOK,
    "b.ipynb": "needle, but no notebook\n",
    "empty": "",
    "lines": "\n\nneedle\n\n",
    "words": "needles unneedle needle_x needle-x énéedle éneedle needleé (needle) 3\n",
    "foo.bar": "foobar barbaz foobaz\nabcabc\nKELVIN kiss İstanbul\n",
    "sp ace/ü/n\nl.txt": "needle\n",
    os.fsdecode(b"caf\xe9.txt"): "needle\n",
    "-dash/--files": "--needle -e x\n",
}


@pytest.fixture(scope="module")
def tree(tmp_path_factory: pytest.TempPathFactory) -> Path:
    root = tmp_path_factory.mktemp("tree")
    kit = Kit(root)
    for name, content in FILES.items():
        kit.file(name, content)
    kit.file("large.txt", (b"hay " * 200 + b"\n") * 13_000 + b"caf\xe9 needle\n")
    (root / "link.py").symlink_to("sub/top")
    (root / "loop").symlink_to(".")
    (root / "out").symlink_to("/etc")
    (root / "sub" / "env.txt").symlink_to("../.env")
    os.mkfifo(root / "fifo")
    return root


_WITHOUT_BLANKS = r"""
needle ^needle needle$ \bneedle\b needle\b ^$ ^ x NEEDLE kiss grün gr.n caf.$ é zzz \w+needle
\Wneedle \s\w+\s [^a-z]needle 日... (\w)\1 (?<=un)needle needle(?!s) (?i)NeeDLE (foo|bar)baz
--needle --files \. ne{2}dle n.{1,300}e (?:need){1,2}(le)? \x6eeedle \u00fc \r$ \r a\Z \Aneedle \n
“ n(?=e)eedle (?P<q>[a-c]+)(?P=q) (?s)n.*e needle| istanbul ı K ſ KELVIN (?a:\w)needle \d
[\x80-\xff] needle.first ' "needle" x{5000}needle
"""
PATTERNS = (
    *_WITHOUT_BLANKS.split(),
    *("(?x) need # c\n le", "-e x", "[^\n]needle", "\ufffd"),
)


@needs_rg
@pytest.mark.parametrize("pattern", PATTERNS)
def test_both_engines_give_the_same_answer(tree, pattern):
    """With the whole of ripgrep's advice, that is, which a search otherwise does not wait for."""
    ripgrep = Ripgrep()
    assert ripgrep.program(tree)
    for place, more in (
        ("", {}),
        ("", {"ignore_case": True}),
        ("", {"glob": "*.txt"}),
        ("", {"glob": "!*.{txt,log}"}),
        ("", {"glob": "sub/**"}),
        ("", {"limit": 3}),
        ("sub", {}),
        ("odd/crlf", {}),
        ("build", {}),
        ("inner", {}),
    ):
        job = Job(pattern, str(tree / place), str(tree), **{"limit": 1000, "tried": 0, **more})
        # What every match needs spares a search much work, and must change nothing either.
        needs = replace(job, needed=needed(pattern, ignore_case=job.ignore_case))
        assert found(needs, ripgrep) == found(needs, None) == found(job, None), (place, more)


def found(job: Job, ripgrep: Ripgrep | None) -> tuple[list[Hit], object]:
    """A search in this process: its hits, and what it says of the whole, where it saw all."""
    adviser = ripgrep.begun(job) if ripgrep else None
    search = Search(job, Advice(adviser.answer if adviser else None))
    hits = list(search.hits())
    return hits, search.summary.more or search.summary


def test_the_files_found_are_those_of_git_and_of_this_list(tree, engine):
    """The answer that both must give, written down."""
    text = kit_with(tree, engine).text("grep", pattern="needle", limit=1000)
    found = {re.split(r":(?:cell )?\d+:", line)[0] for line in text.split("\n")}
    ignored = {
        *("a.log", "top", "build/x", "m.pyc", "docs/_build/x", "foo/a", "foo/baz/c", "inner/x.log"),
        *("sub/local1", "sub/only", "sub/q/deep/x", "star/a.txt", "excluded1", "odd/mark/z1"),
        *("odd/bz", "odd/#x", "odd/sp ace", "odd/abe", "odd/b9", "odd/a{b,c}d"),
        *("odd/crlf/z1", "odd/crlf/a.q", "odd/latin/z1"),
        *(".git/HEAD", "__pycache__/x", "sub/.ipynb_checkpoints/x", "sub/.hg/x"),
    }
    secret = {".env", "conf/.env.local", ".ssh/config", "keys/id_rsa", "keys/server.pem"}
    not_text = {"utf16bare.txt", "utf16bad.txt", "utf32.txt", "binary"}
    without = {name for name, content in FILES.items() if not _holds(content)}
    expected = {*FILES, "large.txt"} - ignored - secret - not_text - without
    shown = {name.replace("\n", "\\n").replace("\udce9", "\\udce9") for name in expected}
    assert found == shown


def _holds(content: str | bytes) -> bool:
    data = content if isinstance(content, bytes) else content.encode()
    return b"needle" in data.replace(b"\0", b"")


@needs_rg
def test_settings_of_the_user_change_nothing(tree, tmp_path, monkeypatch):
    config = tmp_path / "ripgreprc"
    config.write_text("--max-count=1\n--invert-match\n--glob=!*.txt\n")
    git = tmp_path / "home" / ".config" / "git"
    git.mkdir(parents=True)
    (git / "ignore").write_text("*\n")
    (tmp_path / "home" / ".gitconfig").write_text(f"[core]\nexcludesFile = {git}/ignore\n")
    before = kit_with(tree, "ripgrep").text("grep", pattern="needle", limit=1000)
    monkeypatch.setenv("RIPGREP_CONFIG_PATH", str(config))
    monkeypatch.setenv("HOME", str(tmp_path / "home"))
    monkeypatch.setenv("XDG_CONFIG_HOME", str(git.parent))
    assert kit_with(tree, "ripgrep").text("grep", pattern="needle", limit=1000) == before


def test_an_ignore_file_above_a_workspace_without_a_repository_says_nothing(tmp_path, engine):
    (tmp_path / ".gitignore").write_text("*\n")
    kit = kit_with(tmp_path / "work", engine)
    kit.file("sub/a.txt", "needle\n")
    assert kit.text("grep", pattern="needle", path="sub") == "sub/a.txt:1: needle"


def test_an_ignore_file_that_never_ends_hinders_nobody(tmp_path, engine, monkeypatch):
    """ripgrep waits for a FIFO of that name for ever; the search then goes on by itself."""
    kit = kit_with(tmp_path, engine)
    for number in range(FIRST + 10):
        kit.file(f"{number:03}.txt", "hay\n")
    kit.file("z/last.txt", "needle\n")
    os.mkfifo(tmp_path / "z" / ".gitignore")
    assert kit.text("grep", pattern="needle") == "z/last.txt:1: needle"


def test_files_that_cannot_be_read_are_counted_alike(engine):
    with powerless() as root:
        kit = kit_with(root, engine)
        for number in range(FIRST + 10):
            kit.file(f"{number:03}.txt", "needle\n" if number == 5 else "hay\n")
        kit.file("y.txt", "needle\n").chmod(0)
        kit.file("z/a.txt", "needle\n")
        (root / "z").chmod(0)
        hits, summary = found(Job("needle", str(root), str(root), tried=0), kit.workspace.ripgrep)
        assert [hit.path for hit in hits] == ["005.txt"]
        assert isinstance(summary, Summary)
        assert summary.unreadable == 2


def test_many_thousand_matches_cost_no_memory_and_are_counted(tmp_path, engine):
    kit = kit_with(tmp_path, engine)
    for number in range(5):
        kit.file(f"{number}.txt", "x" * 200 + "\n" + "needle\n" * 10_000)
    lines = kit.text("grep", pattern="needle", limit=1000).split("\n")
    assert len(lines) == 1001
    assert lines[0] == "0.txt:2: needle"
    assert lines[-1] == "[1000 matches, and there are more: use a narrower pattern or path]"


# -- ripgreps that are none ------------------------------------------------------------------------


def program(folder: Path, text: str) -> Path:
    folder.mkdir(exist_ok=True)
    path = folder / "rg"
    path.write_text(f"#!/bin/sh\n{text}\n")
    path.chmod(path.stat().st_mode | stat.S_IXUSR)
    return path


@pytest.mark.parametrize(
    "text",
    [
        *("exit 0", "exit 1", "exit 2", "exit 127", "echo 'rg 0.8'; exit 0", "kill -9 $$"),
        *("echo 'error: unexpected argument' >&2; exit 2", "printf './a.log\\0'", "cat /dev/zero"),
    ],
)
def test_a_ripgrep_that_does_not_work_is_found_out_and_not_used(tmp_path, text):
    path = program(tmp_path / "bin", text)
    ripgrep = Ripgrep(lambda _name: str(path))
    kit = Kit(tmp_path / "work")
    kit.workspace.ripgrep = ripgrep
    kit.file("a.txt", "needle\n")
    assert kit.text("grep", pattern="needle") == "a.txt:1: needle"
    assert not ripgrep.program(kit.root)


def test_a_ripgrep_is_tried_once(tmp_path):
    log = tmp_path / "log"
    path = program(tmp_path / "bin", f"echo run >> {log}; exit 1")
    ripgrep = Ripgrep(lambda _name: str(path))
    for _ in range(3):
        assert not ripgrep.program(tmp_path / "work")
    assert log.read_text() == "run\n"


def test_a_ripgrep_of_the_workspace_is_never_run(tmp_path):
    """A cloned repository can bring one, and an activated environment of it put it on PATH."""
    kit = Kit(tmp_path / "work")
    kit.file("a.txt", "needle\n")
    path = program(kit.root / "bin", f"touch {tmp_path}/was_run")
    for found in (str(path), "bin/rg", "./rg"):
        kit.workspace.ripgrep = Ripgrep(lambda _name, found=found: found)
        assert kit.text("grep", pattern="needle", path=".").startswith("a.txt:1: needle")
    link = tmp_path / "rg"
    link.symlink_to(path)
    kit.workspace.ripgrep = Ripgrep(lambda _name: str(link))
    kit.text("grep", pattern="needle")
    assert not (tmp_path / "was_run").exists()


@needs_rg
def test_a_ripgrep_that_fails_after_its_trial_changes_no_answer(tmp_path):
    for failure in ("echo broken >&2; exit 2", "kill -9 $$", "exit 7"):
        # It works in the trial's folder and nowhere else.
        text = f'case "$PWD" in */agent_magics-*) exec {RG} "$@";; *) {failure};; esac'
        path = program(tmp_path / "bin", text)
        kit = Kit(tmp_path / "work")
        for number in range(FIRST + 5):
            kit.file(f"{number:03}.txt", "hay\n")
        kit.file("z/z.txt", "needle\n")
        kit.workspace.ripgrep = Ripgrep(lambda _name, path=path: str(path))
        for pattern in ("needle", "need.*"):
            assert kit.text("grep", pattern=pattern) == "z/z.txt:1: needle"


@needs_rg
@pytest.mark.parametrize("pattern", ["needle", "need.*"])
def test_an_interrupt_ends_ripgrep_and_its_children(tmp_path, pattern):
    pids = tmp_path / "pids"
    text = (
        f'case "$PWD" in */agent_magics-*) exec {RG} "$@";; esac\n'
        f"sleep 600 & echo $! $$ > {pids}; wait"
    )
    path = program(tmp_path / "bin", text)
    kit = Kit(tmp_path / "work")
    kit.workspace.ripgrep = Ripgrep(lambda _name: str(path))
    for number in range(FIRST + 5):
        kit.file(f"{number:03}.txt", "hay\n")
    kit.file("z/last.txt", "hay\n")

    async def interrupted() -> None:
        task = asyncio.create_task(kit.tool("grep").run({"pattern": pattern}, print))
        await asyncio.to_thread(_until, lambda: pids.exists() and pids.read_text().strip())
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task

    asyncio.run(interrupted())
    _until(lambda: not any(_lives(int(pid)) for pid in pids.read_text().split()))


def _until(condition: Callable[[], object]) -> None:
    deadline = time.monotonic() + 60
    while not condition():
        assert time.monotonic() < deadline
        time.sleep(0.01)


def _lives(pid: int) -> bool:
    with suppress(OSError):
        return Path(f"/proc/{pid}/stat").read_text().rsplit(")", 1)[1].split()[0] not in "ZX"
    return False


def test_a_search_whose_time_is_up_gives_what_it_found_and_ends_everything(tmp_path, engine):
    kit = kit_with(tmp_path, engine)
    kit.file("a.txt", "aaa\n")
    kit.file("b.txt", "a" * 60 + "!\n")
    job = Job("(a|aa)+$", str(tmp_path), str(tmp_path))
    hits, _, timed_out = asyncio.run(searched(job, kit.workspace.ripgrep, seconds=2))
    # ripgrep, which cannot be made to take for ever, knows that the second file has no match.
    assert [hit.path for hit in hits] == ["a.txt"]
    assert timed_out == (engine == "own walker") or timed_out


# -- the translation -------------------------------------------------------------------------------

_PIECES = r"""
a b k S é ß “ . * + ? | ( ) [ ] ^ $ {2} (?: (?= (?! (?<!b) (?i: \w \W \s \S \b \B \d \D \Z \A \n \\
[^a] - \1 {1,3} [a-é] [^é] (?> *+ \x20
"""


@needs_rg
@settings(
    max_examples=40, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture]
)
@given(
    pattern=st.lists(st.sampled_from(_PIECES.split()), min_size=1, max_size=6).map("".join),
    lines=st.lists(st.text("abAkKsSſKéßÉ“ \t\\-\r", max_size=6), min_size=1, max_size=5),
    encoding=st.sampled_from(["utf-8", "cp1252", "utf-8-sig", "utf-16", "mixed"]),
    ignore_case=st.booleans(),
)
def test_ripgrep_never_misses_a_file_in_which_python_finds_something(
    tmp_path_factory, pattern, lines, encoding, ignore_case
):
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            re.compile(pattern)
    except (re.error, OverflowError):
        return
    translated = superset(pattern, ignore_case=ignore_case)
    if not translated:
        return
    root = tmp_path_factory.mktemp("one")
    text = "\n".join(lines)
    data = (
        text.encode() + b"\xff\n" + text.encode()
        if encoding == "mixed"
        else text.encode(encoding, "ignore")
    )
    (root / "a.txt").write_bytes(data)
    job = Job(pattern, str(root / "a.txt"), str(root), ignore_case=ignore_case)
    if next(iter(Search(job).hits()), None) is None:
        return
    run = subprocess.run(
        [RG, *OPTIONS, f"--regexp={translated}", "--", "./"],
        cwd=root,
        capture_output=True,
        check=False,
    )
    assert run.stdout == b"./a.txt\0", (translated, run.stderr)


@pytest.mark.parametrize(
    ("pattern", "ignore_case", "text"),
    [
        *(("needle", False, "needle"), (r"\bdef \w+\(", False, "def "), ("a|b", False, "")),
        *(("NEEDle", True, "needle"), ("kisses and miss", True, " and m"), ("(?i)x", False, "")),
        *(
            ("x*yz?abc", False, "abc"),
            ("grün", False, "gr"),
            ("(ab)+c", False, "c"),
            ("(", False, ""),
        ),
        *(("^import os$", False, "import os"), ("a.b", False, "a"), ("[ab]", False, "")),
    ],
)
def test_what_every_match_needs_is_seen(pattern, ignore_case, text):
    assert needed(pattern, ignore_case=ignore_case) == text


@pytest.mark.parametrize("pattern", ["needle", "(foo|bar)baz", "https?://", "[a-z]x", r"\bx\.y$"])
def test_expressions_that_cannot_take_long_need_no_process_of_their_own(pattern):
    assert harmless(pattern)


@pytest.mark.parametrize(
    "pattern",
    [r"\w+", "(a|aa)+$", "a?" * 30 + "a" * 30, "(a|a)" * 30 + "b", "x{2}", r"(a)\1", "(?=a*)b"],
)
def test_expressions_that_might_take_for_ever_get_one(pattern):
    assert not harmless(pattern)


@pytest.mark.parametrize("pattern", ["(", "*", "\\", "(?z)", "a\nb", r"\n", "(" * 200 + ")" * 200])
def test_what_cannot_be_translated_is_left_to_the_own_walker(pattern):
    assert superset(pattern, ignore_case=False) == ""
