"""What the header of a SKILL.md means, and what is said about one that is off."""

from __future__ import annotations

import json

import pytest
import yaml
from hypothesis import given
from hypothesis import strategies as st

from agent_magics.skill import Skill
from agent_magics.skill.header import MAX_HEADER, read_header
from agent_magics.skill.naming import is_standard, near, normalised, shown
from agent_magics.skill.reading import flag, read_skill
from agent_magics.skill.splitting import MAX_BYTES, parts
from agent_magics.skill.toolnames import are_clients, entries, our_name

TOOLS = ("ls", "glob", "read", "grep", "write", "edit", "run_shell", "python")


def read(header: str, body: str = "Do it.\n", folder: str = "charts", **more) -> Skill:
    text = f"---\nname: {folder}\ndescription: d\n{header}\n---\n{body}"
    return read_skill(text.encode(), folder, known_tools=TOOLS, **more)


def said(skill: Skill, severity: str | None = None) -> str:
    return "\n".join(str(d) for d in skill.diagnostics if severity in (None, d.severity))


# ---- the whitelist


@pytest.mark.parametrize(
    "line",
    [
        "tools: [read, glob]",
        "tools: read, glob",
        "tools: read glob",
        "tools: 'read, glob'",
        "tools:\n  - read\n  - glob",
        "tools:\n- read\n- glob",
        "tools:\n  - read\n - glob",
        'tools:\n  - "read" # only reading\n  - glob',
        "tools: [Read, Glob]",
        "tools: Read, file_search",
        "Tools: [read, glob]",
    ],
)
def test_a_whitelist_is_read_in_every_syntax(line):
    skill = read(line)
    assert skill.tools == ("read", "glob")
    assert not skill.broken


@pytest.mark.parametrize("line", ["x: 1", "tools:", "tools: null", "tools: ~"])
def test_no_whitelist_means_no_filter(line):
    assert read(line).tools is None


def test_an_empty_list_is_a_filter_that_leaves_no_built_in_tool():
    skill = read("tools: []")
    assert skill.tools == ()
    assert not skill.broken


@pytest.mark.parametrize(
    "line",
    [
        "tools:\n  read: true",
        "tools: 5",
        "tools: true",
        "tools: ''",
        "tools: [read, 3]",
        "tools: [[read]]",
        "tools: [read, null]",
        "tools: {read}",
        "tools: [read, glob",
        "tools: !x [read]",
        "tools: read; glob",
        "a: &t [read]\ntools: *t",
        "tools: !",
        "tools: '[read]'",
    ],
)
def test_a_whitelist_that_cannot_be_read_breaks_the_skill_and_never_opens_it(line):
    skill = read(line)
    assert skill.broken
    assert skill.tools == ()


def test_a_misspelt_tool_is_named_with_the_one_that_was_meant():
    skill = read("tools: [raed, glob]")
    assert "`raed` in tools: did you mean read?" in said(skill, "warning")
    assert skill.tools == ("glob",)


def test_a_whitelist_that_leaves_nothing_is_refused_with_the_reason():
    skill = read("tools: [raed, mcp_git_log]")
    assert "names no tool that exists here: raed, mcp_git_log" in skill.broken
    assert "did you mean read?" in skill.broken
    assert "there are edit, glob," in skill.broken


def test_a_whitelist_that_leaves_only_the_skills_own_tool_is_fine():
    skill = read("tools: [nothing_here]", bundled=("git_diff",))
    assert not skill.broken
    assert skill.tools == ()


def test_globs_stand_for_the_tools_they_match():
    assert read("tools: ['*']").tools == tuple(sorted(TOOLS))
    assert read("tools: [gr*, ls]").tools == ("grep", "ls")
    assert read("tools: [mcp_*]").broken


@pytest.mark.parametrize(
    ("line", "visible"),
    [
        ("tools: [mcp__git__*]", {"mcp__git__log", "mcp__git__reset"}),
        ("tools: Read, mcp__git__*", {"read", "mcp__git__log", "mcp__git__reset"}),
        ("tools: ['mcp__*']", {"mcp__git__log", "mcp__git__reset", "mcp__github__log"}),
        ("tools: [mcp__git__lo?, ls]", {"ls", "mcp__git__log"}),
        ("tools: [mcp__*__log]", {"mcp__git__log", "mcp__github__log"}),
        ("tools: ['*']", set(TOOLS)),
        ("tools: [mcp__git__*]\ndisallowed-tools: [mcp__git__reset]", {"mcp__git__log"}),
        ("tools: [mcp__git__log, read]\ndisallowed-tools: ['mcp__*']", {"read"}),
        ("tools: ['mcp__*', read]\ndisallowed-tools: mcp__git__*", {"read", "mcp__github__log"}),
        ("disallowed-tools: [mcp__git__*]", set(TOOLS)),
    ],
)
def test_globs_of_server_tools_are_matched_when_the_servers_run(line, visible):
    skill = read(line)
    there = {*TOOLS, "mcp__git__log", "mcp__git__reset", "mcp__github__log", "mcp_read_resource"}
    assert {name for name in there if skill.admits(name)} == visible
    assert skill.diagnostics == ()


@pytest.mark.parametrize("entry", ["mcp_git_*", "mcp*git", "x__*", "fetch_*", "git_*"])
def test_a_glob_that_stands_for_no_tool_is_said_and_shows_no_servers_tool(entry):
    skill = read(f"tools: [read, '{entry}']")
    assert f"`{entry}` in tools is no tool here" in said(skill, "warning")
    assert skill.tools == ("read",)
    assert not skill.admits("mcp__git__log")


def test_a_pattern_behind_a_glob_of_server_tools_is_said_to_be_lost():
    skill = read("tools: ['mcp__git__*(main)']")
    assert "is taken as mcp__git__*, without the pattern" in said(skill, "warning")
    assert skill.admits("mcp__git__log")


def test_globs_of_server_tools_cannot_take_the_last_tool_away_unseen():
    skill = read("tools: [mcp__git__log]\ndisallowed-tools: [mcp__git__*]")
    assert skill.broken


def test_a_pattern_in_parentheses_is_said_to_be_lost():
    skill = read("tools: [Read, 'Bash(git:*)']")
    assert skill.tools == ("read", "run_shell")
    assert "without the pattern" in said(skill, "warning")


def test_a_list_of_programs_that_run_skills_is_no_whitelist():
    skill = read("tools: [claude, cursor, gemini]")
    assert skill.tools is None
    assert "names programs and not tools" in said(skill, "warning")
    assert read("tools: [claude, read]").tools == ("read",)


def test_disallowed_tools_narrow_and_fail_closed():
    assert "run_shell" not in (read("disallowed-tools: Bash").tools or ("run_shell",))
    assert read("tools: [read, write]\ndisallowed-tools: Write").tools == ("read",)
    assert read("disallowed-tools: {a: b}").broken
    assert "`disallowed-tools` leaves no tool" in read("disallowed-tools: '*'").broken


def test_only_the_key_tools_filters():
    skill = read("tags:\n- python\nallowed-tools: Read\nsuggested-tools: grep, glob")
    assert skill.tools is None
    assert skill.suggested_tools == ("grep", "glob")
    assert skill.allowed_tools == ("Read",)


@pytest.mark.parametrize(
    ("entry", "ours"),
    [
        ("Read", "read"),
        ("Bash(git:*)", "run_shell"),
        ("LS", "ls"),
        ("Edit", "edit"),
        ("MultiEdit", "edit"),
        ("Grep", "grep"),
        ("list_directory", "ls"),
        ("NotebookEdit", ""),
        ("WebSearch", ""),
        ("mcp__acme__search", "mcp__acme__search"),
        ("raed", ""),
    ],
)
def test_other_clients_names_become_ours(entry, ours):
    assert our_name(entry, TOOLS) == ours


def test_entries_keep_blanks_and_commas_inside_parentheses():
    assert entries('Bash(git add *), Bash(x "a,b") Read') == (
        "Bash(git add *)",
        'Bash(x "a,b")',
        "Read",
    )


# ---- the other fields


def test_text_stays_text():
    skill = read("version: 1.10\nupdated: 2026-01-31\nflag: no\nnumber: 0123\nempty:")
    values = {key: skill.metadata[key] for key in ("version", "updated", "flag", "number", "empty")}
    assert values == {
        "version": "1.10",
        "updated": "2026-01-31",
        "flag": "no",
        "number": "0123",
        "empty": None,
    }
    json.dumps(dict(skill.metadata))


def test_switches_are_switches_in_every_spelling():
    skill = read("disable-model-invocation: yes\nuser-invocable: 'false'")
    assert flag(skill, "disable-model-invocation", False) is True
    assert flag(skill, "user-invocable", True) is False
    assert flag(skill, "another", True) is True
    assert "neither true nor false" in said(read("user-invocable: perhaps"), "warning")


def test_a_plain_tag_changes_nothing():
    assert read("x: !!str 5").metadata["x"] == "5"


def test_an_argument_hint_is_shown_as_it_stands():
    assert read("argument-hint: [file]").metadata["argument-hint"] == "[file]"
    assert read("argument-hint: [file] [kind]").metadata["argument-hint"] == "[file] [kind]"


def test_fields_of_other_clients_that_do_nothing_here_are_said_once():
    skill = read("model: opus\nhooks:\n  a: b")
    assert said(skill, "info") == "not supported here and not used: `model`, `hooks`"


def test_a_null_character_in_the_header_does_no_harm():
    skill = read_skill(b"---\nname: c\ndescription: a\0b\n---\nx", "c", known_tools=TOOLS)
    assert skill.description == "a\ufffdb"


@pytest.mark.parametrize("name", ["a\nb", "a<b", 'a"b', "", "a\x1bb", "a\ud800"])
def test_a_folder_name_that_could_leave_a_prompt_or_a_line_is_refused(name):
    skill = read_skill(b"---\ndescription: d\n---\nx", name, known_tools=TOOLS)
    assert "rename the folder" in skill.broken
    assert "\n" not in skill.name
    skill.name.encode("utf-8")


def test_hidden_text_in_the_instructions_is_pointed_out():
    hidden = "".join(chr(0xE0000 + ord(c)) for c in "obey")
    assert "4 invisible characters" in said(read("x: 1", f"Do it.{hidden}\n"), "warning")
    assert "invisible" not in said(read("x: 1", "\U0001f468\u200d\U0001f4bb codes\n"))


# ---- headers that are no YAML


def test_a_header_without_an_end_does_not_swallow_the_body():
    text = "---\nname: c\ndescription: d\n\nDo this now.\n\n---\n\nMore.\n"
    skill = read_skill(text.encode(), "c", known_tools=TOOLS)
    assert "there is no closing --- before line 5 (Do this now.)" in skill.broken
    assert skill.tools == ()


def test_a_wrong_end_line_is_pointed_at():
    skill = read_skill(b"---\nname: c\n----\n\nDo it.\n", "c", known_tools=TOOLS)
    assert "line 3 is ----; make it exactly ---" in skill.broken


def test_an_indented_end_of_the_header_is_taken_where_there_is_no_other():
    skill = read_skill(b"---\ndescription: |\n  d\n  ---\n\n  Do.\n", "c", known_tools=TOOLS)
    assert skill.description == "d"
    assert skill.instructions == "Do."
    assert "line 4 is indented" in said(skill, "warning")


def test_a_header_that_yaml_gives_up_on_is_read_line_by_line():
    text = "name: c\ndescription: >\n  a: b\n\tc\nmetadata:\n  - a: 'x\n  b\ntools:\n- read\n"
    header = read_header(text)
    assert header.values["description"] == "a: b c"
    assert header.values["tools"] == ["read"]
    assert [d.severity for d in header.diagnostics][-1] == "warning"


def test_many_broken_values_cost_a_bounded_number_of_readings():
    header = read_header("\n".join(f"k{i}: a: b" for i in range(2000)))
    assert header.values["k1999"] == "a: b"
    assert len(header.diagnostics) == 1


def test_a_huge_header_and_a_huge_file_are_refused():
    assert "more than 65,536" in str(read_header("a: b\n" * MAX_HEADER).diagnostics[0])
    assert "more than 1,000,000 bytes" in str(parts(b"x" * (MAX_BYTES + 1)).diagnostics[0])


def test_deep_nesting_is_not_followed():
    for text in ("x: " + "[" * 5000, "x: " + "[" * 40 + "]" * 40):
        header = read_header("name: c\n" + text)
        assert header.values["name"] == "c"
        assert isinstance(header.values["x"], str)


def test_aliases_are_never_expanded():
    bomb = "a: &a [x, x]\n" + "\n".join(
        f"{chr(98 + i)}: &{chr(98 + i)} [*{chr(97 + i)}, *{chr(97 + i)}]" for i in range(20)
    )
    assert len(json.dumps(dict(read_header(bomb).values))) < 2000


def test_tags_construct_nothing(tmp_path):
    marker = tmp_path / "made"
    header = read_header(f"name: !!python/object/apply:pathlib.Path.touch [{marker}]")
    assert "Python objects are refused" in str(header.diagnostics[0])
    assert not marker.exists()


def test_both_loaders_of_pyyaml_read_alike(monkeypatch):
    texts = (
        "name: c\ndescription: Use when: asked # not\ntags: [a, 'b']\nx: *y\nz: \"q\\n\"\n",
        'name: "\\ud800"\ndescription: d\n',
        'name: "\\U00ffffff"\ndescription: d\n',
        'description: "a\\e[31mb"\n',
    )
    fast = [read_header(text).values for text in texts]
    monkeypatch.delattr(yaml, "CSafeLoader", raising=False)
    assert [read_header(text).values for text in texts] == fast


def test_escaped_control_characters_do_not_reach_the_screen():
    skill = read_skill(b'---\ndescription: "a\\e[31mb\\tc"\n---\nx', "c", known_tools=TOOLS)
    assert skill.description == "a[31mb c"
    assert "invisible characters" in said(skill, "warning")


# ---- properties

LETTERS = st.characters(codec="utf-8", exclude_categories=["Cs", "Cc", "Cn", "Co"])


@given(st.binary(max_size=400), st.text(max_size=20))
def test_no_bytes_and_no_folder_name_can_make_the_loader_raise(data, folder):
    skill = read_skill(data, folder, known_tools=TOOLS)
    assert skill.broken or skill.diagnostics or skill.description


@given(st.text(alphabet="-:#'\"[]{}|>&*!%@`,? \n\tabkey\r\x85\u2028", max_size=120))
def test_no_header_can_make_the_loader_raise(text):
    skill = read_skill(f"---\n{text}\n---\nbody".encode(), "c", known_tools=TOOLS)
    assert skill.name == "c"


@given(st.text(alphabet="tools:[]{}-, \n'\"*&!readglobx#", max_size=60))
def test_a_key_tools_never_leaves_more_tools_than_it_names(text):
    skill = read_skill(f"---\ntools: {text}\n---\nb".encode(), "c", known_tools=TOOLS)
    if are_clients(entries(text) or ()):
        return
    if skill.tools is None:
        # Only a value that YAML itself calls null is no filter.
        value = text.partition("\n")[0].partition(" #")[0].strip()
        assert value in ("", "~", "null") or value.startswith("#")
    elif "*" not in text and "!" not in text:
        assert all(name in text or name == "ls" for name in skill.tools)


@given(
    st.dictionaries(
        st.from_regex(r"[a-z][a-z0-9]{0,8}", fullmatch=True),
        st.text(LETTERS, min_size=1, max_size=40),
        max_size=6,
    ),
    st.text(LETTERS, min_size=1, max_size=80),
)
def test_what_yaml_writes_is_read_back_as_it_was(extra, description):
    values = {"description": description, **extra}
    header = yaml.safe_dump(values, allow_unicode=True, sort_keys=False)
    result = read_header(header)
    assert dict(result.values) == values
    assert not [d for d in result.diagnostics if d.severity == "error"]


@given(st.text(LETTERS, max_size=60))
def test_a_description_written_as_it_comes_is_never_lost(text):
    plain = " ".join(text.split())
    skill = read_skill(
        f"---\nname: c\ndescription: {plain}\n---\nb".encode(), "c", known_tools=TOOLS
    )
    if (
        not plain
        or plain[0] in "#\"'|>&!~{[?"
        or " #" in plain
        or plain in ("null", "Null", "NULL")
    ):
        return  # what YAML takes for syntax is YAML
    assert not skill.broken
    assert skill.description or not any(c.isalnum() for c in plain)


# ---- names


def test_names_are_compared_without_case_blanks_and_accent_forms():
    assert normalised("Tidy Charts") == normalised("tidy_charts") == "tidy-charts"
    assert normalised("cafe\u0301") == normalised("caf\u00e9")
    assert near("code-reveiw", ["explore", "code-review"]) == ("code-review",)


def test_the_standards_form_of_a_name():
    assert is_standard("tidy-charts")
    assert is_standard("caf\u00e9-charts")
    for name in ("Tidy", "a--b", "-a", "a_b", "a" * 65, "", "a b"):
        assert not is_standard(name)


def test_what_is_shown_is_one_short_line_without_control_characters():
    assert shown("a\n\x1b[31mb\u202e", 80) == "a [31mb"
    assert len(shown("x" * 500, 80)) == 80


# ---- odd corners, each of them seen in a public skill or one slip away from it


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("version https://git-lfs.github.com/spec/v1\noid sha256:1\n", "a Git LFS pointer"),
        ("---\nx: 1\n--- more\ny: 2\n---\nbody", "a second document starts"),
        ("# T\n\n---\n\nfoo\n\n---\n\nbar\n", "there is no header"),
        ("---\ndescription: {a: b}\n---\nbody", "the description is no text"),
        ("---\ndescription: d\nsuggested-tools: {a: b}\n---\nb", "`suggested-tools` is no list"),
        ("---\ndescription: d\nallowed_tools: Read\nallowed-tools: Grep\n---\nb", "has no name"),
        ("# Title\n\n---\nname: c\ndescription: d\n---\nbody", "the header starts on line 3"),
        ("<!--\ntwo lines\n-->\n---\nname: c\ndescription: d\n---\nb", "starts on line 4"),
        ("<!-- never closed\n---\nname: c\n---\n", "the header starts on line 2"),
    ],
)
def test_what_is_off_is_said_and_nothing_is_lost(text, message):
    skill = read_skill(text.encode(), "c", known_tools=TOOLS)
    assert message in said(skill)


def test_text_before_a_late_header_stays_part_of_the_instructions():
    text = "# Title\n\n---\nname: c\ndescription: d\n---\nbody"
    skill = read_skill(text.encode(), "c", known_tools=TOOLS)
    assert skill.description == "d"
    assert skill.instructions == "# Title\n\nbody"


def test_the_standards_own_key_wins_over_another_spelling_of_it():
    assert read("allowed_tools: Read\nallowed-tools: Grep").allowed_tools == ("Grep",)


def test_a_text_of_nothing_but_broken_bytes_is_no_text():
    assert "is no text" in read_skill(b"\xff\xfd" * 90, "c", known_tools=TOOLS).broken


def test_quotes_are_taken_off_where_yaml_could_not():
    header = read_header("a: \"it's\" x: y\nb: 'don''t': z\nc: \"say \\\"hi\\\"\": x\nd: 'x: y'\n")
    assert header.values == {
        "a": '"it\'s" x: y',
        "b": "'don''t': z",
        "c": '"say \\"hi\\"": x',
        "d": "x: y",
    }
    # A key that fails twice leaves nothing but the lines themselves.
    scanned = read_header('a: "say \\"hi\\""\nb: \'don\'\'t\'\nc: "a" b"\nk: a: b\nk: c: d\n')
    assert scanned.values == {"a": 'say "hi"', "b": "don't", "c": '"a" b"', "k": "c: d"}


def test_a_value_that_is_repeated_a_thousand_times_is_said_once():
    header = read_header("a: x\n" * 1000)
    assert [d.message for d in header.diagnostics] == [
        "line 2: `a` is given twice; the last one counts"
    ]


def test_a_list_of_hundreds_of_tools_is_none_that_someone_wrote():
    assert read("tools: " + " ".join(f"t{i}" for i in range(301))).broken.startswith(
        "`tools` is no list"
    )
    assert "and 20 more" in read("tools: " + " ".join(f"zz{i}" for i in range(30))).broken
