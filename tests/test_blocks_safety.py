"""Any events, in any order, with anything in them: blocks are safe, and nothing ever raises."""

from __future__ import annotations

import json

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from agent_magics import events as e
from agent_magics.differences import Comparison, Difference
from agent_magics.findings import MIME
from agent_magics.frontends.blocks import Transcript, answer_block, question_html, question_text
from agent_magics.messages import Assistant, Attachment, Display, ToolCall, ToolResult, Usage, User
from agent_magics.plain import visible
from agent_magics.policy import Answer, Rule, Scope, Verdict
from tests.hostile import HOSTILE, problems

SHORT = [text for _, text in HOSTILE if len(text) < 400]
TEXT = st.sampled_from(SHORT) | st.text(max_size=12)
IDS = st.sampled_from(["c1", "c2", "", "b1", "ask-c1"]) | TEXT
NUMBERS = st.integers(-5, 10**12)
TIMES = st.floats(allow_nan=True, allow_infinity=True)

displays = st.builds(
    Display,
    st.sampled_from(["text", "diff", "code", "bundle"]),
    TEXT,
    TEXT,
    st.dictionaries(st.sampled_from(["text/plain", "text/html", MIME]), TEXT, max_size=2),
)
shown = st.lists(displays, max_size=2).map(tuple)
values = st.recursive(TEXT | st.none() | st.booleans() | NUMBERS, st.lists, max_leaves=3)
arguments = TEXT | st.dictionaries(TEXT, values, max_size=3).map(json.dumps)
calls = st.builds(ToolCall, IDS, TEXT, arguments)
rules = st.builds(Rule, TEXT, st.sampled_from(["allow", "ask", "deny"]), TEXT, skill=TEXT)
scopes = st.builds(Scope, TEXT, rules)
results = st.builds(ToolResult, IDS, TEXT, st.booleans(), display=shown)
questions = st.builds(
    e.Question,
    calls,
    TEXT,
    shown,
    st.lists(scopes, max_size=2).map(tuple),
    TEXT,
    TEXT,
    st.booleans(),
)
answers = st.builds(
    Answer,
    st.booleans(),
    st.sampled_from(["click", "typed", "timeout", "nobody", "interrupt", "option"]) | TEXT,
    TEXT,
    st.none() | arguments,
    st.none() | scopes,
)
usages = st.builds(Usage, NUMBERS, NUMBERS, NUMBERS)
messages = (
    st.builds(User, TEXT, attachments=st.lists(st.builds(Attachment, TEXT, TEXT)).map(tuple))
    | st.builds(Assistant, TEXT, st.lists(calls, max_size=2).map(tuple), reasoning=TEXT)
    | results
)
outcomes = st.sampled_from(["done", "failed", "refused", "denied", "invalid"])
ends = st.sampled_from(["answered", "limit", "interrupted", "failed", "stopped", "cut", "refused"])
differences = st.builds(Difference, TEXT, TEXT, TEXT, TEXT)
comparisons = st.builds(
    Comparison, TEXT, NUMBERS, st.lists(differences, max_size=3).map(tuple), st.booleans()
)
KINDS = {
    e.TurnStarted: st.builds(
        e.TurnStarted, TEXT, TEXT, st.lists(st.tuples(TEXT, TEXT), max_size=2).map(tuple)
    ),
    e.TextDelta: st.builds(e.TextDelta, TEXT),
    e.ReasoningDelta: st.builds(e.ReasoningDelta, TEXT),
    e.CallDelta: st.builds(e.CallDelta, IDS, TEXT, TEXT),
    e.AnswerRestarted: st.builds(e.AnswerRestarted, TEXT),
    e.MessageAdded: st.builds(e.MessageAdded, messages),
    e.CallProposed: st.builds(e.CallProposed, calls, TEXT),
    e.CallJudged: st.builds(
        e.CallJudged, calls, st.builds(Verdict, st.sampled_from(["allow", "ask", "deny"]), TEXT)
    ),
    e.ApprovalAsked: st.builds(e.ApprovalAsked, questions),
    e.ApprovalGiven: st.builds(e.ApprovalGiven, questions, answers),
    e.CallStarted: st.builds(e.CallStarted, calls, st.booleans()),
    e.CallProgress: st.builds(e.CallProgress, IDS, TEXT),
    e.CallFinished: st.builds(e.CallFinished, calls, results, TIMES, outcomes),
    e.PolicyChanged: st.builds(e.PolicyChanged, rules),
    e.Retrying: st.builds(e.Retrying, TEXT, TIMES, NUMBERS, NUMBERS),
    e.Notice: st.builds(e.Notice, TEXT, st.sampled_from(["info", "warning", "error"]) | TEXT),
    e.Compacted: st.builds(e.Compacted, NUMBERS, NUMBERS, st.just(())),
    e.ReplayCompared: st.builds(e.ReplayCompared, comparisons),
    e.TurnEnded: st.builds(e.TurnEnded, ends, usages, TIMES, NUMBERS, TEXT, st.none() | TIMES),
}


def check(block):
    """What holds for every block."""
    assert problems(block.html) == []
    assert visible(block.text) == block.text
    assert block.text.strip()
    assert block.html
    assert block.metadata["version"] == 1
    json.dumps(block.metadata, allow_nan=False, ensure_ascii=False).encode()


def test_every_kind_of_event_is_tried():
    assert set(KINDS) == set(e.Event.__args__)


@settings(max_examples=300, deadline=None)
@given(st.lists(st.one_of(*KINDS.values()), max_size=25), st.booleans(), st.booleans())
def test_any_events_in_any_order_make_safe_blocks_and_nothing_stays_open(happened, quiet, stable):
    transcript = Transcript(quiet, stable=stable)
    last = {}
    end = e.TurnEnded("answered", Usage(), 1.0, 1)
    for event in [*happened, end]:
        for block in transcript.feed(event):
            check(block)
            last[block.key] = block
    assert transcript.pending() == ()
    assert not [block for block in last.values() if block.live]


@settings(max_examples=200, deadline=None)
@given(questions, answers)
def test_any_question_and_answer_are_safe(question, answer):
    assert problems(question_html(question)) == []
    assert visible(question_text(question)) == question_text(question)
    check(answer_block(question, answer, "k"))


@pytest.mark.parametrize("text", [text for _, text in HOSTILE], ids=[name for name, _ in HOSTILE])
def test_a_hostile_text_is_safe_in_every_field_of_a_turn(text):
    call = ToolCall(text, text, json.dumps({text: text}))
    display = tuple(Display(kind, text, text, {"text/plain": text}) for kind in ("diff", "bundle"))
    question = e.Question(call, text, display, (), text, text)
    transcript = Transcript()
    for event in (
        e.TurnStarted(text, text, ((text, text),)),
        e.ReasoningDelta(text),
        e.TextDelta(text),
        e.AnswerRestarted(text),
        e.CallDelta(text, text, text),
        e.MessageAdded(Assistant(text, (call,), reasoning=text)),
        e.CallProposed(call, text),
        e.CallJudged(call, Verdict("ask", text)),
        e.ApprovalAsked(question),
        e.ApprovalGiven(question, Answer(True, text, text, json.dumps({"x": text}), None)),
        e.CallStarted(call),
        e.CallProgress(text, text),
        e.CallFinished(call, ToolResult(text, text, display=display), 1.0, "failed"),
        e.Retrying(text, 1.0, 2, 3),
        e.Notice(text, "error"),
        e.ReplayCompared(Comparison(text, 1, (Difference(text, text, text, text),))),
        e.TurnEnded("failed", Usage(), 1.0, 1, text),
    ):
        for block in transcript.feed(event):
            check(block)
