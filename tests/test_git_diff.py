"""git_diff, the tool of the shipped skill code-review, on real repositories."""

from __future__ import annotations

import asyncio
import os
import re
import shutil
import stat
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest

from agent_magics.library.bundled import load_tools
from agent_magics.library.discovery import Library, Place
from agent_magics.tool import Tool

SKILLS = Path(__file__).parents[1] / "skills"
BUILTIN = ("ls", "glob", "read", "grep", "write", "edit", "run_shell", "python")

pytestmark = pytest.mark.skipif(shutil.which("git") is None, reason="git is not installed")


def tool(workspace: Path) -> Tool:
    skill = Library(lambda: [Place(SKILLS, "bundled")], BUILTIN).find("code-review")
    found, _ = load_tools(skill, workspace=lambda: workspace, builtin_names=BUILTIN)
    return found


def diff(workspace: Path, **arguments) -> str:
    return asyncio.run(tool(workspace).run(arguments, lambda _: None)).text


def git(folder: Path, *arguments: str) -> str:
    identity = ["-c", "user.name=A", "-c", "user.email=a@example.org", "-c", "commit.gpgsign=false"]
    done = subprocess.run(
        ["git", *identity, *arguments], cwd=folder, check=True, capture_output=True
    )
    return done.stdout.decode("utf-8", "replace").strip()


@pytest.fixture(autouse=True)
def own_settings(tmp_path, monkeypatch) -> Path:
    """A home of this test's own, so that nobody's git settings matter but those it writes."""
    home = tmp_path / "home"
    home.mkdir()
    for name in [key for key in os.environ if key.startswith("GIT_")]:
        monkeypatch.delenv(name)
    monkeypatch.setenv("HOME", str(home))
    monkeypatch.setenv("XDG_CONFIG_HOME", str(home / "xdg"))
    return home / ".gitconfig"


@pytest.fixture
def empty(tmp_path) -> Path:
    repo = tmp_path / "repo"
    repo.mkdir()
    git(repo, "init", "-b", "main")
    return repo


@pytest.fixture
def repo(empty) -> Path:
    (empty / "a.py").write_text("one = 1\ntwo = 2\nthree = 3\n", encoding="utf-8")
    (empty / "b.py").write_text("".join(f"line {i}\n" for i in range(30)), encoding="utf-8")
    git(empty, "add", "-A")
    git(empty, "commit", "-m", "first")
    return empty


def change(repo: Path, text: str = "one = 1\ntwo = 22\nthree = 3\n") -> None:
    (repo / "a.py").write_text(text, encoding="utf-8")


# ---- what there is to see


def test_changes_are_listed_and_shown(repo):
    change(repo)
    text = diff(repo)
    assert "  modified: a.py  +1 -1\n" in text
    assert (
        "--- a/a.py\n+++ b/a.py\n@@ -1,3 +1,3 @@\n one = 1\n-two = 2\n+two = 22\n three = 3" in text
    )
    assert (
        f"branch main; compared with the last commit, {git(repo, 'rev-parse', 'HEAD')[:10]}" in text
    )
    assert "NOT SHOWN" not in text


def test_nothing_changed_is_said(repo):
    assert diff(repo).endswith("\nNothing changed.")


def test_staged_and_unstaged_changes_are_shown_together_and_staged_ones_alone(repo):
    change(repo)
    git(repo, "add", "-A")
    (repo / "b.py").write_text("new\n", encoding="utf-8")
    (repo / "c.py").write_text("untracked\n", encoding="utf-8")
    assert all(name in diff(repo) for name in ("a.py", "b.py", "c.py"))
    staged = diff(repo, staged=True)
    assert "a.py" in staged
    assert "b.py" not in staged
    assert "c.py" not in staged


def test_a_repository_without_commits_shows_everything_as_new(empty):
    (empty / "a.py").write_text("one\n", encoding="utf-8")
    (empty / "b.py").write_text("two\n", encoding="utf-8")
    git(empty, "add", "a.py")
    text = diff(empty)
    assert "no commits yet, so everything is new" in text
    assert "  added: a.py  +1 -0\n  new, untracked: b.py\n" in text
    assert "+one" in text
    assert "+two" in text
    assert "+one" in diff(empty, staged=True)
    assert "no commits yet" in diff(empty, base="main")
    assert diff(empty, base="main").count("\n") == 0


def test_an_empty_repository_has_no_changes(empty):
    assert diff(empty).endswith("Nothing changed.")


def test_untracked_files_are_shown_as_git_would_once_they_are_added(repo):
    (repo / "new.py").write_text("x = 1\ny = 2\n", encoding="utf-8")
    (repo / "cut.py").write_text("no end", encoding="utf-8")
    (repo / "empty.py").touch()
    (repo / "run.sh").write_text("true\n", encoding="utf-8")
    (repo / "run.sh").chmod(0o755)
    (repo / "link").symlink_to("/etc/hostname")
    before = diff(repo)
    git(repo, "add", "-A")
    after = diff(repo)
    assert before.count("new, untracked: ") == 5

    def body(text: str) -> str:
        return "\n".join(
            x for x in text.split("\n\n", 1)[1].split("\n") if not x.startswith("index ")
        )

    assert body(before) == body(after)


def test_ignored_files_are_no_changes(repo):
    (repo / ".gitignore").write_text("*.log\n", encoding="utf-8")
    (repo / "x.log").write_text("noise\n", encoding="utf-8")
    assert "x.log" not in diff(repo)


def test_renames_are_one_change_even_when_only_the_new_name_is_asked_for(repo):
    git(repo, "mv", "b.py", "c.py")
    for text in (diff(repo), diff(repo, path="c.py"), diff(repo, path="b.py")):
        assert "  renamed: b.py -> c.py  +0 -0" in text
        assert "rename from b.py\nrename to c.py" in text


def test_deleted_files_and_changed_modes_and_types_are_shown(repo):
    (repo / "b.py").unlink()
    (repo / "a.py").chmod(0o755)
    (repo / "c.py").write_text("x\n", encoding="utf-8")
    git(repo, "add", "c.py")
    git(repo, "commit", "-m", "c", "c.py")
    (repo / "c.py").unlink()
    (repo / "c.py").symlink_to("a.py")
    text = diff(repo)
    assert "  deleted: b.py  +0 -30" in text
    assert "  modified: a.py  +0 -0  (mode 100644 to 100755)" in text
    assert "  type changed: c.py" in text
    assert "deleted file mode 100644" in text
    assert "new file mode 120000" in text
    assert "NOT SHOWN" not in text


def test_binary_files_are_named_and_not_shown(repo):
    (repo / "old.bin").write_bytes(b"\0\1" * 100)
    git(repo, "add", "-A")
    git(repo, "commit", "-m", "binary")
    (repo / "old.bin").write_bytes(b"\0\2" * 100)
    (repo / "new.bin").write_bytes(b"\0\3" * 100)
    text = diff(repo)
    assert "  modified: old.bin  (binary, or marked as such)" in text
    assert "Binary files a/old.bin and b/old.bin differ" in text
    assert "Binary file, 200 bytes" in text
    assert "\0" not in text


def test_a_huge_untracked_binary_is_not_read(repo):
    with (repo / "huge.bin").open("wb") as file:
        file.truncate(50_000_000_000)
    assert "Binary file, 50000000000 bytes" in diff(repo)


def test_pipes_and_other_things_are_not_opened(repo):
    os.mkfifo(repo / "pipe")
    change(repo)
    assert "a.py" in diff(repo)


def test_a_submodule_is_compared_by_its_commit(repo, tmp_path):
    inner = tmp_path / "inner"
    inner.mkdir()
    git(inner, "init")
    (inner / "x").write_text("1", encoding="utf-8")
    git(inner, "add", "-A")
    git(inner, "commit", "-m", "one")
    git(repo, "-c", "protocol.file.allow=always", "submodule", "add", str(inner), "lib")
    git(repo, "commit", "-m", "submodule")
    old = git(repo / "lib", "rev-parse", "HEAD")
    (repo / "lib" / "x").write_text("2", encoding="utf-8")
    assert diff(repo).endswith("Nothing changed.")
    git(repo / "lib", "commit", "-a", "-m", "two")
    text = diff(repo)
    assert f"  modified: lib  +1 -1  (submodule, {old[:10]} to " in text
    assert f"-Subproject commit {old}" in text
    assert "2" in diff(repo / "lib", base=old)


def test_a_repository_inside_the_repository_is_named_and_not_entered(repo):
    (repo / "nested").mkdir()
    git(repo / "nested", "init")
    (repo / "nested" / "x").write_text("not to be seen", encoding="utf-8")
    text = diff(repo)
    assert "  new, untracked: nested/  (a repository of its own)" in text
    assert "not to be seen" not in text


def test_conflicts_are_marked_and_shown_with_their_markers(repo):
    git(repo, "checkout", "-b", "other")
    change(repo, "one = 1\ntwo = 'theirs'\nthree = 3\n")
    git(repo, "commit", "-a", "-m", "theirs")
    git(repo, "checkout", "main")
    change(repo, "one = 1\ntwo = 'ours'\nthree = 3\n")
    git(repo, "commit", "-a", "-m", "ours")
    with pytest.raises(subprocess.CalledProcessError):
        git(repo, "merge", "other")
    text = diff(repo)
    assert "  CONFLICT: a.py" in text
    assert "+<<<<<<< HEAD" in text
    assert "NOT SHOWN" not in text
    assert "  CONFLICT: a.py" in diff(repo, staged=True)


def test_a_detached_work_tree_is_a_repository_too(repo, tmp_path):
    git(repo, "worktree", "add", "--detach", str(tmp_path / "tree"))
    change(tmp_path / "tree")
    text = diff(tmp_path / "tree")
    assert "no branch, detached at " in text
    assert "+two = 22" in text


def test_a_branch_is_compared_with_the_point_where_it_left(repo):
    git(repo, "checkout", "-b", "work")
    change(repo)
    git(repo, "commit", "-a", "-m", "work")
    (repo / "new.py").write_text("uncommitted\n", encoding="utf-8")
    git(repo, "checkout", "main")
    (repo / "b.py").write_text("later\n", encoding="utf-8")
    git(repo, "commit", "-a", "-m", "later on main")
    git(repo, "checkout", "work")
    text = diff(repo, base="main")
    assert "where it left main" in text
    assert "+two = 22" in text
    assert "+uncommitted" in text
    assert "b.py" not in text


@pytest.mark.parametrize("base", ["nope", "--output=x", "-x", "a b", "HEAD~9", ":/", "\n"])
def test_a_base_that_is_none_is_one_sentence(repo, base):
    assert diff(repo, base=base) == f"There is no branch, tag or commit {base!r}."
    assert not (repo / "x").exists()


# ---- names

NAMES = [
    b"with space.txt",
    b"-dash.txt",
    b"--output=x",
    b"new\nline.txt",
    b"tab\there.txt",
    b'quo"te.txt',
    b"back\\slash.txt",
    b"star*[a].txt",
    b":(top)x",
    b" lead and trail ",
    b"a -> b.txt",
    "caf\u00e9 \u65e5\u672c.txt".encode(),
    b"latin\xe9.txt",
    b"bell\x07.txt",
    b"b/a b/x",
]


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("tracked", [True, False])
def test_any_file_name_is_listed_shown_and_can_be_asked_for(repo, name, tracked):
    path = os.fsencode(repo) + b"/" + name
    os.makedirs(os.path.dirname(path), exist_ok=True)
    with open(path, "w", encoding="utf-8") as file:
        file.write("before\n")
    change(repo)
    if tracked:
        git(repo, "add", "-A")
        git(repo, "commit", "-m", "odd")
        with open(path, "w", encoding="utf-8") as file:
            file.write("after\n")
    text = diff(repo)
    content = "+after" if tracked else "+before"
    assert content in text
    assert "NOT SHOWN" not in text
    text.encode("utf-8")
    listed = next(
        line for line in text.split("\n\n")[0].split("\n")[1:] if "a.py" not in line
    ).partition(": ")[2]
    listed = re.sub(r"  \+\d+ -\d+$", "", listed)
    again = diff(repo, path=listed)
    assert content in again
    assert "a.py" not in again.partition("\n\n")[0].partition("\n")[2]


def test_a_path_may_be_a_folder_or_relative_to_the_workspace(repo):
    (repo / "src" / "deep").mkdir(parents=True)
    (repo / "src" / "deep" / "x.py").write_text("deep\n", encoding="utf-8")
    (repo / "srcs.py").write_text("other\n", encoding="utf-8")
    change(repo)
    inside = repo / "src"
    for path in ("src", "src/", "./src/deep", "src/deep/x.py"):
        assert "+deep" in diff(repo, path=path)
        assert "+other" not in diff(repo, path=path)
    for path in ("deep", "deep/x.py", "src/deep/x.py", str(inside / "deep")):
        assert "+deep" in diff(inside, path=path)
    assert "+two = 22" in diff(inside, path="../a.py")
    assert "+two = 22" in diff(repo, path=".")


def test_a_sub_folder_sees_the_whole_repository_and_is_told_how_to_reach_it(repo):
    (repo / "notebooks" / "x").mkdir(parents=True)
    change(repo)
    text = diff(repo / "notebooks" / "x")
    assert "  modified: a.py" in text
    assert "its sub-folder notebooks/x, so other tools need ../../ before them" in text


def test_a_path_without_changes_is_said_with_what_did_change(repo):
    change(repo)
    text = diff(repo, path="b.py")
    assert "Nothing changed at 'b.py'. Changed are:\n  modified: a.py" in text


# ---- budgets


def test_every_cut_is_stated_with_the_call_that_shows_the_rest(repo):
    for name in ("big1.txt", "big2.txt", "big3.txt", "big4.txt", "big5.txt"):
        lines = (f"{name} line {i} {'x' * 60}\n" for i in range(400))
        (repo / name).write_text("".join(lines), encoding="utf-8")
    change(repo)
    text = diff(repo)
    assert len(text) < 40_000
    assert "+two = 22" in text
    assert "\n\nNOT SHOWN above, for length:\n" in text
    calls = re.findall(r"  (\S+), (.*): git_diff\(path=\"(.*?)\"(?:, start=(\d+))?\)", text)
    assert [call[0] for call in calls] == [f"big{i}.txt" for i in range(1, 6)]
    assert all(call[0] == call[2] for call in calls)
    for name, part, path, start in calls:
        assert part == (f"from line {start} of its diff" if start else "all of it")
        rest = diff(repo, path=path, start=int(start or 1))
        seen = [
            i for i in range(400) if f"{name} line {i} x" in text or f"{name} line {i} x" in rest
        ]
        assert seen == list(range(400))


@pytest.mark.parametrize("tracked", [True, False])
def test_a_single_long_diff_can_be_read_to_its_end(repo, tracked):
    (repo / "big.txt").write_text("".join(f"row {i} {'y' * 50}\n" for i in range(2000)))
    if tracked:
        git(repo, "add", "-A")
    start, seen, calls = 1, set(), 0
    while start:
        text = diff(repo, path="big.txt", start=start)
        seen |= {int(i) for i in re.findall(r"^\+row (\d+) ", text, re.MULTILINE)}
        following = re.search(r'git_diff\(path="big.txt", start=(\d+)\)', text)
        start = int(following[1]) if following else 0
        calls += 1
    assert seen == set(range(2000))
    assert calls == 4
    assert re.search(r"has only 200\d lines", diff(repo, path="big.txt", start=99_999))


def test_a_call_that_goes_on_keeps_the_other_arguments(repo):
    for name in ("x.txt", "y.txt"):
        (repo / name).write_text("".join(f"{i} {'y' * 50}\n" for i in range(2000)))
    git(repo, "add", "-A")
    assert 'git_diff(path="x.txt", staged=true, base="main", start=' in diff(
        repo, staged=True, base="main"
    )


def test_a_line_of_a_megabyte_is_cut_and_its_length_is_said(repo):
    (repo / "min.js").write_text("a" * 1_000_000 + "\nlast\n", encoding="utf-8")
    text = diff(repo)
    assert "[line cut: 1000001 bytes]" in text
    assert "+last" in text
    assert len(text) < 5_000


def test_many_files_are_counted_where_they_are_not_named(repo):
    for number in range(700):
        (repo / f"{'long-name-' * 12}{number:03}").write_text("x" * 100, encoding="utf-8")
    text = diff(repo)
    for part in text.split("NOT SHOWN"):
        listed = len(re.findall(r"^  (new, untracked: )?long-name", part, re.MULTILINE))
        rest = re.search(r"  and (\d+) more; narrow it with `path`", part)
        assert listed + int(rest[1]) in (700, 700 - text.count("diff --git"))
    assert len(text) < 60_000


@pytest.mark.parametrize("name", [".env", ".env.local", "server.pem", "id_rsa", ".netrc"])
@pytest.mark.parametrize("tracked", [True, False])
def test_files_that_hold_secrets_are_named_and_not_shown(repo, name, tracked):
    (repo / name).write_text("SECRET=abc\n", encoding="utf-8")
    (repo / ".env.example").write_text("SECRET=\n", encoding="utf-8")
    if tracked:
        git(repo, "add", "-A")
    text = diff(repo)
    assert "abc" not in text
    assert name in text
    assert "+SECRET=" in text


# ---- no repository, no git


def test_a_folder_without_a_repository_is_one_sentence(tmp_path):
    text = diff(tmp_path)
    assert text == f"{tmp_path} is not inside a git repository, so there are no changes to show."


def test_a_bare_repository_and_the_inside_of_git_are_one_sentence(tmp_path, repo):
    git(tmp_path, "init", "--bare", "bare")
    for folder in (tmp_path / "bare", repo / ".git"):
        assert "there is nothing to diff" in diff(folder)
        assert "\n" not in diff(folder)


def test_a_missing_git_is_one_sentence(repo, monkeypatch, tmp_path):
    monkeypatch.setenv("PATH", str(tmp_path))
    assert diff(repo) == "git is not installed, or not on the PATH, so changes cannot be shown."


def test_a_missing_folder_is_one_sentence(tmp_path):
    assert diff(tmp_path / "gone") == f"The folder {tmp_path / 'gone'} does not exist."


def test_a_broken_repository_is_one_sentence(repo):
    (repo / ".git" / "config").write_text("[broken\n", encoding="utf-8")
    assert re.fullmatch(r"git failed: .*bad config.*\.", diff(repo))


def fake_git(folder: Path, script: str) -> Path:
    folder.mkdir()
    file = folder / "git"
    file.write_text(f"#!/bin/sh\n{script}\n", encoding="utf-8")
    file.chmod(file.stat().st_mode | stat.S_IXUSR)
    return folder


def test_a_repository_of_another_user_is_one_sentence_with_the_way_out(repo, tmp_path, monkeypatch):
    script = "echo \"fatal: detected dubious ownership in repository at '/x'\" >&2; exit 128"
    monkeypatch.setenv("PATH", f"{fake_git(tmp_path / 'bin', script)}:{os.environ['PATH']}")
    assert "safe.directory" in diff(repo)
    assert "\n" not in diff(repo)


def patched(monkeypatch, repo: Path, name: str, value: object) -> Callable[..., str]:
    """git_diff with one constant of its files changed; they are imported afresh for each load."""
    found = tool(repo)
    process = found.run.__self__.function.__globals__["opened"].__globals__
    monkeypatch.setitem(process, name, value)
    return lambda **arguments: asyncio.run(found.run(arguments, lambda _: None)).text


def test_a_git_that_hangs_is_stopped(repo, tmp_path, monkeypatch):
    ask = patched(monkeypatch, repo, "SECONDS", 0.2)
    monkeypatch.setenv("PATH", f"{fake_git(tmp_path / 'bin', 'exec sleep 60')}:/usr/bin:/bin")
    assert "did not answer within" in ask()


def test_untracked_files_that_cannot_be_listed_do_not_hide_the_rest(repo, tmp_path, monkeypatch):
    change(repo)
    real = shutil.which("git")
    script = f'case "$*" in *--others*) echo bad >&2; exit 1;; *) exec {real} "$@";; esac'
    monkeypatch.setenv("PATH", f"{fake_git(tmp_path / 'bin', script)}:{os.environ['PATH']}")
    text = diff(repo)
    assert "could not be listed: git failed: bad." in text
    assert "  modified: a.py  +1 -1" in text


# ---- settings

HOSTILE = """
[color]
    ui = always
    diff = always
[core]
    pager = cat >PAGER-RAN
    quotePath = true
    abbrev = 4
[diff]
    external = false
    noprefix = true
    mnemonicPrefix = true
    context = 0
    interHunkContext = 50
    renames = false
    algorithm = patience
    orderFile = /nonexistent
    relative = true
    submodule = log
    suppressBlankEmpty = true
    wsErrorHighlight = all
    colorMoved = zebra
    statGraphWidth = 3
[diff "py"]
    textconv = tr a-z A-Z <
    command = false
[pager]
    diff = true
[alias]
    diff = !false
[log]
    showSignature = true
[status]
    showUntrackedFiles = no
[trace2]
    normalTarget = 0
"""


@pytest.mark.parametrize("where", ["user", "repository"])
def test_no_setting_changes_what_is_shown(repo, own_settings, where):
    (repo / ".gitattributes").write_text("*.py diff=py\n", encoding="utf-8")
    git(repo, "add", "-A")
    git(repo, "commit", "-m", "attributes")
    change(repo)
    (repo / "b.py").write_text("".join(f"line {i}\n\n" for i in range(30)), encoding="utf-8")
    git(repo, "mv", "b.py", "c.py")
    (repo / "caf\u00e9.txt").write_text("new\n", encoding="utf-8")
    plain = diff(repo)
    target = own_settings if where == "user" else repo / ".git" / "config"
    with target.open("a", encoding="utf-8") as file:
        file.write(HOSTILE)
    without_ids = re.compile(r"^index .*$", re.MULTILINE)
    assert without_ids.sub("", diff(repo)) == without_ids.sub("", plain)
    assert not (repo / "PAGER-RAN").exists()


def test_the_environment_of_git_changes_nothing(repo, tmp_path, monkeypatch):
    change(repo)
    plain = diff(repo)
    other = tmp_path / "other"
    other.mkdir()
    git(other, "init")
    monkeypatch.setenv("GIT_DIR", str(other / ".git"))
    monkeypatch.setenv("GIT_WORK_TREE", str(other))
    monkeypatch.setenv("GIT_EXTERNAL_DIFF", "false")
    monkeypatch.setenv("GIT_DIFF_OPTS", "--unified=0")
    monkeypatch.setenv("GIT_CONFIG_COUNT", "1")
    monkeypatch.setenv("GIT_CONFIG_KEY_0", "diff.noprefix")
    monkeypatch.setenv("GIT_CONFIG_VALUE_0", "true")
    monkeypatch.setenv("GIT_TRACE", "1")
    assert diff(repo) == plain


def test_no_program_that_the_repository_names_is_run(repo, tmp_path):
    marker = tmp_path / "RAN"
    script = tmp_path / "evil.sh"
    script.write_text(f"#!/bin/sh\necho $0 $* >>{marker}\ncat\n", encoding="utf-8")
    script.chmod(0o755)
    hooks = tmp_path / "hooks"
    hooks.mkdir()
    for name in ("post-index-change", "pre-commit", "fsmonitor-watchman"):
        shutil.copy(script, hooks / name)
    git(repo, "remote", "add", "origin", "ssh://evil.example.org/x")
    included = repo / ".git" / "more"
    included.write_text(f'[filter "c"]\n clean = {script}\n', encoding="utf-8")
    with (repo / ".git" / "config").open("a", encoding="utf-8") as file:
        file.write(
            f"[core]\n fsmonitor = {script}\n hooksPath = {hooks}\n sshCommand = {script}\n"
            f" pager = {script}\n editor = {script}\n askPass = {script}\n"
            f"[diff]\n external = {script}\n"
            f'[diff "d"]\n command = {script}\n textconv = {script}\n'
            f'[filter "f"]\n clean = {script}\n smudge = {script}\n required = true\n'
            f'[filter "g.h"]\n process = {script}\n'
            f"[include]\n path = more\n"
            f"[gpg]\n program = {script}\n[log]\n showSignature = true\n"
            f'[extensions]\n partialClone = origin\n[protocol "ext"]\n allow = always\n'
        )
    (repo / ".gitattributes").write_text(
        "a.py filter=f diff=d\nb.py filter=g.h\nc.py filter=c\n", encoding="utf-8"
    )
    change(repo)
    (repo / "b.py").write_text("changed\n", encoding="utf-8")
    (repo / "c.py").write_text("new\n", encoding="utf-8")
    os.utime(repo / "a.py", (1, 1))
    text = diff(repo)
    assert "+two = 22" in text
    assert "+changed" in text
    assert not marker.exists(), marker.read_text(encoding="utf-8")


def test_a_filter_that_cannot_be_switched_off_ends_the_call(repo):
    with (repo / ".git" / "config").open("a", encoding="utf-8") as file:
        file.write('[filter "a=b"]\n clean = false\n')
    assert diff(repo) == "The repository's configuration defines a filter that cannot be avoided."


def test_a_filter_of_the_persons_own_stays_in_force(repo, own_settings):
    own_settings.write_text('[filter "up"]\n clean = tr a-z A-Z\n', encoding="utf-8")
    (repo / ".gitattributes").write_text("*.up filter=up\n", encoding="utf-8")
    (repo / "x.up").write_text("abc\n", encoding="utf-8")
    git(repo, "add", "-A")
    git(repo, "commit", "-m", "filtered")
    (repo / "x.up").write_text("abc\ndef\n", encoding="utf-8")
    assert " ABC\n+DEF" in diff(repo)


def test_a_work_tree_that_lies_elsewhere_is_refused(repo, tmp_path):
    (tmp_path / "private").write_text("secret", encoding="utf-8")
    git(repo, "config", "core.worktree", str(tmp_path))
    text = diff(repo)
    assert text == f"The repository around {repo} keeps its files elsewhere."


def test_nothing_is_written(repo):
    change(repo)
    (repo / "new.py").write_text("x\n", encoding="utf-8")
    os.utime(repo / "b.py", (1, 1))

    def state() -> dict[str, tuple[int, int]]:
        return {str(p): (p.stat().st_mtime_ns, p.stat().st_size) for p in repo.rglob("*")}

    before = state()
    diff(repo)
    diff(repo, staged=True)
    assert state() == before


def test_crlf_and_other_encodings_are_shown_and_can_be_sent(repo):
    (repo / "win.txt").write_bytes(b"one\r\ntwo\r\n")
    (repo / "latin.txt").write_bytes(b"caf\xe9\n")
    text = diff(repo)
    assert "+one\r" in text
    assert "+caf\ufffd" in text
    text.encode("utf-8")
