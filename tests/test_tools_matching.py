"""The edit ladder: where a text is found, and that nothing else is touched."""

from __future__ import annotations

import random
import re

import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from agent_magics.errors import ToolError
from agent_magics.tools.documents import decoded
from agent_magics.tools.matching import Edit, edited, spans_of
from agent_magics.tools.numbering import numbered, without_numbers


def once(text: str, old: str, new: str) -> tuple[str, str]:
    """The text after one edit, and how it matched."""
    result = edited(text, [Edit(old, new)])
    assert result.count == 1
    return result.text, "; ".join(result.notes)


def refusal(text: str, *edits: Edit) -> str:
    with pytest.raises(ToolError) as caught:
        edited(text, edits)
    return str(caught.value)


def test_the_very_text_is_exchanged_and_nothing_is_said_about_it():
    assert once("a b c", "b", "x") == ("a x c", "")


@pytest.mark.parametrize(
    ("text", "old", "new", "after", "how"),
    [
        # Line ends of the file stay, whatever the model writes.
        ("a\r\nb\r\nc\r\n", "a\nb", "x\ny\nz", "x\r\ny\r\nz\r\nc\r\n", ""),
        ("a\r\nb\r\n", "b", "b\nc", "a\r\nb\r\nc\r\n", ""),
        ("a\nb\r\nc\n", "a\nb\nc", "a\nB\nc", "a\nB\r\nc\n", "blanks at line ends"),
        # Blanks at line ends.
        ("a  \nb\t\nc\n", "a\nb\nc", "a\nX\nc", "a  \nX\t\nc\n", "blanks at line ends"),
        ("a\nb\n", "a  \nb ", "x\ny", "x\ny\n", "blanks at line ends"),
        ("f(a,  \n  b)  # end\n", "a,\n  b", "a,\n  c", "f(a,  \n  c)  # end\n", "blanks"),
        # Another indentation, the same for all lines.
        ("    if a:\n        b\n", "if a:\n    b\n", "if a:\n    c\n", None, "indentation"),
        ("\tif a:\n\t\tb\n", "if a:\n\tb\n", "if a:\n\tc\n", "\tif a:\n\t\tc\n", "indentation"),
        ("x\na:\n  b\n", "  a:\n    b", "  a:\n    c", "x\na:\n  c\n", "indentation"),
        ("  a\n\n  b\n", "a\n\nb\n", "a\n\nc\nd\n", "  a\n\n  c\n  d\n", "indentation"),
        # Typographic characters.
        ("say \u201chi\u201d \u2013 now", 'say "hi" - now', "bye", "bye", "typographic"),
        ("a\u00a0b\nnext\u2019s\n", "a b\nnext's", "a b\nX", "a\u00a0b\nX\n", "typographic"),
        # Line numbers that were copied from a page.
        ("a\nb\nc\n", "2|b\n3|c", "2|B\n3|c", "a\nB\nc\n", "line numbers"),
        ("a\nb\n", " 1|a\n 2|b\n", "x\ny\n", "x\ny\n", "line numbers"),
        # The last line has no line end, and the model gives it one.
        ("a\nlast", "last\n", "end\n", "a\nend", "without a line end"),
    ],
)
def test_each_rung_exchanges_only_its_span_and_says_so(text, old, new, after, how):
    got, note = once(text, old, new)
    assert got == (after if after is not None else text.replace("b", "c"))
    assert how in note


def test_a_stricter_rung_wins_over_a_more_lenient_one():
    assert once("a  \nb\na\nb\n", "a\nb", "x")[0] == "a  \nb\nx\n"
    assert once('"x"\n\u201cx\u201d\n', '"x"', "y")[0] == "y\n\u201cx\u201d\n"


@pytest.mark.parametrize(
    ("text", "old", "lines"),
    [
        ("x\ny\nx\n", "x", "1, 3"),
        ("aaa", "aa", "1, 1"),
        ("a \nb\n\na \nb\n", "a\nb", "1, 4"),
        ("  a\n    a\n", "      a", "1, 2"),
    ],
)
def test_several_places_are_refused_with_their_lines(text, old, lines):
    message = refusal(text, Edit(old, f"{' ' * 8}new"))
    assert "2 places" in message
    assert f"lines {lines}." in message


def test_all_places_are_exchanged_when_asked_but_only_exact_ones():
    assert edited("a b a", [Edit("a", "x", every=True)]).text == "x b x"
    assert edited("aaa", [Edit("aa", "x", every=True)]).text == "xa"
    assert edited("a\r\nb\r\na\r\nb", [Edit("a\nb", "c", every=True)]).text == "c\r\nc"
    assert edited("a" * 5000, [Edit("a", "bc", every=True)]).text == "bc" * 5000
    assert "nowhere" in refusal("a \nb", Edit("a\nb", "x", every=True))


def test_nothing_is_matched_by_likeness_but_the_nearest_places_are_shown():
    text = "".join(f"line number {n}\n" for n in range(1, 50))
    message = refusal(text, Edit("line number 7\nline nomber 8\n", "x"))
    assert "nowhere" in message
    assert "7|line number 7\n" in message
    assert "8|line number 8\n" in message
    single = refusal("alpha = compute(beta, gamma)\n", Edit("alpha = compute(beta, delta)", "x"))
    assert "1|alpha = compute" in single
    assert "nothing in it is like it" in refusal("a\nb\n", Edit("zzz yyy", "x"))


def test_edits_are_made_in_order_and_all_or_none():
    assert edited("a b", [Edit("a", "b c"), Edit("c b", "d")]).text == "b d"
    message = refusal("a b", Edit("a", "x"), Edit("nope", "y"))
    assert message.startswith("Edit 2 of 2:")
    assert "None of the edits was made." in message


def test_edits_that_say_nothing_are_refused():
    assert "empty" in refusal("a", Edit("", "x"))
    assert "same" in refusal("a", Edit("a", "a"))
    assert "nowhere" in refusal("a\n \nb", Edit("   ", "x"))


def test_lines_that_cannot_be_moved_left_are_refused_instead_of_bent():
    assert "indentation" in refusal("a:\n  b\n", Edit("  a:\n    b", "  a:\nb"))
    assert "nowhere" in refusal("  a\n    b\n", Edit("a\n b\n", "x"))
    assert "nowhere" in refusal("  \ta\n", Edit("  a\n", "  b\n"))


def test_line_numbers_on_some_lines_only_are_refused():
    assert "line numbers" in refusal("a\nb\n", Edit("1|a\n2|b", "1|a\nnew\n2|b"))


@given(st.lists(st.text(st.characters(exclude_characters="\n")), min_size=1), st.integers(1, 10**6))
def test_line_numbers_come_off_as_they_went_on(lines, first):
    text = "\n".join(lines)
    assert without_numbers("\n".join(numbered(lines, first))) == text


def test_text_that_only_looks_numbered_keeps_its_numbers():
    assert without_numbers("1|a\n3|b") is None
    assert without_numbers("a\n2|b") is None
    assert without_numbers("") is None
    assert once("x\n1|a\n", "1|a", "2|b") == ("x\n2|b\n", "")


# -- no byte outside the span ------------------------------------------------------------------

_PIECE_LIST = (
    *("a", "b", "if x:", "return", " ", "  ", "\t", "\n", "\n", "\r\n", "\n\n", "'", "\u2019"),
    *("\u201c", '"', "-", "\u2014", "\u00a0", "é", "日", "\U0001f600", "1|", "{", "}", "\r"),
)
_TEXTS = st.lists(st.sampled_from(_PIECE_LIST), max_size=30).map("".join)


def _plain(text: str) -> str:
    """A text without anything that any rung overlooks."""
    text = text.translate(str.maketrans("\u2019\u201c\u2014\u00a0", "'\"- "))
    return "\n".join(line.strip() for line in re.sub(r"(?m)^( *\d+\|)+", "", text).split("\n"))


def _bent(text: str, how: int) -> str:
    """What a model makes of a text it has read."""
    match how:
        case 1:
            return text.replace("\r\n", "\n")
        case 2:
            return "\n".join(line.rstrip() for line in text.split("\n"))
        case 3:
            return "\n".join(f"  {line}" if line else line for line in text.split("\n"))
        case 4:
            return text.translate(str.maketrans("\u2019\u201c\u2014\u00a0", "'\"- "))
        case 5:
            return "\n".join(numbered(text.split("\n"), 3))
        case _:
            return text


def _check_edit(text: str, start: int, length: int, new: str, how: int) -> bool:
    """Whether the edit had its one place; if so, nothing else may have changed."""
    part = text[start : start + length]
    old = _bent(part, how)
    try:
        (span,) = spans_of(text, Edit(old, new))
    except ToolError:
        return False
    after = edited(text, [Edit(old, new)]).text
    assert after == text[: span.start] + span.new + text[span.end :]
    # What was taken is part of what was asked for, but for what the rungs overlook.
    assert _plain(text[span.start : span.end]).strip() in _plain(old)
    # What was put in is part of the new text, but for indentation, line ends and line numbers.
    assert _plain(span.new.replace("\r\n", "\n")).strip() in _plain(new.replace("\r\n", "\n"))
    return True


@settings(max_examples=400, deadline=None)
@given(
    text=_TEXTS,
    start=st.integers(0, 200),
    length=st.integers(1, 40),
    new=_TEXTS,
    how=st.integers(0, 5),
)
def test_no_character_outside_the_span_is_touched_and_the_span_is_what_was_meant(
    text, start, length, new, how
):
    _check_edit(text, min(start, len(text)), length, new, how)


def test_no_character_outside_the_span_is_touched_in_ten_thousand_random_edits():
    chance = random.Random(20_000)
    pieces = [*_PIECE_LIST]

    def text() -> str:
        return "".join(chance.choices(pieces, k=chance.randrange(30)))

    made = 0
    for _ in range(10_000):
        content = text()
        start = chance.randrange(len(content) + 1)
        made += _check_edit(content, start, chance.randrange(1, 25), text(), chance.randrange(6))
    # Enough of them had their one place for the others' refusals not to hide anything.
    assert made > 3000


@settings(max_examples=500, deadline=None)
@given(
    data=st.binary(max_size=80)
    | _TEXTS.map(lambda t: t.encode("utf-8-sig"))
    | _TEXTS.map(lambda t: t.encode("utf-16"))
    | _TEXTS.map(lambda t: t.encode("utf-8") + b"\xff\xe9"),
    start=st.integers(0, 60),
    length=st.integers(1, 20),
)
def test_bytes_before_and_after_the_span_are_the_same_in_every_encoding(data, start, length):
    document = decoded(data)
    assume(document is not None)
    assert document.encoded(document.text) == data
    old = document.text[start : start + length]
    assume(old and not re.search("[\udc80-\udcff]", old))
    try:
        (span,) = spans_of(document.text, Edit(old, "Z"))
    except ToolError:
        return
    after = document.encoded(document.text[: span.start] + span.new + document.text[span.end :])
    before = document.encoded(document.text[: span.start])
    behind = data[len(document.encoded(document.text[: span.end])) :]
    assert after.startswith(before)
    assert after.endswith(behind)
    assert len(after) == len(before) + len(behind) + len("Z".encode(document.encoding))
