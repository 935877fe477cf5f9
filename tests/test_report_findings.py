"""report_findings, the second tool of the shipped skill code-review, on real files."""

from __future__ import annotations

import asyncio
import json
import os
import shutil
from pathlib import Path

import pytest

from agent_magics.coercion import coerced
from agent_magics.errors import ToolError
from agent_magics.findings import Finding, Findings, findings_of
from agent_magics.library.bundled import load_tools
from agent_magics.library.discovery import Library, Place
from agent_magics.messages import Assistant
from agent_magics.policy import Answer, Policy, Rule
from agent_magics.tool import Tool, ToolOutput
from agent_magics.tools.checking import check
from tests.hostile import HOSTILE
from tests.test_git_diff import git, own_settings  # noqa: F401  # a fixture for every test here
from tests.turns import Scene, call, calls

SKILLS = Path(__file__).parents[1] / "skills"
CODE = "one = 1\ntwo = 2\nthree = 3\nfour = 4\nfive = 5\n"

needs_git = pytest.mark.skipif(shutil.which("git") is None, reason="git is not installed")


@pytest.fixture(scope="module")
def skill():
    return Library(lambda: [Place(SKILLS, "bundled")], ()).find("code-review")


@pytest.fixture
def folder(tmp_path) -> Path:
    """A workspace beside something that is none of its business."""
    root = tmp_path / "work"
    (root / "shop").mkdir(parents=True)
    (root / "shop" / "cart.py").write_text(CODE, encoding="utf-8")
    (root / "README.md").write_text("# Shop\n", encoding="utf-8")
    (tmp_path / "outside.txt").write_text("secret\n" * 9, encoding="utf-8")
    return root


@pytest.fixture
def tool(skill, folder) -> Tool:
    _, found = load_tools(skill, workspace=lambda: folder, builtin_names=())
    return found


def run(tool: Tool, *findings: dict) -> ToolOutput:
    """Call it as the loop does: coerced, checked, run."""
    arguments = coerced(tool.parameters, {"findings": list(findings)})
    assert check(tool.parameters, arguments) == ""
    return asyncio.run(tool.run(arguments, lambda _: None))


def shown(tool: Tool, *findings: dict) -> Findings:
    found = findings_of(run(tool, *findings).display)
    assert found is not None
    return found


def refusal(tool: Tool, *findings: dict) -> str:
    with pytest.raises(ToolError) as caught:
        run(tool, *findings)
    return str(caught.value)


def finding(**changes) -> dict:
    row = {"file": "shop/cart.py", "line": 3, "severity": "high", "message": "Off by one."}
    return {name: value for name, value in {**row, **changes}.items() if value != "GONE"}


# ---- what a model is asked for, and what it gets


def test_the_schema_describes_each_field_and_asks_for_one_list(tool):
    items = tool.parameters["properties"]["findings"]["items"]
    assert tool.parameters["required"] == ["findings"]
    fields = ["file", "line", "severity", "message", "category", "suggestion", "end_line"]
    assert list(items["properties"]) == fields
    assert all(part["description"] for part in items["properties"].values())
    assert (tool.effect, tool.skill) == ("bundled", "code-review")


def test_a_finding_is_shown_with_its_lines_of_code(tool):
    output = run(tool, finding(category="wrong result", suggestion="three = 4"))
    assert findings_of(output.display) == Findings(
        (
            Finding(
                "shop/cart.py",
                3,
                "high",
                "Off by one.",
                "wrong result",
                "three = 4",
                code="one = 1\ntwo = 2\nthree = 3\nfour = 4\nfive = 5",
            ),
        )
    )
    assert output.text == (
        "The person is shown 1 finding (1 high) as a table; do not repeat them in full."
    )
    assert "four" not in output.text
    assert output.ok


def test_findings_are_sorted_by_severity_then_file(tool):
    found = shown(
        tool,
        finding(severity="low", line=1),
        finding(file="README.md", line=1),
        finding(),
        finding(severity="medium", message="Slow."),
    )
    assert [(f.severity, f.file) for f in found] == [
        ("high", "README.md"),
        ("high", "shop/cart.py"),
        ("medium", "shop/cart.py"),
        ("low", "shop/cart.py"),
    ]


def test_an_empty_report_is_shown_as_one(tool):
    output = run(tool)
    assert findings_of(output.display) == Findings()
    assert output.text.startswith("No findings")


def test_what_is_reported_twice_is_shown_once(tool):
    output = run(tool, finding(), finding(message="Off  by one."), finding(line=4))
    assert len(findings_of(output.display) or ()) == 2
    assert "1 of them had been reported twice" in output.text


# ---- put right where one reading is left


@pytest.mark.parametrize(
    "changes",
    [
        {"line": "3"},
        {"line": "L3"},
        {"line": "line 3"},
        {"line": 3.0},
        {"line": "GONE", "start_line": 3},
        {"file": "shop/cart.py:3", "line": "GONE"},
        {"file": "shop/cart.py:3"},
        {"file": "shop/cart.py:3:7", "line": "GONE"},
        {"file": "shop/cart.py#L3", "line": None},
        {"file": "`shop/cart.py`"},
        {"file": "./shop/cart.py"},
        {"file": "a/shop/cart.py"},
        {"file": "b/shop/cart.py"},
        {"file": "shop\\cart.py"},
        {"file": "b\\shop\\cart.py"},
        {"file": "shop/../shop/cart.py"},
        {"file": "GONE", "path": "shop/cart.py"},
        {"file": "GONE", "location": "shop/cart.py:3", "line": "GONE"},
        {"severity": "HIGH"},
        {"severity": "[high]"},
        {"severity": "🔴 Critical"},
        {"severity": "GONE", "level": "error"},
        {"message": "GONE", "description": "Off by one."},
        {"category": None, "suggestion": None, "end_line": None},
        {"category": "", "suggestion": "", "end_line": ""},
    ],
)
def test_what_is_written_oddly_and_can_mean_one_thing_is_understood(tool, changes):
    (found,) = shown(tool, finding(**changes))
    assert (found.place, found.severity) == ("shop/cart.py:3", "high")
    assert found.message == "Off by one."


@pytest.mark.parametrize(
    "changes",
    [
        {"line": 2, "end_line": 4},
        {"line": "2", "end_line": "4"},
        {"line": "2-4"},
        {"line": "L2–L4"},
        {"file": "shop/cart.py:2-4", "line": "GONE"},
        {"file": "shop/cart.py#L2-L4", "line": 2},
    ],
)
def test_several_lines_are_a_range(tool, changes):
    (found,) = shown(tool, finding(**changes))
    assert found.place == "shop/cart.py:2-4"


@pytest.mark.parametrize(
    ("word", "severity"),
    [("blocker", "high"), ("Warning", "medium"), ("moderate", "medium"), ("nit", "low")],
)
def test_severities_have_other_words(tool, word, severity):
    assert shown(tool, finding(severity=word))[0].severity == severity


def test_an_absolute_path_inside_the_workspace_is_shown_relative(tool, folder):
    (found,) = shown(tool, finding(file=str(folder / "shop" / "cart.py")))
    assert found.file == "shop/cart.py"


def test_a_title_is_not_lost_and_other_fields_are_named(tool):
    output = run(tool, finding(title="Loop", confidence=0.9, fix="x = 1"))
    (found,) = findings_of(output.display) or ()
    assert found.message == "Loop: Off by one."
    assert found.suggestion == "x = 1"
    assert "no such field: confidence." in output.text


def test_a_list_that_came_as_text_is_read(tool):
    arguments = coerced(tool.parameters, {"findings": json.dumps([finding()])})
    assert check(tool.parameters, arguments) == ""
    assert len(arguments["findings"]) == 1


# ---- sent back to be mended


@pytest.mark.parametrize(
    ("changes", "problem"),
    [
        ({"file": "GONE"}, "file is missing"),
        ({"file": " "}, "file is missing"),
        ({"line": "GONE"}, "line is missing"),
        ({"line": "12, 20"}, "line is '12, 20', not a line number"),
        ({"line": True}, "line is 'true', not a line number"),
        ({"line": 0}, "line is 0; lines count from 1"),
        ({"line": -1}, "line is -1; lines count from 1"),
        ({"line": 6}, "there is no line 6: shop/cart.py has 5 lines"),
        ({"line": 10**9}, "there is no line 1000000000: shop/cart.py has 5 lines"),
        ({"line": 3, "end_line": 99}, "there is no line 99: shop/cart.py has 5 lines"),
        ({"line": 3, "end_line": 2}, "end_line is 2, before line 3"),
        ({"line": 2, "file": "README.md"}, "README.md has 1 line"),
        ({"severity": "major"}, "severity is 'major'; use high, medium or low"),
        ({"severity": "high or low"}, "severity is 'high or low'"),
        ({"severity": "GONE"}, "severity is missing; use high, medium or low"),
        ({"message": " "}, "message is missing"),
        ({"file": "shop/crat.py"}, "shop/crat.py does not exist. Did you mean shop/cart.py?"),
        ({"file": "cart.py"}, "cart.py does not exist. Did you mean shop/cart.py?"),
        ({"file": "shop/cart.py:4"}, "does not exist"),
        ({"file": "shop"}, "shop is a folder; name the file"),
        ({"file": "../outside.txt"}, "the file is outside the workspace"),
        ({"file": "../../../../etc/passwd"}, "the file is outside the workspace"),
        ({"file": "/etc/passwd"}, "the file is outside the workspace"),
        ({"file": "..\\outside.txt"}, "the file is outside the workspace"),
        ({"file": "a/../../outside.txt"}, "the file is outside the workspace"),
        ({"file": "~/.ssh/id_rsa"}, "the file is outside the workspace"),
        ({"file": "x\0y"}, "NUL character"),
        ({"file": "\ud800"}, "no file name can"),
        ({"file": "x" * 5000}, "too long"),
    ],
)
def test_what_cannot_be_shown_comes_back_with_what_to_mend(tool, changes, problem):
    text = refusal(tool, finding(**changes))
    assert text.startswith("NOT SHOWN (1 of 1); mend it and report only it again:\n- findings[0]: ")
    assert problem in text


def test_good_findings_are_shown_and_bad_ones_come_back(tool):
    output = run(tool, finding(line=9), finding(), finding(severity="x", message=""))
    assert len(findings_of(output.display) or ()) == 1
    assert output.text.split("\n")[1:] == [
        "NOT SHOWN (2 of 3); mend these and report only these again:",
        "- findings[0]: there is no line 9: shop/cart.py has 5 lines",
        "- findings[2]: severity is 'x'; use high, medium or low; message is missing",
    ]
    assert output.display[0].text == output.text


def test_ten_thousand_findings_leave_the_worst_two_hundred(tool):
    rows = [finding(severity="low", line=n % 5 + 1, message=f"m{n}") for n in range(10_000)]
    output = run(tool, *rows, finding(severity="high", message="the one that matters"))
    found = findings_of(output.display)
    assert found is not None
    assert len(found) == 200
    assert found[0].message == "the one that matters"
    assert "9,801 of the least severe" in output.text
    assert len(output.text) < 1_000


def test_ten_thousand_bad_findings_are_told_in_a_bounded_text(tool):
    text = refusal(tool, *[finding(file=f"{n}" * 50) for n in range(10_000)])
    assert "… and " in text
    assert len(text) < 5_000


def test_a_megabyte_of_message_is_cut_in_what_is_kept(tool):
    output = run(tool, finding(message="m" * 1_000_000, suggestion="s" * 1_000_000))
    (found,) = findings_of(output.display) or ()
    assert len(found.message) <= 2_000
    assert "characters cut]" in found.message
    assert len(json.dumps(dict(output.display[1].data))) < 50_000


@pytest.mark.parametrize("text", [text for _, text in HOSTILE], ids=[name for name, _ in HOSTILE])
def test_a_hostile_text_is_kept_as_text_or_refused(tool, text):
    output = run(tool, finding(message=f"m {text}", suggestion=text, category=text))
    assert len(findings_of(output.display) or ()) == 1
    json.dumps(dict(output.display[1].data), ensure_ascii=False).encode()
    assert "NOT SHOWN" in refusal(tool, finding(file=f"x{text}"))


# ---- which files are looked at


@pytest.fixture
def link(folder):
    def make(name: str, target: str | Path) -> None:
        try:
            (folder / name).symlink_to(target)
        except OSError:
            pytest.skip("no links here")

    return make


def test_a_link_out_of_the_workspace_is_not_followed(tool, folder, link):
    link("inside.txt", "../outside.txt")
    assert "outside the workspace" in refusal(tool, finding(file="inside.txt"))
    link("up", "..")
    assert "outside the workspace" in refusal(tool, finding(file="up/outside.txt"))
    link("loop", "loop")
    assert "NOT SHOWN" in refusal(tool, finding(file="loop"))


def test_a_link_inside_shows_the_file_that_it_leads_to(tool, link):
    link("cart", "shop/cart.py")
    assert shown(tool, finding(file="cart"))[0].file == "shop/cart.py"


@pytest.mark.parametrize("name", [".env", "id_rsa", "server.pem", ".netrc", "x/.ssh/config"])
def test_files_that_may_hold_secrets_are_not_read(tool, folder, name):
    path = folder / name
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text("KEY=hunter2\n" * 9, encoding="utf-8")
    text = refusal(tool, finding(file=name))
    assert "the file is not looked at" in text
    assert "hunter2" not in text


def test_special_files_are_not_opened(tool, folder):
    if not hasattr(os, "mkfifo"):
        pytest.skip("no pipes here")
    os.mkfifo(folder / "pipe")
    assert "not an ordinary file" in refusal(tool, finding(file="pipe"))


def test_a_file_without_text_has_one_place_and_no_code(tool, folder):
    (folder / "logo.png").write_bytes(b"\x89PNG\r\n\x1a\n\0\0")
    assert shown(tool, finding(file="logo.png", line=1))[0].code == ""
    assert "there is no line 2" in refusal(tool, finding(file="logo.png", line=2))


def test_an_empty_file_has_a_first_line(tool, folder):
    (folder / "empty.py").write_bytes(b"")
    assert shown(tool, finding(file="empty.py", line=1))[0].code == ""
    assert "empty.py has 0 lines" in refusal(tool, finding(file="empty.py", line=2))


def test_a_file_too_large_to_show_is_counted(tool, folder):
    (folder / "large.csv").write_bytes(b"0123456789abcde\n" * 700_000 + b"last")
    assert shown(tool, finding(file="large.csv", line=700_001))[0].code == ""
    assert "has 700001 lines" in refusal(tool, finding(file="large.csv", line=700_002))


@pytest.mark.parametrize(
    ("data", "code"),
    [
        (b"a\r\nb\r\nc\r\n", "a\nb\nc"),
        (b"\xef\xbb\xbfa\nb\nc", "a\nb\nc"),
        ("ä\nb\nc\n".encode("utf-16"), "ä\nb\nc"),
        ("ä\nb\nc\n".encode("cp1252"), "ä\nb\nc"),
        (b"a\n" + b"x" * 300 + b"\nc\n", "a\n" + "x" * 200 + "…\nc"),
        (b"a\x1b[2J\n\xe2\x80\xaeb\nc", "a\x1b[2J\n\u202eb\nc"),
    ],
)
def test_lines_of_code_are_read_whatever_the_file_is_written_in(tool, folder, data, code):
    (folder / "x.txt").write_bytes(data)
    (found,) = shown(tool, finding(file="x.txt", line=2))
    assert found.code == code


def test_long_ranges_show_their_beginning(tool, folder):
    (folder / "long.py").write_text("".join(f"l{n}\n" for n in range(1, 101)), encoding="utf-8")
    (found,) = shown(tool, finding(file="long.py", line=10, end_line=90))
    assert found.code.split("\n")[0] == "l8"
    assert found.code_start == 8
    assert len(found.code.split("\n")) == 16


# ---- with a repository around


@pytest.fixture
def repository(folder) -> Path:
    git(folder, "init", "-b", "main")
    git(folder, "add", "-A")
    git(folder, "commit", "-m", "first")
    return folder


@needs_git
def test_a_deleted_file_is_shown_as_the_last_commit_has_it(tool, repository):
    (repository / "shop" / "cart.py").unlink()
    (found,) = shown(tool, finding(file="b/shop/cart.py"))
    assert found.deleted
    assert found.place == "shop/cart.py:3"
    assert "three = 3" in found.code
    text = refusal(tool, finding(line=9))
    assert "there is no line 9: shop/cart.py has 5 lines in the last commit" in text
    assert "does not exist" in refusal(tool, finding(file="shop/never.py"))


@needs_git
def test_a_deleted_file_with_secrets_is_not_read_from_the_commit_either(tool, repository):
    (repository / ".env").write_text("KEY=hunter2\n", encoding="utf-8")
    git(repository, "add", "-f", ".env")
    git(repository, "commit", "-m", "oops")
    (repository / ".env").unlink()
    assert "the file is not looked at" in refusal(tool, finding(file=".env", line=1))


@needs_git
def test_paths_of_the_repository_are_understood_where_the_workspace_is_its_sub_folder(
    skill, repository
):
    _, tool = load_tools(skill, workspace=lambda: repository / "shop", builtin_names=())
    (found,) = shown(tool, finding())
    assert found.file == "cart.py"
    (found,) = shown(tool, finding(file="README.md", line=1))
    assert found.file == "../README.md"
    assert found.code == "# Shop"
    assert "outside the workspace" in refusal(tool, finding(file="../../outside.txt"))


# ---- in a turn


def scene(tool: Tool, *replies: Assistant, policy: Policy = Policy(), **more) -> Scene:
    return Scene([*replies, Assistant("Done.")], (tool,), policy=policy, **more)


def test_the_person_is_asked_first_and_the_result_has_the_findings(tool):
    report = call("report_findings", findings=[finding()])
    stage = scene(tool, calls(report), answers=[Answer(True)])
    result = stage.ask("Review.")
    (question,) = stage.person.asked
    assert question.origin == "skill code-review"
    assert [f.place for f in result.findings] == ["shop/cart.py:3"]
    assert result.calls[0].display == run(tool, finding()).display


def test_a_refused_report_has_no_findings_and_the_model_is_told(tool):
    stage = scene(
        tool, calls(call("report_findings", findings=[finding()])), answers=[Answer(False)]
    )
    result = stage.ask("Review.")
    assert result.findings == Findings()
    assert "refused" in result.calls[0].result


def test_findings_that_are_mended_join_those_that_were_good(tool):
    policy = Policy((Rule("report_findings", "allow"),))
    first = call("report_findings", "c1", findings=[finding(), finding(line=9, message="Late.")])
    second = call("report_findings", "c2", findings=[finding(line=5, message="Late.")])
    result = scene(tool, calls(first), calls(second), policy=policy).ask("Review.")
    assert [f.line for f in result.findings] == [3, 5]
    assert "NOT SHOWN (1 of 2)" in result.calls[0].result


def test_arguments_that_are_no_list_are_answered_with_what_is_due(tool):
    policy = Policy((Rule("report_findings", "allow"),))
    result = scene(tool, calls(call("report_findings", **finding())), policy=policy).ask("Go.")
    assert "findings is missing" in result.calls[0].result
    assert "file is unknown" in result.calls[0].result
