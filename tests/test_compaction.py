"""Keeping a conversation within the model's context."""

from __future__ import annotations

import asyncio

import pytest
from hypothesis import given

from agent_magics.compaction import (
    conversation_size,
    conversation_tokens,
    gained_enough,
    pruned,
    split_for_summary,
    with_summary,
)
from agent_magics.errors import ContextOverflow, ModelError
from agent_magics.events import Compacted, Notice
from agent_magics.messages import Assistant, Image, ToolCall, ToolResult, Usage, User
from tests.test_core_values import broken_conversations
from tests.turns import Scene, Spy, call, calls

LONG = "word " * 40_000  # 50,000 tokens by the estimate


def turn(number: int, result: str = "r", ok: bool = True):
    made = ToolCall(f"c{number}", "read", f'{{"path": "f{number}.py"}}')
    return (
        User(f"prompt {number}"),
        Assistant("", (made,), "calls"),
        ToolResult(made.id, result, ok),
        Assistant(f"answer {number}"),
    )


def test_the_size_is_what_the_server_counted_plus_an_estimate_of_what_is_new():
    conversation = (User("x"), Assistant("y", usage=Usage(1000, 50)), User("a" * 400))
    assert conversation_tokens(conversation, "system") == 1050 + 104
    assert conversation_tokens((User("a" * 400),), "b" * 40) == 10 + 104


def test_images_have_a_size():
    picture = User("", (Image("image/png", ""),))
    assert conversation_size((picture,)) > 1000


def test_old_results_are_cut_down_and_new_ones_stay():
    conversation = (*turn(1, LONG), *turn(2, LONG), *turn(3, "new"))
    shorter = pruned(conversation)
    assert shorter is not None
    results = [m.text for m in shorter if isinstance(m, ToolResult)]
    assert results[2] == "new"
    assert "was removed to save space" in results[0]
    assert "f1.py" in results[0]
    assert [type(m) for m in shorter] == [type(m) for m in conversation]


def test_pruning_that_wins_little_does_not_happen():
    assert pruned((*turn(1, "small"), *turn(2, "small"))) is None


@given(broken_conversations())
def test_pruning_keeps_every_message_in_its_place(conversation):
    shorter = pruned(conversation, protected=0, worth=0)
    assert shorter is None or len(shorter) == len(conversation)


def test_a_summary_is_cut_in_only_before_a_prompt():
    parts = split_for_summary((*turn(1), *turn(2), *turn(3, LONG)))
    assert parts is not None
    old, new = parts
    assert isinstance(new[0], User)
    assert old + new == (*turn(1), *turn(2), *turn(3, LONG))


def test_one_turn_cannot_be_summarised():
    assert split_for_summary(turn(1)) is None
    assert split_for_summary(()) is None


def test_words_files_and_open_errors_outlive_a_summary():
    old = (*turn(1), *turn(2, "no such file", ok=False))
    head, answer, *rest = with_summary(old, turn(3), "We looked.")
    assert isinstance(head, User)
    for kept in ("We looked.", "prompt 1", "prompt 2", "f1.py (read)", "no such file"):
        assert kept in head.text
    assert isinstance(answer, Assistant)
    assert tuple(rest) == turn(3)


def test_a_file_that_was_changed_stays_changed():
    made = (
        ToolCall("a", "edit", '{"path": "x.py"}'),
        ToolCall("b", "read", '{"path": "x.py"}'),
        ToolCall("c", "ls", '{"path": "."}'),
    )
    head = with_summary((User("p"), Assistant("", made)), (), "s")[0]
    assert "x.py (changed)" in head.text
    assert "(read)" not in head.text


def test_very_long_words_of_the_person_are_cut_with_a_mark():
    head = with_summary((User("x" * 50_000),), (), "s")[0]
    assert "[…]" in head.text
    assert len(head.text) < 25_000


@pytest.mark.parametrize(("after", "enough"), [(89, True), (95, False)])
def test_a_compaction_must_gain_a_tenth(after, enough):
    assert gained_enough(100, after) is enough


def scene_with_history(replies, window=0):
    scene = Scene(replies, [Spy().tool], window=window)
    scene.session.conversation = (*turn(1, LONG), *turn(2, LONG), *turn(3, "new"))
    return scene


def test_a_full_window_prunes_before_the_request_is_sent():
    scene = scene_with_history([Assistant("Fine.")], window=80_000)
    scene.ask()
    assert len(scene.log.of(Compacted)) == 1
    sent = scene.model.requests[0].conversation
    assert conversation_size(sent) < 60_000
    assert sent == scene.session.conversation[: len(sent)]


def test_an_overflow_is_answered_with_one_smaller_try():
    scene = scene_with_history(
        [ContextOverflow("too long"), Assistant("Short."), Assistant("Fine.")]
    )
    result = scene.ask()
    # The second request asks for the summary, the third is the prompt again.
    assert len(scene.model.requests) == 3
    assert result.text == "Fine."
    assert "Short." in scene.session.conversation[0].text


def test_an_overflow_that_cannot_be_helped_is_an_error_and_not_a_loop():
    scene = Scene([ContextOverflow("too long")] * 5)
    with pytest.raises(ContextOverflow):
        scene.ask()
    assert len(scene.model.requests) == 1


def test_one_huge_result_is_halved_until_it_fits():
    def fits(request):
        size = conversation_size(request.conversation)
        return ContextOverflow("too long") if size > 15_000 else Assistant("Fine.")

    spy = Spy(answer=lambda _: LONG)
    scene = Scene([calls(call("look", n=1)), fits, fits, fits, fits], [spy.tool])
    assert scene.ask().text == "Fine."


def compacted(scene):
    return asyncio.run(scene.session.compact(scene.model, "system", scene.log))


def test_a_person_can_shorten_the_conversation():
    scene = scene_with_history([Assistant("We looked at three files.")])
    long_answers = (
        User("Why?"),
        Assistant("since " * 9_000),
        User("How?"),
        Assistant("so " * 9_000),
    )
    scene.session.conversation = (*long_answers, *turn(3))
    before, after = compacted(scene)
    assert after < before / 2
    assert "We looked at three files." in scene.session.conversation[0].text
    assert scene.session.conversation[-1] == Assistant("answer 3")


def test_a_failed_compaction_leaves_the_conversation_as_it_was():
    scene = scene_with_history([ModelError("gone")])
    before = scene.session.conversation
    with pytest.raises(ModelError):
        compacted(scene)
    assert scene.session.conversation == before


def test_halving_ends():
    spy = Spy(answer=lambda _: LONG)
    replies = [calls(call("look", n=1)), *[ContextOverflow("too long")] * 20]
    scene = Scene(replies, [spy.tool])
    with pytest.raises(ContextOverflow, match="start afresh"):
        scene.ask()


def test_a_summary_that_wins_nothing_is_not_taken():
    replies = [ContextOverflow("too long"), Assistant(LONG * 3), Assistant("Fine.")]
    scene = scene_with_history(replies)
    scene.ask()
    assert any("won too little" in n.text for n in scene.log.of(Notice))


def test_a_server_that_cuts_the_prompt_in_silence_is_told_of_once():
    spy = Spy(answer=lambda _: "word " * 10_000)
    replies = [
        Assistant("", (call("look", "a", n=1),), "calls", Usage(200, 5)),
        Assistant("", (call("look", "b", n=2),), "calls", Usage(300, 5)),
        Assistant("Done.", usage=Usage(300, 5)),
    ]
    scene = Scene(replies, [spy.tool])
    scene.ask()
    warnings = [n.text for n in scene.log.of(Notice) if "may have cut the prompt" in n.text]
    assert len(warnings) == 1


def test_a_session_of_two_hundred_turns_stays_usable():
    replies = []
    for i in range(200):
        replies += [calls(call("look", f"x{i}", n=i)), Assistant(f"answer {i}")]
    scene = Scene(replies, [Spy(answer=lambda _: "y" * 4_000).tool], window=40_000)
    for _ in range(200):
        assert scene.ask().reason == "answered"
    for request in scene.model.requests:
        assert conversation_size(request.conversation) < 40_000
