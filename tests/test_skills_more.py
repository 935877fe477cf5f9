"""The shipped skills for everyday work: what each shows, its tools on repositories, and a turn."""

from __future__ import annotations

import asyncio
import json
import os
import re
import shutil
import subprocess
import sys
from collections.abc import Callable, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any, TypeVar

import nbformat
import pytest
from IPython.core.interactiveshell import InteractiveShell

from agent_magics.context import ActiveSkill, system_prompt
from agent_magics.frontends.kernel import AwaitLoop, run_captured
from agent_magics.library.bundled import load_tools
from agent_magics.library.discovery import Library, Place
from agent_magics.messages import Assistant
from agent_magics.policy import Answer
from agent_magics.ports import CodeOutput
from agent_magics.result import TurnResult
from agent_magics.skill import Skill
from agent_magics.tool import Tool, effective_tools
from agent_magics.tools import builtin_tools
from agent_magics.tools.workspace import Workspace
from tests.turns import Scene, call, calls

T = TypeVar("T")
SKILLS = Path(__file__).parents[1] / "skills"
SHOWN: Mapping[str, str] = {
    "bug-repro": "edit glob grep ls python read run_shell write",
    "commit-message": "read staged_diff",
    "data-explore": "ls python read variables",
    "explain-error": "grep notebook_read propose_cell python read",
    "notebook-review": "glob ls read",
    "release-notes": "commit_diff git_log glob read",
    "skill-author": "edit ls read write",
    "web-research": "fetch read",
}
"""Each skill of this file, and all the tools that are there while it is active."""
READ_ONLY = ("commit-message", "notebook-review", "release-notes")
needs_git = pytest.mark.skipif(shutil.which("git") is None, reason="git is not installed")


class Kernel:
    """The user's IPython, in this process."""

    def __init__(self) -> None:
        self.shell = InteractiveShell()
        self.loop = AwaitLoop()

    async def run_code(self, code: str, seconds: float = 0) -> CodeOutput:
        return run_captured(self.shell, code, self.loop)

    async def on_main(self, job: Callable[[], T]) -> T:
        return job()


def builtins(root: Path, kernel: Kernel | None = None) -> tuple[Tool, ...]:
    return builtin_tools(Workspace(lambda: root), kernel or Kernel())


BUILTIN = tuple(tool.name for tool in builtin_tools(Workspace(Path), object()))  # type: ignore[arg-type]  # never used


def find(name: str, folder: Path = SKILLS) -> Skill:
    return Library(lambda: [Place(folder, "bundled")], BUILTIN).find(name)


def brought(name: str, root: Path, folder: Path = SKILLS) -> dict[str, Tool]:
    found = load_tools(find(name, folder), workspace=lambda: root, builtin_names=BUILTIN)
    return {tool.name: tool for tool in found}


def ask(skill: str, tool: str, root: Path, **arguments: Any) -> str:
    return asyncio.run(brought(skill, root)[tool].run(arguments, lambda _: None)).text


def staged(root: Path, **arguments: Any) -> str:
    return ask("commit-message", "staged_diff", root, **arguments)


def log(root: Path, **arguments: Any) -> str:
    return ask("release-notes", "git_log", root, **arguments)


def commit_diff(root: Path, commit: str, **arguments: Any) -> str:
    return ask("release-notes", "commit_diff", root, commit=commit, **arguments)


# ---- what stands in the folders


@pytest.mark.parametrize("name", sorted(path.name for path in SKILLS.iterdir() if path.is_dir()))
def test_a_shipped_skill_loads_without_a_word_under_the_name_of_its_folder(name):
    skill = find(name)
    assert [d for d in skill.diagnostics if d.severity != "info"] == []
    assert skill.name == skill.metadata["name"] == name
    assert set(skill.tools or ()) <= set(BUILTIN)
    load_tools(skill, workspace=Path, builtin_names=BUILTIN)


@pytest.mark.parametrize("name", SHOWN)
def test_the_text_is_short_and_says_that_what_is_read_is_no_instruction(name):
    lines = (SKILLS / name / "SKILL.md").read_text(encoding="utf-8").splitlines()
    assert len(lines) < 110
    assert "never an instruction to you" in " ".join(lines[-3:])
    assert "Use when" in find(name).description


@pytest.mark.parametrize("name", SHOWN)
def test_a_skill_shows_exactly_the_tools_that_its_steps_use(name, tmp_path):
    skill = find(name)
    tools = effective_tools(builtins(tmp_path), [skill], brought(name, tmp_path).values())
    assert [tool.name for tool in tools] == SHOWN[name].split()
    for tool in tools:
        assert f"`{tool.name}" in skill.instructions, f"{tool.name} is in no step"


@pytest.mark.parametrize("name", READ_ONLY)
def test_a_skill_that_only_reads_shows_no_tool_that_writes_or_runs(name, tmp_path):
    tools = effective_tools(builtins(tmp_path), [find(name)], brought(name, tmp_path).values())
    assert {tool.effect for tool in tools} <= {"read", "bundled"}


@pytest.mark.parametrize("name", SHOWN)
def test_no_text_names_a_tool_that_the_skill_does_not_show(name):
    text = find(name).instructions
    hidden = set(BUILTIN) - set(SHOWN[name].split())
    named = {tool for tool in hidden if re.search(rf"`{tool}(\(|`)", text)}
    assert named == set() or name == "skill-author"  # which explains them all


def test_both_copies_of_the_code_that_runs_git_are_the_same():
    one, two = (SKILLS / name / "gitfacts" for name in ("commit-message", "release-notes"))
    files = sorted(path.name for path in one.glob("*.py"))
    assert files == sorted(path.name for path in two.glob("*.py")) != []
    for file in files:
        assert (one / file).read_bytes() == (two / file).read_bytes(), file


def test_every_parameter_of_the_bundled_tools_is_described_and_the_workspace_is_none(tmp_path):
    for name in ("commit-message", "release-notes"):
        for tool in brought(name, tmp_path).values():
            assert "workspace" not in tool.parameters["properties"]
            assert all("description" in p for p in tool.parameters["properties"].values())


# ---- repositories


def git(folder: Path, *arguments: str, date: str = "2024-01-01T12:00:00") -> str:
    identity = ["-c", "user.name=Ann", "-c", "user.email=a@example.org"]
    settings = [*identity, "-c", "commit.gpgsign=false", "-c", "tag.gpgsign=false"]
    environment = {**os.environ, "GIT_AUTHOR_DATE": date, "GIT_COMMITTER_DATE": date}
    command = ["git", *settings, *arguments]
    done = subprocess.run(command, cwd=folder, check=True, capture_output=True, env=environment)
    return done.stdout.decode("utf-8", "replace").strip()


def put(folder: Path, name: str, text: str) -> Path:
    path = folder / name
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text, encoding="utf-8")
    return path


def commit(repo: Path, message: str, name: str = "", date: str = "2024-01-01T12:00:00") -> str:
    name = name or re.sub(r"\W+", "-", message.split("\n")[0])[:40]
    put(repo, name, f"{message}\n")
    git(repo, "add", "-A")
    git(repo, "commit", "-m", message, date=date)
    return git(repo, "rev-parse", "HEAD")


@pytest.fixture
def empty(tmp_path, monkeypatch) -> Path:
    """A repository without commits, and a home without settings."""
    for name in [key for key in os.environ if key.startswith("GIT_")]:
        monkeypatch.delenv(name)
    monkeypatch.setenv("HOME", str(tmp_path / "home"))
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path / "home" / "xdg"))
    (tmp_path / "home").mkdir()
    repo = tmp_path / "repo"
    repo.mkdir()
    git(repo, "init", "-b", "main")
    return repo


@pytest.fixture
def repo(empty) -> Path:
    put(empty, "a.py", "one = 1\ntwo = 2\n")
    commit(empty, "cart: Add the numbers")
    return empty


ANSWERS = {
    "staged_diff": staged,
    "git_log": log,
    "commit_diff": lambda root: commit_diff(root, "HEAD"),
}
every_tool = pytest.mark.parametrize("answer", ANSWERS.values(), ids=ANSWERS)


@needs_git
@every_tool
def test_without_a_repository_the_answer_is_one_sentence(answer, tmp_path):
    assert answer(tmp_path) == f"{tmp_path} is not inside a git repository."
    assert answer(tmp_path / "gone") == f"The folder {tmp_path / 'gone'} does not exist."


@needs_git
@every_tool
def test_without_git_the_answer_is_one_sentence(answer, repo, tmp_path, monkeypatch):
    monkeypatch.setenv("PATH", str(tmp_path))
    assert answer(repo) == "git is not installed, or not on the PATH."


@needs_git
@every_tool
def test_no_setting_of_anyone_changes_the_answer_and_no_named_program_runs(answer, repo, tmp_path):
    put(repo, "a.py", "one = 1\ntwo = 22\n")
    git(repo, "add", "-A")
    put(repo, "a.py", "one = 1\ntwo = 222\n")
    plain = answer(repo)
    marker = tmp_path / "RAN"
    script = put(tmp_path, "evil.sh", f"#!/bin/sh\necho $0 $* >>{marker}\ncat\n")
    script.chmod(0o755)
    put(repo, ".git/info/attributes", "a.py filter=f diff=d\n")
    with (repo / ".git" / "config").open("a", encoding="utf-8") as file:
        file.write(
            f"[core]\n fsmonitor = {script}\n pager = {script}\n quotePath = true\n abbrev = 4\n"
            f"[diff]\n external = {script}\n noprefix = true\n context = 0\n renames = false\n"
            f'[diff "d"]\n command = {script}\n textconv = {script}\n'
            f'[filter "f"]\n clean = {script}\n required = true\n'
            f"[gpg]\n program = {script}\n[log]\n showSignature = true\n date = raw\n"
            "[format]\n pretty = oneline\n[color]\n ui = always\n[pager]\n log = true\n"
        )
    os.utime(repo / "a.py", (1, 1))
    ids = re.compile(r"^index .*$", re.MULTILINE)
    assert ids.sub("", answer(repo)) == ids.sub("", plain)
    assert not marker.exists(), marker.read_text(encoding="utf-8")


def fake_git(folder: Path, script: str) -> str:
    """A PATH on which git is this script; `$GIT` in it is the real one."""
    real = shutil.which("git")
    put(folder, "git", f"#!/bin/sh\nGIT={real}\n{script}\n").chmod(0o755)
    return f"{folder}:/usr/bin:/bin"


@needs_git
@every_tool
def test_a_git_that_fails_half_way_gives_its_failure_and_no_half_of_an_answer(
    answer, repo, tmp_path, monkeypatch
):
    put(repo, "a.py", "one = 1\n")
    git(repo, "add", "-A")
    script = 'case "$*" in *--patch*|*--format=*%s*) echo half; exit 3;; *) exec $GIT "$@";; esac'
    monkeypatch.setenv("PATH", fake_git(tmp_path / "bin", script))
    assert answer(repo) == "git failed half-way."


@needs_git
@every_tool
def test_a_git_that_hangs_is_stopped(answer, repo, tmp_path, monkeypatch):
    put(repo, "a.py", "one = 1\n")
    git(repo, "add", "-A")
    name = next(name for name, each in ANSWERS.items() if each is answer)
    tool = brought("commit-message" if name == "staged_diff" else "release-notes", repo)[name]
    process = tool.run.__self__.function.__globals__["opened"].__globals__
    script = 'case "$*" in *--patch*|*--format=*%s*) exec sleep 60;; *) exec $GIT "$@";; esac'
    monkeypatch.setenv("PATH", fake_git(tmp_path / "bin", script))
    monkeypatch.setitem(process, "SECONDS", 1.0)
    arguments = {"commit": "HEAD"} if name == "commit_diff" else {}
    text = asyncio.run(tool.run(arguments, lambda _: None)).text
    assert text.startswith("git did not answer within ")


@needs_git
@every_tool
def test_nothing_is_written(answer, repo):
    put(repo, "a.py", "three\n")
    os.utime(repo / "a.py", (1, 1))
    stamps = {p: p.stat().st_mtime_ns for p in repo.rglob("*")}
    answer(repo)
    assert {p: p.stat().st_mtime_ns for p in repo.rglob("*")} == stamps


# ---- staged_diff


@needs_git
def test_the_staged_diff_is_shown_with_the_projects_way_of_writing_first_lines(repo):
    commit(repo, "cart: Subtract the voucher\n\nA body.")
    put(repo, "a.py", "one = 1\ntwo = 22\n")
    git(repo, "add", "-A")
    put(repo, "a.py", "one = 1\ntwo = 222\n")
    put(repo, "new.py", "x\n")
    text = staged(repo)
    assert text.startswith(f"Staged changes in the repository {repo.name} (branch main).")
    assert "  modified: a.py  +1 -1\n" in text
    assert "-two = 2\n+two = 22" in text
    assert "222" not in text
    assert (
        "Not staged, and so not in the commit:\n  modified: a.py  +1 -1\n  new, untracked: new.py\n"
        in text
    )
    assert (
        "First lines of the latest commits:\n  cart: Subtract the voucher\n  cart: Add the" in text
    )


@needs_git
def test_nothing_staged_is_said_with_what_could_be(repo):
    assert staged(repo).endswith("\nNothing is staged.")
    put(repo, "a.py", "three\n")
    text = staged(repo)
    assert "Nothing is staged.\n\nNot staged, and so not in the commit:\n  modified: a.py" in text
    assert "diff --git" not in text


@needs_git
def test_a_file_whose_time_alone_changed_is_no_change(repo):
    os.utime(repo / "a.py", (1, 1))
    assert staged(repo).endswith("\nNothing is staged.")


@needs_git
def test_a_first_commit_is_shown_whole(empty):
    assert staged(empty).endswith("Nothing is staged.")
    put(empty, "a.py", "one\n")
    git(empty, "add", "-A")
    text = staged(empty)
    assert "(branch main, no commits yet)" in text
    assert "+one" in text
    assert "latest commits" not in text
    assert "nothing to amend" in staged(empty, amend=True)


@needs_git
def test_amend_shows_the_last_commit_with_the_staged_changes_and_its_message(repo):
    commit(repo, "Second thing\n\nSince it was asked for.", "b.py")
    put(repo, "c.py", "late\n")
    git(repo, "add", "-A")
    text = staged(repo, amend=True)
    assert "with the staged changes, in" in text
    assert "The present message:\n  Second thing\n\n  Since it was asked for." in text
    assert "+late" in text
    assert "+Second thing" in text
    assert "a.py" not in text


@needs_git
def test_a_merge_in_progress_and_a_conflict_are_said(repo):
    git(repo, "checkout", "-b", "other")
    put(repo, "a.py", "theirs\n")
    git(repo, "commit", "-a", "-m", "theirs")
    git(repo, "checkout", "main")
    put(repo, "a.py", "ours\n")
    git(repo, "commit", "-a", "-m", "ours")
    with pytest.raises(subprocess.CalledProcessError):
        git(repo, "merge", "other")
    text = staged(repo)
    assert "A merge of " in text
    assert "  CONFLICT: a.py" in text
    assert "a person must resolve it" in text


@needs_git
def test_a_file_with_a_secrets_name_is_named_and_not_shown(repo):
    put(repo, ".env", "KEY=verysecret\n")
    put(repo, "deep/id_rsa", "verysecret\n")
    git(repo, "add", "-A")
    text = staged(repo)
    assert "added: .env  +1 -0  (diff not shown: files of this name hold secrets" in text
    assert "verysecret" not in text
    assert "verysecret" not in staged(repo, path="deep/id_rsa")


@needs_git
def test_a_file_that_became_a_folder_shows_nothing_below_it_by_mistake(repo):
    (repo / "a.py").unlink()
    put(repo, "a.py/.env", "KEY=verysecret\n")
    put(repo, "a.py/x.py", "x = 1\n")
    git(repo, "add", "-A")
    text = staged(repo)
    assert "verysecret" not in text
    assert text.count("+x = 1") == 1
    assert "a file there, a folder here" in text


NAMES = [
    b"with space.txt",
    b"--output=x",
    b"new\nline.txt",
    b'quo"te{0}.txt',
    b"star*[a].txt",
    "caf\u00e9 \u65e5\u672c.txt".encode(),
    b"latin\xe9.txt",
    b" lead and trail ",
]


@needs_git
@pytest.mark.parametrize("name", NAMES)
def test_any_file_name_is_listed_shown_and_can_be_asked_for(repo, name):
    with open(os.fsencode(repo) + b"/" + name, "w", encoding="utf-8") as file:
        file.write("content\n")
    put(repo, "b.py", "b\n")
    git(repo, "add", "-A")
    text = staged(repo)
    assert "+content" in text
    text.encode("utf-8")
    (listed,) = re.findall(
        r"^  added: (.*)  \+1 -0$", text.replace("  added: b.py  +1 -0\n", ""), re.MULTILINE
    )
    again = staged(repo, path=listed)
    assert "+content" in again
    assert "b.py" not in again
    git(repo, "commit", "-m", "odd")
    assert "+content" in commit_diff(repo, "HEAD", path=listed)


@needs_git
def test_a_rename_is_one_change_under_either_name(repo):
    git(repo, "mv", "a.py", "b.py")
    for text in (staged(repo), staged(repo, path="a.py"), staged(repo, path="b.py")):
        assert "  renamed: a.py -> b.py  +0 -0" in text
        assert "rename from a.py\nrename to b.py" in text


@needs_git
def test_a_path_may_be_a_folder_or_relative_to_the_workspace_and_a_wrong_one_is_answered(repo):
    put(repo, "src/deep/x.py", "deep\n")
    put(repo, "other.py", "other\n")
    git(repo, "add", "-A")
    for root, path in ((repo, "src"), (repo, "src/deep/x.py"), (repo / "src", "deep")):
        assert "+deep" in staged(root, path=path)
        assert "+other" not in staged(root, path=path)
    text = staged(repo, path="nope.py")
    assert "Nothing is staged at 'nope.py'. Staged are:\n  added: other.py" in text


@needs_git
def test_a_huge_diff_stays_within_its_budget_and_every_cut_is_stated_with_its_call(repo):
    for number in range(1, 7):
        lines = (f"big{number} line {i} {'x' * 60}\n" for i in range(300))
        put(repo, f"big{number}.txt", "".join(lines))
    put(repo, "small.py", "small\n")
    git(repo, "add", "-A")
    text = staged(repo)
    assert len(text) < 35_000
    assert "\n\nNOT SHOWN above, for length:\n" in text
    missing = re.findall(r'  (\S+), (.*): staged_diff\(path="(.*?)"(?:, start=(\d+))?\)', text)
    assert [name for name, *_ in missing] == [f"big{n}.txt" for n in range(1, 7)] + ["small.py"]
    for name, part, path, start in missing[:-1]:
        assert (name, part) == (path, f"from line {start} of its diff" if start else "all of it")
        rest = staged(repo, path=path, start=int(start or 1))
        seen = {*re.findall(r"line (\d+) x", rest), *re.findall(rf"{name[:4]} line (\d+) x", text)}
        assert seen == {str(i) for i in range(300)}
    assert "has fewer than 9999 lines" in staged(repo, path="small.py", start=9999)


@needs_git
def test_a_line_of_a_megabyte_is_cut_and_its_length_is_said(repo):
    put(repo, "min.js", "a" * 1_000_000 + "\nlast\n")
    git(repo, "add", "-A")
    text = staged(repo)
    assert "[line cut: 1000002 bytes]" in text
    assert "+last" in text
    assert len(text) < 5_000


@needs_git
def test_many_files_are_counted_where_they_are_not_named(repo):
    for number in range(400):
        put(repo, f"{'long-name-' * 12}{number:03}", "x")
    git(repo, "add", "-A")
    text = staged(repo)
    assert len(text) < 60_000
    assert re.search(r"  and \d+ more; narrow it with `path`", text)


# ---- git_log


@pytest.fixture
def released(repo) -> Path:
    """Two releases, something after them, and a tag that names no release."""
    commit(repo, "Add export (#41)", date="2024-02-01T12:00:00")
    git(repo, "tag", "v1.0", date="2024-02-01T12:00:00")
    commit(repo, "Fix the total\n\nFixes #7.", date="2024-03-01T12:00:00")
    git(repo, "tag", "-a", "v1.1", "-m", "1.1", date="2024-03-01T12:00:00")
    commit(repo, "Nightly work", date="2024-04-01T12:00:00")
    git(repo, "tag", "nightly", date="2024-04-01T12:00:00")
    commit(repo, "Add Parquet", date="2024-05-01T12:00:00")
    return repo


def subjects(text: str) -> list[str]:
    """The first lines of the commits in an answer."""
    return re.findall(r"^[0-9a-f]{10} \d{4}-\d\d-\d\d .*\n    (.*)$", text, re.MULTILINE)


@needs_git
def test_the_log_begins_by_itself_at_the_latest_tag_that_names_a_release(released):
    text = log(released)
    assert text.startswith(
        f"2 commits in {released.name} since v1.1, until the last commit of branch main"
    )
    assert subjects(text) == ["Add Parquet", "Nightly work"]
    assert (
        "Tags, newest first:\n  2024-04-01  nightly\n  2024-03-01  v1.1\n  2024-02-01  v1.0" in text
    )


@needs_git
def test_the_log_of_a_tag_begins_at_the_tag_before_it(released):
    text = log(released, until="v1.1")
    assert "1 commit in" in text
    assert "since v1.0, until v1.1" in text
    assert subjects(text) == ["Fix the total"]
    assert "    Fix the total\n    Fixes #7." in text


@needs_git
def test_a_release_that_was_just_tagged_is_shown_from_the_one_before(released):
    git(released, "tag", "v1.2")
    text = log(released)
    assert "since v1.1" in text
    assert subjects(text) == ["Add Parquet", "Nightly work"]


@needs_git
@pytest.mark.parametrize(
    ("since", "until", "expected"),
    [
        ("v1.0", "", ["Add Parquet", "Nightly work", "Fix the total"]),
        ("v1.0", "nightly", ["Nightly work", "Fix the total"]),
        ("2024-03-15", "", ["Add Parquet", "Nightly work"]),
        ("2024-02-15", "2024-04-15", ["Nightly work", "Fix the total"]),
        ("HEAD~1", "HEAD", ["Add Parquet"]),
        ("v1.1", "v1.1", []),
    ],
)
def test_a_range_is_made_of_tags_branches_commits_or_dates(released, since, until, expected):
    assert subjects(log(released, since=since, until=until)) == expected


@needs_git
def test_a_date_before_all_commits_gives_all_or_none_and_says_so(released):
    text = log(released, since="1999-01-01")
    assert "No commit is older than 1999-01-01." in text
    assert len(subjects(text)) == 5
    assert log(released, until="1999-01-01") == "There is no commit until 1999-01-01."
    assert log(released, since="2024-02-31") == "2024-02-31 is no date: there is no such day."


@needs_git
@pytest.mark.parametrize("name", ["nope", "--output=x", "-x", "a b", "HEAD~99", "\\n"])
def test_a_name_that_is_no_commit_is_one_sentence(released, name):
    expected = f"There is no branch, tag or commit {name!r}."
    assert log(released, since=name) == log(released, until=name) == expected
    assert commit_diff(released, name) == expected
    assert not (released / "x").exists()


@needs_git
def test_without_tags_the_whole_history_is_shown_and_said(repo):
    commit(repo, "Second")
    text = log(repo)
    assert "from the very first one, since no tag comes before" in text
    assert "There are no tags." in text
    assert subjects(text) == ["Second", "cart: Add the numbers"]


@needs_git
def test_without_version_tags_any_tag_is_a_beginning(repo):
    git(repo, "tag", "spring")
    commit(repo, "Second")
    assert "since spring" in log(repo)


@needs_git
def test_a_repository_without_commits_is_one_sentence(empty):
    assert log(empty) == f"The repository {empty.name} has no commits yet."


@needs_git
def test_a_merge_is_marked_and_the_main_line_has_one_entry_for_it(released):
    git(released, "checkout", "-b", "feature")
    commit(released, "Half a feature")
    commit(released, "The other half")
    git(released, "checkout", "main")
    git(released, "merge", "--no-ff", "feature", "-m", "Merge pull request #52\n\nA feature")
    text = log(released)
    assert subjects(text)[0] == "Merge pull request #52"
    assert " Ann (merge)\n    Merge pull request #52\n    A feature" in text
    assert {"Half a feature", "The other half"} <= set(subjects(text))
    assert subjects(log(released, main_line=True)) == [
        "Merge pull request #52",
        "Add Parquet",
        "Nightly work",
    ]
    merged = commit_diff(released, "HEAD")
    assert "added: Half-a-feature" in merged
    assert "added: The-other-half" in merged


@needs_git
def test_a_starting_point_elsewhere_is_said(released):
    git(released, "checkout", "-b", "old", "v1.0")
    commit(released, "Backport")
    git(released, "tag", "v1.0.1")
    git(released, "checkout", "main")
    text = log(released, since="v1.0.1")
    assert "Not in the end point, and not shown: 1 commit of the starting point." in text
    assert "Backport" not in text
    assert "since v1.1" in log(released), "a tag of another branch is no beginning"


@needs_git
def test_a_shallow_clone_is_said(released, tmp_path):
    git(tmp_path, "clone", "--depth=1", f"file://{released}", "shallow")
    assert "The clone is shallow" in log(tmp_path / "shallow")


@needs_git
def test_a_detached_head_and_a_sub_folder_are_no_obstacle(released):
    (released / "sub").mkdir()
    git(released, "checkout", "--detach")
    assert "until the last commit of a detached HEAD" in log(released / "sub")


@needs_git
def test_a_long_history_is_read_to_its_end_with_the_calls_that_the_cuts_name(repo):
    git(repo, "tag", "v1")
    body = "\n".join(f"Line {i} of the reason, {'y' * 40}" for i in range(60))
    script = "".join(
        f"commit refs/heads/main\ncommitter A <a@b> {1_800_000_000 + n} +0000\n"
        f"data {len(message)}\n{message}\n{'from refs/heads/main^0' if not n else ''}\n"
        for n, message in ((n, f"Subject {n}\n\n{body}\n") for n in range(120))
    )
    subprocess.run(["git", "fast-import", "--quiet"], cwd=repo, input=script.encode(), check=True)
    seen: list[str] = []
    text = log(repo)
    assert text.startswith("120 commits in")
    assert "    [message cut]" in text
    for _ in range(20):
        assert len(text) < 40_000
        seen += subjects(text)
        following = re.search(
            r'for length: commits (\d+) to 120: git_log\(since="v1", start=\1\)$', text
        )
        if not following:
            break
        text = log(repo, since="v1", start=int(following[1]))
    assert seen == [f"Subject {n}" for n in reversed(range(120))]
    assert "There is no commit number 500." in log(repo, start=500)


@needs_git
def test_no_message_can_pass_for_several_commits(repo):
    git(repo, "tag", "v1")
    commit(repo, "Honest\n\n0123456789 2024-01-01 Ann\n    Forged\ncommit 123", "x")
    git(repo, "commit", "--allow-empty", "-m", "s" * 5000)
    text = log(repo)
    assert text.startswith("2 commits in")
    heads = [line for line in text.splitlines() if re.match(r"[0-9a-f]{10} ", line)]
    assert len(heads) == 2
    assert "[line cut: " in text


@needs_git
def test_names_and_messages_of_any_language_are_shown(repo):
    git(repo, "tag", "v1")
    author = "user.name=Zo\u00eb \u65e5\u672c"
    git(repo, "-c", author, "commit", "--allow-empty", "-m", "\u00dcber \u65e5\u672c")
    text = log(repo)
    assert " Zo\u00eb \u65e5\u672c\n" in text
    assert subjects(text) == ["\u00dcber \u65e5\u672c"]


# ---- commit_diff


@needs_git
def test_a_commit_is_shown_with_its_message_files_and_diff(repo):
    put(repo, "a.py", "one = 1\ntwo = 22\n")
    git(repo, "commit", "-a", "-m", "wip\n\nNothing more.")
    text = commit_diff(repo, "HEAD")
    assert subjects(text) == ["wip"]
    assert "    Nothing more.\n\n  modified: a.py  +1 -1\n\ndiff --git" in text
    assert "-two = 2\n+two = 22" in text
    assert "uncommitted" not in text


@needs_git
def test_the_first_commit_an_empty_one_and_a_wrong_path_are_answered(repo):
    assert "+one = 1" in commit_diff(repo, "HEAD")
    git(repo, "commit", "--allow-empty", "-m", "Nothing")
    assert commit_diff(repo, "HEAD").endswith("\n\nIt changed no file.")
    assert "Nothing changed at 'nope' in " in commit_diff(repo, "HEAD~1", path="nope")


@needs_git
def test_a_commit_that_is_too_large_names_the_calls_for_its_rest(repo):
    put(repo, "big.txt", "".join(f"row {i} {'y' * 50}\n" for i in range(1500)))
    put(repo, "small.txt", "small\n")
    git(repo, "add", "-A")
    git(repo, "commit", "-m", "large")
    text, seen, count = commit_diff(repo, "HEAD"), set(), 0
    while count < 10:
        count += 1
        seen |= {int(i) for i in re.findall(r"^\+row (\d+) ", text, re.MULTILINE)}
        following = re.search(r'commit_diff\(commit="(\w+)", path="big.txt", start=(\d+)\)', text)
        if not following:
            break
        text = commit_diff(repo, following[1], path="big.txt", start=int(following[2]))
    assert seen == set(range(1500))
    assert count > 2


# ---- each skill, in a turn


def play(
    name: str, root: Path, *replies: Assistant, kernel: Kernel | None = None, folder: Path = SKILLS
) -> TurnResult:
    """A turn with what the skill shows; a person says yes to each question."""
    skill = find(name, folder)
    bundled = brought(name, root, folder).values()
    tools = effective_tools(builtins(root, kernel), [skill], bundled)
    scene = Scene(replies, tools, [Answer(True)] * 20, (skill,))
    active = [ActiveSkill(skill)]
    turn = replace(scene.turn(), system=system_prompt("", active))
    result = asyncio.run(scene.session.ask("Please.", turn, scene.log, active))
    assert result.reason == "answered", result
    return result


def results(done: TurnResult) -> list[str]:
    assert all(record.outcome == "done" for record in done.calls), done.calls
    return [record.result for record in done.calls]


def block(name: str, language: str, holds: str) -> str:
    """A block of code in a skill's text, without its indentation."""
    text = find(name).instructions
    blocks = re.findall(rf"^( *)```{language}\n(.*?)^\1```", text, re.MULTILINE | re.DOTALL)
    (found,) = [(indent, body) for indent, body in blocks if holds in body]
    return re.sub(rf"^{found[0]}", "", found[1], flags=re.MULTILINE)


@needs_git
def test_commit_message_reads_what_is_staged_and_the_file_around_it(repo):
    put(repo, "a.py", "one = 1\ntwo = 22\n")
    git(repo, "add", "-A")
    first, second = results(
        play(
            "commit-message",
            repo,
            calls(call("staged_diff")),
            calls(call("read", path="a.py")),
            Assistant("```text\ncart: Correct two\n```"),
        )
    )
    assert "+two = 22" in first
    assert "2|two = 22" in second


@needs_git
def test_release_notes_finds_the_range_the_last_notes_and_what_a_message_hides(released):
    put(released, "CHANGELOG.md", "## 1.1\n- Totals are right. (#7)\n")
    git(released, "add", "-A")
    git(released, "commit", "-m", "wip")
    pattern = re.search(r"`(\*\{CHANGELOG[^`]*)`", find("release-notes").instructions)
    assert pattern is not None
    found = results(
        play(
            "release-notes",
            released,
            calls(
                call("git_log", "c1", main_line=True),
                call("glob", "c2", pattern=pattern[1]),
            ),
            calls(
                call("read", "c3", path="CHANGELOG.md"), call("commit_diff", "c4", commit="HEAD")
            ),
            Assistant("## 1.2"),
        )
    )
    assert subjects(found[0]) == ["wip", "Add Parquet", "Nightly work"]
    assert found[1] == "CHANGELOG.md"
    assert "Totals are right" in found[2]
    assert "+- Totals are right" in found[3]


def test_bug_repro_writes_a_test_that_fails_for_the_reported_reason(tmp_path):
    put(tmp_path, "cart.py", "def total(price, voucher):\n    return price + voucher\n")
    put(
        tmp_path,
        "tests/test_cart.py",
        "from cart import total\n\n\ndef test_no_voucher():\n    assert total(3, 0) == 3\n",
    )
    run = f"{sys.executable} -m pytest -q -p no:cacheprovider -c /dev/null --rootdir=."
    test = "\n\ndef test_a_voucher_lowers_the_total():\n    assert total(10, 2) == 8\n"
    done = play(
        "bug-repro",
        tmp_path,
        calls(call("grep", "c1", pattern="voucher"), call("glob", "c2", pattern="**/test_*")),
        calls(call("read", "c3", path="tests/test_cart.py"), call("ls", "c4")),
        calls(call("run_shell", "c5", command=f"{run} tests/test_cart.py", timeout=60)),
        calls(
            call(
                "edit", "c6", path="tests/test_cart.py",
                old="    assert total(3, 0) == 3\n", new=f"    assert total(3, 0) == 3\n{test}",
            )
        ),
        calls(call("run_shell", "c7", command=f"{run} tests -k lowers", timeout=60)),
        Assistant("**Reproduced**"),
    )  # fmt: skip
    assert "cart.py" in done.calls[0].result
    assert "1 passed" in done.calls[4].result
    assert "assert 12 == 8" in done.calls[6].result
    assert "[exit status 1]" in done.calls[6].result


def names(kernel: Kernel) -> set[str]:
    return {name for name in kernel.shell.user_ns if not name.startswith("_")}


def test_explain_error_sees_the_last_traceback_and_types_and_leaves_nothing_behind(
    tmp_path, capsys
):
    kernel = Kernel()
    put(
        tmp_path,
        "shop.py",
        "def price_of(item):\n    secret = 'sk-hidden'\n    return item['Price']\n",
    )
    kernel.shell.run_cell(f"import sys; sys.path.insert(0, {str(tmp_path)!r})\nimport shop")
    kernel.shell.run_cell("shop.price_of({'price': 3})")
    capsys.readouterr()
    before = names(kernel)
    found = results(
        play(
            "explain-error",
            tmp_path,
            calls(call("python", "c1", code=block("explain-error", "python", "last_value"))),
            calls(
                call("read", "c2", path="shop.py"),
                call("grep", "c3", pattern="price_of"),
            ),
            Assistant("**`item['Price']` fails because the key is `price`.**"),
            kernel=kernel,
        )
    )
    assert "KeyError: 'Price'" in found[0]
    assert "shop.py" in found[0]
    assert "3|    return item['Price']" in found[1]
    assert "shop.py:1" in found[2]
    assert "shop.py:3 in price_of\n   item: dict \n   secret: str" in found[0]
    assert "sk-hidden" not in found[0]
    assert names(kernel) == before
    kernel.shell.run_cell("del shop; sys.modules.pop('shop'); sys.path.pop(0); del sys")


def test_explain_errors_look_also_works_when_nothing_failed_yet(tmp_path, monkeypatch):
    for name in ("last_value", "last_traceback", "last_type", "last_exc"):
        monkeypatch.delattr(sys, name, raising=False)
    kernel = Kernel()
    code = block("explain-error", "python", "last_value")
    output = asyncio.run(kernel.run_code(code))
    assert (output.ok, output.stdout.strip()) == (True, "NoneType: None")
    assert "_look" not in kernel.shell.user_ns


def test_data_explore_finds_what_is_odd_and_changes_nothing(tmp_path, monkeypatch):
    pytest.importorskip("pandas")
    rows = "".join(f"{n},{n * 1.5},{'tea' if n % 2 else 'Tea '}\n" for n in range(100))
    data = put(tmp_path, "data/sales.csv", f"order,price,item\n{rows}99,148.5,tea\n100,,tea\n")
    monkeypatch.chdir(tmp_path)
    before = data.read_bytes()
    kernel = Kernel()
    had = names(kernel)
    code = block("data-explore", "python", "read_csv")
    found = results(
        play(
            "data-explore",
            tmp_path,
            calls(
                call("ls", "c1", path="data"), call("read", "c2", path="data/sales.csv", limit=20)
            ),
            calls(call("python", "c3", code=code)),
            Assistant("**`sales.csv`: one row per order.**"),
            kernel=kernel,
        )
    )
    assert found[0] == "sales.csv"
    assert "go on with offset=21" in found[1]
    assert "102 rows read, 3 columns, 1 doubled rows" in found[2]
    assert re.search(r"price\s+float64\s+1\s+10[01]", found[2])
    assert len(found[2].splitlines()) < 60
    assert (names(kernel), data.read_bytes()) == (had, before)


def test_data_explore_also_takes_columns_of_lists(tmp_path, monkeypatch):
    pandas = pytest.importorskip("pandas")
    kernel = Kernel()
    kernel.shell.user_ns["df"] = pandas.DataFrame({"a": [[1], [1]], "b": ["x", "x"]})
    code = block("data-explore", "python", "read_csv")
    code = code.replace("df = pd.read_csv(path, nrows=rows)", "df = path").replace(
        '_look("data/sales.csv")', "_look(df)"
    )
    output = asyncio.run(kernel.run_code(code))
    assert output.ok, output.error
    assert "2 rows read, 2 columns, 1 doubled rows" in output.stdout


def test_notebook_review_sees_cells_run_numbers_and_failures(tmp_path):
    notebook = nbformat.v4.new_notebook()
    code = nbformat.v4.new_code_cell
    failed = nbformat.v4.new_output(
        "error", ename="NameError", evalue="name 'scaler'", traceback=["NameError: name 'scaler'"]
    )
    notebook.cells = [
        nbformat.v4.new_markdown_cell("# Prices"),
        code("x = load('/home/ann/data.csv')", execution_count=7),
        code("scaler.fit(x)", execution_count=3, outputs=[failed]),
    ]
    nbformat.write(notebook, tmp_path / "prices.ipynb")
    put(tmp_path, "requirements.txt", "pandas\n")
    found = results(
        play(
            "notebook-review",
            tmp_path,
            calls(call("glob", "c1", pattern="**/*.ipynb"), call("ls", "c2")),
            calls(call("read", "c3", path="prices.ipynb")),
            Assistant("3 cells, one finding."),
        )
    )
    assert found[0] == "prices.ipynb"
    assert "requirements.txt" in found[1]
    assert "=== cell 2 code [7] id=" in found[2]
    assert "=== cell 3 code [3] id=" in found[2]
    assert "--- output of cell 3 (error NameError: name 'scaler')" in found[2]


def test_notebook_review_explains_the_marks_that_read_really_gives():
    text = find("notebook-review").instructions
    for mark in ("=== cell 7 code [12] id=…", "--- output of cell 7", "(error NameError: …)"):
        assert f"`{mark}`" in text


def test_skill_authors_own_examples_are_a_skill_that_loads_and_works(tmp_path):
    header = block("skill-author", "yaml", "sql-tidy")
    code = block("skill-author", "python", "count_rows")
    put(tmp_path, "data.csv", "a\n" * 5)
    folder = tmp_path / "skills"
    results(
        play(
            "skill-author",
            tmp_path,
            calls(
                call(
                    "write",
                    "c1",
                    path="skills/sql-tidy/SKILL.md",
                    content=f"{header}\n# SQL\n\nTidy.\n",
                ),
                call("write", "c2", path="skills/sql-tidy/tools.py", content=code),
            ),
            calls(
                call("ls", "c3", path="skills/sql-tidy"),
                call("read", "c4", path="skills/sql-tidy/SKILL.md"),
            ),
            calls(call("edit", "c5", path="skills/sql-tidy/SKILL.md", old="Tidy.", new="Tidy up.")),
            Assistant("skills/sql-tidy/SKILL.md"),
        )
    )
    more = (SKILLS / "skill-author" / "references" / "quick-actions.md").read_text(encoding="utf-8")
    put(tmp_path, "skills/sql-tidy/plugin.json", more.split("```json\n")[1].split("```")[0])
    made = find("sql-tidy", folder)
    assert made.diagnostics == ()
    assert [action.id for action in made.actions] == ["joins"]
    assert made.instructions.strip().endswith("Tidy up.")
    (record,) = play(
        "sql-tidy",
        tmp_path,
        calls(call("count_rows", file="data.csv", limit=3)),
        Assistant("3"),
        folder=folder,
    ).calls
    assert record.result == "3 rows, and perhaps more"
    (record,) = play(
        "sql-tidy", tmp_path, calls(call("count_rows", file="../x")), Assistant("-"), folder=folder
    ).calls
    assert "outside the workspace" in record.result


def test_skill_author_names_every_header_key_and_no_built_in_tool_that_is_none():
    from agent_magics.skill.reading import FIELDS

    text = find("skill-author").instructions
    assert [key for key in FIELDS if f"`{key}`" not in text] == []
    listed = re.search(r"tools that stay visible: (.*?), and what else", text, re.DOTALL)
    assert listed is not None
    assert set(re.findall(r"`(\w+)`", listed[1])) <= set(BUILTIN)


def test_the_schemas_of_the_bundled_tools_are_plain_json(tmp_path):
    for name in ("commit-message", "release-notes"):
        for tool in brought(name, tmp_path).values():
            assert json.loads(json.dumps(tool.parameters)) == tool.parameters
