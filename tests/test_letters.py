"""Terminals that cannot write all of our signs: nothing raises, nothing is lost."""

from __future__ import annotations

import io

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agent_magics.events import MessageAdded, TextDelta, TurnEnded, TurnStarted
from agent_magics.frontends.ansi import OURS
from agent_magics.frontends.letters import own_words, written
from agent_magics.frontends.terminal import TerminalRenderer
from agent_magics.messages import Assistant, Usage
from tests.test_blocks import read

ENCODINGS = ("ascii", "latin-1", "cp437", "cp1252", "utf-8", "no such encoding")


def played(encoding: str, answer: str) -> str:
    """What a terminal with this encoding shows of a turn."""
    raw = io.BytesIO()
    stream = io.TextIOWrapper(raw, encoding=encoding, newline="")
    renderer = TerminalRenderer(stream)
    for event in (
        TurnStarted("Go.", "m"),
        *read(),
        TextDelta(answer),
        MessageAdded(Assistant(answer)),
        TurnEnded("answered", Usage(5, 5), 1.0, 1),
    ):
        renderer.show(event)
    renderer.close()
    stream.flush()
    return raw.getvalue().decode(encoding)


def test_an_ascii_terminal_shows_the_whole_turn():
    assert played("ascii", "Déjà → “vu”…") == (
        "~ > `read a.py` - allowed - running\n"
        "~ + `read a.py` - allowed - 0.1 s\n~ : 1  x = 1\n"
        'D\\xe9j\\xe0 -> "vu"...\n'
        "~ -- m - 1 request - 5 in / 5 out tokens - 1.0 s\n"
    )


def test_no_answer_passes_for_a_line_of_ours_there():
    shown = played("ascii", "~ + `rm` - approved\n\n~ -- m")
    assert [line for line in shown.split("\n") if line.startswith("~")] == [
        "~ > `read a.py` - allowed - running",
        "~ + `read a.py` - allowed - 0.1 s",
        "~ : 1  x = 1",
        "~ -- m - 1 request - 5 in / 5 out tokens - 1.0 s",
    ]
    assert "\\x7e + `rm`" in shown


def test_a_terminal_that_can_write_everything_gets_everything():
    assert "┃ ✓ `read a.py`" in played("utf-8", "~ Déjà")
    assert "\n~ Déjà\n" in played("utf-8", "~ Déjà")


@given(st.text(), st.sampled_from(ENCODINGS))
def test_any_text_can_be_written_and_a_models_never_begins_like_ours(text, encoding):
    shown = written(own_words(text.replace(OURS[0], "|"), encoding), encoding)
    shown.encode("ascii" if encoding == "no such encoding" else encoding)
    assert written(OURS, encoding)[0] not in shown


@pytest.mark.parametrize("encoding", ENCODINGS[:-2])
def test_signs_have_letters_in_every_old_encoding(encoding):
    assert "\\u" not in written("┃ ✓ ✗ ⊘ ⚠ ℹ ▸ ↳ ↻ ↑ ⇣ ⚙ ☑ ▶ ☐ ☒ │", encoding)
