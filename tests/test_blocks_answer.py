"""A streamed answer in pieces: linear bytes, and the same text however it came."""

from __future__ import annotations

import re
from itertools import count, pairwise

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from agent_magics.frontends.blocks_answer import HARD, SOFT, STEP, Answer, next_cut
from agent_magics.frontends.blocks_block import NOTHING
from tests.hostile import HOSTILE, problems

PARAGRAPH = "Some words that are said again and again to fill a paragraph of the answer. " * 5
CODE = "```python\n" + "".join(f"value_{n} = compute({n})\n\n" for n in range(60)) + "```\n"
ENVELOPE = 700
"""About the bytes of a display message without its data: two headers and a display id."""
LONG = "\n\n".join([PARAGRAPH, CODE, *[PARAGRAPH] * 6] * 10)
LONG = (LONG * 3)[:37_000]


def answer():
    numbers = count(1)
    return Answer(lambda: f"b{next(numbers)}")


def streamed(text, size):
    """All blocks, in the order in which they come."""
    each = answer()
    blocks = []
    for start in range(0, len(text), size):
        blocks += each.add(text[start : start + size])
    return each, blocks + each.finished()


def last(blocks):
    """What is on screen at the end."""
    return {block.key: block for block in blocks}


def sent(blocks):
    """Bytes to the browser, with those of the messages around them."""
    return sum(len(block.html.encode()) + len(block.text.encode()) + ENVELOPE for block in blocks)


def test_a_short_answer_is_one_block_that_grows():
    _, blocks = streamed("Hello **you** there", 6)
    assert {block.key for block in blocks} == {"b1"}
    assert [block.live for block in blocks] == [True] * (len(blocks) - 1) + [False]
    assert blocks[0].text == "Hello "
    assert "<p>Hello <strong>you</strong> there</p>" in blocks[-1].html
    assert blocks[-1].text == "Hello **you** there"


def test_the_first_words_are_shown_at_once():
    assert answer().add("H")[0].text == "H"


def test_bytes_are_linear_in_the_length_of_the_answer():
    _, blocks = streamed(LONG, 20)
    assert sent(blocks) <= 15 * len(LONG)
    _, half = streamed(LONG[: len(LONG) // 2], 20)
    assert sent(blocks) <= 2.5 * sent(half)
    assert len(blocks) <= len(LONG) / STEP * 2


def test_only_the_last_block_ever_changes():
    _, blocks = streamed(LONG, 20)
    keys = [block.key for block in blocks]
    assert keys == sorted(keys, key=lambda key: int(key[1:]))
    closed = [block.key for block in blocks if not block.live]
    assert len(closed) == len(set(closed)) == len(set(keys))


def test_pieces_end_at_a_blank_line_outside_a_fence():
    _, blocks = streamed(LONG, 20)
    pieces = [block.text for block in last(blocks).values()]
    assert len(pieces) > 10
    assert all(piece.count("```") % 2 == 0 for piece in pieces)
    assert all(SOFT <= len(piece) < SOFT + len(CODE) + 500 for piece in pieces[:-1])


def test_a_piece_does_not_end_before_what_is_indented_below_it():
    item = "- " + PARAGRAPH * 6
    assert next_cut(f"{item}\n\n  more of the item\n") is None
    assert next_cut(f"{item}\n\n\n") is None
    assert next_cut(f"{item}\n\nnext").at == len(item) + 2


def test_a_long_fence_is_cut_at_a_line_and_opened_again():
    _, blocks = streamed("```python\n" + "x = 1  # a line\n\n" * 2_000 + "```\nafter", 700)
    pieces = [block.text for block in last(blocks).values()]
    assert len(pieces) > 3
    assert all(len(piece) <= HARD + 20 for piece in pieces)
    assert all(piece.startswith("```python\n") for piece in pieces)
    assert all(piece.endswith("```") for piece in pieces[:-1])
    assert pieces[-1].endswith("```\nafter")


def test_shorter_fences_inside_a_fence_do_not_close_it():
    text = "````md\n```py\nx\n```\n\n" + "more\n\n" * 400 + "````\n\nafter"
    assert len(last(streamed(text, 700)[1])) == 2
    assert next_cut(text).at == text.index("after")


def test_a_long_table_keeps_its_head_in_every_piece():
    _, blocks = streamed("text | x\n\n| a | b |\n|---|:-:|\n" + "| 1 | 2 |\n" * 2_000, 700)
    pieces = [block.html for block in last(blocks).values()]
    assert len(pieces) > 2
    assert all(html.count("<table>") == 1 for html in pieces)
    assert all("text-align:center" in html for html in pieces)


def test_a_huge_head_of_a_table_is_not_repeated():
    head = "|" + "a" * 600 + "|b|\n|-|-|\n"
    _, blocks = streamed(head + "| 1 | 2 |\n" * 2_000, 700)
    assert sum(block.text.count("|-|-|") for block in last(blocks).values()) == 1


def test_a_text_without_a_line_break_is_cut_at_a_space_or_anywhere():
    assert next_cut("word " * 2_000).at % 5 == 0
    assert next_cut("x" * (HARD + 1)).at == SOFT
    assert next_cut("x" * HARD) is None


@settings(max_examples=40, deadline=None)
@given(
    st.lists(
        st.sampled_from(
            [text for _, text in HOSTILE if len(text) < 2_000]
            + [PARAGRAPH, CODE, "\n\n", "```\n", "| a |\n"]
        )
        | st.text(max_size=20),
        max_size=12,
    ).map("".join),
    st.sampled_from([1, 7, 300, 100_000]),
)
def test_nothing_of_any_text_is_lost_or_active_however_it_is_streamed(text, size):
    each, blocks = streamed(text, size if len(text) < 5_000 else 300)
    assert "".join(piece.raw for piece in each.pieces) == text
    assert all(problems(block.html) == [] for block in last(blocks).values())
    assert each.finished(text) == []


@pytest.mark.parametrize("end", ["", "more", PARAGRAPH * 30])
def test_what_the_provider_says_at_the_end_counts(end):
    each = answer()
    blocks = each.add(LONG[:10_000]) + each.finished(LONG[:4_000] + end)
    shown = [b.text for b in last(blocks).values() if b.html != NOTHING]
    again = [b.text for b in last(streamed(LONG[:4_000] + end, 100_000)[1]).values()]
    assert shown == again
    assert not any(block.live for block in last(blocks).values())


def test_a_replaced_answer_sends_only_what_changed():
    each = answer()
    blocks = each.add(LONG[:10_000])
    places = len(last(blocks))
    replaced = each.finished(LONG[:9_990] + "changed")
    assert [block.key for block in replaced] == [f"b{places}"]


def test_a_text_of_blanks_is_no_block():
    each, blocks = streamed("\n" * 3_000, 1_000)
    assert blocks == []
    assert answer().finished() == []
    assert each.finished("") == []


def test_a_void_answer_is_greyed_and_then_one_line_is_left_of_it():
    each = answer()
    shown = each.add(LONG[:9_000])
    void = each.voided()
    assert [block.key for block in void] == list(last(shown))
    assert all("opacity" in block.html and block.live for block in void)
    left = each.dropped("connection \x1b[1m lost")
    assert left[0].text == "↻ An unfinished answer was dropped: connection \\x1b[1m lost."
    assert {block.html for block in left[1:]} == {NOTHING}
    assert [block.key for block in left] == list(last(shown))
    assert answer().voided() == []


def test_updates_become_rarer_as_a_piece_grows():
    each = answer()
    sizes = [len(block.text) for n in range(1_500) for block in each.add("x")]
    steps = [b - a for a, b in pairwise(sizes)]
    assert sizes[0] == 1
    assert max(steps) == STEP
    assert steps == sorted(steps)
    assert re.fullmatch("x+", each.pending()[0].text)
    assert each.pending() == []
