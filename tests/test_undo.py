"""Undo of a turn: what comes back, what is in the way, and what the store promises."""

from __future__ import annotations

import errno
import json
import os
import signal
import stat
import subprocess
import sys
import threading
from pathlib import Path

import pytest

from agent_magics.errors import ToolError
from agent_magics.tools.backup import Coming
from agent_magics.tools.states import ABSENT, FOLDER, State, file_of
from agent_magics.undo import restoring
from agent_magics.undo.journal import Change, Header, change_lines, header_line, read_journal
from agent_magics.undo.planning import last_undo
from agent_magics.undo.restoring import UndoFailed
from agent_magics.undo.store import MAX_TURNS, Store
from tests.test_tools_kit import powerless
from tests.undokit import UndoKit, snapshot

FILE = file_of(b"x")
HERE = str(Path(__file__).parents[1])


@pytest.fixture
def kit(tmp_path: Path) -> UndoKit:
    return UndoKit(tmp_path / "work", tmp_path / "data" / "undo")


def many_changes(kit: UndoKit) -> None:
    kit.text("read", path="a.txt")
    kit.text("edit", path="a.txt", old="one", new="two")
    kit.text("write", path="n/m/new.txt", content="new\n")
    kit.text("delete", path="d", recursive=True)
    kit.text("move", source="b.sh", destination="z/c.sh")
    kit.text("delete", path="link")


def start(kit: UndoKit) -> None:
    kit.file("a.txt", b"\xef\xbb\xbfone\r\n")
    kit.file("b.sh", "#!/bin/sh\n").chmod(0o755)
    kit.file("d/e/x.bin", b"\0\1")
    kit.file("d/secret", "s").chmod(0o600)
    (kit.root / "d" / "empty").mkdir(mode=0o700)
    (kit.root / "link").symlink_to("d/e")


def test_twenty_edits_and_one_undo_give_the_first_content(kit):
    kit.file("a.txt", "v0\n").chmod(0o640)
    before = snapshot(kit.root)
    with kit.turn():
        kit.text("read", path="a.txt")
        for n in range(20):
            kit.text("edit", path="a.txt", old=f"v{n}", new=f"v{n + 1}")
    assert len(list(kit.store.turns_folder.glob("*/blobs/*"))) == 1
    kit.undo()
    assert snapshot(kit.root) == before


def test_an_undo_brings_everything_back_and_a_redo_does_it_again(kit):
    start(kit)
    before = snapshot(kit.root)
    with kit.turn():
        many_changes(kit)
    after = snapshot(kit.root)
    for _ in range(2):
        kit.undo()
        assert snapshot(kit.root) == before
        kit.redo()
        assert snapshot(kit.root) == after
    kit.undo()
    assert snapshot(kit.root) == before
    assert all(entry.undone for entry in kit.entries())


def test_turns_are_taken_back_one_after_the_other(kit):
    states = [snapshot(kit.root)]
    for n in range(3):
        with kit.turn(f"turn {n}"):
            kit.text("write", path="a.txt", content=f"{n}\n")
            kit.text("write", path=f"d{n}/x", content="x")
        states.append(snapshot(kit.root))
    for wanted in reversed(states[:-1]):
        kit.undo()
        assert snapshot(kit.root) == wanted
    for wanted in states[1:]:
        kit.redo()
        assert snapshot(kit.root) == wanted


def test_an_older_turn_is_taken_back_alone_if_nothing_later_touched_its_files(kit):
    with kit.turn("first"):
        kit.text("write", path="a.txt", content="1")
    with kit.turn("second"):
        kit.text("write", path="b.txt", content="2")
    first = kit.entries()[1]
    plan = restoring.undone(kit.store, _plan(kit, first), kit.recorder.kernel, kit.limit)
    assert [step.path.name for step in plan.steps] == ["a.txt"]
    assert [e.undone for e in kit.entries()] == [False, True]
    assert (kit.root / "b.txt").read_text() == "2"


def _plan(kit, entry):
    from agent_magics.undo.planning import planned

    return planned(kit.store, entry.journal)


@pytest.mark.parametrize(
    ("meddle", "reason"),
    [
        (lambda p: p.write_text("mine\n"), "it was changed since"),
        (lambda p: p.unlink(), "it was deleted since"),
        (lambda p: p.chmod(0o777), "its permissions were changed since"),
        (lambda p: (p.unlink(), p.symlink_to("x")), "it is a link now"),
        (lambda p: (p.unlink(), p.mkdir()), "it is a folder now"),
        (lambda p: (p.unlink(), os.mkfifo(p)), "it is no ordinary file now"),
    ],
)
def test_what_someone_else_changed_since_is_a_conflict(kit, meddle, reason):
    path = kit.file("a.txt", "one\n")
    with kit.turn():
        kit.text("read", path="a.txt")
        kit.text("edit", path="a.txt", old="one", new="two")
    meddle(path)
    assert kit.conflicts() == {"a.txt": reason}


def test_a_file_that_cannot_be_looked_at_any_more_is_a_conflict():
    with powerless() as folder:
        kit = UndoKit(folder / "work", folder / "data")
        path = kit.file("a.txt", "one")
        with kit.turn():
            kit.text("read", path="a.txt")
            kit.text("write", path="a.txt", content="two")
        path.chmod(0)
        assert kit.conflicts() == {"a.txt": "it cannot be looked at: Permission denied"}


@pytest.mark.parametrize("tool", ["delete", "move"])
def test_what_came_to_the_place_of_something_taken_away_is_a_conflict(kit, tool):
    kit.file("a.txt", "one")
    with kit.turn():
        more = {"path": "a.txt"} if tool == "delete" else {"source": "a.txt", "destination": "b"}
        kit.text(tool, **more)
    kit.file("a.txt", "somebody's")
    assert kit.conflicts() == {"a.txt": "there is a file now"}


def test_by_force_it_is_taken_back_and_what_was_there_can_be_had_again(kit):
    path = kit.file("a.txt", "one\n")
    with kit.turn():
        kit.text("read", path="a.txt")
        kit.text("edit", path="a.txt", old="one", new="two")
    path.write_text("mine\n")
    kit.undo(force=True)
    assert path.read_text() == "one\n"
    kit.redo()
    assert path.read_text() == "mine\n"


def test_force_takes_back_a_file_whose_folders_are_gone(kit):
    path = kit.file("d/e/a.txt", "one\n")
    with kit.turn():
        kit.text("read", path="d/e/a.txt")
        kit.text("edit", path="d/e/a.txt", old="one", new="two")
    path.unlink()
    path.parent.rmdir()
    path.parent.parent.rmdir()
    kit.undo(force=True)
    assert path.read_text() == "one\n"


def test_what_something_else_changed_between_two_edits_is_a_conflict(kit):
    path = kit.file("a.txt", "one\n")
    with kit.turn():
        kit.text("read", path="a.txt")
        kit.text("edit", path="a.txt", old="one", new="two")
        path.write_text("two\nmine\n")
        kit.text("read", path="a.txt")
        kit.text("edit", path="a.txt", old="two", new="three")
    assert "while the agent worked" in kit.conflicts()["a.txt"]
    kit.undo(force=True)
    assert path.read_text() == "one\n"


def test_a_change_that_failed_is_no_conflict(kit, monkeypatch):
    path = kit.file("a.txt", "one\n")
    with kit.turn():
        kit.text("read", path="a.txt")
        kit.text("edit", path="a.txt", old="one", new="two")
        (kit.root / ".git").mkdir()

        def full(*_):
            raise OSError(errno.ENOSPC, "No space left on device")

        with monkeypatch.context() as patched:
            patched.setattr("agent_magics.tools.changing.replaced", full)
            assert "No space" in kit.refusal("edit", path="a.txt", old="two", new="three")
            assert "No space" in kit.refusal("write", path="n/m/x", content="x")
    assert not (kit.root / "n").exists()
    kit.undo()
    assert path.read_text() == "one\n"


def test_a_folder_into_which_someone_put_something_stays(kit):
    with kit.turn():
        kit.text("write", path="n/m/new.txt", content="new\n")
    kit.file("n/mine.txt", "x")
    done = kit.undo()
    assert sorted(snapshot(kit.root)) == ["n", "n/mine.txt"]
    assert [folder.name for folder in done.kept] == ["n"]


def test_a_file_whose_place_a_folder_took_comes_back(kit):
    kit.file("a", "file")
    before = snapshot(kit.root)
    with kit.turn():
        kit.text("delete", path="a")
        kit.text("write", path="a/b/c", content="x")
    kit.undo()
    assert snapshot(kit.root) == before
    kit.redo()
    assert (kit.root / "a/b/c").read_text() == "x"


def test_a_folder_on_the_way_that_became_a_link_is_never_followed(kit, tmp_path):
    kit.file("d/a.txt", "one\n")
    with kit.turn():
        kit.text("read", path="d/a.txt")
        kit.text("edit", path="d/a.txt", old="one", new="two")
    other = tmp_path / "other"
    other.mkdir()
    (other / "a.txt").write_text("two\n")
    (kit.root / "d").rename(kit.root / "old")
    (kit.root / "d").symlink_to(other)
    assert kit.conflicts() == {"d/a.txt": "a folder above it is a link now"}
    kit.undo(force=True)
    assert (other / "a.txt").read_text() == "two\n"


def test_a_move_of_a_folder_that_failed_in_the_place_of_a_link_is_nothing_to_take_back(kit):
    kit.file("d/x", "x")
    (kit.root / "link").symlink_to("nowhere")
    place = kit.root / "link"
    with kit.turn():
        kit.text("write", path="a.txt", content="x")
        coming = [Coming(place, FOLDER), Coming(place / "x", ABSENT), Coming(place / "y", FILE)]
        assert kit.workspace.backup.keep(coming) == ""
    kit.undo()
    assert sorted(snapshot(kit.root)) == ["d", "d/x", "link"]


# -- all or nothing -----------------------------------------------------------------------------


@pytest.mark.parametrize("fails_at", range(6))
def test_an_undo_that_fails_anywhere_leaves_everything_as_it_was(kit, monkeypatch, fails_at):
    start(kit)
    with kit.turn():
        many_changes(kit)
    after = snapshot(kit.root)
    calls = iter(range(100))
    real = restoring._copied

    def failing(step, spare):
        real(step, spare)
        if next(calls) == fails_at:
            raise OSError(errno.ENOSPC, "No space left on device", str(step.path))

    real_away = restoring._take_away

    def failing_away(step, done):
        if next(calls) == fails_at:
            raise KeyboardInterrupt
        real_away(step, done)

    monkeypatch.setattr(restoring, "_copied", failing)
    monkeypatch.setattr(restoring, "_take_away", failing_away)
    with pytest.raises(UndoFailed, match="everything is as it was"):
        kit.undo()
    assert snapshot(kit.root) == after
    assert not kit.entries()[0].undone
    assert last_undo(kit.store, kit.recorder.root()) is None


def test_a_file_that_changes_at_the_very_moment_stops_the_undo(kit, monkeypatch):
    path = kit.file("a.txt", "one\n")
    with kit.turn():
        kit.text("read", path="a.txt")
        kit.text("edit", path="a.txt", old="one", new="two")
    plan = kit.plan()
    path.write_text("mine\n")
    with pytest.raises(UndoFailed, match="changed at this moment"):
        restoring.undone(kit.store, plan, "k", kit.limit)
    assert path.read_text() == "mine\n"


def test_a_damaged_copy_is_not_put_back(kit):
    kit.file("a.txt", "one\n")
    with kit.turn():
        kit.text("read", path="a.txt")
        kit.text("edit", path="a.txt", old="one", new="two")
    (blob,) = kit.store.turns_folder.glob("*/blobs/*")
    blob.write_bytes(b"evil\n")
    assert kit.conflicts() == {"a.txt": "its copy is gone or damaged"}
    blob.unlink()
    blob.symlink_to("/etc/hosts")
    assert kit.conflicts() == {"a.txt": "its copy is gone or damaged"}
    assert not kit.plan().forced


def test_what_is_there_now_must_be_kept_or_nothing_is_undone(kit, monkeypatch):
    path = kit.file("a.txt", "one\n")
    with kit.turn():
        kit.text("read", path="a.txt")
        kit.text("edit", path="a.txt", old="one", new="two")

    def full(*_):
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr(Store, "begin", full)
    with pytest.raises(UndoFailed, match="cannot be kept"):
        kit.undo()
    assert path.read_text() == "two\n"
    kit.undo(force=True)
    assert path.read_text() == "one\n"


# -- the store ----------------------------------------------------------------------------------


def test_copies_are_for_their_owner_alone_and_never_in_the_project(kit, tmp_path):
    os.umask(old := os.umask(0))
    kit.file("a.txt", "secret")
    os.umask(0)
    try:
        with kit.turn():
            kit.text("delete", path="a.txt")
    finally:
        os.umask(old)
    assert list(kit.root.iterdir()) == []
    modes = {stat.S_IMODE(p.stat().st_mode) for p in (tmp_path / "data").rglob("*") if p.is_file()}
    assert modes == {0o600}
    folders = [kit.store.folder, *(p for p in kit.store.folder.rglob("*") if p.is_dir())]
    assert {stat.S_IMODE(p.stat().st_mode) for p in folders} == {0o700}


def test_a_store_that_is_a_link_is_not_used(kit, tmp_path):
    (tmp_path / "elsewhere").mkdir()
    kit.store.folder.parent.mkdir()
    kit.store.folder.symlink_to(tmp_path / "elsewhere")
    kit.file("a.txt", "x")
    with kit.turn():
        assert "not a folder of its own" in kit.refusal("delete", path="a.txt")
    assert list((tmp_path / "elsewhere").iterdir()) == []


def test_the_oldest_turns_go_when_there_is_no_room(kit):
    kit.limit = 30_000
    for n in range(6):
        kit.file("a.txt", f"{n}" * 8000)
        with kit.turn(f"turn {n}"):
            kit.text("delete", path="a.txt")
    assert [e.journal.header.prompt for e in kit.entries()] == ["turn 5", "turn 4", "turn 3"]
    total = sum(p.stat().st_size for p in kit.store.folder.rglob("*") if p.is_file())
    assert total <= kit.limit


def test_so_many_turns_are_kept_and_no_more(kit, monkeypatch):
    monkeypatch.setattr("agent_magics.undo.store.MAX_TURNS", 5)
    assert MAX_TURNS == 200
    for n in range(8):
        with kit.turn():
            kit.text("write", path="a.txt", content=f"{n}")
    assert len(kit.store.names()) == 6


def test_a_file_that_is_too_large_is_said_beforehand_and_noted(kit):
    kit.limit = 100
    kit.file("a.txt", "x" * 90 + "\n")
    with kit.turn():
        kit.text("read", path="a.txt")
        warning, diff = kit.preview("edit", path="a.txt", old="x\n", new="y\n")
        assert warning.text == (
            "This cannot be undone: 91 bytes are more than the 50 bytes that are kept."
        )
        assert diff.kind == "diff"
        assert "cannot be undone" in kit.text("edit", path="a.txt", old="x\n", new="y\n")
    ((path, reason),) = kit.entries()[0].journal.missed
    assert (path.name, reason) == ("a.txt", "91 bytes are more than the 50 bytes that are kept")


def test_no_copies_are_made_and_nothing_is_said_when_undo_is_switched_off(kit):
    kit.limit = 0
    kit.file("a.txt", "x")
    with kit.turn():
        assert kit.preview("delete", path="a.txt")[0].text.startswith("Deletes")
        assert "undo" not in kit.text("delete", path="a.txt")
    assert not kit.store.folder.exists()


def test_a_store_that_cannot_be_written_is_said_in_the_question_and_the_change_happens():
    with powerless() as folder:
        (folder / "data").mkdir(mode=0o555)
        kit = UndoKit(folder / "work", folder / "data" / "undo")
        kit.file("a.txt", "one\n")
        with kit.turn():
            kit.text("read", path="a.txt")
            warning, _ = kit.preview("edit", path="a.txt", old="one", new="two")
            assert "This cannot be undone: nothing can be written to" in warning.text
            assert "cannot be undone" in kit.text("edit", path="a.txt", old="one", new="two")
            # Nobody was asked: an edit goes on and says so, nothing is deleted.
            assert "cannot be undone" in kit.text("edit", path="a.txt", old="two", new="three")
            assert "Ask the person" in kit.refusal("delete", path="a.txt")
            kit.preview("delete", path="a.txt")
            kit.text("delete", path="a.txt")


def test_a_copy_that_fails_although_nobody_was_told_stops_the_change_once(kit, monkeypatch):
    path = kit.file("a.txt", "one\n")

    def full(*_):
        raise OSError(errno.ENOSPC, "No space left on device")

    with kit.turn():
        kit.text("read", path="a.txt")
        kit.preview("edit", path="a.txt", old="one", new="two")
        monkeypatch.setattr(Store, "begin", full)
        assert "were asked again" not in kit.refusal("edit", path="a.txt", old="one", new="two")
        assert path.read_text() == "one\n"
        warning, _ = kit.preview("edit", path="a.txt", old="one", new="two")
        assert "No space left on device" in warning.text
        kit.text("edit", path="a.txt", old="one", new="two")
    assert path.read_text() == "two\n"


def test_a_file_that_cannot_be_read_is_not_deleted_without_a_word():
    with powerless() as folder:
        kit = UndoKit(folder / "work", folder / "data")
        kit.file("a.txt", "x").chmod(0o200)
        with pytest.raises(ToolError, match="Permission denied"):
            kit.preview("delete", path="a.txt")


def test_what_nobody_can_undo_is_counted_by_its_name(kit):
    kit.tools = {name: kit.recorder.noting(tool) for name, tool in kit.tools.items()}
    with kit.turn():
        kit.text("run_shell", command="true")
        kit.text("ls")
        kit.text("run_shell", command="true")
        kit.text("python", code="1")
        kit.text("write", path="a", content="x")
    kit.text("run_shell", command="true")
    (entry,) = kit.entries()
    assert entry.journal.ran == {"run_shell": 2, "python": 1}


def test_a_secret_in_the_prompt_is_not_kept(tmp_path):
    kit = UndoKit(tmp_path / "w", tmp_path / "d")
    kit.recorder.redact = kit.workspace.redact
    with kit.turn("\nuse sk-verysecretvalue123\u202e\nmore"):
        kit.text("write", path="a", content="x")
    assert kit.entries()[0].journal.header.prompt == "use [redacted MY_API_KEY]\\u202e"


def test_a_change_outside_of_any_cell_is_a_turn_of_its_own(kit):
    kit.text("write", path="a", content="x")
    kit.undo()
    assert snapshot(kit.root) == {}


def test_names_that_are_no_utf8_survive_the_journal():
    odd = os.fsdecode(b"/x/\xff\xfe")
    change = Change(Path(odd), State("file", "d", 1, 0), ABSENT)
    text = header_line(Header("turn", odd)) + change_lines([change])
    journal = read_journal("n", text)
    assert journal.changes == (change,)
    assert journal.header.root == odd


@pytest.mark.parametrize(
    "text",
    [
        *("", "x", "[]\n", '{"version": 2, "kind": "turn", "root": "/"}\n', '{"version": 1}\n'),
        '{"version": 1, "kind": "turn", "root": "/"}\n{"change": "/x", "was": {"odd": 1}}\n',
    ],
)
def test_a_journal_that_is_none_is_left_out(text):
    assert read_journal("n", text) is None


def test_a_cut_line_is_a_change_that_did_not_happen():
    text = header_line(Header("turn", "/")) + change_lines([Change(Path("/x"), ABSENT, ABSENT)])
    assert len(read_journal("n", text).changes) == 1
    assert read_journal("n", text[:-5]).changes == ()


# -- other processes ----------------------------------------------------------------------------

CHILD = """
import os, signal, sys
from pathlib import Path
from agent_magics.tools import changing
from tests.undokit import UndoKit

kit = UndoKit(Path(sys.argv[1]), Path(sys.argv[2]))
how = sys.argv[3]
killed = lambda *_: os.kill(os.getpid(), signal.SIGKILL)
with kit.turn("from another process"):
    kit.text("read", path="a.txt")
    for n in range(20):
        if how == "between" and n == 19:
            changing.replaced = killed
        kit.text("edit", path="a.txt", old=f"v{n}", new=f"v{n + 1}")
    if how == "after":
        killed()
    if how == "waits":
        print("ready", flush=True)
        sys.stdin.readline()
"""


def child(kit: UndoKit, how: str) -> subprocess.Popen[str]:
    words = [sys.executable, "-c", CHILD, str(kit.root), str(kit.store.folder), how]
    environment = {**os.environ, "PYTHONPATH": HERE}
    return subprocess.Popen(
        words, env=environment, text=True, stdin=subprocess.PIPE, stdout=subprocess.PIPE
    )


@pytest.mark.parametrize(("how", "left"), [("ends", "v20"), ("after", "v20"), ("between", "v19")])
def test_another_process_undoes_whatever_became_of_the_first(kit, how, left):
    kit.file("a.txt", "v0\n")
    process = child(kit, how)
    process.communicate()
    assert process.returncode == (0 if how == "ends" else -signal.SIGKILL)
    assert (kit.root / "a.txt").read_text() == f"{left}\n"
    (entry,) = kit.entries()
    assert (entry.running, entry.own) == (False, False)
    kit.undo()
    assert (kit.root / "a.txt").read_text() == "v0\n"


def test_a_turn_that_another_kernel_is_in_is_seen_as_running_and_never_dropped(kit):
    kit.file("a.txt", "v0\n")
    process = child(kit, "waits")
    try:
        assert process.stdout.readline() == "ready\n"
        (entry,) = kit.entries()
        assert entry.running
        kit.limit = 20
        with kit.turn():
            kit.text("write", path="b.txt", content="x")
        assert len(kit.entries()) == 2
    finally:
        process.communicate("\n")
    assert not any(entry.running for entry in kit.entries())


def test_two_kernels_at_once_keep_each_other_s_changes_apart(tmp_path):
    kits = [UndoKit(tmp_path / "work", tmp_path / "undo") for _ in range(2)]

    def work(number: int) -> None:
        for n in range(10):
            with kits[number].turn(f"{number}-{n}"):
                kits[number].text("write", path=f"{number}.txt", content=f"{n}")

    threads = [threading.Thread(target=work, args=(n,)) for n in range(2)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(kits[0].entries()) == 20
    assert sum(entry.own for entry in kits[0].entries()) == 10
    for _ in range(20):
        kits[0].undo()
    assert snapshot(kits[0].root) == {}


def test_cells_that_overlap_in_one_kernel_are_turns_of_their_own(kit):
    barrier = threading.Barrier(2)

    def work(number: int) -> None:
        with kit.turn(f"turn {number}"):
            barrier.wait(30)
            kit.text("write", path=f"{number}.txt", content="x")
            barrier.wait(30)

    threads = [threading.Thread(target=work, args=(n,)) for n in range(2)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    found = {
        e.journal.header.prompt: [c.path.name for c in e.journal.changes] for e in kit.entries()
    }
    assert found == {"turn 0": ["0.txt"], "turn 1": ["1.txt"]}


def test_a_tool_that_an_interrupt_left_behind_still_has_its_change_kept(kit):
    kit.file("a.txt", "one")
    context = None
    with kit.turn():
        import contextvars

        context = contextvars.copy_context()
    context.run(kit.text, "delete", path="a.txt")
    assert not kit.entries()[0].running
    kit.undo()
    assert (kit.root / "a.txt").read_text() == "one"


def test_an_undo_that_was_killed_halfway_is_finished_by_the_next(kit, monkeypatch):
    start(kit)
    before = snapshot(kit.root)
    with kit.turn():
        many_changes(kit)
    with monkeypatch.context() as patched:
        patched.setattr(restoring, "_put_back", lambda *_: (_ for _ in ()).throw(SystemExit))
        with pytest.raises(SystemExit):
            kit.undo()
    assert snapshot(kit.root) != before
    kit.undo()
    assert snapshot(kit.root) == before


def test_a_folder_that_was_left_half_made_is_no_turn_and_goes_one_day(kit):
    half = kit.store.turns_folder / ".new-1"
    half.mkdir(parents=True)
    (kit.store.turns_folder / "stray").write_text("x")
    (kit.store.turns_folder / "0-empty").mkdir()
    assert kit.entries() == ()
    os.utime(half, (0, 0))
    with kit.turn():
        kit.text("write", path="a", content="x")
    assert not half.exists()
    assert len(kit.entries()) == 1


def test_the_journal_is_readable_by_a_person(kit):
    with kit.turn("Say hello."):
        kit.text("write", path="a", content="x")
    (journal,) = kit.store.turns_folder.glob("*/journal.jsonl")
    lines = [json.loads(line) for line in journal.read_text(encoding="utf-8").splitlines()]
    assert lines[0]["prompt"] == "Say hello."
    assert lines[1]["change"] == str(kit.root / "a")


WORKING = """
import random, sys
from pathlib import Path
from tests.test_undo_property import NAMES, stepped
from tests.undokit import UndoKit

kit, chance = UndoKit(Path(sys.argv[1]), Path(sys.argv[2])), random.Random(int(sys.argv[3]))
print("ready", flush=True)
while True:
    with kit.turn():
        for _ in range(6):
            tool = chance.choice(("write", "edit", "delete", "move"))
            stepped(kit, tool, chance.choice(NAMES), chance.choice(NAMES), chance.randrange(4))
    print("turn", flush=True)
"""


@pytest.mark.parametrize("seed", range(6))
def test_killed_at_any_point_everything_is_taken_back(kit, seed):
    start(kit)
    before = snapshot(kit.root)
    words = [sys.executable, "-c", WORKING, str(kit.root), str(kit.store.folder), str(seed)]
    environment = {**os.environ, "PYTHONPATH": HERE}
    process = subprocess.Popen(words, env=environment, text=True, stdout=subprocess.PIPE)
    for _ in range(seed + 2):
        process.stdout.readline()
    process.kill()
    process.communicate()
    while any(not entry.undone and entry.journal.changes for entry in kit.entries()):
        kit.undo()
    left = {name: what for name, what in snapshot(kit.root).items() if ".agent_magics-" not in name}
    assert left == before
