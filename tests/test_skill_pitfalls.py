"""Mistakes that earlier loaders of skills made, each shown not to be made here."""

from __future__ import annotations

from pathlib import Path

import pytest

from agent_magics.errors import SkillError
from agent_magics.extension import loaded
from agent_magics.library.discovery import Library, Place
from agent_magics.policy import CallFacts, Policy, Rule
from agent_magics.skill.reading import read_skill
from tests.shellkit import magic, skill

pytest_plugins = ["tests.shellkit_fixtures"]

TOOLS = ("ls", "glob", "read", "grep", "write", "edit", "run_shell", "python")


def read(header: str, body: str = "Do it."):
    return read_skill(f"---\n{header}\n---\n{body}\n".encode(), "tidy", known_tools=TOOLS)


# ---- the header


@pytest.mark.parametrize(
    ("line", "text"),
    [
        ('description: "Draft notes"', "Draft notes"),
        ("description: 'It''s: here'", "It's: here"),
        ("description: Review: read the diff", "Review: read the diff"),
        ("description: fix '#12' bug", "fix '#12' bug"),
        ("description: [WIP] x", "[WIP] x"),
        ("description: *x* y", "*x* y"),
        ("description: @x y", "@x y"),
        ("description: '%use x'", "%use x"),
        ("description: `x` y", "`x` y"),
        ("description: >\n  a\n  b", "a b"),
    ],
)
def test_a_description_is_the_text_that_the_author_wrote(line, text):
    assert read(f"name: tidy\n{line}").description == text


def test_quoted_and_commented_entries_of_a_whitelist_are_plain_names():
    skill = read("tools:\n  - read # read-only\n  - \"grep\"\n  - 'ls'")
    assert skill.tools == ("read", "grep", "ls")
    assert "tools" not in "".join(str(d) for d in skill.diagnostics)


@pytest.mark.parametrize("line", ["----", "--flag: x", "- write", "--write"])
def test_lines_of_dashes_in_the_header_are_no_tools(line):
    skill = read(f"name: tidy\ndescription: d\ntools: [read]\n{line}")
    assert skill.tools in ((), ("read",))


def test_keys_that_nobody_knows_comments_and_nested_ones_cost_nothing():
    skill = read(
        "# a comment\nname: tidy\ndescription: d\nmetadata:\n  author: me\nallowed_tools: Read\n"
        "x-own: [1, {2: 3}]\nallowed-tools:\n  - Read\n  - Grep"
    )
    assert (skill.broken, skill.description) == ("", "d")
    assert skill.allowed_tools == ("Read", "Grep")


@pytest.mark.parametrize("character", ["\u2028", "\u2029", "\x0b", "\x0c", "\x85"])
def test_only_line_ends_end_lines(character):
    body = f"one{character}---{character}two"
    assert read("name: tidy\ndescription: d", body).instructions == body


def test_a_folders_name_stays_the_name_whatever_yaml_makes_of_the_header():
    for given in ("no", "123", "0123", "2026-01-31", "1e3"):
        assert read(f"name: {given}\ndescription: d").name == "tidy"


# ---- folders and names


def test_files_of_a_linked_skill_can_be_read_at_their_real_place_and_nothing_beside_it(
    shell, home, tmp_path
):
    root = skill(tmp_path / "elsewhere", "linked")
    (root / "table.md").write_text("| a |", encoding="utf-8")
    (tmp_path / "elsewhere" / "secret.md").write_text("no", encoding="utf-8")
    own = home / ".agents" / "skills"
    own.mkdir(parents=True)
    (own / "linked").symlink_to(root)
    magic(shell, "use", "linked")
    tool = next(t for t in loaded(shell).visible() if t.name == "read")
    assert not tool.outside({"path": str(root / "table.md")})
    assert tool.outside({"path": str(root.parent / "secret.md")})
    magic(shell, "unuse")
    assert tool.outside({"path": str(root / "table.md")})


def test_a_disabled_skill_is_offered_nowhere_and_found_only_to_say_why(shell):
    assert "bug-repro" in shell.complete("%use bug")[1]
    magic(shell, "skills", "--disable bug-repro")
    with pytest.raises(SkillError) as caught:
        magic(shell, "use", "bug-repo")
    assert "bug-repro" not in str(caught.value)
    assert "bug-repro" not in shell.complete("%use bug")[1]
    loaded(shell).skill_selection = "both"
    assert "bug-repro" not in magic(shell, "agent", "--preview", "x").text
    with pytest.raises(SkillError, match="disabled"):
        magic(shell, "use", "bug-repro")


# ---- code


FUNCTION = 'def {}(text: str) -> str:\n    """F."""\n    return text\n'


@pytest.mark.parametrize(
    "code",
    [
        "TOOLS = 'x'\n",
        "TOOLS = [1]\n",
        "TOOLS = {}\n",
        FUNCTION.format("first") + FUNCTION.format("read"),
        FUNCTION.format("first") + "def (\n",
        FUNCTION.format("first") + "raise SystemExit(1)\n",
        FUNCTION.format("first") + "import no_such_package_zz\n",
    ],
)
def test_code_that_fails_half_way_leaves_the_skill_before_in_force_with_its_tools(
    shell, home, code
):
    skill(home / ".agents" / "skills", "good", tools="tools: [ls]", code=FUNCTION.format("mine"))
    skill(home / ".agents" / "skills", "bad", tools="tools: [grep]", code=code)
    magic(shell, "use", "good")
    before = [tool.name for tool in loaded(shell).visible()]
    for _ in range(2):
        with pytest.raises(SkillError):
            magic(shell, "use", "bad")
        assert [tool.name for tool in loaded(shell).visible()] == before == ["ls", "mine"]
    magic(shell, "unuse")
    assert not {"mine", "first"} & {tool.name for tool in loaded(shell).all_tools()}


def test_a_permission_belongs_to_one_skills_tool_and_not_to_a_name():
    rule = Rule("count", "allow", skill="mine")
    policy = Policy().with_rule(rule)
    mine = policy.judge(CallFacts("count", "bundled", "", "mine"))
    theirs = policy.judge(CallFacts("count", "bundled", "", "theirs"))
    assert (mine.decision, theirs.decision) == ("allow", "ask")


def test_what_a_skill_was_allowed_goes_with_its_tool(shell, home):
    skill(home / ".agents" / "skills", "good", code=FUNCTION.format("mine"))
    before = loaded(shell).policy().rules
    magic(shell, "use", "good")
    magic(shell, "unuse")
    assert loaded(shell).policy().rules == before


def test_using_a_skill_twice_has_its_text_once(shell, home):
    skill(home / ".agents" / "skills", "good", "Body text here.")
    for words in ("good", "good", "--add good"):
        magic(shell, "use", words)
    view = magic(shell, "agent", "--preview", "x")
    assert view.text.count("Body text here.") == 1
    assert [item.skill.name for item in loaded(shell).session.active] == ["good"]


def test_the_folder_is_named_whole_and_only_where_there_is_something_to_read(shell, home):
    root = skill(home / ".agents" / "skills", "good", "Body.")
    magic(shell, "use", "good")
    assert str(root) not in magic(shell, "agent", "--preview", "x").text
    (root / "table.md").write_text("a", encoding="utf-8")
    magic(shell, "use", "good")
    text = magic(shell, "agent", "--preview", "x").text
    assert f"Its folder is {root};" in text
    assert "table.md" in text


def test_a_good_skill_behind_a_broken_one_of_its_name_is_used(tmp_path):
    skill(tmp_path / "b", "tidy")
    bad = skill(tmp_path / "a", "tidy")
    (bad / "SKILL.md").write_text("---\nname: tidy\n", encoding="utf-8")
    both = [Place(tmp_path / "a", "user"), Place(tmp_path / "b", "bundled")]
    assert Library(lambda: both, TOOLS).find("tidy").root == Path(tmp_path / "b" / "tidy")
