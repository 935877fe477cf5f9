"""Exports of saved sessions: whole, safe, and free of this machine's paths."""

from __future__ import annotations

import json
import re
from html.parser import HTMLParser
from pathlib import Path

import nbformat
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from markdown_it import MarkdownIt

from agent_magics.errors import UsageProblem
from agent_magics.magics.export_markdown import inactive
from agent_magics.magics.exporting import FORMATS, export_story, portable
from agent_magics.messages import Assistant, Display, ToolResult, Usage, User
from agent_magics.policy import Answer
from agent_magics.records.entries import Head
from agent_magics.records.lines import line_of
from agent_magics.records.stored import Stored, held, read_lines
from agent_magics.session import Session
from tests.hostile import HOSTILE, problems
from tests.record_values import entries
from tests.recordkit import FOLDER, ask, only, read, records_in
from tests.turns import Spy, call, calls

HOME = "/home/ann"
ROOT = f"{HOME}/project"


@pytest.fixture
def story(tmp_path) -> Stored:
    """Two turns: one with an approved, an edited and a refused call, one that was interrupted."""
    records = records_in(tmp_path / "data")
    session = Session()
    answers = [
        Answer(True, "click", arguments='{"n": 7}'),
        Answer(False, "typed", "not that one"),
    ]
    replies = [
        calls(call("change", "c1", n=1), call("change", "c2", n=2), text="Let me see."),
        Assistant("**Done**, see `x.py`.", usage=Usage(1000, 50)),
    ]
    tools = (Spy("change", "write").tool,)
    ask(records, session, "Change it.\nBoth of them.", replies, tools=tools, answers=answers)
    ask(records, session, "And now?", [Assistant("Nothing.")])
    return read(only(records).path)


def exported(stored: Stored, tmp_path: Path, ending: str, roots=(FOLDER,)) -> str:
    path = tmp_path / f"out{ending}"
    export_story(stored, path, roots, force=False)
    return path.read_text(encoding="utf-8")


def test_markdown_reads_like_the_cells_did(story, tmp_path):
    text = exported(story, tmp_path, ".md")
    assert text.startswith("# Change it.\n\nagent\\_magics · 20")
    for part in (
        "> Change it.\n> Both of them.\n",
        "Let me see.",
        "**Done**, see `x.py`.",
        "not that one",
        '"n": 7',
        "> And now?",
        "— scripted · 2 requests · 1.0k in / 50 out tokens",
    ):
        assert part in text, part


def test_a_notebook_is_valid_and_has_a_cell_for_each_turn(story, tmp_path):
    text = exported(story, tmp_path, ".ipynb")
    notebook = nbformat.reads(text, as_version=4)
    nbformat.validate(notebook)
    sources = [cell.source for cell in notebook.cells if cell.cell_type == "code"]
    assert sources[1:] == ["%%agent\nChange it.\nBoth of them.", "%%agent\nAnd now?"]
    outputs = notebook.cells[2].outputs
    kinds = [output.metadata["agent_magics"]["kind"] for output in outputs]
    assert kinds == ["answer", "call", "call", "answer", "turn"]
    edited = outputs[1].metadata["agent_magics"]
    assert "7" in json.dumps(edited)
    assert exported(story, tmp_path / "..", "-again.ipynb") == text


def test_json_holds_messages_and_decisions(story, tmp_path):
    value = json.loads(exported(story, tmp_path, ".json"))
    assert (value["format"], value["version"]) == ("agent_magics.session", 1)
    first, second = value["turns"]
    assert first["calls"]["c1"] == {
        "decision": "approved",
        "by": "click",
        "reason": "the default for write tools",
        "arguments": '{"n": 7}',
        "outcome": "done",
    }
    assert first["calls"]["c2"]["outcome"] == "refused"
    assert [m["role"] for m in second["messages"]] == ["user", "assistant"]


def test_a_file_that_is_there_is_replaced_only_when_told(story, tmp_path):
    path = tmp_path / "notes.md"
    path.write_text("mine", encoding="utf-8")
    path.chmod(0o640)
    with pytest.raises(UsageProblem, match="--force"):
        export_story(story, path, (), force=False)
    assert path.read_text(encoding="utf-8") == "mine"
    export_story(story, path, (), force=True)
    assert path.read_text(encoding="utf-8") != "mine"
    assert path.stat().st_mode & 0o777 == 0o640
    assert [p.name for p in tmp_path.iterdir() if p.name.startswith(".")] == []


@pytest.mark.parametrize(
    ("name", "problem"),
    [
        ("x.pdf", "writes .md, .html, .ipynb, .json"),
        ("x", "the file's ending"),
        ("folder.md", "is a folder"),
        ("none/x.md", "No such file"),
        ("a" * 300 + ".md", "too long"),
    ],
)
def test_a_file_that_cannot_be_written_is_said(story, tmp_path, name, problem):
    (tmp_path / "folder.md").mkdir()
    with pytest.raises(UsageProblem, match=problem):
        export_story(story, tmp_path / name, (), force=False)


def test_a_conversation_that_was_never_saved_is_exported_from_memory(tmp_path):
    said = (
        User("Look."),
        calls(call("look", n=1)),
        ToolResult("c1", "seen 1"),
        Assistant("It is 1."),
    )
    text = exported(held("default", said, Usage()), tmp_path, ".md")
    assert "> Look." in text
    assert "✓ `look`" in text
    assert "It is 1." in text


def test_a_turn_that_the_kernel_did_not_end_says_so(tmp_path):
    records = records_in(tmp_path / "data")
    ask(records, Session())
    path = only(records).path
    lines = path.read_bytes().splitlines(keepends=True)
    cut = read_lines(lines[:5])
    assert cut.broke_off
    text = exported(cut, tmp_path, ".md")
    assert "The kernel ended." in text
    assert "not finished" in text


# Paths.


def speaking(text: str) -> Stored:
    said = (
        User(text),
        calls(call("read", path=text), text=text),
        ToolResult("c1", text, display=(Display("text", text),)),
        Assistant(text),
    )
    return held("default", said, Usage())


@pytest.mark.parametrize(
    ("said", "shown"),
    [
        (f"{ROOT}/src/a.py", "./src/a.py"),
        (f"in {ROOT}.", "in .."),
        (f"{HOME}/.ssh/config and {ROOT}", "~/.ssh/config and ."),
        (f"{ROOT}-old/a", "~/project-old/a"),
        (f"{ROOT}.bak", "~/project.bak"),
        ("/home/annabel/x", "/home/annabel/x"),
        (f"/mnt{HOME}/x", f"/mnt{HOME}/x"),
        (f"file://{ROOT}/x", "file://./x"),
    ],
)
def test_paths_of_this_machine_are_written_as_everybody_has_them(said, shown):
    turn = portable(speaking(said), (ROOT,), HOME).turns[0]
    assert turn.began.prompt.text == shown
    user, asked, result, answer = turn.messages
    assert (user.text, asked.text, result.text, answer.text) == (shown,) * 4
    assert json.loads(asked.calls[0].arguments) == {"path": shown}
    assert result.display[0].text == shown


@pytest.mark.parametrize("ending", FORMATS)
def test_no_export_names_the_folders_of_this_machine(tmp_path, monkeypatch, ending):
    monkeypatch.setenv("HOME", HOME)
    stored = speaking(f"See {ROOT}/src/a.py and {HOME}/notes.")
    text = exported(stored, tmp_path, ending, (ROOT,))
    assert HOME not in text
    assert "src/a.py" in text


# Hostile texts.


def off(page: str) -> list[str]:
    """What is wrong with a page between its head and its end."""
    sections = page.partition("<section>")[2].rpartition("</section>")[0]
    return problems(sections.replace(' class="prompt"', ""))


@pytest.mark.parametrize("hostile", [text for _, text in HOSTILE])
def test_no_hostile_text_is_active_in_a_page(hostile, tmp_path):
    page = exported(speaking(hostile), tmp_path, ".html")
    assert off(page) == []
    head = page.partition("<section>")[0]
    assert head.count("<script") == 0
    assert head.count("<title>") == head.count("</title>") == 1


class Elements(HTMLParser):
    """The elements of a page, and what each could load or run."""

    def __init__(self) -> None:
        super().__init__()
        self.found: list[str] = []
        self.active: list[str] = []

    def handle_starttag(self, tag, attrs):
        self.found.append(tag)
        self.active += [name for name, _ in attrs if name.startswith("on") or name == "src"]


@pytest.mark.parametrize("hostile", [text for _, text in HOSTILE])
def test_no_hostile_text_is_active_in_markdown(hostile, tmp_path):
    html = MarkdownIt("commonmark").render(exported(speaking(hostile), tmp_path, ".md"))
    page = Elements()
    page.feed(html)
    assert not {"img", "script", "style", "iframe", "svg", "form", "input"} & set(page.found)
    assert page.active == []


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("`<b>` and <b>", "`<b>` and &lt;b>"),
        ("![a](b) ``x ` <y>``", "&#33;[a](b) ``x ` <y>``"),
        ("```html\n<img> ![a](b)\n```\n<b>", "```html\n<img> ![a](b)\n```\n&lt;b>"),
        ("~~~\n```\n<b>", "~~~\n```\n<b>\n~~~"),
        # What only looks like code is none: another line's tick, an escaped one, a list's fence.
        ("`a\n` <b> `c`", "`a\n` &lt;b> `c`"),
        ("\\` <b> `", "\\` &lt;b> `"),
        ("> ```\n<b>", "> ```\n&lt;b>"),
        ("- ```\n<b>", "- ```\n&lt;b>"),
        ("- ```\n  <b>\n  ```\n<b>", "- ```\n  <b>\n  ```\n&lt;b>"),
        ("a\n  ```\n<b>", "a\n  ```\n<b>\n```"),
        ("~~~", "~~~\n~~~"),
        ("```\n```", "```\n```"),
        ("a\n\n    <b>", "a\n\n    &lt;b>"),
        ("| `<b>|` |", "| `&lt;b>|` |"),
        ("", ""),
        ("\n\n    x\n", "x\n"),
        ("a < b, x <- 3, 1 <2", "a < b, x <- 3, 1 <2"),
    ],
)
def test_only_code_keeps_its_characters_in_markdown(text, shown):
    assert inactive(text) == shown


PIECES = (
    *("<img src=x>", "<script>", "<!-- ", "<a href='`'>", "![a](b)", "html", "a ", "\\", "[a]: "),
    *("`", "``", "```", "````", "~~~", "\n", "\n\n", "\t", "    ", "  ", "> ", "- ", "1. ", "# "),
)
pieces = st.sampled_from(PIECES)


@given(st.lists(st.lists(pieces, max_size=12).map("".join), max_size=3))
@settings(max_examples=500, deadline=None)
def test_no_mixture_of_fences_ticks_and_html_is_active_in_markdown(texts):
    page = Elements()
    page.feed(MarkdownIt("commonmark").render("\n\n".join(map(inactive, texts))))
    assert not {"img", "script"} & set(page.found)


def test_what_code_displayed_is_a_picture_or_text_in_a_page(tmp_path):
    shown = (
        Display("bundle", data={"text/html": "<script>x()</script>", "text/plain": "a <frame>"}),
        Display("bundle", data={"image/png": "aGk=\n", "text/plain": "figure"}),
        Display("bundle", data={"image/svg+xml": "<svg onload='x()'/>"}),
        Display("bundle", data={"image/png": '"><script>x()</script>'}),
        Display("bundle", data={"a/b": 3, "application/vnd.jupyter.widget-view+json": {"a": 1}}),
    )
    said = (
        User("Plot."),
        calls(call("python", code="plot()")),
        ToolResult("c1", "ok", display=shown),
        Assistant("Here."),
    )
    text = exported(held("default", said, Usage()), tmp_path, ".html")
    pictures = r'<p><img alt="figure" src="data:image/[a-z+]+;base64,[^"<>]*"></p>'
    assert off(re.sub(pictures, "", text)) == []
    assert "a &lt;frame&gt;" in text
    assert 'src="data:image/png;base64,aGk="' in text
    assert "<script" not in text
    notebook = json.loads(exported(held("default", said, Usage()), tmp_path, ".ipynb"))
    kinds = [set(output["data"]) for output in notebook["cells"][2]["outputs"]]
    assert {"image/png", "text/plain"} in kinds


@given(st.lists(entries, max_size=10))
@settings(max_examples=100, deadline=None)
def test_whatever_a_file_says_every_export_can_be_made(said):
    head = line_of(Head("abcdef", "default", "/work", "2026-01-01T00:00:00+00:00"))
    stored = read_lines([head, *map(line_of, said)])
    for make in FORMATS.values():
        assert make(portable(stored, ("/work",), HOME))
