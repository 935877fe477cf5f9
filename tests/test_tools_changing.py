"""`write` and `edit`: what they refuse, what they keep, what a person sees first."""

from __future__ import annotations

import json
import os
import resource
import threading
from pathlib import Path

import pytest

from agent_magics.errors import ToolError
from agent_magics.policy import CallFacts
from agent_magics.tools import documents
from agent_magics.tools.diffing import unified_diff
from agent_magics.tools.documents import replaced
from tests.test_tools_kit import Kit, powerless


@pytest.fixture
def kit(tmp_path: Path) -> Kit:
    return Kit(tmp_path)


def read_and_edit(kit: Kit, path: str, old: str, new: str) -> str:
    kit.text("read", path=path)
    return kit.text("edit", path=path, old=old, new=new)


def refused_preview(kit: Kit, name: str, **arguments: object) -> str:
    with pytest.raises(ToolError) as caught:
        kit.preview(name, **arguments)
    return str(caught.value)


# -- write ------------------------------------------------------------------------------------


def test_a_new_file_is_written_with_its_folders(kit):
    assert (
        kit.text("write", path="a/b/c.txt", content="x\ny\n") == "Wrote a/b/c.txt (2 lines, new)."
    )
    assert (kit.root / "a/b/c.txt").read_bytes() == b"x\ny\n"
    assert [p.name for p in (kit.root / "a/b").iterdir()] == ["c.txt"]


def test_a_file_that_was_written_may_be_written_again(kit):
    kit.text("write", path="a.txt", content="1\n")
    kit.text("write", path="a.txt", content="2\n")
    assert (kit.root / "a.txt").read_text() == "2\n"


@pytest.mark.parametrize("name", ["write", "edit"])
def test_a_file_that_was_not_read_is_not_changed_and_none_of_it_is_told(kit, name):
    path = kit.file("a.txt", "private\n")
    arguments = {"content": "x"} if name == "write" else {"old": "privat", "new": "x"}
    message = refused_preview(kit, name, path="a.txt", **arguments)
    assert "read it first" in message
    assert "private" not in message
    assert kit.refusal(name, path="a.txt", **arguments) == message
    assert path.read_text() == "private\n"


@pytest.mark.parametrize("name", ["write", "edit"])
def test_a_file_that_changed_since_it_was_read_is_not_changed(kit, name):
    path = kit.file("a.txt", "one\n")
    kit.text("read", path="a.txt")
    status = path.stat()
    path.write_text("two\n")
    os.utime(path, ns=(status.st_atime_ns, status.st_mtime_ns))
    arguments = {"content": "x"} if name == "write" else {"old": "two", "new": "x"}
    assert "changed on disk" in kit.refusal(name, path="a.txt", **arguments)
    assert path.read_text() == "two\n"


def test_a_touched_file_with_the_same_content_is_not_a_changed_one(kit):
    path = kit.file("a.txt", "one\n")
    kit.text("read", path="a.txt")
    path.write_text("one\n")
    kit.text("edit", path="a.txt", old="one", new="two")
    assert path.read_text() == "two\n"


def test_an_empty_file_needs_no_reading(kit):
    path = kit.file("a.txt")
    kit.text("write", path="a.txt", content="x\n")
    assert path.read_text() == "x\n"


def test_nobody_is_asked_about_a_change_that_changes_nothing(kit):
    kit.file("a.txt", "one\n")
    kit.text("read", path="a.txt")
    assert "already" in refused_preview(kit, "write", path="a.txt", content="one\n")
    assert "nothing was written" in kit.text("write", path="a.txt", content="one\n")


def test_line_ends_the_mark_and_the_last_line_end_are_kept_by_write(kit):
    path = kit.file("a.txt", b"\xef\xbb\xbfone\r\ntwo\r\n")
    kit.text("read", path="a.txt")
    text = kit.text("write", path="a.txt", content="1\n2\n3")
    assert path.read_bytes() == b"\xef\xbb\xbf1\r\n2\r\n3\r\n"
    assert "CRLF" in text
    assert "line end after the last line" in text


@pytest.mark.parametrize(
    "line",
    [
        *("# ... rest of the code unchanged ...", "// existing code here", "/* rest of file */…"),
        *("<!-- remaining content unchanged -->", "... (other methods stay the same)"),
    ],
)
def test_a_placeholder_for_left_out_code_is_pointed_out(kit, line):
    text = kit.text("write", path="a.py", content=f"def f():\n    {line}\n")
    assert "line 2 looks like a placeholder" in text


@pytest.mark.parametrize(
    "line",
    [
        *(
            "# Other methods",
            "rest = code[1:]",
            "# the rest of the file is parsed below",
            "x = ...",
        ),
        *("return unchanged  # same", "## Existing functions", "", "# ..."),
    ],
)
def test_ordinary_lines_are_no_placeholders(kit, line):
    assert "placeholder" not in kit.text("write", path="a.py", content=f"x = 1\n{line}\n")


def test_a_placeholder_that_was_there_before_is_not_pointed_out(kit):
    kit.file("a.py", "a\n# ... existing code ...\n")
    assert "placeholder" not in read_and_edit(kit, "a.py", "a\n", "b\n")


# -- edit -------------------------------------------------------------------------------------


def test_an_edit_says_how_it_matched(kit):
    kit.file("a.py", "def f():\n    x = 1  \n    return x\n")
    text = read_and_edit(kit, "a.py", "    x = 1\n    return x", "    x = 2\n    return x")
    assert text == "Edited a.py: 1 place exchanged.\n[matched ignoring blanks at line ends]"
    assert (kit.root / "a.py").read_text() == "def f():\n    x = 2  \n    return x\n"


@pytest.mark.parametrize(
    ("data", "old", "new", "after"),
    [
        (
            b"\xef\xbb\xbfone\r\ntwo\r\nlast",
            "one\ntwo",
            "1\n2\n3",
            b"\xef\xbb\xbf1\r\n2\r\n3\r\nlast",
        ),
        (
            "gr\xfcn\n".encode("latin-1"),
            "gr\xfcn",
            "bl\xe4ulich",
            "bl\xe4ulich\n".encode("latin-1"),
        ),
        ("a b\n".encode("utf-16"), "b", "é", "a é\n".encode("utf-16")),
        (
            b"\xfe\xff" + "a b".encode("utf-16-be"),
            "b",
            "c",
            b"\xfe\xff" + "a c".encode("utf-16-be"),
        ),
        ("ü ö ä\nbad \xff\n".encode("latin-1"), "bad", "ok", "ü ö ä\nok \xff\n".encode("latin-1")),
        ("ü ö\n".encode() + b"\xff bad", "bad", "ok", "ü ö\n".encode() + b"\xff ok"),
        (b"no end", "end", "END", b"no END"),
        (b"a\x0c\x1bb\r\r\n", "b", "c", b"a\x0c\x1bc\r\r\n"),
    ],
)
def test_encoding_line_ends_and_all_other_bytes_are_kept(kit, data, old, new, after):
    path = kit.file("a.txt", data)
    read_and_edit(kit, "a.txt", old, new)
    assert path.read_bytes() == after


def test_a_character_that_the_files_encoding_lacks_is_refused(kit):
    path = kit.file("a.txt", "caf\xe9\n".encode("latin-1"))
    kit.text("read", path="a.txt")
    assert "U+65E5" in kit.refusal("edit", path="a.txt", old="caf", new="日本")
    assert path.read_bytes() == b"caf\xe9\n"


def test_several_edits_are_made_or_none(kit):
    path = kit.file("a.txt", "one two three\n")
    kit.text("read", path="a.txt")
    edits = [{"old": "one", "new": "1"}, {"old": "nope", "new": "x"}]
    assert "Edit 2 of 2" in kit.refusal("edit", path="a.txt", edits=edits)
    assert path.read_text() == "one two three\n"
    edits[1] = {"old": "e", "new": "E", "all": True}
    assert "3 places" in kit.text("edit", path="a.txt", edits=edits)
    assert path.read_text() == "1 two thrEE\n"


@pytest.mark.parametrize(
    "arguments",
    [{}, {"old": "a"}, {"new": "a"}, {"old": "a", "new": "b", "edits": [{"old": "a", "new": "b"}]}],
)
def test_either_old_and_new_or_edits_must_be_given(kit, arguments):
    kit.file("a.txt", "a\n")
    kit.text("read", path="a.txt")
    assert "give" in kit.refusal("edit", path="a.txt", **arguments).lower()


def test_a_missing_file_is_refused_with_near_names(kit):
    kit.file("src/module.py", "x")
    message = kit.refusal("edit", path="src/modul.py", old="a", new="b")
    assert "Did you mean src/module.py?" in message
    assert "write makes a new file" in message


# -- what a person sees -------------------------------------------------------------------------


def test_the_preview_is_the_whole_difference_of_what_is_on_disk(kit):
    kit.file("a.txt", "".join(f"{n}\n" for n in range(500)))
    kit.text("read", path="a.txt")
    (shown,) = kit.preview("write", path="a.txt", content="".join(f"{n}!\n" for n in range(500)))
    assert shown.kind == "diff"
    assert shown.text.count("\n+") == 501
    assert shown.text.count("\n-") == 500


def test_a_change_between_the_preview_and_the_run_is_refused_once(kit):
    path = kit.file("a.txt", "one\ntwo\n")
    kit.text("read", path="a.txt")
    edit = {"path": "a.txt", "old": "two", "new": "2"}
    kit.preview("edit", **edit)
    path.write_text("uno\ntwo\n")
    kit.text("read", path="a.txt")
    assert "after the person saw" in kit.refusal("edit", **edit)
    assert path.read_text() == "uno\ntwo\n"
    kit.preview("edit", **edit)
    kit.text("edit", **edit)
    assert path.read_text() == "uno\n2\n"


def test_a_file_that_comes_into_being_after_the_preview_is_not_overwritten(kit):
    kit.preview("write", path="a.txt", content="x")
    kit.file("a.txt", "somebody's")
    kit.refusal("write", path="a.txt", content="x")
    assert (kit.root / "a.txt").read_text() == "somebody's"


def test_a_link_that_was_turned_after_the_preview_is_not_followed(kit):
    kit.file("one.txt", "x\n")
    kit.file("two.txt", "x\n")
    (kit.root / "link").symlink_to("one.txt")
    kit.text("read", path="one.txt")
    kit.text("read", path="two.txt")
    kit.preview("edit", path="link", old="x", new="y")
    (kit.root / "link").unlink()
    (kit.root / "link").symlink_to("two.txt")
    assert "after the person saw" in kit.refusal("edit", path="link", old="x", new="y")


def test_two_changes_that_were_shown_together_do_not_silently_become_another_one(kit):
    kit.file("a.txt", "one two\n")
    kit.text("read", path="a.txt")
    first = {"path": "a.txt", "old": "one", "new": "1"}
    second = {"path": "a.txt", "old": "two", "new": "2"}
    kit.preview("edit", **first)
    kit.preview("edit", **second)
    kit.text("edit", **first)
    assert "after the person saw" in kit.refusal("edit", **second)
    kit.text("edit", **second)
    assert (kit.root / "a.txt").read_text() == "1 2\n"


@pytest.mark.parametrize("name", ["write", "edit"])
@pytest.mark.parametrize("path", ["folder", "fifo", "protected.txt", "image.png", "a.txt/below"])
def test_nobody_is_asked_about_a_change_that_cannot_be_made(kit, name, path):
    (kit.root / "folder").mkdir()
    os.mkfifo(kit.root / "fifo")
    kit.file("a.txt", "a")
    kit.file("image.png", b"\x89PNG\0")
    kit.file("protected.txt", "a\n").chmod(0o444)
    kit.text("read", path="protected.txt")
    kit.workspace.note(kit.root / "image.png", b"\x89PNG\0")
    arguments = {"content": "x"} if name == "write" else {"old": "a", "new": "b"}
    before = sorted(kit.root.rglob("*"))
    refused_preview(kit, name, path=path, **arguments)
    kit.refusal(name, path=path, **arguments)
    assert sorted(kit.root.rglob("*")) == before


def test_always_offers_the_file_first_and_then_all_files_of_the_workspace(kit):
    narrow, wide = kit.tool("edit").scopes({"path": "src/a.py"})
    assert narrow.rule.matches(CallFacts("edit", "write", "src/a.py"))
    assert not narrow.rule.matches(CallFacts("edit", "write", "src/b.py"))
    assert wide.label == "edit files in the workspace, this session"
    assert wide.rule.matches(CallFacts("edit", "write", "src/b.py"))


@pytest.mark.parametrize("path", ["../x", ".env", ".git/config", "/etc/hosts", ".bashrc"])
def test_always_never_offers_more_than_the_very_file_outside_or_when_protected(kit, path):
    scopes = kit.tool("edit").scopes({"path": path})
    assert [bool(scope.rule.pattern) for scope in scopes] == [True]
    assert kit.outside("edit", path=path)


def test_always_offers_no_rule_that_would_match_other_files_by_its_star(kit):
    assert all(not s.rule.pattern for s in kit.tool("write").scopes({"path": "a*.py"}))


# -- the disk -----------------------------------------------------------------------------------


def test_the_target_of_a_link_is_replaced_and_the_link_stays(kit):
    kit.file("target.txt", "one\n")
    (kit.root / "link.txt").symlink_to("target.txt")
    read_and_edit(kit, "link.txt", "one", "two")
    assert (kit.root / "link.txt").is_symlink()
    assert (kit.root / "target.txt").read_text() == "two\n"


@pytest.mark.parametrize("mode", [0o755, 0o600, 0o640])
def test_the_mode_is_kept(kit, mode):
    path = kit.file("a.sh", "one\n")
    path.chmod(mode)
    read_and_edit(kit, "a.sh", "one", "two")
    assert path.stat().st_mode & 0o777 == mode


def test_a_file_that_is_private_is_never_readable_for_others_meanwhile(kit, monkeypatch):
    kit.file("a.txt", "one\n").chmod(0o600)
    seen = []
    fsync = os.fsync

    def looking(handle):
        seen.append(os.fstat(handle).st_mode & 0o777)
        fsync(handle)

    monkeypatch.setattr(documents.os, "fsync", looking)
    read_and_edit(kit, "a.txt", "one", "two")
    assert seen == [0o600]


@pytest.mark.skipif(not hasattr(os, "setxattr"), reason="no extended attributes in this system")
def test_attributes_of_the_file_are_kept(kit):
    path = kit.file("a.txt", "one\n")
    try:
        os.setxattr(path, "user.origin", b"me")
    except OSError:
        pytest.skip("the file system of this test has no extended attributes")
    read_and_edit(kit, "a.txt", "one", "two")
    assert os.getxattr(path, "user.origin") == b"me"


def test_a_file_with_several_names_is_parted_and_that_is_said(kit):
    path = kit.file("a.txt", "one\n")
    os.link(path, kit.root / "b.txt")
    kit.text("read", path="a.txt")
    remark, diff = kit.preview("edit", path="a.txt", old="one", new="two")
    assert remark.text.startswith("a.txt has 2 names (hard links). Only this one")
    assert diff.kind == "diff"
    assert "2 names" in kit.text("edit", path="a.txt", old="one", new="two")
    assert (kit.root / "b.txt").read_text() == "one\n"


def test_folders_that_were_made_for_a_file_that_could_not_be_written_go_again(kit, monkeypatch):
    def full(*_):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr("agent_magics.tools.changing.replaced", full)
    assert "No space left" in kit.refusal("write", path="n/m/a.txt", content="x")
    assert list(kit.root.iterdir()) == []


def test_a_new_file_has_the_mode_that_the_user_gives_new_files(kit):
    kit.text("write", path="a.txt", content="x")
    ordinary = kit.file("b.txt", "x")
    assert (kit.root / "a.txt").stat().st_mode == ordinary.stat().st_mode


def test_a_failed_write_leaves_the_old_file_and_no_rubbish(kit):
    path = kit.file("a.txt", "one\n")
    kit.text("read", path="a.txt")
    before = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (1000, before[1]))
    try:
        message = kit.refusal("edit", path="a.txt", old="one", new="two" * 1000)
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, before)
    assert "File too large" in message
    assert path.read_text() == "one\n"
    assert [p.name for p in kit.root.iterdir()] == ["a.txt"]


def test_a_file_that_is_not_what_was_expected_is_not_replaced(tmp_path):
    path = tmp_path / "a"
    path.write_bytes(b"other")
    with pytest.raises(ToolError, match="changed on disk meanwhile"):
        replaced(path, b"new", b"old")
    with pytest.raises(ToolError, match="changed on disk meanwhile"):
        replaced(path, b"new", None)
    with pytest.raises(ToolError, match="changed on disk meanwhile"):
        replaced(tmp_path / "gone", b"new", b"old")
    assert path.read_bytes() == b"other"
    assert [p.name for p in tmp_path.iterdir()] == ["a"]


def test_many_writers_at_once_never_mix_or_lose_a_change(kit):
    path = kit.file("a.txt", "".join(f"<{n}>\n" for n in range(20)))
    kit.text("read", path="a.txt")

    def change(n: int) -> None:
        kit.text("edit", path="a.txt", old=f"<{n}>", new=f"[{n}]")

    threads = [threading.Thread(target=change, args=(n,)) for n in range(20)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert path.read_text() == "".join(f"[{n}]\n" for n in range(20))


def test_a_file_that_is_too_large_is_refused_with_another_way(kit):
    path = kit.root / "a.txt"
    with path.open("wb") as file:
        file.truncate(documents.MAX_WHOLE + 1)
    assert "run_shell" in kit.refusal("edit", path="a.txt", old="a", new="b")


def test_half_of_a_pair_is_refused(kit):
    assert "surrogate" in kit.refusal("write", path="a.txt", content="\ud800")
    assert not (kit.root / "a.txt").exists()


def test_a_notebook_stays_a_notebook(kit):
    notebook = {"cells": [], "metadata": {}, "nbformat": 4, "nbformat_minor": 5}
    path = kit.file("a.ipynb", json.dumps(notebook))
    kit.text("read", path="a.ipynb", raw=True)
    assert "notebook" in kit.refusal("edit", path="a.ipynb", old='"cells": []', new='"cells": [')
    assert "no cells" in kit.refusal("write", path="a.ipynb", content="{}")
    assert "raw=true" in kit.refusal("edit", path="a.ipynb", old="x = 1", new="x = 2")
    assert "notebook" in kit.refusal("write", path="new.ipynb", content="hello")
    assert json.loads(path.read_text()) == notebook


# -- diffs --------------------------------------------------------------------------------------


def test_a_diff_is_one_that_git_would_apply():
    before, after = "a\nb\nc\nd\ne\nf\ng\nh\ni\nend", "a\nb\nX\nd\ne\nf\ng\nh\ni\nend\n"
    assert unified_diff(before, after, "x") == (
        "--- a/x\n+++ b/x\n@@ -1,10 +1,10 @@\n a\n b\n-c\n+X\n d\n e\n f\n g\n h\n i\n"
        "-end\n\\ No newline at end of file\n+end\n"
    )
    assert unified_diff(None, "a\n", "x") == "--- /dev/null\n+++ b/x\n@@ -0,0 +1 @@\n+a\n"
    assert unified_diff("a\n", "", "x") == "--- a/x\n+++ b/x\n@@ -1 +0,0 @@\n-a\n"


def test_a_change_of_line_ends_alone_is_visible():
    assert "-a␍\n+a\n" in unified_diff("a\r\nb\n", "a\nb\n", "x")
    assert "␍" not in unified_diff("a\r\nb\r\n", "a\r\nc\r\n", "x")


def test_huge_unlike_texts_give_a_whole_diff_at_once():
    before = "".join(f"{n % 7}\n" for n in range(30_000))
    after = "".join(f"{n % 5}x\n" for n in range(30_000))
    shown = unified_diff(f"head\n{before}tail\n", f"head\n{after}tail\n", "x")
    assert shown.count("\n-") == 30_000
    assert shown.count("\n+") == 30_001  # with the header
    assert "@@ -1,30002 +1,30002 @@\n head\n" in shown


def test_a_file_in_a_folder_that_takes_no_files_is_refused():
    with powerless() as root:
        kit = Kit(root)
        (root / "closed").mkdir(mode=0o555)
        message = refused_preview(kit, "write", path="closed/a", content="x")
        assert "nothing may be put into" in message


def test_paths_given_in_different_ways_are_one_file(kit):
    kit.file("src/a.txt", "one\n")
    kit.text("read", path="./src/../src/a.txt")
    kit.text("edit", path=str(Path(kit.root) / "src/a.txt"), old="one", new="two")
    assert (kit.root / "src/a.txt").read_text() == "two\n"
