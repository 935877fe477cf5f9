"""Every fault of the rig against the real client, with and without streaming.

The loop here is the least that can hold a conversation; what is tested is that the model's side
never crashes, never loses a call, never passes a cut answer off as whole, and never sends a
history that the strict server refuses.
"""

from __future__ import annotations

import asyncio
import json
from collections.abc import Iterator
from dataclasses import dataclass, field

import pytest

from agent_magics.errors import ModelError
from agent_magics.events import AnswerRestarted, Retrying, TextDelta
from agent_magics.messages import (
    Assistant,
    Conversation,
    ToolCall,
    ToolResult,
    User,
    known_ids,
    normalised,
)
from agent_magics.ports import Request, Streamed
from agent_magics.providers.arguments import coerced
from agent_magics.providers.openai import Endpoint, OpenAIModel, Timeouts
from agent_magics.tool import Tool, ToolOutput
from tests.fake import FakeServer, Scenario

SCHEMA = {
    "type": "object",
    "properties": {"n": {"type": "integer", "description": "number"}},
    "required": ["n"],
    "additionalProperties": False,
}
FINAL = {"lengthtext", "refusal", "filter", "nullmsg", "refusalparts", "thinklong"}
PAIRS = {"dupid", "noid", "noindex", "noidindex", "sameindex"}
KEY = "sk-test-0123456789abcdef"


async def _no_run(_arguments: object, _report: object) -> ToolOutput:
    raise AssertionError("the loop of this test runs the tool itself")


# It can change something, so that its arguments are never repaired.
PING = Tool("ping", "Ping the host n.", SCHEMA, "run", _no_run)


@dataclass
class Session:
    """What came of one session with the server."""

    calls: list[int] = field(default_factory=list)
    seen: list[Streamed] = field(default_factory=list)
    conversation: Conversation = (User("Call ping until told to stop, then say DONE."),)
    last: Assistant | None = None
    error: ModelError | None = None

    @property
    def shown(self) -> str:
        """The text that a reader of the stream has before their eyes at the end."""
        text = ""
        for item in self.seen:
            match item:
                case TextDelta(text=piece):
                    text += piece
                case AnswerRestarted() | ToolResult():
                    text = ""
                case _:
                    pass
        return text


def run(call: ToolCall, session: Session) -> ToolResult:
    if call.problem:
        return ToolResult(call.id, call.problem, ok=False)
    if call.name != "ping":
        return ToolResult(call.id, f"There is no tool {call.name!r}.", ok=False)
    arguments = coerced(SCHEMA, json.loads(call.arguments))
    number = arguments.get("n")
    if set(arguments) != {"n"} or not isinstance(number, int):
        return ToolResult(call.id, "n must be an integer, and nothing else", ok=False)
    session.calls.append(number)
    return ToolResult(call.id, f"pong {number}")


async def converse(model: OpenAIModel, most: int = 14) -> Session:
    session = Session()
    for _ in range(most):
        request = Request("You are a test agent.", session.conversation, (PING,))
        items = [item async for item in model.stream(request)]
        answers = [item for item in items if isinstance(item, Assistant)]
        assert answers == items[-1:], "exactly one answer, and it comes last"
        session.seen += items
        check(answers[0])
        session.last = normalised(answers[0], known_ids(session.conversation))
        session.conversation = (*session.conversation, session.last)
        if not session.last.calls:
            return session
        results = tuple(run(call, session) for call in session.last.calls)
        session.conversation = (*session.conversation, *results)
    raise AssertionError("the session does not end")


def check(answer: Assistant) -> None:
    """The contract of `ports.Model`."""
    ids = [call.id for call in answer.calls]
    assert all(ids)
    assert len(set(ids)) == len(ids)
    assert all(isinstance(json.loads(call.arguments), dict) for call in answer.calls)
    assert answer.text or answer.calls
    assert answer.stop in ("end", "calls", "length", "filter", "refusal", "cut")
    if answer.stop in ("length", "cut", "filter"):
        assert all(call.problem for call in answer.calls), "nothing of a cut message runs"


PATIENT = Timeouts(first=60, idle=60)
"""For everything that is not about silence, so that a busy machine changes nothing."""
IMPATIENT = Timeouts(first=1.5, idle=0.9)
SILENT = {"slow", "stall", "silentheaders", "silenterror", "hangnodone", "keepalive"}


def play(
    scenario: Scenario,
    *,
    stream: bool,
    retry: list[float] | None = None,
    timeout: Timeouts = PATIENT,
) -> Session:
    waits = retry if retry is not None else []

    async def sleep(seconds: float) -> None:
        waits.append(seconds)

    async def main() -> Session:
        model = OpenAIModel(
            "fake",
            endpoint=Endpoint(scenario.url, KEY, stream=stream, timeout=timeout),
            sleep=sleep,
            rng=lambda: 0.5,
        )
        try:
            return await converse(model)
        except ModelError as error:
            return Session(error=error)
        finally:
            await model.aclose()

    return asyncio.run(main())


@pytest.fixture(scope="module")
def server() -> Iterator[FakeServer]:
    with FakeServer() as server:
        yield server


def cases() -> list[str]:
    unused = FakeServer()
    names = [*unused.faults, "429x4", "500x4", "drop@final", "eof@final", "sseerror@final"]
    return ["none", *dict.fromkeys(names)]


def spec_of(case: str, server: FakeServer) -> dict[str, object]:
    if case == "none":
        return {}
    fault, _, times = case.partition("x") if case.startswith(("429x", "500x")) else (case, "", "")
    fault, _, at = fault.partition("@")
    quirk = server.quirks.get(fault)
    final = at == "final" or fault in FINAL or (quirk is not None and quirk.final)
    return {"fault": fault, "at": 3 if final else 1, "times": times or 1, "slow": 4, "ra": 2}


def wanted(case: str, server: FakeServer) -> list[int]:
    quirk = server.quirks.get(case)
    pair = case in PAIRS or (quirk is not None and quirk.par == 2)
    return [0, 10, 11, 2] if pair else [0, 1, 2]


ENDS = {"429quota": "quota", "400ctx": "longer than"}
"""Faults of the first list that are right to end in an error, and a word of it."""
STOPS = {
    "refusal": "refusal",
    "lengthtext": "length",
    "refusalparts": "refusal",
    "thinklong": "length",
}


@pytest.mark.parametrize("stream", [True, False], ids=["stream", "whole"])
@pytest.mark.parametrize("case", cases())
def test_no_fault_crashes_loses_a_call_or_bricks_the_conversation(
    case: str, stream: bool, server: FakeServer
) -> None:
    quirk = server.quirks.get(case)
    applies = quirk is None or quirk.refuse or quirk.applies(stream)
    scenario = server.scenario(turns=3, final=20, argchunk=3, **spec_of(case, server))
    timeout = IMPATIENT if case in SILENT else PATIENT
    session = play(scenario, stream=stream, timeout=timeout)

    assert scenario.protocol_errors == []
    if case in ENDS or case in server.stands:
        assert session.error is not None
        assert ENDS.get(case, "") in str(session.error)
        assert KEY not in str(session.error)
        assert 1 <= len(str(session.error).splitlines()) <= 2
        return
    assert session.error is None
    assert session.last is not None
    if case in STOPS and applies:
        assert session.last.stop == STOPS[case]
        assert session.last.text
    else:
        assert session.last.stop == "end"
        assert session.last.text.rstrip().endswith("DONE")
        assert "tok0 " in session.last.text
        assert "tok19" in session.last.text
    assert session.calls == wanted(case, server)
    if session.last.text and not session.last.text.startswith("("):
        assert session.shown.strip().endswith(session.last.text.strip()[-4:])


def test_a_lost_connection_in_mid_stream_voids_what_was_shown_and_asks_again(
    server: FakeServer,
) -> None:
    session = play(server.scenario(turns=0, final=20, fault="drop", at=0), stream=True)
    kinds = [type(item).__name__ for item in session.seen]
    assert "AnswerRestarted" in kinds
    assert kinds.index("AnswerRestarted") < kinds.index("Retrying")
    assert session.shown == session.last.text


def test_retry_after_is_honoured_exactly_in_all_three_forms(server: FakeServer) -> None:
    for fault, low, high in (("429", 2, 2), ("429ms", 2, 2), ("429date", 1, 3)):
        waits: list[float] = []
        session = play(server.scenario(turns=0, fault=fault, at=0, ra=2), stream=True, retry=waits)
        (wait,) = waits
        assert low <= wait <= high
        (told,) = [item for item in session.seen if isinstance(item, Retrying)]
        assert (told.seconds, told.attempt, told.limit) == (wait, 2, 5)


def test_five_tries_and_then_an_error_that_says_so(server: FakeServer) -> None:
    waits: list[float] = []
    scenario = server.scenario(turns=0, fault="500", at=0, times=9)
    session = play(scenario, stream=True, retry=waits)
    assert len(scenario.requests) == 5
    assert waits == [0.5, 1.0, 2.0, 4.0]  # half of 0.5 s * 2^n, by the rng of this test
    assert "tried 5 times" in str(session.error)
    assert session.error.status == 500


def test_a_quota_that_is_used_up_is_not_asked_again(server: FakeServer) -> None:
    scenario = server.scenario(turns=0, fault="429quota", at=0, times=9)
    session = play(scenario, stream=True)
    assert len(scenario.requests) == 1
    assert "quota" in str(session.error)


def test_a_wait_longer_than_two_minutes_is_reported_and_not_waited(server: FakeServer) -> None:
    waits: list[float] = []
    scenario = server.scenario(turns=0, fault="429", at=0, ra=300)
    session = play(scenario, stream=True, retry=waits)
    assert waits == []
    assert "5 min" in str(session.error)
    assert session.error.retry_after == 300


def test_an_empty_answer_is_asked_again_silently_then_with_a_nudge_then_reported(
    server: FakeServer,
) -> None:
    scenario = server.scenario(turns=0, fault="nullmsg", at=0, times=9)
    session = play(scenario, stream=True)
    assert "empty answer" in str(session.error)
    last = [json.loads(body)["messages"][-1]["content"] for body in scenario.bodies]
    assert len(last) == 3
    assert last[0] == last[1]
    assert "empty" in last[2]


def test_a_request_begins_with_the_bytes_of_the_one_before(server: FakeServer) -> None:
    scenario = server.scenario(turns=12, final=5)
    play(scenario, stream=True)
    for before, after in zip(scenario.bodies, scenario.bodies[1:], strict=False):
        assert after.startswith(before.removesuffix(b"]}"))


@pytest.mark.parametrize("fault", ["eof", "drop", "sseerror", "stall"])
def test_a_stream_that_always_breaks_keeps_its_text_and_is_marked_as_cut(
    fault: str, server: FakeServer
) -> None:
    scenario = server.scenario(turns=0, final=40, fault=fault, at=0, times=99, slow=4)
    session = play(scenario, stream=True, timeout=IMPATIENT if fault == "stall" else PATIENT)
    if fault == "sseerror":
        assert "upstream overloaded" in str(session.error)
        return
    assert session.last is not None
    assert session.last.stop == "cut"
    assert session.last.text.startswith("tok0 tok1")
    assert len(scenario.requests) == (3 if fault == "eof" else 5)
