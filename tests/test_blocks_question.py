"""Approvals in words: everything is visible before the answer, and nothing of it is active."""

from __future__ import annotations

import json

import pytest

from agent_magics.events import Question
from agent_magics.frontends.blocks import answer_block, question_html, question_text
from agent_magics.frontends.blocks_block import NOTHING
from agent_magics.frontends.blocks_payload import (
    DIFF_ROWS,
    argument_rows,
    arguments_diff,
    brief,
    displays_html,
    fenced,
    pretty,
    side_arguments,
)
from agent_magics.frontends.blocks_question import decision_words
from agent_magics.frontends.theme import diff_rows
from agent_magics.messages import Display, ToolCall
from agent_magics.plain import visible
from agent_magics.policy import Answer, Rule, Scope
from tests.hostile import HOSTILE, problems

DIFF = "--- a/x.py\n+++ b/x.py\n@@ -1,2 +1,2 @@\n same\n-old <b>\n+new <b>\n"
SCOPE = Scope("edit x.py, this session", Rule("edit", "allow", "x.py"))

PREVIEW = (Display("diff", DIFF),)


def question(name="edit", title="edit x.py", preview=PREVIEW, **more):
    arguments = more.pop("arguments", '{"path": "x.py", "count": 3}')
    return Question(
        ToolCall("c1", name, arguments),
        title,
        preview,
        (SCOPE,),
        more.pop("reason", "the default for write tools"),
        **more,
    )


def test_a_question_says_what_would_run_why_it_is_asked_and_ends_with_the_payload():
    html = question_html(question())
    assert "<b>Run this?</b> <b>edit</b> <samp>" in html
    assert "built-in tool · asked because: the default for write tools" in html
    assert "count: 3" in html
    assert html.index("all arguments") < html.index("+++ b/x.py")
    assert html.endswith("+new &lt;b&gt;\n</div></pre></div>")
    assert problems(html) == []


def test_a_question_in_plain_text_keeps_the_payload_behind_bars():
    assert question_text(question(origin="skill fix", outside=True)).split("\n") == [
        "Run this? edit x.py",
        "tool of skill fix · asked because: the default for write tools",
        "It reaches outside the workspace.",
        "│ count: 3",
        "│ --- a/x.py",
        "│ +++ b/x.py",
        "│ @@ -1,2 +1,2 @@",
        "│  same",
        "│ -old <b>",
        "│ +new <b>",
    ]


def test_without_a_preview_the_arguments_are_the_payload():
    asked = question(preview=(), reason="", outside=True)
    assert question_text(asked).endswith('│ {\n│   "path": "x.py",\n│   "count": 3\n│ }')
    html = question_html(asked)
    assert "It reaches outside the workspace." in html
    assert "all arguments" not in html
    assert "asked because" not in html
    assert html.endswith('"count": 3\n}</pre></div>')


@pytest.mark.parametrize("text", [text for _, text in HOSTILE], ids=[name for name, _ in HOSTILE])
def test_a_hostile_question_is_shown_whole_on_lines_that_are_clearly_not_ours(text):
    for kind in ("text", "diff", "code"):
        asked = question(
            text,
            f"{text} {text}",
            (Display(kind, text, language="python"),),
            arguments=json.dumps({text: text, "n": 1}),
            reason=text,
            origin=text,
        )
        assert problems(question_html(asked)) == []
        head, *rest = question_text(asked).split("\n")
        assert head.startswith("Run this? ")
        assert len(head) <= 220
        assert all(row.startswith("│ ") for row in rest[1:])
        payload = "\n".join(row[2:] for row in rest)
        if text.strip():
            assert visible(text).removesuffix("\n") in payload


def test_a_preview_is_never_cut():
    long = "\n".join(f"+row {number}" for number in range(20_000))
    asked = question(preview=(Display("diff", long),))
    assert "+row 19999" in question_html(asked)
    assert question_text(asked).count("\n") > 20_000
    assert "not shown" not in question_html(asked) + question_text(asked)


def test_a_preview_hides_nothing_behind_a_carriage_return_or_a_colour():
    asked = question(preview=(Display("text", "rm -rf /\rls\x1b[8m -la"),))
    for shown in (question_text(asked), question_html(asked)):
        assert "rm -rf /\\x0dls\\x1b[8m -la" in shown


def test_several_previews_are_all_shown():
    asked = question(preview=(Display("code", "ls", language="bash"), Display("text", "note\n")))
    assert question_text(asked).endswith("│ ls\n│ \n│ note")
    assert '<div class="highlight">' in question_html(asked)


@pytest.mark.parametrize(
    ("answer", "words"),
    [
        (Answer(True), "approved"),
        (Answer(True, by="option"), "approved by option"),
        (Answer(True, scope=SCOPE), "approved, always: edit x.py, this session"),
        (Answer(True, arguments="{}"), "approved, edited"),
        (Answer(False), "denied"),
        (Answer(False, reason="no\nnever"), "denied: “no\\nnever”"),
        (Answer(False, by="timeout"), "no answer in time"),
        (Answer(False, by="nobody", reason="headless"), "nobody could be asked: “headless”"),
        (Answer(False, by="interrupt"), "interrupted before an answer"),
        (Answer(False, by="option"), "refused by option"),
    ],
)
def test_an_answer_is_said_in_a_few_words(answer, words):
    assert decision_words(answer) == words
    block = answer_block(question(), answer, "ask-c1")
    assert block.key == "ask-c1"
    assert block.text == f"↳ edit x.py — {words}"
    assert block.metadata["kind"] == "approval"
    assert block.metadata["allowed"] is answer.allowed


def test_the_place_of_a_card_is_empty_afterwards_since_the_call_itself_has_the_record():
    assert answer_block(question(), Answer(True), "k").html == NOTHING


def test_a_question_that_is_not_about_running_a_call_leaves_a_line():
    asked = question(title="May it go on <b>?")
    block = answer_block(asked, Answer(False, scope=None, reason="$x$"), "k")
    assert "May it go on &lt;b&gt;? — denied" in block.html
    assert problems(block.html) == []
    assert "<b>May it go on &lt;b&gt;?</b>" in question_html(asked)


def test_edited_arguments_are_compared_row_by_row():
    before = '{"path": "x", "text": "one\\ntwo"}'
    diff = arguments_diff(before, '{"path": "x", "text": "one\\n2"}', 9)
    assert diff.split("\n") == [
        "--- as the model wrote it",
        "+++ as you changed it",
        "@@ -1,4 +1,4 @@",
        ' path: "x"',
        " text:",
        "     one",
        "-    two",
        "+    2",
    ]
    assert "written differently" in arguments_diff(before, before.replace(" ", ""), 3)


def test_very_long_edits_are_set_side_by_side_without_comparing():
    before = json.dumps({"a": "x\n" * DIFF_ROWS})
    diff = arguments_diff(before, '{"a": 1}', 3).split("\n")
    assert diff[0] == f"@@ -1,{DIFF_ROWS + 2} +1,1 @@"
    assert diff[-1] == "+a: 1"
    assert all(kind == "removed" for kind, _ in list(diff_rows("\n".join(diff)))[1:-1])


def test_arguments_read_one_per_row_and_no_text_passes_for_another_argument():
    rows = argument_rows(
        json.dumps(
            {"a": 'x: "y"', "b": "1\npath: 2", "c d\ne": None, "f": [1, {"g": 2}], "h": True}
        )
    )
    assert rows == (
        'a: "x: \\"y\\""\nb:\n    1\n    path: 2\n"c d\\ne": null\n'
        'f: [\n  1,\n  {\n    "g": 2\n  }\n]\nh: true'
    )
    assert (
        argument_rows('{"a": "' + "x" * 50 + '"}', 20) == 'a: "' + "x" * 10 + '… (50 characters)"'
    )


@pytest.mark.parametrize("broken", ["", "{", "[1]", "[" * 9_000, '{"a": ' + "9" * 6_000 + "}"])
def test_arguments_that_are_no_object_are_shown_as_they_are(broken):
    assert pretty(broken)[:3] == argument_rows(broken)[:3]
    assert len(argument_rows(broken, 100)) < 7_000
    assert side_arguments(broken, []) == ""


@pytest.mark.parametrize("depth", [50, 300, 450, 600, 900, 960, 2_000, 100_000])
def test_arguments_that_are_nested_deeply_are_shown_whole(depth):
    deep = '{"a": ' + "[" * depth + "]" * depth + "}"
    asked = question(preview=(), arguments=deep)
    assert question_text(asked).count("[") == question_html(asked).count("[") == depth
    assert argument_rows(deep).count("[") == depth
    assert arguments_diff(deep, "{}", 3)


def test_short_arguments_stand_beside_a_preview_that_does_not_show_them():
    values = {"command": "ls", "n": 6, "cwd": "/", "env": {}, "t": "a\nb", "l": "x" * 200}
    text = json.dumps({**values, "long": "several words", "none": None})
    shown = ["ls", "6 / and several words"]
    assert side_arguments(text, shown) == 'n: 6 · cwd: "/" · none: null'


def test_a_fence_cannot_be_closed_by_what_it_holds():
    assert fenced("a\n````\nb", 'py"<') == "`````py\na\n````\nb\n`````"


def test_a_long_output_is_shortened_to_its_first_and_last_lines():
    shown = brief("\n".join(str(number) for number in range(100)))
    assert shown == "0\n1\n2\n3\n4\n5\n6\n[… 91 lines not shown here …]\n98\n99"


def test_a_record_of_many_displays_is_bounded_and_says_so():
    html = displays_html([Display("text", "x" * 400)] * 10, 1_000)
    assert html.count("<pre") == 3
    assert "7 more not shown here" in html


def test_the_rows_of_a_hunk_are_told_apart_by_their_first_character_only():
    diff = (
        "diff --git a/x b/x\nindex 1..2\n--- a/x\n+++ b/x\n@@ -1,3 +1,2 @@ def f():\n"
        "--- gone\n--- gone\n+++ new\n same\n\\ No newline at end of file\n--- b/y\nnote\n"
    )
    assert [kind for kind, _ in diff_rows(diff)] == [
        *["file"] * 4,
        "place",
        "removed",
        "removed",
        "added",
        "same",
        "same",
        "file",
        "same",
    ]
    assert [kind for kind, _ in diff_rows("@@ -1 +1 @@\n-a\n\\ No newline\n+b\n+c")] == [
        "place",
        "removed",
        "same",
        "added",
        "added",
    ]
