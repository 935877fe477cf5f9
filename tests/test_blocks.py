"""Events to blocks: which block an event changes, and what a turn looks like at its end."""

from __future__ import annotations

import json
from dataclasses import replace

import pytest

from agent_magics.events import (
    AnswerRestarted,
    ApprovalAsked,
    ApprovalGiven,
    CallDelta,
    CallFinished,
    CallJudged,
    CallProgress,
    CallProposed,
    CallStarted,
    Compacted,
    MessageAdded,
    Notice,
    PolicyChanged,
    Question,
    ReasoningDelta,
    Retrying,
    TextDelta,
    TurnEnded,
    TurnStarted,
)
from agent_magics.frontends.blocks import Transcript
from agent_magics.frontends.blocks_block import NOTHING
from agent_magics.frontends.blocks_call import TAIL_LINES, TAIL_WIDTH
from agent_magics.messages import Assistant, Display, ToolCall, ToolResult, Usage, User
from agent_magics.policy import Answer, Rule, Scope, Verdict
from tests.hostile import problems

STARTED = TurnStarted("fix it", "qwen3", (("code-review", "0123456789abcdef"),))
ENDED = TurnEnded("answered", Usage(12_345, 678, 9_000), 14.23, 3)
ALLOW, ASK = Verdict("allow", "the default for read tools"), Verdict("ask", "it writes")
DIFF = "--- a/a.py\n+++ b/a.py\n@@ -1 +1 @@\n-old\n+new\n"
RULE = Rule("edit", "allow", "a.py")

CHANGES = (Display("diff", DIFF),)


def call(name="read", ident="c1", **arguments):
    return ToolCall(ident, name, json.dumps(arguments))


def result(text, ident="c1", **more):
    return ToolResult(ident, text, **more)


def question(of, *preview, title=""):
    return Question(of, title or f"{of.name} a.py", preview, (), "it writes")


def all_blocks(*events, transcript=None):
    transcript = transcript or Transcript()
    return [block for event in events for block in transcript.feed(event)]


def shown(*events, **settings):
    """What is on screen after the events, without what is only there for now."""
    blocks = {b.key: b for b in all_blocks(*events, transcript=Transcript(**settings))}
    assert all(problems(block.html) == [] for block in blocks.values())
    return [block for block in blocks.values() if block.metadata["kind"] != "status"]


def texts(*events, **settings):
    return [block.text for block in shown(*events, **settings)]


def read(outcome="done", text="1  x = 1", seconds=0.12, **arguments):
    made = call(**(arguments or {"path": "a.py"}))
    return (
        CallProposed(made, "read a.py"),
        CallJudged(made, ALLOW),
        CallStarted(made),
        CallFinished(made, result(text, ok=outcome == "done"), seconds, outcome),
        MessageAdded(result(text)),
    )


def asked(answer, outcome="done", seconds=0.2, display=CHANGES):
    made = call("edit", path="a.py", old="old", new="new", every=False)
    ran = replace(made, arguments=answer.arguments) if answer.arguments else made
    what = question(made, Display("diff", DIFF))
    yield from (CallProposed(made, "edit a.py"), CallJudged(made, ASK), ApprovalAsked(what))
    yield ApprovalGiven(what, answer)
    if outcome == "done":
        yield CallStarted(ran, edited=ran != made)
    display = display if outcome == "done" else ()
    yield CallFinished(ran, result("told", display=display), seconds, outcome)


# Whole turns.


def test_a_whole_turn_reads_as_a_record():
    look = call("git_diff")
    scope = Scope("git_diff, this session", Rule("git_diff", "allow"))
    answer = "## Found\n\n- one **bug**"
    assert texts(
        STARTED,
        MessageAdded(User("fix it")),
        ReasoningDelta("I should look "),
        ReasoningDelta("first."),
        TextDelta("I "),
        TextDelta("look."),
        MessageAdded(Assistant("I look.", (look,))),
        CallProposed(look, "git_diff"),
        CallJudged(look, ASK),
        ApprovalAsked(question(look, title="git_diff")),
        ApprovalGiven(question(look, title="git_diff"), Answer(True, scope=scope)),
        PolicyChanged(scope.rule),
        CallStarted(look),
        CallFinished(look, result(DIFF, display=(Display("diff", DIFF),)), 0.3, "done"),
        MessageAdded(result(DIFF)),
        *read(text="\n".join(f"{n}  x" for n in range(30))),
        *asked(Answer(False, reason="not now"), "refused"),
        TextDelta(answer),
        MessageAdded(Assistant(answer)),
        ENDED,
    ) == [
        "Reasoning (20 characters).",
        "I look.",
        f"✓ `git_diff` · approved, always: git_diff, this session · 0.3 s\n\n```diff\n{DIFF}```",
        "✓ `read a.py` · allowed · 0.1 s\n\n```\n0  x\n1  x\n2  x\n3  x\n4  x\n5  x\n6  x\n"
        "[… 21 lines not shown here …]\n28  x\n29  x\n```",
        f"⊘ `edit a.py` · denied: “not now”\n\n```diff\n{DIFF}```",
        "## Found\n\n- one **bug**",
        "— qwen3 · code-review (01234567) · 3 requests · 12k in / 678 out / 9.0k cached tokens"
        " · 14 s",
    ]


def test_the_html_of_a_call_is_one_line_that_unfolds_to_the_whole():
    (block,) = shown(*read(path="a.py", limit=20))
    assert block.html == (
        '<details><summary><span role=img aria-label="done" style=color:#388e3c>✓</span>'
        " <b>read</b> <samp>a.py</samp> <span style=opacity:.7>· allowed"
        "<span class=agent-magics-time> · 0.1 s</span></span></summary>"
        '<div style="border-left:2px solid #8885;padding-left:9px"><small>arguments</small><br>'
        "<pre style=font-family:monospace;padding:.4em;background:#8882>\n"
        'path: "a.py"\nlimit: 20</pre>'
        "<small>result</small><br>"
        "<pre style=font-family:monospace;padding:.4em;background:#8882>\n"
        "1  x = 1</pre></div></details>"
    )
    assert block.metadata == {
        "version": 1,
        "kind": "call",
        "id": "c1",
        "tool": "read",
        "arguments": '{"path": "a.py", "limit": 20}',
        "policy": "allow",
        "outcome": "done",
        "seconds": 0.12,
    }


def test_a_stable_transcript_is_the_same_whatever_the_clock_said():
    def turn(seconds):
        return (STARTED, *read(seconds=seconds), replace(ENDED, seconds=seconds))

    assert shown(*turn(0.1), stable=True) == shown(*turn(999.0), stable=True)
    assert texts(*turn(0.1), stable=True)[-1].endswith("cached tokens")
    assert "agent-magics-time" not in shown(*turn(1.0), stable=True)[0].html
    assert (
        texts(*turn(5), Retrying("x", 5.0, 2, 3), stable=True)[-1]
        == "↻ Asking again (try 2 of 3): x."
    )


def test_metadata_can_be_written_as_json_also_when_texts_cannot_be_encoded():
    bad = ToolCall("\ud800", "\udfff" * 99, '{"x": NaN, "y": "\ud800"}')
    blocks = all_blocks(
        TurnStarted("", "\ud800", (("\ud800", "\udfff"),)),
        CallProposed(bad, "x"),
        CallFinished(bad, result("x"), float("nan"), "done"),
        replace(ENDED, seconds=float("inf")),
    )
    for block in blocks:
        json.dumps(block.metadata, allow_nan=False, ensure_ascii=False).encode()
        block.html.encode()
        block.text.encode()


# Places.


def test_what_is_going_on_gives_its_place_to_the_next_block():
    transcript = Transcript()
    (first,) = transcript.feed(STARTED)
    assert (first.key, first.text, first.live) == ("b1", "… waiting for qwen3", True)
    (writing,) = transcript.feed(CallDelta("0", "edit", '{"path'))
    assert (writing.key, writing.text) == ("b1", "… writing a call of edit")
    assert transcript.feed(CallDelta("0", "edit", '{"path": "a"')) == ()
    (more,) = transcript.feed(CallDelta("0", "edit", "x" * 2_345))
    assert more.text == "… writing a call of edit (2.3k characters)"
    made = call("edit")
    (proposed,) = all_blocks(CallProposed(made, "edit"), transcript=transcript)
    assert (proposed.key, proposed.live) == ("b1", True)
    blocks = all_blocks(
        CallStarted(made),
        CallFinished(made, result("ok"), 0, "done"),
        MessageAdded(result("ok")),
        ENDED,
        transcript=transcript,
    )
    assert [(block.key, block.metadata["kind"]) for block in blocks] == [
        ("b1", "call"),
        ("b1", "call"),
        ("b2", "status"),
        ("b2", "turn"),
    ]


def test_a_call_whose_name_is_not_known_yet_is_being_written_too():
    assert all_blocks(CallDelta("0", "", ""))[0].text == "… writing a call of a tool"


def test_the_model_is_waited_for_by_name_if_it_has_one():
    assert all_blocks(TurnStarted("x", ""))[0].text == "… waiting for the model"


def test_text_before_a_call_that_is_written_is_shown_first():
    transcript = Transcript()
    transcript.feed(TextDelta("a" * 100))
    transcript.feed(TextDelta("b"))
    text, status = transcript.feed(CallDelta("0", "read", ""))
    assert text.text.endswith("b")
    assert status.key == "b2"


# Answers and reasoning.


def test_a_message_that_was_not_streamed_is_shown_at_once():
    assert texts(MessageAdded(Assistant("Hello", reasoning="because"))) == [
        "Reasoning (7 characters).",
        "Hello",
    ]


def test_reasoning_shows_its_last_words_and_folds_when_the_answer_comes():
    blocks = all_blocks(
        ReasoningDelta(" \n"),
        ReasoningDelta("first"),
        *[ReasoningDelta(" more words") for _ in range(100)],
        TextDelta("Answer"),
        MessageAdded(Assistant("Answer", reasoning="x")),
    )
    assert blocks[0].text == "… thinking: first"
    assert 2 <= len([b for b in blocks if b.metadata["kind"] == "reasoning"]) <= 6
    assert {b.key for b in blocks if b.metadata["kind"] == "reasoning"} == {"b1"}
    assert "(1,105 characters)" in blocks[-3].html
    assert not blocks[-3].live
    assert sum(len(block.html) for block in blocks) < 4_000


def test_reasoning_that_goes_on_after_the_answer_began_stays_one_block():
    blocks = shown(
        ReasoningDelta("one"),
        TextDelta("Hi"),
        ReasoningDelta(" two"),
        MessageAdded(Assistant("Hi")),
    )
    assert "one two" in blocks[0].html
    assert [block.key for block in blocks] == ["b1", "b2"]


def test_a_call_that_was_found_in_the_text_leaves_no_text():
    text = '{"name": "read"}'
    blocks = shown(TextDelta(text), MessageAdded(Assistant("", (call(),))), *read())
    assert [block.metadata["kind"] for block in blocks] == ["call"]


def test_a_restarted_answer_is_greyed_and_replaced():
    transcript = Transcript()
    before = all_blocks(
        STARTED, ReasoningDelta("hm"), TextDelta("Half an ans"), transcript=transcript
    )
    void, status = transcript.feed(AnswerRestarted("connection lost"))
    assert void.key == before[-1].key
    assert "opacity" in void.html
    assert status.text == "… asking again"
    after = all_blocks(
        ReasoningDelta("hm"),
        TextDelta("A whole answer"),
        MessageAdded(Assistant("A whole answer")),
        transcript=transcript,
    )
    final = {block.key: block.text for block in (*before, *after)}
    assert list(final.values()) == [
        "Reasoning (2 characters).",
        "↻ An unfinished answer was dropped: connection lost.",
        "A whole answer",
    ]


def test_a_restart_before_the_first_word_leaves_one_line():
    assert texts(AnswerRestarted("lost."), TextDelta("x"), ENDED)[0] == "↻ Asked again: lost."
    retried = texts(Retrying("busy", 1, 2, 4), AnswerRestarted("lost"), TextDelta("x"), ENDED)
    assert retried[:2] == ["↻ Asked again (try 2 of 4): busy.", "x"]


def test_an_answer_that_broke_off_stays_as_far_as_it_came():
    blocks = shown(TextDelta("Half"), TextDelta(" of"), replace(ENDED, reason="interrupted"))
    assert blocks[0].text == "Half of"
    assert not any(block.live for block in blocks)


def test_pending_gives_what_was_held_back():
    transcript = Transcript()
    transcript.feed(TextDelta("a" * 200))
    assert transcript.feed(TextDelta("b")) == ()
    (block,) = transcript.pending()
    assert block.text == "a" * 200 + "b"
    assert transcript.pending() == ()


# Calls.


def test_a_call_goes_through_its_states_in_one_place():
    made = call("edit", path="a.py")
    what = question(made, Display("diff", DIFF))
    blocks = all_blocks(
        CallProposed(made, "edit a.py"),
        CallJudged(made, ASK),
        ApprovalAsked(what),
        ApprovalGiven(what, Answer(True)),
        CallStarted(made),
        CallProgress("c1", "half\n"),
        CallProgress("c1", "\x1b[32mdone\x1b[0m"),
        CallFinished(made, result("ok"), 75, "done"),
    )
    assert {block.key for block in blocks} == {"b1"}
    assert [block.text.split("\n")[0] for block in blocks] == [
        "▸ `edit a.py`",
        "? `edit a.py` · waiting for your answer",
        "▸ `edit a.py` · approved",
        "▸ `edit a.py` · approved · running",
        "▸ `edit a.py` · approved · running",
        "▸ `edit a.py` · approved · running",
        "✓ `edit a.py` · approved · 1 min 15 s",
    ]
    assert blocks[5].text.endswith("```\nhalf\ndone\n```")
    assert "half\ndone</pre>" in blocks[5].html
    assert [block.live for block in blocks] == [True] * 6 + [False]


def test_a_call_that_is_proposed_again_keeps_its_place():
    blocks = all_blocks(CallProposed(call(), "read a"), CallProposed(call(), "read b"), ENDED)
    assert [block.key for block in blocks] == ["b1", "b1", "b1", "b2"]


def test_reasoning_that_does_not_come_again_after_a_restart_leaves_nothing():
    blocks = {b.key: b for b in all_blocks(ReasoningDelta("hm"), AnswerRestarted("lost"), ENDED)}
    assert blocks["b1"].html == NOTHING


def test_a_running_call_shows_only_the_end_of_what_it_prints():
    made = call("run_shell")
    events = [CallProgress("c1", f"{n} " + "x" * 500 + "\n") for n in range(50)]
    blocks = all_blocks(CallProposed(made, "run_shell"), CallStarted(made), *events)
    assert blocks[-1].text.count("\n") <= TAIL_LINES + 5
    assert max(len(row) for row in blocks[-1].text.split("\n")) <= TAIL_WIDTH
    assert "49 xxx" in blocks[-1].text
    assert all(len(block.html) < 4_000 for block in blocks)
    assert all_blocks(CallProgress("unknown", "x")) == []


def test_edited_arguments_are_on_record_in_both_versions():
    edited = Answer(True, arguments='{"path": "b.py", "old": "old", "new": "NEW", "every": false}')
    (block,) = shown(*asked(edited))
    assert block.text.startswith(
        "✓ `edit b.py` · approved, edited · 0.2 s\n\n```diff\n--- as the model"
    )
    for row in ('-path: "a.py"', '+path: "b.py"', '+new: "NEW"', " every: false"):
        assert row in block.text
        assert row in block.html
    assert json.loads(block.metadata["answer"]["edited"])["new"] == "NEW"
    assert json.loads(block.metadata["arguments"])["new"] == "new"


def test_an_edit_of_something_else_leaves_the_title():
    edited = Answer(True, arguments='{"path": "a.py", "new": "NEW"}')
    assert texts(*asked(edited))[0].startswith("✓ `edit a.py` · approved, edited")
    broken = Answer(True, arguments="[")
    assert texts(*asked(broken, "invalid"))[0].startswith(
        "✗ `edit a.py` · approved, edited · not run: told"
    )
    listed = Answer(True, arguments="[1]")
    assert texts(*asked(listed, "invalid"))[0].startswith("✗ `edit a.py`")


def test_a_denied_call_keeps_what_was_asked_and_its_reason():
    (block,) = shown(*asked(Answer(False, reason="no"), "refused"))
    assert block.text == f"⊘ `edit a.py` · denied: “no”\n\n```diff\n{DIFF}```"
    for part in (
        "asked because: it writes",
        "every: false",
        "+new",
        "what the model was told",
        "told",
    ):
        assert part in block.html
    assert block.metadata["answer"] == {"allowed": False, "by": "click", "reason": "no"}


def test_the_result_of_an_approved_call_is_not_shown_twice():
    (block,) = shown(*asked(Answer(True)))
    assert block.html.count("+new") == 1
    assert block.text.count("+new") == 1
    (other,) = shown(*asked(Answer(True), display=(Display("text", "ok"),)))
    assert "+new" in other.html
    assert "ok" in other.html


@pytest.mark.parametrize(
    ("outcome", "text", "said"),
    [
        (
            "failed",
            "No such file.\nmore",
            "✗ `read a.py` · allowed · failed: No such file. · 0.1 s",
        ),
        ("failed", "No such file.", "✗ `read a.py` · allowed · failed: No such file. · 0.1 s"),
        ("failed", "", "✗ `read a.py` · allowed · failed · 0.1 s"),
        ("invalid", "bad", "✗ `read a.py` · allowed · not run: bad"),
        (
            "denied",
            "not allowed",
            "⊘ `read a.py` · allowed · denied by policy: the default for read tools",
        ),
        ("odd", "x", "✗ `read a.py` · allowed · not finished"),
    ],
)
def test_a_call_that_went_wrong_says_so_in_its_line(outcome, text, said):
    shown_text = texts(*read(outcome, text))[0]
    assert shown_text.split("\n")[0] == said
    assert ("more" in shown_text) == ("more" in text)


def test_a_call_that_was_never_judged_says_nothing_of_a_policy():
    made = call("nope")
    assert texts(CallProposed(made, "nope"), CallFinished(made, result("none"), 0, "denied")) == [
        "⊘ `nope` · denied by policy"
    ]


def test_arguments_that_the_title_does_not_show_are_in_the_record():
    made = call("python", code="a = 1\nb = 2")
    finished = CallFinished(made, result(""), 0.1, "done")
    (block,) = shown(CallProposed(made, "python a = 1"), finished)
    assert block.text.endswith("```\ncode:\n    a = 1\n    b = 2\n```")
    assert "b = 2" in block.html
    broken = ToolCall("c1", "python", "{")
    assert "{</pre>" in shown(CallFinished(broken, result("x"), 0, "done"))[0].html
    empty = ToolCall("c1", "python", "")
    assert "arguments" not in shown(CallFinished(empty, result("x"), 0, "done"))[0].html
    array = ToolCall("c1", "python", "[1]")
    assert "1\n]</pre>" in shown(CallFinished(array, result("x"), 0, "done"))[0].html


def test_a_long_result_is_cut_and_says_so():
    (block,) = shown(*read(text="line of a file\n" * 10_000))
    assert len(block.html) < 22_000
    assert len(block.text) < 1_500
    assert "characters (" in block.html
    assert "lines not shown here" in block.text


def test_a_call_costs_little_beyond_its_text():
    for events, payload in ((read(text="x\n" * 20), 40), (asked(Answer(True)), len(DIFF))):
        (block,) = shown(*events)
        facts = len(json.dumps(block.metadata))
        assert len(block.html) - payload + facts < 1_300


def test_what_users_code_displays_is_a_block_of_its_own_with_its_bundle():
    bundle = {"text/plain": "<Figure>", "image/png": "aGk="}
    displays = (Display("bundle", data=bundle), Display("bundle"), Display("text", "printed"))
    made = call("python")
    finished = CallFinished(made, result("x", display=displays), 0.1, "done")
    line, figure = shown(CallProposed(made, "python"), finished)
    assert "printed" in line.text
    assert line.bundle is None
    assert figure.bundle == bundle
    assert figure.text == "```\n<Figure>\n```"
    assert figure.metadata["kind"] == "display"
    assert figure.key != line.key


def test_calls_at_the_same_time_keep_their_places():
    first, second = call(ident="c1"), call(ident="c2")
    blocks = shown(
        CallProposed(first, "read one"),
        CallProposed(second, "read two"),
        CallFinished(second, result("2"), 0.1, "done"),
        CallFinished(first, result("1"), 0.1, "done"),
    )
    assert [block.text.split("\n")[0] for block in blocks] == [
        "✓ `read one` · 0.1 s",
        "✓ `read two` · 0.1 s",
    ]


def test_calls_that_the_end_of_a_turn_cut_off_say_so():
    first, second = call(ident="c1"), call("edit", ident="c2")
    blocks = shown(
        CallProposed(first, "read a.py"),
        CallStarted(first),
        CallProposed(second, "edit a.py"),
        ApprovalAsked(question(second)),
        replace(ENDED, reason="interrupted"),
    )
    assert [block.text.split("\n")[0] for block in blocks[:2]] == [
        "✗ `read a.py` · not finished",
        "✗ `edit a.py` · not finished: it was not run, since it was not answered",
    ]
    assert not any(block.live for block in blocks)


# Everything else.


def test_a_policy_change_is_said_unless_a_calls_own_line_says_it():
    assert texts(PolicyChanged(RULE)) == ["⚙ From now on: allow edit a.py"]
    always = Answer(True, scope=Scope("edit a.py", RULE))
    assert len(texts(*asked(always), PolicyChanged(RULE))) == 1


def test_retries_are_one_line_with_the_last_reason():
    blocks = all_blocks(
        Retrying("busy", 2.0, 2, 4), Retrying("still busy.", 4.0, 3, 4), TextDelta("Hi"), ENDED
    )
    assert {block.key for block in blocks[:3]} == {"b1"}
    assert [block.text for block in blocks[:3]] == [
        "↻ Asking again in 2.0 s (try 2 of 4): busy.",
        "↻ Asking again in 4.0 s (try 3 of 4): still busy.",
        "↻ Asked again (try 3 of 4): still busy.",
    ]


def test_notices_carry_their_level_in_a_sign_and_a_word():
    blocks = shown(Notice("one\ntwo"), Notice("careful", "warning"), Notice("bad", "error"))
    assert [block.text for block in blocks] == ["ℹ one\ntwo", "⚠ careful", "✗ bad"]
    assert 'aria-label="warning"' in blocks[1].html
    assert "one<br>\ntwo" in blocks[0].html


def test_a_shortened_conversation_is_said_in_numbers():
    assert texts(Compacted(52_000, 18_000, ())) == [
        "⇣ Older parts of the conversation were shortened for the model: about 52k → 18k tokens."
    ]


@pytest.mark.parametrize(
    ("reason", "text", "said"),
    [
        ("limit", "", "⚠ Stopped at a limit of this turn. Go on in the next cell."),
        ("limit", "50 requests. Go on in the next cell.", "⚠ 50 requests. Go on in the next cell."),
        (
            "interrupted",
            "",
            "⚠ Interrupted. What was done until then is kept; go on in the next cell.",
        ),
        (
            "failed",
            "The key was refused",
            "✗ The key was refused. The conversation is kept; go on in the next cell. "
            "%agent test checks the connection.",
        ),
        ("stopped", "In circles!", "⚠ In circles! Go on in the next cell."),
        (
            "cut",
            " ",
            "⚠ The answer was cut at the output limit. Write “continue” in the next cell to go on.",
        ),
    ],
)
def test_a_turn_without_an_answer_says_why_and_what_to_do_next(reason, text, said):
    (block,) = shown(TurnEnded(reason, Usage(), 1.0, 1, text))
    assert block.text == f"{said}\n\n— 1 request · 1.0 s"
    assert block.metadata["reason"] == reason


def test_an_error_that_names_the_next_step_itself_is_not_followed_by_it_again():
    text = "No such model. `%agent test` checks the connection."
    (block,) = shown(TurnEnded("failed", Usage(), 1.0, 0, text))
    assert (
        block.text
        == f"✗ {text} The conversation is kept; go on in the next cell.\n\n— no answer · 1.0 s"
    )


def test_the_footer_holds_what_is_needed_to_repeat_a_turn():
    block = shown(STARTED, ENDED)[-1]
    assert block.metadata == {
        "version": 1,
        "kind": "turn",
        "reason": "answered",
        "model": "qwen3",
        "skills": [{"name": "code-review", "digest": "0123456789abcdef"}],
        "requests": 3,
        "usage": {"input": 12_345, "output": 678, "cached": 9_000},
        "seconds": 14.23,
    }
    assert "<span class=agent-magics-time> · 14 s</span>" in block.html


@pytest.mark.parametrize(
    ("cost", "said"),
    [(0.0, "0"), (0.004_249, "0.0042"), (0.1, "0.10"), (1.234, "1.23"), (1234.5, "1,234.50")],
)
def test_the_footer_says_what_a_turn_cost_where_prices_are_known(cost, said):
    block = shown(replace(ENDED, cost=cost))[-1]
    assert f" · cost {said} · 14 s" in block.text
    assert block.metadata["cost"] == cost
    assert "cost" not in shown(ENDED)[-1].text


def test_quiet_leaves_answers_decisions_warnings_and_the_footer():
    assert texts(
        STARTED,
        ReasoningDelta("hm"),
        TextDelta("I look."),
        MessageAdded(Assistant("I look.", (call(),), reasoning="hm")),
        *read(),
        *asked(Answer(False), "refused"),
        Retrying("busy", 1.0, 2, 4),
        AnswerRestarted("lost"),
        Notice("by the way"),
        Notice("careful", "warning"),
        Compacted(2, 1, ()),
        TextDelta("Done."),
        ENDED,
        quiet=True,
    ) == [
        "I look.",
        f"⊘ `edit a.py` · denied\n\n```diff\n{DIFF}```",
        "⚠ careful",
        "Done.",
        "— qwen3 · code-review (01234567) · 3 requests · 12k in / 678 out / 9.0k cached tokens"
        " · 14 s",
    ]


def test_quiet_still_says_what_is_going_on():
    blocks = all_blocks(*read()[:3], Retrying("busy", 1, 2, 3), transcript=Transcript(quiet=True))
    assert [block.text for block in blocks] == [
        "… read a.py",
        "… read a.py",
        "… asking again: busy",
    ]
    assert {block.key for block in blocks} == {"b1"}


def test_quiet_says_nothing_of_calls_that_an_interrupt_cut_off():
    assert texts(*read()[:3], replace(ENDED, requests=1), quiet=True)[0].startswith("— 1 request")


def test_no_empty_place_is_left_in_the_usual_turn():
    blocks = {b.key: b for b in all_blocks(STARTED, *read(), TextDelta("x"), ENDED)}
    assert not [block for block in blocks.values() if block.html == NOTHING or block.live]
