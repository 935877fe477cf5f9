"""Quick actions: what `plugin.json` and the header offer, and how one is run."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from IPython.core.completer import provisionalcompleter

from agent_magics.errors import SkillError, UsageProblem
from agent_magics.extension import loaded
from agent_magics.library.discovery import Library, Place
from agent_magics.library.resources import resource_files
from agent_magics.magics.transform import comments_above
from agent_magics.skill import Action
from agent_magics.skill.actions import MAX_ACTIONS, MAX_BYTES, read_actions
from tests.shellkit import SHIPPED, magic, skill

pytest_plugins = ["tests.shellkit_fixtures"]

REVIEW = {
    "id": "review",
    "title": "Review my changes",
    "hint": "Bugs first",
    "keywords": ["diff", "bugs"],
    "prompt": "Review my {uncommitted} $changes.\n!ls %who",
}
ANCESTORS = {
    "version": 1,
    "permissions": ["files", "shell"],
    "palette": [
        {"id": "weekly", "title": "Write the weekly report", "hint": "", "keywords": ["status"]}
    ],
}


def plugin(*entries: Any, **more: Any) -> bytes:
    return json.dumps({"version": 1, "palette": list(entries), **more}).encode()


def ids(data: bytes | None, metadata: object = None) -> list[str]:
    return [action.id for action in read_actions(data, metadata)[0]]


def said(data: bytes | None, metadata: object = None) -> str:
    return "\n".join(f"{d.severity}: {d}" for d in read_actions(data, metadata)[1])


def test_an_action_is_what_the_file_says():
    assert read_actions(plugin(REVIEW), None) == (
        (
            Action(
                "review",
                "Review my changes",
                "Review my {uncommitted} $changes.\n!ls %who",
                "Bugs first",
                ("diff", "bugs"),
            ),
        ),
        (),
    )


def test_a_manifest_of_the_older_kind_sends_its_titles():
    (action,), problems = read_actions(json.dumps(ANCESTORS).encode(), None)
    assert (action.id, action.prompt) == ("weekly", "Write the weekly report")
    assert {problem.severity for problem in problems} == {"info"}
    assert "grants and forbids nothing" in said(json.dumps(ANCESTORS).encode())


@pytest.mark.parametrize("palette", [[REVIEW], json.dumps([REVIEW])])
def test_the_header_can_offer_the_same_as_a_list_or_as_the_standards_text(palette):
    assert read_actions(None, {"palette": palette}) == read_actions(plugin(REVIEW), None)


def test_file_and_header_add_up_and_the_file_goes_first():
    other = {**REVIEW, "id": "other"}
    both = {"palette": [{**REVIEW, "title": "Mine"}, other]}
    actions, problems = read_actions(plugin(REVIEW), both)
    assert [action.title for action in actions] == ["Review my changes", "Review my changes"]
    assert "metadata.palette, action 1 (review): the id is there already" in str(problems[0])


@pytest.mark.parametrize(
    ("entry", "message"),
    [
        (3, "action 1 is no mapping"),
        ({**REVIEW, "id": "Re view"}, "its id is Re view"),
        ({**REVIEW, "id": ""}, "its id is empty"),
        ({**REVIEW, "id": None}, "its id is missing or no text"),
        ({**REVIEW, "id": "a" * 65}, "1 to 64 lower case letters"),
        ({**REVIEW, "title": " "}, "`title` is empty"),
        ({**REVIEW, "title": 7}, "`title` is missing or no text"),
        ({**REVIEW, "title": "x" * 101}, "`title` is 101 characters; write 1 to 100"),
        ({**REVIEW, "hint": "x" * 301}, "`hint` is 301 characters"),
        ({**REVIEW, "hint": []}, "`hint` is missing or no text"),
        ({**REVIEW, "keywords": 7}, "`keywords` is no list"),
        ({**REVIEW, "keywords": ["x"] * 21}, "at most 20 words"),
        ({**REVIEW, "keywords": ["x" * 101]}, "words of at most 100 characters"),
        ({**REVIEW, "keywords": [1]}, "holds what is no word"),
        ({**REVIEW, "keywords": ["a\u202eb"]}, "`keywords` holds characters that nobody sees"),
        ({**REVIEW, "prompt": ""}, "`prompt` is empty"),
        ({**REVIEW, "prompt": ["a"]}, "`prompt` is empty or no text"),
        ({**REVIEW, "prompt": "x" * 8_001}, "`prompt` has 8,001 characters"),
        ({**REVIEW, "prompt": "a\u200bb"}, "`prompt` holds characters that nobody sees"),
        ({**REVIEW, "prompt": "\ud800"}, "`prompt` holds characters that nobody sees"),
        ({**REVIEW, "title": "\U000e0041 a"}, "`title` holds characters that nobody sees"),
    ],
)
def test_an_action_that_is_off_is_left_out_with_its_reason_and_the_next_one_counts(entry, message):
    data = plugin(entry, {**REVIEW, "id": "good"})
    assert ids(data) == ["good"]
    assert message in said(data)
    assert said(data).startswith("warning")


@pytest.mark.parametrize(
    ("data", "message"),
    [
        (b"", "line 1: no JSON"),
        (b'{"palette": [\n}', "plugin.json, line 2: no JSON"),
        (b"\xff\xfe\x00", "is not UTF-8"),
        (b"\x00" * 100, "no JSON"),
        (b"[]", "is no JSON object"),
        (b"null", "says null"),
        (b"[" * 90_000, "is no plain JSON"),
        (b'{"palette": ' + b"9" * 5_000 + b"}", "is no plain JSON"),
        (b" " * (MAX_BYTES + 1), "more than 128,000 bytes"),
        (b'{"palette": {}}', "the palette is no list"),
        (b'{"version": 2, "palette": []}', "version is not 1"),
        (b'{"version": true, "palette": []}', "version is not 1"),
        (b'{"palette": [], "hooks": {}}', "unknown keys `hooks`; there are: version"),
        (b'{"palette": [], "palette": []}', "`palette` is given twice"),
        (b'{"palette": [], "permissions": ["root"]}', "`permissions` is no list of known ones"),
        (b'{"palette": [], "permissions": [[]]}', "`permissions` is no list of known ones"),
        (b'{"name": "x", "version": "1.2"}', "info: plugin.json has no `palette`"),
    ],
)
def test_a_file_that_is_off_offers_nothing_and_says_why(data, message):
    assert ids(data) == []
    assert message in said(data)


def test_unknown_keys_of_an_action_are_said_and_the_action_stays():
    assert ids(plugin({**REVIEW, "icon": "x"})) == ["review"]
    assert "unknown keys `icon`" in said(plugin({**REVIEW, "icon": "x"}))


def test_the_number_of_actions_is_bounded():
    data = plugin(*({**REVIEW, "id": f"a{n}"} for n in range(MAX_ACTIONS + 3)))
    assert len(ids(data)) == MAX_ACTIONS
    assert "only the first 20 count" in said(data)


@pytest.mark.parametrize("metadata", [None, "text", [], {"palette": "no JSON"}, {"palette": [[]]}])
def test_a_header_without_a_palette_offers_nothing(metadata):
    assert ids(None, metadata) == []


json_values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(),
    lambda inner: (
        st.lists(inner, max_size=4)
        | st.dictionaries(
            st.sampled_from(["id", "title", "prompt", "palette", "keywords", "x"]), inner
        )
    ),
    max_leaves=12,
)


@given(st.binary(max_size=200) | json_values.map(lambda value: json.dumps(value).encode()))
def test_no_bytes_can_make_the_reader_raise(data):
    read_actions(data, None)


@given(json_values)
def test_no_header_can_make_the_reader_raise(value):
    read_actions(None, value)
    for action in read_actions(None, {"palette": value})[0]:
        action.prompt.encode("utf-8")


# ---- in a skill's folder


def entry_of(root: Path):
    (entry,) = Library(lambda: [Place(root.parent, "project", root.parent)], ("read",)).entries()
    return entry


def test_a_bad_file_never_hides_the_skill(tmp_path):
    root = skill(tmp_path / "set", "tidy")
    (root / "plugin.json").write_bytes(b"\x00\xff")
    entry = entry_of(root)
    assert entry.state == "enabled"
    assert "plugin.json is not UTF-8" in str(entry.skill.diagnostics[-1])


def outside(root: Path) -> None:
    (root.parent.parent / "secret.json").write_bytes(plugin(REVIEW))
    (root / "plugin.json").symlink_to(root.parent.parent / "secret.json")


def circle(root: Path) -> None:
    (root / "plugin.json").symlink_to("plugin.json")


def folder(root: Path) -> None:
    (root / "plugin.json").mkdir()


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (outside, "plugin.json is a link out of the skill's folder"),
        (circle, "plugin.json is a link to plugin.json, which leads in a circle"),
        (folder, "plugin.json is a folder"),
    ],
)
def test_what_is_no_file_is_said_and_not_read(tmp_path, make, message):
    root = skill(tmp_path / "set", "tidy")
    make(root)
    entry = entry_of(root)
    assert (entry.state, entry.skill.actions) == ("enabled", ())
    assert message in "\n".join(str(problem) for problem in entry.skill.diagnostics)


def test_the_hash_covers_the_actions_and_an_edit_is_seen(tmp_path):
    root = skill(tmp_path / "set", "tidy")
    library = Library(lambda: [Place(root.parent, "user")], ("read",))
    hashes = [library.find("tidy").digest]
    for prompt in ("one", "two"):
        (root / "plugin.json").write_bytes(plugin({**REVIEW, "prompt": prompt}))
        found = library.find("tidy")
        assert [action.prompt for action in found.actions] == [prompt]
        hashes.append(found.digest)
    assert len(set(hashes)) == 3


def test_the_file_is_for_people_and_not_named_to_the_model(tmp_path):
    root = skill(tmp_path / "set", "tidy")
    (root / "plugin.json").write_bytes(plugin(REVIEW))
    (root / "assets").mkdir()
    (root / "assets" / "plugin.json").write_text("{}", encoding="utf-8")
    assert resource_files(root) == (("assets/plugin.json",), 0)


# ---- as a person uses them


@pytest.fixture
def tidy(home) -> Path:
    root = skill(home / ".agents" / "skills", "tidy", "Tidy up.", tools="tools: [read, ls]")
    (root / "plugin.json").write_bytes(plugin(REVIEW, {**REVIEW, "id": "tests"}))
    return root


@pytest.fixture
def other(home) -> Path:
    root = skill(home / ".agents" / "skills", "other", "Other.")
    (root / "plugin.json").write_bytes(plugin({**REVIEW, "prompt": "The other."}))
    return root


def prompts(shell) -> list[str]:
    from agent_magics.messages import User

    return [m.text for m in loaded(shell).session.conversation if isinstance(m, User)]


def test_the_details_of_a_skill_list_its_actions_with_the_ready_command(shell, tidy):
    view = magic(shell, "skills", "tidy")
    assert "%%agent --action tidy:review — Review my changes (Bugs first)" in view.text
    assert "data-commandlinker-command" in view.html


@pytest.mark.parametrize("name", ["tests", "tidy:tests", "tidy:TESTS", "Tidy:tests"])
def test_an_action_runs_with_its_skill_for_this_cell_only(shell, tidy, other, name, capsys):
    magic(shell, "agent", f"--action {name}", "\n")
    assert prompts(shell) == [REVIEW["prompt"]]
    assert loaded(shell).session.active == ()
    assert f"tidy:tests: {REVIEW['prompt']}" in capsys.readouterr().out


def test_the_body_is_added_byte_for_byte_and_nothing_is_filled_in(shell, tidy):
    shell.user_ns["changes"] = "WRONG"
    magic(shell, "agent", "--action tidy:review", "Only {x} in  $src.\n")
    assert prompts(shell) == [f"{REVIEW['prompt']}\n\nOnly {{x}} in  $src.\n"]


def test_a_preview_shows_the_prompt_the_skill_and_its_tools_and_sends_nothing(shell, tidy, capsys):
    view = magic(shell, "agent", "--action tidy:review --preview", "more")
    assert "$changes." in view.text
    assert "Tidy up." in view.text
    assert "ls, read" in view.text
    assert prompts(shell) == []
    assert capsys.readouterr().out.count("Review my") == 0


def test_the_actions_of_an_active_skill_leave_the_skills_in_force(shell, tidy, other):
    magic(shell, "use", "other")
    magic(shell, "use", "--add tidy")
    view = magic(shell, "agent", "--action tests --preview", "\n")
    assert "Other." in view.text
    assert view.text.count("Tidy up.") == 1


def test_a_change_of_an_active_skill_is_in_force_for_its_actions_too(shell, tidy):
    magic(shell, "use", "tidy")
    (tidy / "plugin.json").write_bytes(plugin({**REVIEW, "id": "new", "prompt": "Changed."}))
    magic(shell, "agent", "--action new", "\n")
    assert prompts(shell) == ["Changed."]


def test_a_change_of_a_projects_skill_reaches_no_prompt_before_it_is_trusted(shell):
    root = skill(Path("skills"), "theirs")
    (root / "plugin.json").write_bytes(plugin({**REVIEW, "id": "theirs"}))
    magic(shell, "skills", "--trust theirs")
    magic(shell, "use", "theirs")
    (root / "plugin.json").write_bytes(plugin({**REVIEW, "id": "theirs", "prompt": "Evil."}))
    magic(shell, "agent", "--action theirs", "\n")
    assert prompts(shell) == [REVIEW["prompt"]]


@pytest.mark.parametrize(
    ("line", "message"),
    [
        ("--action reviw", r"no quick action 'reviw'\. Did you mean .*review"),
        ("--action review", r"more than one skill; type one of: other:review, tidy:review"),
        ("--action nobody:review", "There are: .*other:review, .*tidy:review, tidy:tests"),
        ("--skill explore --action review", "there are none in the skill explore"),
        ("--action :", "There is no quick action ':'"),
    ],
)
def test_a_word_that_means_no_one_action_is_answered_with_what_there_is(
    shell, tidy, other, line, message
):
    with pytest.raises(UsageProblem, match=message):
        magic(shell, "agent", line, "x")
    assert prompts(shell) == []


def test_a_skill_beside_the_action_says_which_of_two_is_meant(shell, tidy, other):
    magic(shell, "agent", "--skill other --action review", "\n")
    assert prompts(shell) == ["The other."]


def test_an_action_of_a_disabled_skill_is_not_offered(shell, tidy):
    magic(shell, "skills", "--disable tidy")
    with pytest.raises(UsageProblem, match="no quick action 'tests'"):
        magic(shell, "agent", "--action tests", "x")
    assert "commandlinker" not in magic(shell, "skills", "tidy").html


def test_an_action_of_a_project_skill_needs_the_same_trust_as_the_skill(shell):
    code = 'def f() -> str:\n    """F."""\n    return ""\n'
    root = skill(Path("skills"), "theirs", code=code)
    (root / "plugin.json").write_bytes(plugin({**REVIEW, "id": "theirs"}))
    with pytest.raises(SkillError, match="trust"):
        magic(shell, "agent", "--action theirs", "x")
    assert prompts(shell) == []


def test_a_name_with_blanks_is_one_word_of_the_command(shell, home):
    root = skill(home / ".agents" / "skills", "Two Words")
    (root / "plugin.json").write_bytes(plugin(REVIEW))
    assert "%%agent --action two-words:review" in magic(shell, "skills", "two-words").text
    magic(shell, "agent", "--action two-words:review", "\n")
    assert prompts(shell) == [REVIEW["prompt"]]


def test_a_cell_of_nothing_but_the_action_runs(shell, tidy):
    shell.run_cell("%%agent --action tests")
    assert prompts(shell) == [REVIEW["prompt"]]


def test_only_a_line_with_words_gets_a_body():
    assert comments_above(["%%agent --action x\n"]) == ["%%agent --action x\n", "\n"]
    assert comments_above(["%%agent\n"]) == ["%%agent\n"]


def test_the_line_magic_writes_the_next_cell_and_prints_it_to_be_copied(shell, tidy, capsys):
    magic(shell, "agent", "action tests")
    cell = f"%%agent --skill tidy\n{REVIEW['prompt']}"
    assert shell.rl_next_input == cell
    assert cell in capsys.readouterr().out
    magic(shell, "use", "tidy")
    magic(shell, "agent", "action tests")
    assert shell.rl_next_input == f"%%agent\n{REVIEW['prompt']}"


def test_the_line_magic_alone_lists_them_all(shell, tidy, other):
    text = magic(shell, "agent", "action").text
    assert "%%agent --action other:review" in text
    assert "%%agent --action tidy:tests" in text


def test_without_any_the_list_says_so(shell, home):
    names = ", ".join(SHIPPED)
    (home / "config.yaml").write_text(f"disabled_skills: [{names}]\n", encoding="utf-8")
    assert magic(shell, "agent", "action").text.startswith("No skill offers a quick action")


def test_two_words_behind_action_are_a_slip(shell, tidy):
    with pytest.raises(UsageProblem, match="one id"):
        magic(shell, "agent", "action one two")


def test_ids_are_completed_whole_behind_the_colon_too(shell, tidy, other):
    for line, start in (("%%agent --action tidy:te", 17), ("%agent action tidy:te", 14)):
        with provisionalcompleter():
            found = list(shell.Completer.completions(line, len(line)))
        assert [(c.start, c.text) for c in found] == [(start, "tidy:tests")]


def test_a_hostile_title_is_text_on_screen(shell, home):
    root = skill(home / ".agents" / "skills", "evil")
    bad = "</button><script>alert(1)</script>"
    (root / "plugin.json").write_bytes(plugin({**REVIEW, "title": bad, "prompt": f"{bad}'\""}))
    html = magic(shell, "skills", "evil").html
    assert "<script" not in html
    assert html.count("</button>") == 1


def test_the_shipped_skills_quick_actions_are_in_order(shell):
    for name in SHIPPED:
        view = magic(shell, "skills", name)
        assert "warning" not in view.text
    text = magic(shell, "agent", "action").text
    for name in ("commit-message:staged", "release-notes:since-last-tag", "explain-error:last"):
        assert f"%%agent --action {name}" in text
