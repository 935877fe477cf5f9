"""`%skills` beside listing: check, make, copy, switch, trust; and the check from a shell."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from agent_magics.errors import ConfigError, SkillError
from agent_magics.extension import loaded
from agent_magics.extension.switches import SwitchFile
from agent_magics.library.authoring import SOURCE
from agent_magics.skills.__main__ import main
from tests.shellkit import SHIPPED, magic, skill

pytest_plugins = ["tests.shellkit_fixtures"]


def broken(folder: Path, name: str = "bad") -> Path:
    root = folder / name
    root.mkdir(parents=True)
    (root / "SKILL.md").write_text("---\nname: bad\ndescription: x\n", encoding="utf-8")
    return root


def test_a_check_lists_what_is_off_and_counts_it(shell, tmp_path):
    skill(tmp_path / "set", "good")
    broken(tmp_path / "set")
    view = magic(shell, "skills", f"--check {tmp_path / 'set'}")
    assert view.text.startswith("2 skills checked: 1 error,")
    assert "closing ---" in view.text


def test_a_check_of_one_folder_is_about_that_skill(shell, tmp_path):
    root = skill(tmp_path / "set", "good")
    broken(tmp_path / "set")
    assert magic(shell, "skills", f"--check {root}").text.startswith("1 skill checked: 0 errors")


def test_a_check_without_a_path_is_about_all_skills(shell):
    said = magic(shell, "skills", "--check").text
    assert said.startswith(f"{len(SHIPPED)} skills checked: 0 errors")


@pytest.mark.parametrize("path", ["nowhere", "shop"])
def test_a_check_of_what_is_no_skill_says_so(shell, path):
    with pytest.raises(SkillError, match=r"There is no"):
        magic(shell, "skills", f"--check {path}")


def test_a_new_skill_is_without_fault_and_can_be_used(shell, capsys):
    magic(shell, "skills", "--new my-helper --tools")
    assert magic(shell, "skills", "--check skills/my-helper").text.startswith(
        "1 skill checked: 0 errors, 0 warnings"
    )
    magic(shell, "skills", "--trust my-helper")
    magic(shell, "use", "my-helper")
    assert "bundled: count_lines" in capsys.readouterr().out


@pytest.mark.parametrize("name", ["My-Helper", "a--b", "-a", "a/b", "..", "x" * 65])
def test_a_new_skill_needs_a_name_by_the_rule(shell, name):
    with pytest.raises(SkillError, match="no skill name"):
        magic(shell, "skills", f"--new={name}")


def test_a_new_skill_overwrites_nothing(shell):
    magic(shell, "skills", "--new mine")
    Path("skills/mine/SKILL.md").write_text("edited", encoding="utf-8")
    with pytest.raises(SkillError, match="exists already"):
        magic(shell, "skills", "--new mine")
    assert Path("skills/mine/SKILL.md").read_text(encoding="utf-8") == "edited"


def test_switching_off_outlives_the_kernel_and_switching_on_undoes_it(shell, home):
    magic(shell, "skills", "--disable explore")
    assert magic(shell, "skills")["explore"].state == "disabled"
    with pytest.raises(SkillError, match="disabled"):
        magic(shell, "use", "explore")
    assert json.loads((home / "disabled-skills.json").read_text(encoding="utf-8")) == ["explore"]
    magic(shell, "skills", "--enable explore")
    magic(shell, "use", "explore")


def test_a_switch_file_that_is_off_disables_nothing(tmp_path):
    path = tmp_path / "s.json"
    for text in ("{", "{}", "[1]", ""):
        path.write_text(text, encoding="utf-8")
        assert SwitchFile(path).disabled() == ()


def test_a_switch_that_cannot_be_kept_is_an_error(tmp_path):
    (tmp_path / "file").write_text("", encoding="utf-8")
    with pytest.raises(ConfigError, match="cannot be written"):
        SwitchFile(tmp_path / "file" / "s.json").switch("x", on=False)


def test_a_copied_skill_is_the_persons_own_and_says_where_it_came_from(shell, home, tmp_path):
    root = skill(tmp_path / "elsewhere", "borrowed")
    (root / "outside").symlink_to(tmp_path)
    magic(shell, "skills", f"--add {root}")
    target = home / ".agents" / "skills" / "borrowed"
    note = json.loads((target / SOURCE).read_text(encoding="utf-8"))
    assert note["source"] == str(root)
    assert len(note["digest"]) == 64
    assert not (target / "outside").exists()
    assert magic(shell, "skills")["borrowed"].origin == "user"
    with pytest.raises(SkillError, match="exists already"):
        magic(shell, "skills", f"--add {root}")


def test_a_broken_skill_or_a_folder_of_skills_is_not_copied(shell, tmp_path):
    with pytest.raises(SkillError, match="broken"):
        magic(shell, "skills", f"--add {broken(tmp_path / 'set')}")
    skill(tmp_path / "set", "one")
    with pytest.raises(SkillError, match="one skill folder"):
        magic(shell, "skills", f"--add {tmp_path / 'set'}")


def test_the_commands_of_a_name_nobody_knows_say_so(shell):
    for option in ("--trust", "--enable", "--disable"):
        with pytest.raises(SkillError, match="nobody"):
            magic(shell, "skills", f"{option} nobody")


@pytest.mark.parametrize(
    ("make", "words", "status"),
    [(skill, [], 0), (skill, ["--strict"], 0), (broken, [], 1)],
)
def test_the_check_in_a_shell_has_an_exit_status(tmp_path, capsys, make, words, status):
    make(tmp_path / "set", "bad")
    assert main(["check", str(tmp_path / "set"), *words]) == status
    assert "skill checked: " in capsys.readouterr().out


def test_warnings_count_only_when_asked(tmp_path):
    root = skill(tmp_path / "set", "one")
    text = (root / "SKILL.md").read_text(encoding="utf-8").replace("name: one", "name: two")
    (root / "SKILL.md").write_text(text, encoding="utf-8")
    assert main(["check", str(root)]) == 0
    assert main(["check", str(root), "--strict"]) == 1


def test_the_check_of_nothing_is_an_error_of_its_own(tmp_path, capsys):
    assert main(["check", str(tmp_path / "none")]) == 2
    assert "There is no folder" in capsys.readouterr().err


def test_the_namespace_is_left_alone_by_all_of_it(shell):
    before = set(shell.user_ns)
    magic(shell, "skills", "--check")
    magic(shell, "skills", "--new other")
    assert set(shell.user_ns) == before
    assert loaded(shell) is not None
