"""Skills that installed packages bring, and konacode's folder."""

from __future__ import annotations

import os
import sys
import time
from importlib.machinery import ModuleSpec
from pathlib import Path

import pytest

from agent_magics.errors import SkillError
from agent_magics.extension import loaded
from agent_magics.library.discovery import Entry, Library, places
from agent_magics.library.entry_points import MAX_BYTES, EntryPoints
from agent_magics.library.packages import GROUP, InstalledSkills
from agent_magics.library.trust import needs_trust
from tests.shellkit import magic, skill

pytest_plugins = ["tests.shellkit_fixtures"]

EXPLODES = "raise SystemExit('a skill folder was imported')\n"
CODE = 'def count(text: str) -> str:\n    """Count."""\n    return str(len(text))\n'


def install(site: Path, name: str, entries: str, *, module: str = "", skills: str = "") -> Path:
    """Write an installed package by hand: its metadata, and a module that must not be imported."""
    info = site / f"{name}-1.0.dist-info"
    info.mkdir(parents=True)
    (info / "METADATA").write_text(f"Metadata-Version: 2.1\nName: {name}\nVersion: 1.0\n")
    (info / "entry_points.txt").write_text(entries, encoding="utf-8")
    package = site / (module or name)
    package.mkdir(parents=True, exist_ok=True)
    (package / "__init__.py").write_text(EXPLODES, encoding="utf-8")
    for each in skills.split():
        skill(package / "skills", each, "Count.", code=CODE)
    return package


def group(*lines: str) -> str:
    return "\n".join(["[console_scripts]", "x = y:z", "", "[agent_magics.skills]", *lines, ""])


@pytest.fixture
def site(tmp_path) -> Path:
    folder = tmp_path / "env" / "site-packages"
    folder.mkdir(parents=True)
    return folder


def installed_skills(search_path, clock=time.time_ns) -> InstalledSkills:
    return InstalledSkills(EntryPoints((GROUP,), search_path, clock))


def entries(*search: Path | str, cwd: Path) -> dict[str, Entry]:
    found = installed_skills(lambda: [str(path) for path in search]).places(cwd)
    every = places(cwd, None, [], cwd / "none", packages=found)
    return {entry.skill.name: entry for entry in Library(lambda: every, ("read",)).entries()}


def test_a_package_brings_skills_without_being_imported(site, tmp_path):
    install(site, "acme", group("tools = acme.skills"), skills="one two")
    found = entries(site, cwd=tmp_path / "work")
    assert "acme" not in sys.modules
    assert {name: entry.state for name, entry in found.items()} == {
        "one": "enabled",
        "two": "enabled",
    }
    assert found["one"].skill.origin == "package"
    assert found["one"].skill.bundled == ("count",)
    assert not needs_trust(found["one"].skill)


def test_the_folder_of_a_package_can_be_the_skill_itself(site, tmp_path):
    package = install(site, "acme", group("x = acme"))
    (package / "SKILL.md").write_text("---\nname: acme\ndescription: d\n---\nDo.\n")
    assert list(entries(site, cwd=tmp_path)) == ["acme"]


def test_a_namespace_package_lies_in_several_folders(site, tmp_path):
    other = tmp_path / "other" / "site-packages"
    for folder, name in ((site, "one"), (other, "two")):
        skill(folder / "shared" / "skills", name)
    install(site, "acme", group("x = shared.skills"))
    assert set(entries(site, other, cwd=tmp_path / "work")) == {"one", "two"}


@pytest.mark.parametrize(
    ("value", "message"),
    [
        ("nothing_zz", "there is no installed package nothing_zz"),
        ("acme.nowhere", "there is no such folder below"),
        ("acme:skills", "that is no package's name"),
        ("acme..x", "that is no package's name"),
        ("../acme", "that is no package's name"),
        ("", "that is no package's name"),
        ("single", "single is a single file"),
        ("json.skills", "there is no installed package json"),
    ],
)
def test_an_entry_point_that_leads_nowhere_is_listed_with_its_reason(
    site, tmp_path, value, message
):
    install(site, "acme", group(f"bad = {value}", "good = acme.skills"), skills="one")
    (site / "single.py").write_text(EXPLODES)
    found = entries(site, cwd=tmp_path)
    assert found["one"].state == "enabled"
    assert (found["bad"].state, message in found["bad"].skill.broken) == ("broken", True)


@pytest.mark.parametrize(
    "data",
    [
        b"\xff\xfe[agent_magics.skills]\nx\n",
        b"[agent_magics.skills]\n= \n====\n;x = acme\n#y = acme\nx",
        b"[agent_magics.skills",
        b"[agent_magics.skills]\n" + b"x" * MAX_BYTES,
        b"\x00" * 50 + b"agent_magics.skills",
    ],
)
def test_broken_metadata_breaks_nothing(site, tmp_path, data):
    install(site, "acme", group("x = acme.skills"), skills="one")
    install(site, "bad", "")
    (site / "bad-1.0.dist-info" / "entry_points.txt").write_bytes(data)
    assert entries(site, cwd=tmp_path)["one"].state == "enabled"


def test_metadata_that_cannot_be_read_is_passed_over(site, tmp_path):
    install(site, "acme", group("x = acme.skills"), skills="one")
    (site / "odd.dist-info" / "entry_points.txt").mkdir(parents=True)
    (site / "file.dist-info").write_text("")
    assert list(entries(site, tmp_path / "gone", cwd=tmp_path / "work")) == ["one"]


def test_a_finder_that_raises_costs_its_own_entry_point_only(site, tmp_path, monkeypatch):
    class Broken:
        def find_spec(self, name, path, target=None):
            raise RuntimeError(name)

    monkeypatch.setattr(sys, "meta_path", [*sys.meta_path, Broken()])
    install(site, "acme", group("x = acme.skills", "y = elsewhere_zz"), skills="one")
    found = entries(site, cwd=tmp_path)
    assert found["one"].state == "enabled"
    assert "looking for it fails (RuntimeError)" in found["y"].skill.broken


def test_an_editable_installation_is_found_by_its_finder_or_on_the_path(
    site, tmp_path, monkeypatch
):
    repository = tmp_path / "repo"
    (repository / ".git").mkdir(parents=True)
    for name in ("hooked", "pathed"):
        install(site, name, group(f"{name} = {name}_src.skills"))
        skill(repository / "src" / f"{name}_src" / "skills", f"{name}-skill")
        (repository / "src" / f"{name}_src" / "__init__.py").write_text(EXPLODES)

    class Editable:
        def find_spec(self, name, path, target=None):
            if name != "hooked_src":
                return None
            spec = ModuleSpec(name, None, is_package=True)
            spec.submodule_search_locations = [str(repository / "src" / name)]
            return spec

    monkeypatch.setattr(sys, "meta_path", [*sys.meta_path, Editable()])
    assert set(entries(site, cwd=repository)) == {"hooked-skill", "pathed"}
    found = entries(site, repository / "src", cwd=repository)
    assert {e.skill.origin for e in found.values()} == {"package"}
    assert set(found) == {"hooked-skill", "pathed-skill"}


def test_a_repository_cannot_bring_an_installed_package(tmp_path, monkeypatch):
    repository = tmp_path / "repo"
    (repository / ".git").mkdir(parents=True)
    (repository / "src").mkdir()
    install(repository, "evil", group("x = evil.skills"), skills="evil-one")
    install(repository / "src", "evil2", group("y = evil2.skills"), skills="evil-two")
    monkeypatch.chdir(repository)
    for search in (["", str(repository)], [".", "src"], [str(repository / "src")]):
        assert installed_skills(lambda s=search: s).places(repository) == ()
        assert installed_skills(lambda s=search: s).places(repository / "src") == ()


def test_a_folder_of_the_repository_cannot_stand_in_for_an_installed_one(
    site, tmp_path, monkeypatch
):
    repository = tmp_path / "repo"
    (repository / ".git").mkdir(parents=True)
    install(site, "acme", group("x = acme.skills"), skills="one")
    skill(repository / "acme" / "skills", "evil")
    monkeypatch.chdir(repository)
    assert list(entries("", repository, site, cwd=repository)) == ["one"]


def test_an_environment_inside_the_project_counts_as_installed(tmp_path):
    (tmp_path / ".git").mkdir()
    inner = tmp_path / ".venv" / "lib" / "site-packages"
    install(inner, "acme", group("x = acme.skills"), skills="one")
    assert list(entries(inner, cwd=tmp_path)) == ["one"]


def test_a_package_comes_behind_the_persons_own_and_before_the_shipped_skills(site, tmp_path):
    install(site, "acme", group("x = acme.skills"), skills="one")
    found = installed_skills(lambda: [str(site)]).places(tmp_path)
    every = places(tmp_path / "w", tmp_path / "h", [], tmp_path / "b", packages=found)
    assert [p.origin for p in every][-4:] == ["user", "user", "package", "bundled"]


def test_an_installation_is_seen_at_the_next_look_and_nothing_is_read_again_in_between(
    site, tmp_path, monkeypatch
):
    later = time.time_ns() + 60_000_000_000
    installed = installed_skills(lambda: [str(site)], clock=lambda: later)
    assert installed.places(tmp_path) == ()
    scans: list[str] = []
    real = os.scandir
    monkeypatch.setattr(os, "scandir", lambda path: scans.append(path) or real(path))
    assert (installed.places(tmp_path), scans) == ((), [])
    install(site, "acme", group("x = acme.skills"), skills="one")
    os.utime(site, ns=(1, 1))
    assert [p.path.name for p in installed.places(tmp_path)] == ["skills"]
    assert len(scans) == 1


def test_a_folder_that_has_just_changed_is_looked_at_again(site, tmp_path):
    installed = installed_skills(lambda: [str(site)])
    stamp = site.stat().st_mtime_ns
    assert installed.places(tmp_path) == ()
    install(site, "acme", group("x = acme.skills"), skills="one")
    os.utime(site, ns=(stamp, stamp))
    assert len(installed.places(tmp_path)) == 1


def test_a_person_uses_and_disables_a_packages_skill_like_any_other(
    shell, site, monkeypatch, capsys
):
    install(site, "acme", group("x = acme.skills", "y = gone_zz"), skills="acme-count")
    monkeypatch.syspath_prepend(str(site))
    view = magic(shell, "skills")
    assert (view["acme-count"].origin, view["acme-count"].state) == ("package", "enabled")
    assert view["y"].state.startswith("broken: an installed package offers skills in 'gone_zz'")
    magic(shell, "use", "acme-count")
    assert "bundled: count" in capsys.readouterr().out
    assert loaded(shell).session.active[0].skill.origin == "package"
    magic(shell, "skills", "--disable acme-count")
    with pytest.raises(SkillError, match="disabled"):
        magic(shell, "use", "acme-count")
    assert "acme" not in sys.modules


# ---- konacode


def test_konacodes_folder_is_looked_at_when_the_configuration_says_so(shell, home):
    root = home / ".konacode" / "skills"
    skill(root, "kona")
    assert "kona" not in [row.name for row in magic(shell, "skills")]
    (home / "config.yaml").write_text("konacode_skills: true\n", encoding="utf-8")
    assert magic(shell, "skills")["kona"].origin == "user"
    (home / "config.yaml").write_text("skill_paths: [~/.konacode/skills]\n", encoding="utf-8")
    assert magic(shell, "skills")["kona"].origin == "configured"


@pytest.mark.parametrize("value", ["maybe", "[]", "yes please"])
def test_what_is_neither_true_nor_false_is_said(shell, home, value):
    (home / "config.yaml").write_text(f"konacode_skills: {value}\n", encoding="utf-8")
    assert "konacode_skills must be" in "".join(magic(shell, "skills").notes)


def test_a_project_cannot_switch_konacodes_folder_on(shell, home):
    skill(home / ".konacode" / "skills", "kona")
    Path(".agent_magics").mkdir(exist_ok=True)
    Path(".agent_magics/config.yaml").write_text("konacode_skills: true\n", encoding="utf-8")
    assert "kona" not in [row.name for row in magic(shell, "skills")]
