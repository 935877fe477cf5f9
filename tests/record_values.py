"""Any messages and any lines of a saved session, for property tests."""

from __future__ import annotations

import json

from hypothesis import strategies as st

from agent_magics.differences import Comparison, Difference
from agent_magics.messages import (
    Assistant,
    Attachment,
    Display,
    Image,
    ToolCall,
    ToolResult,
    Usage,
    User,
)
from agent_magics.policy import Rule
from agent_magics.records.entries import (
    CallDecided,
    CallEnded,
    Compared,
    Head,
    KeptSkill,
    Named,
    Replaced,
    RulesSet,
    Said,
    SkillsSet,
    TurnBegan,
    TurnClosed,
)

# Every text, lone surrogates included: that is what programs print and models write.
texts = st.text(st.characters(), max_size=30)
words = st.sampled_from(["c1", "done", "approved", "allow"]) | st.text(max_size=12)
json_values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | texts,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(texts, inner, max_size=3),
    max_leaves=6,
)
objects = st.dictionaries(texts, json_values, max_size=3)
usages = st.builds(Usage, *[st.integers(0, 10**9)] * 5)
images = st.lists(st.builds(Image, words, words), max_size=2).map(tuple)
attachments = st.lists(st.builds(Attachment, texts, texts), max_size=2).map(tuple)
tool_calls = st.builds(
    ToolCall, words, words, objects.map(json.dumps), objects, st.just("") | texts, st.booleans()
)
displays = st.builds(
    Display, st.sampled_from(["text", "diff", "code", "bundle", "plan"]), texts, words, objects
)
messages = (
    st.builds(User, texts, images, attachments)
    | st.builds(
        Assistant,
        texts,
        st.lists(tool_calls, max_size=3).map(tuple),
        st.sampled_from(["end", "calls", "length", "filter", "refusal", "cut"]),
        usages,
        texts,
        objects,
        words,
    )
    | st.builds(
        ToolResult, words, texts, st.booleans(), images, st.lists(displays, max_size=2).map(tuple)
    )
)
conversations = st.lists(messages, max_size=5).map(tuple)
rules = st.builds(
    Rule, words, st.sampled_from(["allow", "ask", "deny"]), texts, st.just("session"), words
)
seconds = st.integers(0, 10**6).map(lambda n: n / 1000)
comparisons = st.builds(
    Comparison,
    texts,
    st.integers(0, 99),
    st.lists(
        st.builds(Difference, st.sampled_from(["result", "prompt", "end"]), texts, texts, texts),
        max_size=2,
    ).map(tuple),
    st.booleans(),
)
entries = st.one_of(
    st.builds(Head, words, texts, texts, words, words, st.integers(0, 9)),
    st.builds(
        TurnBegan,
        words,
        st.builds(User, texts, images, attachments),
        texts,
        st.lists(st.tuples(words, words), max_size=2).map(tuple),
    ),
    st.builds(Said, messages),
    st.builds(
        CallDecided,
        words,
        texts,
        words,
        words,
        texts,
        st.none() | objects.map(json.dumps),
        st.booleans(),
    ),
    st.builds(CallEnded, words, words, seconds),
    st.builds(Replaced, st.integers(0, 99), conversations),
    st.builds(RulesSet, st.lists(rules, max_size=2).map(tuple)),
    st.builds(
        SkillsSet, st.lists(st.builds(KeptSkill, words, words, texts, texts), max_size=2).map(tuple)
    ),
    st.builds(Named, texts),
    st.builds(Compared, comparisons),
    st.builds(TurnClosed, words, usages, usages, seconds, st.integers(0, 99), texts),
)
