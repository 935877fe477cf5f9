"""The files of a skill's folder, as a prompt names them."""

from __future__ import annotations

from agent_magics.library.resources import CAP, resource_files


def make(root, *names):
    for name in names:
        path = root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text("", encoding="utf-8")


def test_files_are_named_sorted_and_without_the_instructions(tmp_path):
    make(tmp_path, "SKILL.md", "references/b.md", "references/a.md", "scripts/run.py", ".hidden")
    assert resource_files(tmp_path) == (("references/a.md", "references/b.md", "scripts/run.py"), 0)


def test_the_skills_own_code_is_not_listed(tmp_path):
    make(tmp_path, "tools.py", "more.py", "package/__init__.py", "package/x.py", "scripts/run.py")
    assert resource_files(tmp_path) == (("scripts/run.py",), 0)


def test_without_tools_a_program_is_a_file_like_any_other(tmp_path):
    make(tmp_path, "convert.py", "__pycache__/convert.pyc")
    assert resource_files(tmp_path) == (("convert.py",), 0)


def test_many_files_are_counted(tmp_path):
    make(tmp_path, *(f"{i:03}.txt" for i in range(CAP + 7)))
    names, more = resource_files(tmp_path)
    assert (len(names), more) == (CAP, 7)


def test_links_are_not_followed(tmp_path):
    (tmp_path / "loop").symlink_to(tmp_path)
    assert resource_files(tmp_path) == ((), 0)


def test_a_missing_folder_has_no_files(tmp_path):
    assert resource_files(tmp_path / "none") == ((), 0)
