"""The words behind the magics: options, completion, comments above a cell, views."""

from __future__ import annotations

from html.parser import HTMLParser

import pytest
from IPython.core.error import UsageError

from agent_magics.magics.arguments import HelpWanted, cell_options, parsed, rest_of, use_parser
from agent_magics.magics.completion import Words, candidates
from agent_magics.magics.transform import comments_above
from agent_magics.magics.views import pairs_view, table_view


def test_options_of_a_cell_are_read():
    options = cell_options("--skill explore -m gpt --max-turns 3 --budget 100 -o found -q -n")
    assert (options.skill, options.model, options.max_turns) == ("explore", "gpt", 3)
    assert (options.budget, options.out, options.quiet, options.new) == (100, "found", True, True)
    assert options.preview is False


@pytest.mark.parametrize(
    "line",
    [
        "--nothing",
        "--max-turns zero",
        "--max-turns 0",
        "--budget -5",
        "--out 1x",
        "words",
        "--skill",
    ],
)
def test_wrong_words_are_one_line_and_never_a_traceback(line):
    with pytest.raises(UsageError) as caught:
        cell_options(line)
    assert "\n" not in str(caught.value).strip()


@pytest.mark.parametrize("line", ["-h", "--help", "--skill x -h"])
def test_help_is_given(line):
    with pytest.raises(HelpWanted, match="--max-turns"):
        cell_options(line)


@pytest.mark.parametrize("line", ["don't --add", r"C:\\models"])
def test_quotes_and_backslashes_are_words(line):
    assert parsed(use_parser(), line).name


def test_what_stands_behind_a_name_is_taken_as_it_was_typed():
    assert rest_of("code-review  only the  $HOME/{x} part ", "code-review") == (
        "only the  $HOME/{x} part"
    )


WORDS = Words(
    lambda: ["explore", "code-review"],
    lambda: ["explore"],
    lambda: ["edit", "read", "run_shell"],
    sessions=lambda: ["a1b2c3", "default"],
)


@pytest.mark.parametrize(
    ("line", "found"),
    [
        ("%use exp", ["explore"]),
        ("%use ", ["code-review", "explore"]),
        ("%use --add c", ["code-review"]),
        ("%use --", ["--add", "--help"]),
        ("%use explore c", []),
        ("%unuse ", ["explore"]),
        ("%skills co", ["code-review"]),
        ("%agent re", ["record", "redo", "rename", "report", "reset", "resume"]),
        ("%agent resume a", ["a1b2c3"]),
        ("%agent delete a", ["a1b2c3"]),
        ("%agent export a", []),
        ("%agent allow r", ["read", "run_shell"]),
        ("%%agent --sk", ["--skill"]),
        ("%%agent --skill ex", ["explore"]),
        ("%%agent ex", []),
        ("print(ex", []),
        ("%use", []),
        ("", []),
        ("%time ex", []),
        ("%time --", []),
    ],
)
def test_names_and_options_are_completed(line, found):
    assert candidates(line, WORDS) == found


@pytest.mark.parametrize(
    ("cell", "result"),
    [
        ("# why\n%%agent\nGo.\n", "%%agent\nGo.\n"),
        (
            "# a\n\n  # b\n%%agent --new\n# part of the prompt\n",
            "%%agent --new\n# part of the prompt\n",
        ),
        ("%%agent\nGo.\n", "%%agent\nGo.\n"),
        ("x = 1\n%%agent\nGo.\n", "x = 1\n%%agent\nGo.\n"),
        ("# only a comment\n", "# only a comment\n"),
        ("# c\n%%agents\n", "# c\n%%agents\n"),
        ("", ""),
    ],
)
def test_comments_above_a_cell_are_taken_away_and_nothing_else(cell, result):
    assert "".join(comments_above(cell.splitlines(keepends=True))) == result


class Tags(HTMLParser):
    def __init__(self) -> None:
        super().__init__()
        self.seen: set[str] = set()

    def handle_starttag(self, tag, attrs):
        self.seen.add(tag)


@pytest.mark.parametrize("hostile", ["<script>alert(1)</script>", "<img src=x onerror=y>", "a&b<"])
def test_views_escape_everything(hostile):
    for view in (
        pairs_view(hostile, [(hostile, hostile)], [hostile]),
        table_view(hostile, [hostile], [[hostile]], [hostile]),
    ):
        tags = Tags()
        tags.feed(view.html)
        assert tags.seen <= {"p", "b", "table", "tbody", "thead", "tr", "th", "td"}
        assert hostile in view.text


def test_a_view_shows_the_same_in_text_and_html():
    view = table_view("T", ["a", "b"], [["1", "2"]])
    assert view._repr_mimebundle_() == {"text/plain": str(view), "text/html": view.html}
    assert repr(view) == "T\n\n| a | b |\n|---|---|\n| 1 | 2 |"
