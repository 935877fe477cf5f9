"""Saving turns: what lies on the disk at each moment, and what goes on when the disk does not."""

from __future__ import annotations

import asyncio
import os
import resource
import stat
import subprocess
import sys
from datetime import datetime, timedelta
from pathlib import Path

import pytest

import agent_magics
from agent_magics.errors import ModelError, UsageProblem
from agent_magics.events import CallFinished, CallStarted, Compacted, MessageAdded
from agent_magics.messages import Assistant, ToolResult, User, closed, unanswered
from agent_magics.policy import Answer, Policy, Rule, Scope
from agent_magics.records.archive import Archive
from agent_magics.records.entries import SCHEMA
from agent_magics.records.journal import InUse, Journal, in_use
from agent_magics.records.opened import Records
from agent_magics.session import Session
from tests.recordkit import FOLDER, SECRET, ask, hide, only, read, records_in
from tests.turns import Scene, Spy, call, calls

SOURCES = str(Path(agent_magics.__file__).parents[1])
ROOT = Path(__file__).parents[1]


def resumed(records: Records, word: str = "") -> Session:
    archive = records.archive
    summary = archive.find(word, FOLDER) if word else archive.summaries()[0]
    return records.resume(summary, FOLDER).session


def test_nothing_is_on_disk_before_the_first_turn(tmp_path):
    records = records_in(tmp_path / "sessions")
    records.recorder(Session(), FOLDER)
    assert list(tmp_path.iterdir()) == []


def test_a_turn_lies_in_a_private_file_and_comes_back_in_a_new_kernel(tmp_path):
    records = records_in(tmp_path / "sessions")
    session = Session(policy=Policy((Rule("x", "deny"),)))
    ask(records, session, "First?")
    ask(records, session, "Second?")
    records.close()
    summary = only(records)
    assert stat.S_IMODE(summary.path.stat().st_mode) == 0o600
    assert stat.S_IMODE(summary.path.parent.stat().st_mode) == 0o700
    assert (summary.prompts, summary.title) == (("First?", "Second?"), "First?")
    again = resumed(records_in(tmp_path / "sessions"))
    assert again.conversation == session.conversation
    assert again.usage == session.usage
    assert again.id == session.id
    assert again.policy.rules == (Rule("x", "deny"),)


def test_a_call_is_on_disk_before_it_runs_and_its_result_before_the_next_request(tmp_path):
    records = records_in(tmp_path)
    session = Session()
    seen = []

    def look(_arguments):
        stored = read(only(records).path)
        seen.append((stored.cut_calls, len(stored.recorded)))
        return "seen"

    def second(_request):
        stored = read(only(records).path)
        seen.append((stored.cut_calls, len(stored.recorded)))
        return Assistant("Done.")

    replies = [calls(call("look", n=1)), second]
    ask(records, session, replies=replies, tools=(Spy(answer=look).tool,))
    assert seen == [(("look",), 2), ((), 3)]


def test_decisions_and_edited_arguments_are_in_the_story(tmp_path):
    records = records_in(tmp_path)
    session = Session()
    tools = (Spy("change", "write").tool, Spy("look").tool)
    answers = [
        Answer(True, "click", arguments='{"n": 7}'),
        Answer(False, "typed", "not today"),
        Answer(True, "click", scope=Scope("this number", Rule("change", "allow", "3"))),
    ]
    wanted = [call("change", f"c{n}", n=n) for n in (1, 2, 3)]
    replies = [calls(*wanted, call("look", "c4", n="no")), Assistant("Done.")]
    ask(records, session, replies=replies, tools=tools, answers=answers)
    turn = read(only(records).path).turns[0]
    decided = [(d.decision, d.by, d.reason, d.arguments, d.runs) for d in turn.decided.values()]
    assert decided == [
        ("approved", "click", "the default for write tools", '{"n": 7}', True),
        ("refused", "typed", "not today", None, False),
        ("approved", "click", "this number", None, True),
        ("", "", "", None, False),
    ]
    assert [e.outcome for e in turn.ended.values()] == ["done", "refused", "done", "invalid"]
    assert read(only(records).path).rules == (Rule("change", "allow", "3"),)


def test_what_was_allowed_is_not_restored_and_what_was_denied_is(tmp_path):
    records = records_in(tmp_path)
    rules = (Rule("a", "allow"), Rule("b", "deny"), Rule("c", "ask"))
    ask(records, Session(policy=Policy(rules)))
    records.close()
    done = records_in(tmp_path).resume(only(records), FOLDER)
    assert done.session.policy.rules == rules[1:]
    assert done.withheld == rules[:1]


@pytest.mark.parametrize("error", [ModelError("no answer"), asyncio.CancelledError()])
def test_a_turn_that_failed_or_was_interrupted_is_saved_as_the_session_has_it(tmp_path, error):
    def fail(_request):
        raise error

    records = records_in(tmp_path)
    session = Session()
    with pytest.raises(type(error)):
        ask(records, session, replies=[calls(call("look", n=1)), fail])
    stored = read(only(records).path)
    assert stored.conversation == stored.recorded == session.conversation
    assert stored.turns[0].messages == session.conversation
    assert not stored.broke_off


def test_an_interrupted_call_is_answered_in_the_file_too(tmp_path):
    records = records_in(tmp_path)
    session = Session()

    def stop(_arguments):
        raise asyncio.CancelledError

    with pytest.raises(asyncio.CancelledError):
        ask(
            records,
            session,
            replies=[calls(call("look", n=1))],
            tools=(Spy(answer=stop).tool,),
        )
    stored = read(only(records).path)
    assert stored.recorded == session.conversation
    assert not unanswered(stored.recorded)
    (answer,) = [m for m in stored.turns[0].messages if isinstance(m, ToolResult)]
    assert "interrupted" in answer.text


def test_a_conversation_that_was_shortened_is_resumed_short_and_told_whole(tmp_path):
    records = records_in(tmp_path)
    session = Session()
    ask(records, session, "First?")
    session.conversation = (User("Summary."), Assistant("Understood."))
    ask(records, session, "Second?")
    stored = read(only(records).path)
    assert stored.recorded == session.conversation
    assert [turn.began.prompt.text for turn in stored.turns] == ["First?", "Second?"]
    assert len(stored.turns[0].messages) == 5


def test_a_compaction_within_a_turn_is_written_at_once(tmp_path):
    records = records_in(tmp_path)
    session = Session()
    there = []

    def shorten(event):
        if isinstance(event, Compacted):
            there.append(read(only(records).path).recorded == session.conversation)

    tools = (Spy(answer=lambda _: "y" * 40_000).tool,)
    for number in range(8):
        replies = [calls(call("look", f"c{number}", n=number)), Assistant("Seen.")]
        ask(records, session, f"Look at {number}.", replies, tools=tools)
    ask(records, session, "More.", [Assistant("Fine.")], tools=tools, window=60_000, seen=shorten)
    assert there
    assert all(there)
    stored = read(only(records).path)
    assert stored.recorded == session.conversation
    results = [m for turn in stored.turns for m in turn.messages if isinstance(m, ToolResult)]
    assert {len(m.text) for m in results} == {40_000}


# Killed at any byte.


def test_a_file_that_ends_at_any_byte_is_resumed_and_the_next_turn_appends_well(tmp_path):
    records = records_in(tmp_path / "whole")
    session = Session()
    ask(records, session, "First – ünïcode?")
    ask(records, session, "Second?")
    whole = only(records).path.read_bytes()
    name = only(records).path.name
    head = whole.index(b"\n")
    for end in range(head + 1, len(whole) + 1):
        folder = tmp_path / f"{end}"
        folder.mkdir()
        (folder / name).write_bytes(whole[:end])
        again = records_in(folder)
        done = again.resume(again.archive.summaries()[0], FOLDER)
        assert done.stored.damaged == 0
        assert done.copy == ""
        taken = done.session
        assert closed(taken.conversation, "x") == taken.conversation
        if end % 7 == 0 or end == len(whole):  # the turns take most of the time
            ask(again, taken, "Third?")
            again.close()
            stored = read(folder / name)
            assert stored.damaged == 0
            assert stored.recorded == stored.conversation == taken.conversation
            assert stored.turns[-1].began.prompt.text == "Third?"


def test_a_file_that_ends_in_its_first_line_is_not_listed_and_says_why(tmp_path):
    records = records_in(tmp_path)
    session = Session()
    ask(records, session)
    path = only(records).path
    os.truncate(path, 10)
    assert records.archive.summaries() == ()
    with pytest.raises(UsageProblem, match="first line"):
        records.archive.find(session.id)


@pytest.mark.parametrize("junk", [b"\0" * 5000, b'{"kind":"mess', b"\xff\xff", b"[1, 2]"])
def test_a_last_line_of_junk_is_taken_out_before_the_next_is_appended(tmp_path, junk):
    path = tmp_path / "20260101000000-abcdef.jsonl"
    path.write_bytes(b'{"a":1}\n' + junk)
    journal = Journal.opened(path)
    journal.append(b'{"b":2}\n')
    assert path.read_bytes() == b'{"a":1}\n{"b":2}\n'
    assert journal.size == path.stat().st_size


def test_a_whole_last_line_that_lacks_its_end_is_kept(tmp_path):
    path = tmp_path / "x.jsonl"
    path.write_bytes(b'{"a":1}\n{"long":"' + b"y" * 200_000 + b'"}')
    before = path.stat().st_size
    Journal.opened(path).append(b"{}\n")
    assert path.stat().st_size == before + 1 + 3


def test_appending_does_not_grow_with_the_conversation(tmp_path, monkeypatch):
    records = records_in(tmp_path)
    session = Session()
    written, sizes = [], []
    real = os.write

    def counted(descriptor, data):
        written.append(len(data))
        return real(descriptor, data)

    monkeypatch.setattr(os, "write", counted)
    for _ in range(60):
        written.clear()
        ask(records, session, replies=[calls(call("look", n=1)), Assistant("Done.")])
        sizes.append((len(written), sum(written)))
    assert len(session.conversation) == 240
    first, last = sizes[5], sizes[-1]
    assert last[0] == first[0]
    assert last[1] - first[1] < 60  # longer ids and totals, nothing else


ENDLESS = """
import sys
from pathlib import Path
from agent_magics.messages import Assistant
from agent_magics.session import Session
from tests.recordkit import FOLDER, ask, records_in
from tests.turns import Spy, call, calls
records = records_in(Path(sys.argv[1]))
known = records.archive.summaries()
session = records.resume(known[0], FOLDER).session if known else Session()
tools = (Spy(answer=lambda _: "y" * 20_000).tool,)
while True:
    ident = str(len(session.conversation))
    wanted = calls(call("look", "a" + ident, n=1), call("look", "b" + ident, n=2), text="x" * 3000)
    ask(records, session, ident, [wanted, Assistant("Done. " * 500)], tools=tools)
"""


def test_a_process_killed_again_and_again_loses_nothing_that_was_said(tmp_path):
    folder = tmp_path / "sessions"
    length = 0
    for more in (1_000, 60_001, 23_456, 110_000, 77_777):
        size = only(records_in(folder)).size if length else 0
        process = subprocess.Popen(
            [sys.executable, "-c", ENDLESS, str(folder)],
            env={**os.environ, "PYTHONPATH": os.pathsep.join([SOURCES, str(ROOT)])},
        )
        while sum(file.stat().st_size for file in folder.glob("*.jsonl")) < size + more:
            assert process.poll() is None
        process.kill()
        process.wait()
        records = records_in(folder)
        done = records.resume(only(records), FOLDER)
        records.close()
        assert (done.copy, done.stored.damaged) == ("", 0)
        conversation = done.session.conversation
        assert closed(conversation, "x") == conversation
        assert len(conversation) > length
        length = len(conversation)


# Two kernels.


OTHER = """
import sys
from pathlib import Path
from agent_magics.records.journal import Journal
journal = Journal.opened(Path(sys.argv[1]))
print("open", flush=True)
sys.stdin.readline()
"""


@pytest.fixture
def other_kernel():
    started = []

    def start(path):
        process = subprocess.Popen(
            [sys.executable, "-c", OTHER, str(path)],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
            env={**os.environ, "PYTHONPATH": SOURCES},
        )
        started.append(process)
        assert process.stdout.readline() == "open\n"
        return process

    yield start
    for process in started:
        process.kill()
        process.wait()
        process.stdin.close()
        process.stdout.close()


def test_a_second_kernel_goes_on_in_a_copy_and_the_first_file_stays_as_it_is(
    tmp_path, other_kernel
):
    records = records_in(tmp_path)
    session = Session()
    ask(records, session, "First?")
    records.close()
    path = only(records).path
    other_kernel(path)
    before = path.read_bytes()
    assert in_use(path)
    with pytest.raises(InUse):
        Journal.opened(path)
    again = records_in(tmp_path)
    done = again.resume(only(again), FOLDER)
    assert done.copy == "another kernel has it open"
    assert done.session.conversation == session.conversation
    assert done.session.id != session.id
    ask(again, done.session, "Second?")
    assert path.read_bytes() == before
    copy = again.archive.find(done.session.id)
    assert copy.head.parent == session.id
    assert copy.prompts == ("First?", "Second?")
    with pytest.raises(UsageProblem, match="open in a kernel"):
        again.archive.delete(again.archive.find(session.id))


def test_a_killed_kernel_gives_its_session_free(tmp_path, other_kernel):
    records = records_in(tmp_path)
    ask(records, Session())
    records.close()
    process = other_kernel(only(records).path)
    process.kill()
    process.wait()
    assert records_in(tmp_path).resume(only(records), FOLDER).copy == ""


def test_a_fork_has_all_of_the_story_and_both_go_on(tmp_path):
    records = records_in(tmp_path)
    first = Session("one")
    ask(records, first, "Begin.")
    second, recorder = records.fork(first, "two", FOLDER)
    assert recorder.problem == ""
    ask(records, first, "Left.")
    ask(records, second, "Right.")
    stored = {s.name: read(s.path) for s in records.archive.summaries()}
    assert [t.began.prompt.text for t in stored["one"].turns] == ["Begin.", "Left."]
    assert [t.began.prompt.text for t in stored["two"].turns] == ["Begin.", "Right."]
    assert stored["two"].recorded == second.conversation
    assert stored["two"].head.parent == first.id


def test_a_fork_of_what_was_never_saved_is_written_whole(tmp_path):
    records = records_in(tmp_path)
    session = Session("one", conversation=(User("Unsaved?"), Assistant("Yes.")))
    fresh, _ = records.fork(session, "two", FOLDER)
    summary = only(records)
    assert (summary.name, summary.prompts) == ("two", ("Unsaved?",))
    stored = read(summary.path)
    assert stored.recorded == fresh.conversation
    assert stored.turns[0].messages == session.conversation


# Disks.


def test_where_no_file_can_be_made_the_turn_goes_on_and_one_line_says_so(tmp_path):
    (tmp_path / "file").write_text("not a folder", encoding="utf-8")
    records = records_in(tmp_path / "file" / "sessions")
    session = Session()
    said = []
    assert ask(records, session, warn=said.append).text == "Done."
    assert ask(records, session, warn=said.append).text == "Done."
    assert len(said) == 1
    assert "not being saved (Not a directory)" in said[0]
    assert len(session.conversation) == 10


def test_a_disk_that_is_full_in_the_middle_of_a_turn_loses_nothing_once_it_has_room(tmp_path):
    records = records_in(tmp_path)
    session = Session()
    ask(records, session, "First?")
    path = only(records).path
    said = []
    limits = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (path.stat().st_size + 400, limits[1]))
    try:
        assert ask(records, session, "Second?", warn=said.append).text == "Done."
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, limits)
    assert len(said) == 1
    assert "not being saved" in said[0]
    assert path.read_bytes().endswith(b"\n")
    assert read(path).damaged == 0
    ask(records, session, "Third?", warn=said.append)
    assert len(said) == 1
    assert read(path).recorded == session.conversation
    assert records.of(session).problem == ""


def test_a_copy_that_finds_no_room_is_written_with_the_next_turn_that_does(tmp_path, other_kernel):
    records = records_in(tmp_path)
    session = Session()
    ask(records, session, "First?")
    records.close()
    other_kernel(only(records).path)
    again = records_in(tmp_path)
    limits = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (100, limits[1]))
    try:
        done = again.resume(only(again), FOLDER)
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, limits)
    assert done.session.conversation == session.conversation
    assert len(again.archive.summaries()) == 1
    ask(again, done.session, "Second?")
    stored = read(again.archive.find(done.session.id).path)
    assert stored.recorded == done.session.conversation


def test_a_file_that_was_deleted_meanwhile_is_made_again_with_all_of_it(tmp_path):
    records = records_in(tmp_path)
    session = Session()
    ask(records, session, "First?")
    only(records).path.unlink()
    ask(records, session, "Second?")
    stored = read(only(records).path)
    assert stored.recorded == session.conversation
    assert only(records).prompts == ("First?", "Second?")


def test_a_folder_that_was_open_to_others_is_closed(tmp_path):
    tmp_path.chmod(0o755)
    ask(records_in(tmp_path), Session())
    assert stat.S_IMODE(tmp_path.stat().st_mode) == 0o700


def test_no_secret_of_a_turn_is_on_the_disk(tmp_path):
    records = records_in(tmp_path, redact=hide)
    look = Spy(answer=lambda _: f"key: {SECRET}").tool
    replies = [calls(call("look", n=1), text=SECRET), Assistant(f"It is {SECRET}.")]
    ask(records, Session(), f"Is {SECRET} right?", replies, tools=(look,))
    assert SECRET not in only(records).path.read_text(encoding="utf-8")


def test_an_error_while_saving_never_breaks_a_turn(tmp_path):
    def broken(_text):
        raise RuntimeError("boom")

    said = []
    records = records_in(tmp_path, redact=broken)
    assert ask(records, Session(), warn=said.append).text == "Done."
    assert len(said) == 1


# The archive.


def aged(path: Path, days: float) -> None:
    then = datetime.now().timestamp() - timedelta(days=days).total_seconds()
    os.utime(path, (then, then))


def test_old_sessions_go_with_the_first_turn_of_a_kernel_but_not_the_ones_in_use(tmp_path):
    first = records_in(tmp_path)
    kept, open_one, old = Session("kept"), Session("open"), Session("old")
    for session in (kept, open_one, old):
        ask(first, session, f"I am {session.name}.")
    for session in (open_one, old):
        aged(first.of(session).journal.path, 91)
    first.release(kept)
    first.release(old)
    (tmp_path / "notes.jsonl").write_text("mine", encoding="utf-8")
    aged(tmp_path / "notes.jsonl", 900)
    second = records_in(tmp_path, days=90)
    assert {s.name for s in second.archive.summaries()} == {"kept", "open", "old"}
    ask(second, Session("new"))
    assert {s.name for s in second.archive.summaries()} == {"kept", "open", "new"}
    assert (tmp_path / "notes.jsonl").exists()


@pytest.mark.parametrize("days", [0, 100])
def test_sessions_within_their_days_stay(tmp_path, days):
    first = records_in(tmp_path)
    ask(first, Session())
    first.close()
    aged(only(first).path, 95)
    assert first.archive.expire(days) == 0
    assert only(first)


def test_a_file_of_a_newer_version_is_refused_and_never_touched(tmp_path):
    first = records_in(tmp_path)
    session = Session()
    ask(first, session)
    first.close()
    path = only(first).path
    text = path.read_text(encoding="utf-8").replace(
        f'"schema":{SCHEMA}', f'"schema":{SCHEMA + 1}', 1
    )
    path.write_text(text + '{"kind":"hal', encoding="utf-8")
    before = path.read_bytes()
    aged(path, 900)
    records = records_in(tmp_path, days=1)
    ask(records, Session())
    with pytest.raises(UsageProblem, match="newer agent_magics"):
        records.archive.find(session.id)
    assert path.read_bytes() == before


def test_sessions_are_found_by_id_by_its_beginning_and_by_name_here_first(tmp_path):
    records = records_in(tmp_path)
    here, there = Session("plan"), Session("plan")
    ask(records, here, "Here?")
    records.recorder(there, "/elsewhere")
    ask(records, there, "There?")
    find = records.archive.find
    assert find(here.id).id == find(here.id[:5]).id == here.id
    assert find("plan", FOLDER).id == here.id
    assert find("plan", "/elsewhere").id == there.id
    with pytest.raises(UsageProblem, match="several"):
        find("plan", FOLDER, alone=True)
    with pytest.raises(UsageProblem, match="Did you mean plan"):
        find("plann")
    with pytest.raises(UsageProblem, match="%agent sessions"):
        find("zzzzzzzz")


def test_words_are_looked_for_in_all_prompts_and_the_name(tmp_path):
    records = records_in(tmp_path)
    session = Session("Parser work")
    ask(records, session, "First line\nsecond")
    ask(records, session, "Fix the TOKENIZER, please")
    summary = only(records)
    assert summary.says("tokenizer parser")
    assert summary.says("")
    assert not summary.says("tokenizer lexer")


def test_an_archive_that_is_not_there_is_empty(tmp_path):
    archive = Archive(tmp_path / "none")
    assert archive.summaries() == ()
    assert archive.expire(1) == 0


def test_events_of_a_turn_keep_their_order_in_the_file(tmp_path):
    records = records_in(tmp_path)
    session = Session()
    kinds = []

    def note(event):
        if isinstance(event, (CallStarted, CallFinished, MessageAdded)):
            kinds.append(type(event).__name__)

    ask(records, session, replies=[calls(call("look", n=1)), Assistant("Done.")], seen=note)
    lines = only(records).path.read_text(encoding="utf-8").splitlines()
    told = [line.split('"')[3] for line in lines]
    assert told == ["session", "turn", "message", "call", "called", "message", "message", "end"]
    assert kinds == [
        "MessageAdded",
        "MessageAdded",
        "CallStarted",
        "CallFinished",
        "MessageAdded",
        "MessageAdded",
    ]


def test_a_scene_without_a_recorder_writes_nothing(tmp_path):
    Scene([Assistant("Yes.")]).ask()
    assert list(tmp_path.iterdir()) == []
