"""A saved notebook's metadata alone says who decided what."""

from __future__ import annotations

import json

import nbformat
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from nbformat.v4 import new_code_cell, new_notebook, new_output

from agent_magics.errors import UsageProblem
from agent_magics.events import TurnEnded, TurnStarted
from agent_magics.frontends.blocks import Transcript
from agent_magics.frontends.notebook import METADATA_KEY, published
from agent_magics.magics.auditing import audited
from agent_magics.messages import Usage
from agent_magics.plain import visible
from benchmarks.growth import CALLS
from tests.hostile import HOSTILE, problems
from tests.shellkit import magic

pytest_plugins = ["tests.shellkit_fixtures"]

ENDED = TurnEnded("answered", Usage(1200, 34), 2.0, 3, cost=0.5)


def saved(folder, *cells):
    """A notebook whose cells show these events, without any HTML or text."""
    made = []
    for number, events in enumerate(cells):
        transcript = Transcript()
        blocks = {b.key: b for event in events for b in transcript.feed(event)}
        outputs = [
            new_output(
                "display_data", {"text/plain": ""}, metadata={METADATA_KEY: dict(b.metadata)}
            )
            for b in blocks.values()
            if published(b)
        ]
        made.append(new_code_cell(f"%%agent\nPrompt {number}.", outputs=outputs))
    path = folder / "saved.ipynb"
    nbformat.write(new_notebook(cells=made), path)
    return path


def test_the_table_is_rebuilt_from_metadata_alone(tmp_path):
    started = TurnStarted("Go.", "qwen3", (("code-review", "0123456789abcdef"),))
    calls = [
        event for name in CALLS if "approved" in name or "hand" in name for event in CALLS[name]
    ]
    path = saved(tmp_path, [started, *calls, ENDED], [], CALLS["edit, refused with a reason"])
    first, second = audited(path)
    assert (first.cell, first.prompt, first.model) == (1, "%%agent\nPrompt 0.", "qwen3")
    assert first.skills == (("code-review", "0123456789abcdef"),)
    assert (first.requests, first.usage) == (3, {"input": 1200, "output": 34})
    assert (first.cost, first.ending) == (0.5, "answered")
    approved, edited = first.calls
    assert (approved.tool, approved.allowed, approved.by, approved.edited) == (
        "edit",
        True,
        "click",
        None,
    )
    assert json.loads(approved.arguments)["new"] == "new line"
    assert json.loads(edited.edited)["new"] == "other"
    assert (second.cell, second.ending) == (3, "unfinished")
    (refused,) = second.calls
    assert (refused.allowed, refused.reason, refused.outcome) == (False, "no", "refused")


def test_the_command_shows_it_as_a_table(shell, tmp_path):
    path = saved(tmp_path, [TurnStarted("Go.", "m"), *CALLS["edit, changed by hand"], ENDED])
    told = magic(shell, "agent", f"audit {path}")
    assert len(told) == 1
    text = repr(told)
    assert text.startswith("saved.ipynb: 1 turn, 1 call")
    assert "approved by click, edited" in text
    assert "turn: m · 3 requests · 1.2k in / 34 out tokens · cost 0.50" in text
    assert "<table>" in told._repr_mimebundle_()["text/html"]


@pytest.mark.parametrize("text", [text for _, text in HOSTILE], ids=[name for name, _ in HOSTILE])
def test_a_hostile_file_is_shown_as_the_text_it_is(text, tmp_path):
    call = {"version": 1, "kind": "call", "tool": text, "arguments": text, "outcome": text}
    call["answer"] = {"allowed": False, "by": text, "reason": text, "edited": text}
    turn = {"version": 1, "kind": "turn", "model": text, "skills": [{"name": text, "digest": text}]}
    outputs = [{"metadata": {METADATA_KEY: facts}} for facts in (call, turn)]
    path = tmp_path / "x.ipynb"
    path.write_text(json.dumps({"cells": [{"source": text, "outputs": outputs}]}), "utf-8")
    told = audited(path)
    assert problems(told._repr_mimebundle_()["text/html"]) == []
    assert visible(repr(told)) == repr(told)


json_values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=5),
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(
            st.sampled_from(
                [
                    "cells",
                    "outputs",
                    "metadata",
                    METADATA_KEY,
                    "version",
                    "kind",
                    "answer",
                    "skills",
                ]
            ),
            inner,
            max_size=4,
        )
    ),
    max_leaves=20,
)
facts = st.dictionaries(
    st.sampled_from(["kind", "tool", "answer", "skills", "usage", "requests", "cost", "model"]),
    json_values | st.sampled_from(["call", "turn"]),
)


@settings(max_examples=200, deadline=None)
@given(st.lists(facts, max_size=3), json_values)
def test_whatever_a_file_holds_is_read_or_counted(tmp_path_factory, records, anything):
    outputs = [{"metadata": {METADATA_KEY: {"version": 1, **record}}} for record in records]
    path = tmp_path_factory.mktemp("audit") / "x.ipynb"
    value = {"cells": [{"outputs": [*outputs, anything]}, anything, {"outputs": anything}]}
    path.write_text(json.dumps(value), encoding="utf-8")
    repr(audited(path))


def test_facts_of_another_version_are_counted(tmp_path):
    outputs = [{"metadata": {METADATA_KEY: {"version": 2, "kind": "call"}}}]
    path = tmp_path / "x.ipynb"
    path.write_text(json.dumps({"cells": [{"outputs": outputs}]}), encoding="utf-8")
    assert repr(audited(path)).endswith("1 output could not be read.")


@pytest.mark.parametrize(
    ("content", "said"),
    [
        (None, "cannot be read: No such file"),
        ("{", "is no notebook: it does not hold JSON"),
        ("[]", "it has no list of cells"),
        ('{"worksheets": []}', "it has no list of cells"),
    ],
)
def test_what_is_no_notebook_is_said(tmp_path, content, said):
    path = tmp_path / "x.ipynb"
    if content is not None:
        path.write_text(content, encoding="utf-8")
    with pytest.raises(UsageProblem, match=said):
        audited(path)


def test_a_file_has_to_be_named(shell):
    with pytest.raises(UsageProblem, match=r"FILE\.ipynb"):
        magic(shell, "agent", "audit")
