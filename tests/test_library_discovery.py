"""Where skills are looked for, which of several counts, and how a name is understood."""

from __future__ import annotations

import os
import tempfile
import time
from contextlib import contextmanager
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agent_magics.errors import SkillError
from agent_magics.library.discovery import Library, Place, places
from agent_magics.library.finding import find_skill
from agent_magics.library.repository import project_folders
from agent_magics.library.trust import Trust, brings_code, needs_trust
from agent_magics.library.walking import link_target
from agent_magics.skill import Skill

TOOLS = ("ls", "glob", "read", "run_shell")
REPOSITORY = Path(__file__).parents[1]


def put(folder: Path, name: str = "", description: str = "d", body: str = "Do it.") -> Path:
    folder.mkdir(parents=True, exist_ok=True)
    text = f"---\nname: {name or folder.name}\ndescription: {description}\n---\n\n{body}\n"
    (folder / "SKILL.md").write_text(text, encoding="utf-8")
    return folder


def library(*found: Place | Path, limit: int = 2000) -> Library:
    given = [p if isinstance(p, Place) else Place(p, "user") for p in found]
    return Library(lambda: given, TOOLS, limit=limit)


def names(lib: Library, state: str = "enabled") -> list[str]:
    return [entry.skill.name for entry in lib.entries() if entry.state == state]


def reasons(lib: Library) -> dict[str, str]:
    return {e.skill.name: e.skill.broken for e in lib.entries() if e.state == "broken"}


# ---- places


def test_the_project_reaches_from_the_working_folder_up_to_the_repository(tmp_path):
    repository = tmp_path / "outer" / "repo"
    (repository / ".git").mkdir(parents=True)
    inner = repository / "a" / "b"
    inner.mkdir(parents=True)
    assert project_folders(inner) == (inner, repository / "a", repository)
    found = places(inner, None, [], tmp_path / "bundled")
    assert [p.path.relative_to(tmp_path).as_posix() for p in found[:5]] == [
        "outer/repo/a/b/skills",
        "outer/repo/a/b/.agents/skills",
        "outer/repo/a/b/_agents/skills",
        "outer/repo/a/b/.claude/skills",
        "outer/repo/a/skills",
    ]
    assert {p.origin for p in found[:-1]} == {"project"}
    assert found[-1] == Place(tmp_path / "bundled", "bundled")
    assert not any(p.path.parent == tmp_path / "outer" for p in found)


def test_without_a_repository_only_the_working_folder_is_the_project(tmp_path):
    inner = tmp_path / "a"
    inner.mkdir()
    found = places(inner, None, [], tmp_path / "bundled")
    assert {p.path.parents[0] for p in found if p.path.name == "skills"} >= {inner}
    assert not any(p.path == tmp_path / "skills" for p in found)


def test_a_git_file_marks_a_work_tree_or_submodule(tmp_path):
    (tmp_path / "sub").mkdir()
    (tmp_path / "sub" / ".git").write_text("gitdir: ../elsewhere", encoding="utf-8")
    (tmp_path / ".git").mkdir()
    assert project_folders(tmp_path / "sub") == (tmp_path / "sub",)


def test_the_order_is_configured_project_user_bundled(tmp_path):
    home = tmp_path / "home"
    found = places(tmp_path / "work", home, [Path("~/mine"), Path("near")], tmp_path / "bundled")
    assert [p.origin for p in found] == ["configured"] * 2 + ["project"] * 4 + ["user"] * 2 + [
        "bundled"
    ]
    assert found[0].path == home / "mine"
    assert found[1].path == tmp_path / "work" / "near"


def test_in_a_home_folder_that_is_a_repository_the_persons_skills_stay_theirs(tmp_path):
    (tmp_path / ".git").mkdir()
    (tmp_path / "work").mkdir()
    found = places(tmp_path / "work", tmp_path, [], tmp_path / "bundled")
    origin = {place.path: place.origin for place in found}
    assert origin[tmp_path / ".agents" / "skills"] == "user"
    assert origin[tmp_path / "skills"] == "project"


def test_a_checkout_of_this_package_has_its_skills_as_bundled_ones():
    found = places(REPOSITORY, None, [], REPOSITORY / "skills")
    assert [p.origin for p in found if p.path == REPOSITORY / "skills"] == ["bundled"]


# ---- what is found


def test_skills_are_found_directly_and_in_groups_but_not_below_a_skill(tmp_path):
    put(tmp_path / "b")
    put(tmp_path / "group" / "a")
    put(tmp_path / "1" / "2" / "3" / "deep")
    put(tmp_path / "1" / "2" / "3" / "4" / "too-deep")
    put(tmp_path / "b" / "nested")
    assert names(library(tmp_path)) == ["a", "b", "deep"]


def test_hidden_and_foreign_folders_are_passed_over_without_a_word(tmp_path):
    for name in (".git", "node_modules", ".ipynb_checkpoints", "__pycache__", ".hidden"):
        put(tmp_path / name / "x")
    (tmp_path / "notes").mkdir()
    assert library(tmp_path).entries() == ()


def test_a_missing_place_is_no_problem_unless_it_was_configured(tmp_path):
    lib = library(Place(tmp_path / "gone", "user"), Place(tmp_path / "typo", "configured"))
    assert reasons(lib) == {"typo": "the configured folder does not exist; mend `skill_paths`"}


def test_a_place_that_is_no_folder_is_said(tmp_path):
    (tmp_path / "file").write_text("x", encoding="utf-8")
    assert reasons(library(tmp_path / "file"))["file"].startswith("it is no folder")


def test_a_link_that_is_none_any_more_is_said_to_lead_nowhere_known(tmp_path):
    assert link_target(str(tmp_path)) == "an unknown place"


def test_other_files_beside_skills_are_no_problem(tmp_path):
    put(tmp_path / "s")
    (tmp_path / "README.md").write_text("# Our skills\n", encoding="utf-8")
    (tmp_path / "LICENSE").write_text("Free.\nFor all.\n", encoding="utf-8")
    (tmp_path / "link.md").symlink_to("README.md")
    os.mkfifo(tmp_path / "pipe")
    assert [e.state for e in library(tmp_path).entries()] == ["enabled"]


def test_a_configured_path_may_be_one_skill(tmp_path):
    put(tmp_path / "one")
    assert names(library(Place(tmp_path / "one", "configured"))) == ["one"]
    assert names(library(Place(tmp_path / "one" / "SKILL.md", "configured"))) == ["one"]


def test_the_number_of_folders_is_bounded_and_said(tmp_path):
    for number in range(12):
        put(tmp_path / f"s{number:02}")
    lib = library(tmp_path, limit=10)
    assert len(names(lib)) == 10
    assert "only the first 10 of its folders are read" in next(iter(reasons(lib).values()))


@pytest.mark.parametrize(
    ("make", "reason"),
    [
        (lambda f: (f / "SKILL.md").mkdir(parents=True), "SKILL.md is a folder"),
        (lambda f: f.mkdir() or os.mkfifo(f / "SKILL.md"), "SKILL.md is no regular file"),
        (
            lambda f: f.mkdir() or (f / "SKILL.md").symlink_to("../gone/SKILL.md"),
            "SKILL.md is a link to ../gone/SKILL.md, which does not exist",
        ),
        (
            lambda f: f.mkdir() or (f / "SKILL.md").symlink_to("SKILL.md"),
            "SKILL.md is a link to SKILL.md, which leads in a circle",
        ),
        (lambda f: f.symlink_to("../gone"), "it is a link to ../gone, which does not exist"),
        (lambda f: f.symlink_to(f.name), "which leads in a circle"),
        (lambda f: f.write_text("../../shared/x\n"), "a symbolic link that was checked out"),
        (lambda f: f.with_suffix(".md").write_text("---\nname: x\n---\n"), "bad.md is no folder"),
        (
            lambda f: f.mkdir() or (f / "SKILL.md.txt").write_text("x"),
            "there is no SKILL.md; rename SKILL.md.txt",
        ),
        (lambda f: put(f) and (f / "SKILL.md").write_bytes(b"\xff\xfea\0"), "saved as UTF-16"),
    ],
)
def test_whatever_stands_in_the_way_of_a_skill_is_listed_with_its_reason(tmp_path, make, reason):
    make(tmp_path / "bad")
    put(tmp_path / "good")
    lib = library(tmp_path)
    assert names(lib) == ["good"]
    assert reason in reasons(lib)["bad"]
    with pytest.raises(SkillError, match="cannot be loaded"):
        lib.find("bad")


def test_what_may_not_be_read_is_listed_with_its_reason():
    with tempfile.TemporaryDirectory() as name:
        root = Path(name)
        root.chmod(0o755)
        put(root / "good")
        put(root / "file")
        put(root / "folder")
        (root / "file" / "SKILL.md").chmod(0)
        (root / "folder").chmod(0)
        (root / "loose.md").write_text("---\nname: x\n---\n", encoding="utf-8")
        (root / "loose.md").chmod(0)
        with without_root():
            found = library(root).entries()
        (root / "folder").chmod(0o755)
    assert [(e.skill.name, e.skill.broken) for e in found] == [
        (
            "file",
            "SKILL.md cannot be read: Permission denied; give yourself the right to read it",
        ),
        (
            "folder",
            "the folder cannot be read: Permission denied; give yourself the right to read",
        ),
        ("good", ""),
    ]


@contextmanager
def without_root():
    """Whoever runs the tests as root could read everything."""
    me = os.geteuid()
    if me == 0:
        os.seteuid(65534)
    try:
        yield
    finally:
        os.seteuid(me)


# ---- links


def test_one_folder_reached_twice_is_one_skill_under_its_own_name(tmp_path):
    put(tmp_path / "real" / "charts")
    (tmp_path / "another").symlink_to("real/charts")
    (tmp_path / "real" / "charts" / "loop").symlink_to("..")
    (tmp_path / "real" / "up").symlink_to("..")
    assert names(library(tmp_path)) == ["charts"]


def test_a_linked_folder_goes_by_the_links_name_and_has_its_real_path(tmp_path):
    real = put(tmp_path / "elsewhere" / "x-1.2", name="x")
    (tmp_path / "skills").mkdir()
    (tmp_path / "skills" / "x").symlink_to(real)
    skill = library(tmp_path / "skills").find("x")
    assert skill.root == real


def test_a_project_cannot_link_out_of_itself(tmp_path):
    secret = tmp_path / "secret.md"
    secret.write_text("---\ndescription: d\n---\nKEY=1", encoding="utf-8")
    other = put(tmp_path / "other" / "outside")
    project = tmp_path / "project"
    put(project / "skills" / "fine")
    (project / "skills" / "folder").symlink_to(other)
    (project / "skills" / "file").mkdir()
    (project / "skills" / "file" / "SKILL.md").symlink_to(secret)
    (project / ".claude").mkdir()
    (project / ".claude" / "skills").symlink_to(tmp_path / "other")
    lib = library(
        Place(project / "skills", "project", project),
        Place(project / ".claude" / "skills", "project", project),
    )
    assert names(lib) == ["fine"]
    assert "a link out of the project" in reasons(lib)["folder"]
    assert "a link out of the project" in reasons(lib)["skills"]
    assert "which is not read" in reasons(lib)["file"]
    assert "KEY" not in "".join(e.skill.instructions for e in lib.entries())


def test_no_skill_makes_another_kind_of_file_its_instructions(tmp_path):
    (tmp_path / "id_rsa").write_text("PRIVATE", encoding="utf-8")
    shared = put(tmp_path / "shared")
    for name, target in (("bad", tmp_path / "id_rsa"), ("good", shared / "SKILL.md")):
        (tmp_path / "skills" / name).mkdir(parents=True)
        (tmp_path / "skills" / name / "SKILL.md").symlink_to(target)
    lib = library(tmp_path / "skills")
    assert names(lib) == ["good"]
    assert "PRIVATE" not in str(lib.entries())


def test_a_tools_file_that_is_a_link_out_of_the_folder_breaks_the_skill(tmp_path):
    (tmp_path / "evil.py").write_text("x = 1", encoding="utf-8")
    (put(tmp_path / "skills" / "s") / "tools.py").symlink_to(tmp_path / "evil.py")
    assert "tools.py is a link out" in reasons(library(tmp_path / "skills"))["s"]


# ---- precedence


def test_the_first_place_wins_and_the_other_is_shown_with_both_paths(tmp_path):
    first, second = put(tmp_path / "1" / "charts"), put(tmp_path / "2" / "charts")
    lib = library(tmp_path / "1", tmp_path / "2")
    assert [(e.state, e.skill.root, e.shadowed_by) for e in lib.entries()] == [
        ("enabled", first, None),
        ("shadowed", second, first),
    ]
    assert lib.find("charts").root == first


def test_a_broken_skill_takes_no_name_from_a_good_one(tmp_path):
    (put(tmp_path / "1" / "charts") / "SKILL.md").write_text("---\n", encoding="utf-8")
    good = put(tmp_path / "2" / "charts")
    lib = library(tmp_path / "1", tmp_path / "2")
    assert lib.find("charts").root == good
    assert names(lib, "broken") == ["charts"]


def test_a_folder_that_is_the_persons_and_the_projects_is_the_persons(tmp_path):
    put(tmp_path / "mine" / "s")
    lib = library(Place(tmp_path / "mine", "project", tmp_path), Place(tmp_path / "mine", "user"))
    assert [e.skill.origin for e in lib.entries()] == ["user"]


# ---- names


def test_a_name_is_taken_in_every_spelling(tmp_path):
    put(tmp_path / "tidy-charts", name="Chart Maker")
    put(tmp_path / "cafe\u0301", name="x")
    lib = library(tmp_path)
    for typed in ("tidy-charts", "Chart Maker", "TIDY-CHARTS", "tidy_charts", " tidy charts ",
                  "chart-maker"):  # fmt: skip
        assert lib.find(typed).name == "tidy-charts"
    assert lib.find("caf\u00e9").name == "caf\u00e9"
    assert lib.find("caf\u00e9").root == tmp_path / "cafe\u0301"


def test_a_name_that_fits_two_skills_is_an_error_that_lists_both(tmp_path):
    put(tmp_path / "a", name="charts")
    put(tmp_path / "b", name="charts")
    put(tmp_path / "x" / "Same")
    put(tmp_path / "x" / "same")
    lib = library(tmp_path)
    with pytest.raises(SkillError, match=r"more than one skill: a \(.*/a\), b \(.*/b\)"):
        lib.find("charts")
    assert lib.find("Same").name == "Same"
    with pytest.raises(SkillError, match="more than one"):
        lib.find("SAME")


def test_no_header_can_take_the_name_of_another_skills_folder(tmp_path):
    put(tmp_path / "1" / "imposter", name="explore")
    put(tmp_path / "2" / "explore")
    assert library(tmp_path / "1", tmp_path / "2").find("explore").name == "explore"


@pytest.mark.parametrize(
    "typed", ["", " ", ".", "..", "a/b", "../x", "/etc", "a\\b", "a\nb", "a\0"]
)
def test_a_path_is_no_name_and_the_rule_is_said(tmp_path, typed):
    put(tmp_path / "a")
    with pytest.raises(SkillError, match="called by the name of its folder, without a path"):
        library(tmp_path).find(typed)


def test_an_unknown_name_is_answered_with_near_ones_and_the_list(tmp_path):
    put(tmp_path / "explore")
    put(tmp_path / "charts", name="Plot Maker")
    lib = library(tmp_path)
    with pytest.raises(SkillError, match=r"Did you mean explore\? There are: charts, explore\."):
        lib.find("exlpore")
    with pytest.raises(SkillError, match="Did you mean charts"):
        lib.find("plot-makre")
    (put(tmp_path / "broken") / "SKILL.md").write_text("---\n", encoding="utf-8")
    with pytest.raises(SkillError, match="There is no skill 'zzz'"):
        lib.find("zzz")
    with pytest.raises(SkillError, match="no skill was found at all"):
        library(tmp_path / "none").find("x")


@given(st.text(max_size=30), st.lists(st.text(max_size=12), max_size=5))
def test_no_name_makes_finding_fail_with_anything_but_a_skill_error(typed, folders):
    skills = [Skill(name) for name in folders]
    try:
        found = find_skill(typed, skills, [])
    except SkillError:
        return
    assert found in skills


# ---- freshness


def test_an_edit_is_seen_at_the_next_look_even_in_the_same_tick(tmp_path):
    folder = put(tmp_path / "s", description="aaaa")
    lib = library(tmp_path)
    for text in ("bbbb", "cccc", "dddd", "eeee"):
        before = lib.find("s").digest
        put(folder, description=text)
        assert lib.find("s").description == text
        assert lib.find("s").digest != before


def test_every_file_of_the_folder_counts_for_the_hash(tmp_path):
    folder = put(tmp_path / "s")
    lib = library(tmp_path)
    seen = {lib.find("s").digest}
    for change in (
        lambda: (folder / "lib").mkdir() or (folder / "lib" / "a.py").write_text("1"),
        lambda: (folder / "lib" / "a.py").write_text("2"),
        lambda: (folder / "lib" / "a.py").rename(folder / "lib" / "b.py"),
        lambda: (folder / "link").symlink_to("x"),
        lambda: (folder / "link").unlink() or (folder / "link").symlink_to("y"),
        lambda: (folder / "tools.py").write_text("3"),
    ):
        change()
        digest = lib.find("s").digest
        assert digest not in seen
        seen.add(digest)


def test_the_hash_is_of_the_content_and_not_of_the_place_or_the_time(tmp_path):
    for place in ("one", "two"):
        folder = put(tmp_path / place / "s")
        (folder / "references").mkdir()
        (folder / "references" / "a.md").write_text("x", encoding="utf-8")
        (folder / "__pycache__").mkdir()
        (folder / "__pycache__" / place).write_text(place, encoding="utf-8")
    os.utime(folder / "SKILL.md", (1, 1))
    assert library(tmp_path / "one").find("s").digest == library(tmp_path / "two").find("s").digest


def test_what_did_not_change_is_not_read_again(tmp_path):
    old = put(tmp_path / "old")
    put(tmp_path / "other")
    later = time.time_ns() + 10_000_000_000
    lib = Library(lambda: [Place(tmp_path, "user")], TOOLS, clock=lambda: later)
    first = {e.skill.name: e.skill for e in lib.entries()}
    put(old, description="new")
    second = {e.skill.name: e.skill for e in lib.entries()}
    assert second["other"] is first["other"]
    assert second["old"].description == "new"


def test_what_changed_within_the_clocks_tick_is_read_again(tmp_path):
    put(tmp_path / "s")
    stamp = (tmp_path / "s" / "SKILL.md").stat().st_ctime_ns
    lib = Library(lambda: [Place(tmp_path, "user")], TOOLS, clock=lambda: stamp + 1_000_000)
    first, second = lib.entries(), lib.entries()
    assert first[0].skill is not second[0].skill
    assert first == second


def test_the_target_of_a_linked_file_is_watched_too(tmp_path):
    shared = put(tmp_path / "shared", description="one")
    (tmp_path / "skills" / "s").mkdir(parents=True)
    (tmp_path / "skills" / "s" / "SKILL.md").symlink_to(shared / "SKILL.md")
    lib = library(tmp_path / "skills")
    before = lib.find("s").digest
    put(shared, description="two")
    assert lib.find("s").description == "two"
    assert lib.find("s").digest != before


def test_a_removed_skill_is_gone_and_a_new_one_is_there(tmp_path):
    folder = put(tmp_path / "s")
    lib = library(tmp_path)
    assert names(lib) == ["s"]
    (folder / "SKILL.md").unlink()
    put(tmp_path / "t")
    assert names(lib) == ["t"]


# ---- trust


def test_only_what_comes_with_the_project_needs_trust(tmp_path):
    with_code, without = put(tmp_path / "code"), put(tmp_path / "text")
    (with_code / "tools.py").write_text("def x(:", encoding="utf-8")
    for origin, expected in (("project", True), ("user", False), ("configured", False)):
        assert needs_trust(Skill("code", root=with_code, origin=origin)) is expected
        assert needs_trust(Skill("text", root=without, origin=origin)) is expected
    assert brings_code(Skill("code", root=with_code))
    assert not brings_code(Skill("text", root=without))


def test_trust_is_for_one_content_at_one_place():
    skill = Skill("s", root=Path("/a"), digest="1")
    trust = Trust().adding(skill)
    assert trust.trusted(skill)
    assert not trust.trusted(Skill("s", root=Path("/b"), digest="1"))
    assert not trust.trusted(Skill("s", root=Path("/a"), digest="2"))
    assert trust.adding(Skill("s", root=Path("/a"), digest="2")).pairs == {("/a", "2")}
    assert not Trust(frozenset({("/a", "")})).trusted(Skill("s", root=Path("/a")))


def test_code_in_a_folder_too_large_for_its_hash_is_refused(tmp_path, monkeypatch):
    folder = put(tmp_path / "s")
    (folder / "tools.py").write_text('def t(a: str) -> str:\n    "T."\n    return a\n')
    (folder / "data.bin").write_bytes(b"x" * 100)
    monkeypatch.setattr("agent_magics.library.trees.MAX_CONTENT", 50)
    assert "too large for its hash to cover" in reasons(library(tmp_path))["s"]


@pytest.mark.parametrize(
    ("source", "severity", "message"),
    [
        ("def x(:\n", "error", "tools.py, line 1: invalid syntax"),
        ("x = '\0'\n", "error", "tools.py"),
        ("x = 1\n", "warning", "tools.py defines no tool"),
        ("def t(a): 'T.'\n", "warning", "t has no type for a"),
        ("def t(a: str): return a\n", "warning", "t has no docstring"),
        ("def ls() -> str:\n    'L.'\n", "error", "ls is the name of a built-in tool"),
        (
            "def read_file(p: str) -> str:\n    'R.'\n",
            "warning",
            "reads like the built-in tool read",
        ),
        ("def t() -> str:\n    'T.'\n    return input()\n", "warning", "line 3: input() cannot"),
    ],
)
def test_what_is_off_about_the_code_is_said_before_it_runs(tmp_path, source, severity, message):
    (put(tmp_path / "s") / "tools.py").write_text(source, encoding="utf-8")
    (entry,) = library(tmp_path).entries()
    said = [d for d in entry.skill.diagnostics if d.severity == severity]
    assert message in "\n".join(str(d) for d in said)
