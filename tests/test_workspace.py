"""The workspace: what is inside, what is protected, what was read."""

from __future__ import annotations

import os
import string
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from agent_magics.errors import ToolError
from agent_magics.tools.protection import protected
from agent_magics.tools.workspace import Workspace


@pytest.fixture
def place(tmp_path: Path) -> Path:
    """A workspace beside something that is none of its business, with links both ways."""
    root = tmp_path / "work"
    (root / "src" / "deep").mkdir(parents=True)
    (root / "src" / "a.py").write_text("a")
    other = tmp_path / "other"
    other.mkdir()
    (other / "b.txt").write_text("b")
    (root / "out").symlink_to(other)
    (root / "file_out").symlink_to(other / "b.txt")
    (root / "dangling_out").symlink_to(other / "new.txt")
    (root / "in").symlink_to(root / "src")
    (root / "loop").symlink_to("loop")
    (root / "up").symlink_to("..")
    (root / "workalike").mkdir()
    return root


def workspace(root: Path, *readable: Path) -> Workspace:
    return Workspace(lambda: root, lambda: readable)


def test_a_path_is_relative_to_the_root_wherever_that_is_now(tmp_path):
    roots = [tmp_path / "one", tmp_path / "two"]
    for root in roots:
        root.mkdir()
    now = iter([*roots])
    space = Workspace(lambda: next(now))
    assert space.resolve("a") == tmp_path / "one" / "a"
    assert space.resolve("a") == tmp_path / "two" / "a"


@pytest.mark.parametrize(
    "path",
    [
        *("..", "../other", "../other/b.txt", "src/../../other", "/etc/passwd", "/", "~", "~/x"),
        *("out", "out/b.txt", "out/new", "file_out", "dangling_out", "up", "up/other/b.txt"),
        *("in/../../other/b.txt", "out/../other/b.txt", "../workalike2", "../work2/a"),
        *("./../other", "src//..//../other", "up/up", "nothing/../../other"),
    ],
)
def test_a_path_that_leaves_the_workspace_is_outside(place, path):
    space = workspace(place)
    assert space.outside(path, write=False)
    assert space.outside(path, write=True)


@pytest.mark.parametrize(
    "path",
    [".", "src", "src/a.py", "in/a.py", "new", "new/deep/x", "up/work/src/a.py", "src/../new"],
)
def test_a_path_in_the_workspace_is_inside_whether_or_not_it_exists(place, path):
    space = workspace(place)
    assert not space.outside(path, write=False)
    assert not space.outside(path, write=True)
    assert not space.outside(str(place / path), write=True)


@pytest.mark.parametrize(
    ("path", "entry"),
    [
        *(("in", "in"), ("in/", "in"), ("./out", "out"), ("in/a.py", "src/a.py"), ("loop", "loop")),
        *(("src/../in", "in"), ("new/x", "new/x"), ("in/..", "."), (".", "."), ("in/.", "in")),
    ],
)
def test_an_entry_is_the_link_itself_in_a_real_folder(place, path, entry):
    assert workspace(place).entry(path) == Path(os.path.realpath(place)) / entry


def test_what_was_read_goes_along_with_a_move_and_can_be_forgotten(place):
    space = workspace(place)
    for name in ("a", "b"):
        space.note(place / "src" / name, b"x")
    space.moved(place / "src", place / "lib")
    assert not space.was_read(place / "src" / "a")
    assert space.was_read(place / "lib" / "a")
    space.unread([place / "lib" / "a"])
    assert not space.was_read(place / "lib" / "a")
    assert space.was_read(place / "lib" / "b")
    space.unread([place])
    assert not space.was_read(place / "lib" / "b")


def test_a_link_that_points_to_itself_is_inside_and_does_not_hang(place):
    assert workspace(place).outside("loop/x", write=True) in (True, False)


_NAMES = st.sampled_from(
    [
        *("..", ".", "src", "deep", "out", "up", "in", "file_out", "loop", "other", "work", "x"),
        *("b.txt", "~", "OUT", "Src", "", "dangling_out", "a b", "..."),
    ]
)


@settings(max_examples=1500, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(names=st.lists(_NAMES, max_size=8), start=st.sampled_from(["", "/", "~/", "./"]))
def test_the_guard_agrees_with_the_operating_system_about_every_path(place, names, start):
    """Whatever the spelling: what opening the path would reach is judged, not what it says."""
    path = start + "/".join(names)
    space = workspace(place)
    if not path.strip():
        return
    home = os.path.expanduser("~")
    spelled = home + path[1:] if path == "~" or path.startswith("~/") else path
    full = os.path.join(place, spelled)
    try:
        os.stat(full)
    except FileNotFoundError:
        reached = os.path.realpath(full)
    except OSError:
        return  # a loop of links, or a file taken for a folder: nothing can be reached this way
    else:
        reached = os.path.realpath(full, strict=True)
        assert os.path.samefile(full, space.resolve(path))
    if reached != str(place) and not reached.startswith(f"{place}/"):
        assert space.outside(path, write=False)
        assert space.outside(path, write=True)
    if not space.outside(path, write=True):
        assert str(space.resolve(path)).startswith(str(place))


@settings(max_examples=300, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(path=st.text(max_size=40))
def test_any_text_is_judged_without_an_error_and_resolved_or_refused(place, path):
    space = workspace(place)
    outside = space.outside(path, write=True)
    space.shown(path)
    try:
        real = space.resolve(path)
    except ToolError:
        assert not outside
    else:
        assert outside or real.is_relative_to(place)


@pytest.mark.parametrize("path", ["", "  ", "a\0b", "x" * 256, "a/" * 3000, "\ud800"])
def test_what_can_be_no_path_is_refused_with_its_reason(place, path):
    with pytest.raises(ToolError, match="path"):
        workspace(place).resolve(path)


def test_a_root_that_is_gone_is_said(tmp_path):
    space = workspace(tmp_path / "gone")
    with pytest.raises(ToolError, match="does not exist any more"):
        space.resolve("a")
    assert space.outside("a", write=True)


def test_a_root_that_is_itself_a_link_is_the_folder_it_leads_to(tmp_path):
    (tmp_path / "real").mkdir()
    (tmp_path / "link").symlink_to("real")
    space = workspace(tmp_path / "link")
    assert not space.outside("a", write=True)
    assert not space.outside(str(tmp_path / "real" / "a"), write=True)
    assert not space.outside(str(tmp_path / "link" / "a"), write=True)


@pytest.mark.parametrize(
    "path",
    [
        *(".env", ".env.local", ".ENV", "sub/.env", ".envrc", ".env.production", ".Env.Local"),
        *("id_rsa", "keys/id_ed25519", "id_rsa.bak", "cert.pem", "server.KEY", "a.p12"),
        *(".ssh/config", ".aws/credentials", ".netrc", "x/.netrc", ".git-credentials", ".npmrc"),
        *(".bashrc", ".zshrc", ".profile", ".ipython/profile_default/startup/x.py"),
        *(".jupyter/jupyter_server_config.py", ".config/agent_magics/config.yaml"),
        *(".docker/config.json", ".gnupg/x", ".SSH/id", "\uff0eenv", ".e\u200dnv", ".env."),
    ],
)
def test_secrets_and_profiles_need_a_word_even_inside(place, path):
    space = workspace(place)
    assert space.outside(path, write=False)
    assert space.outside(path, write=True)


@pytest.mark.parametrize("path", [".git/config", ".git/hooks/pre-commit", ".GIT/config", ".git"])
def test_the_insides_of_version_control_may_be_read_but_not_written(place, path):
    space = workspace(place)
    assert not space.outside(path, write=False)
    assert space.outside(path, write=True)


def test_our_own_project_settings_cannot_be_written_without_asking(place):
    assert workspace(place).outside(".agent_magics/config.yaml", write=True)
    assert not workspace(place).outside(".agent_magics/config.yaml", write=False)


@pytest.mark.parametrize(
    "path",
    [
        *(".env.example", ".env.sample", "id_map.csv", "id_rsa.pub", "keys.py", "monkey.py"),
        *(
            ".gitignore",
            ".github/workflows/x.yml",
            "environment.yml",
            "src/env.py",
            "agent_magics/x",
        ),
    ],
)
def test_harmless_names_that_look_alike_are_not_protected(place, path):
    assert not workspace(place).outside(path, write=True)


def test_a_link_to_a_protected_file_is_protected(place):
    (place / ".env").write_text("X=1")
    (place / "notes.txt").symlink_to(".env")
    assert workspace(place).outside("notes.txt", write=False)


def test_folders_of_active_skills_may_be_read_but_not_written(place, tmp_path):
    space = workspace(place, tmp_path / "other")
    assert not space.outside(str(tmp_path / "other" / "b.txt"), write=False)
    assert not space.outside("out/b.txt", write=False)
    assert space.outside(str(tmp_path / "other" / "b.txt"), write=True)
    assert space.outside(str(tmp_path / "other" / ".env"), write=False)


def test_names_that_protect_do_not_count_above_the_root(tmp_path):
    root = tmp_path / ".ipython" / "work"
    root.mkdir(parents=True)
    assert not workspace(root).outside("a.py", write=True)


@given(st.lists(st.text(string.ascii_letters + "._-", min_size=1), max_size=4))
def test_what_is_protected_from_reading_is_protected_from_writing(parts):
    if protected(parts, write=False):
        assert protected(parts, write=True)


def test_a_path_is_shown_relative_to_the_root_on_one_line(place, tmp_path):
    space = workspace(place)
    assert space.shown("src/a.py") == "src/a.py"
    assert space.shown(".") == "."
    assert space.shown(str(place / "src")) == "src"
    assert space.shown("file_out") == str(tmp_path / "other" / "b.txt")
    assert space.shown("a\nb\x1b[31m") == "a\\nb\\x1b[31m"


def test_a_file_is_stale_until_it_was_read_and_after_it_changed(place):
    space = workspace(place)
    path = place / "src" / "a.py"
    assert space.stale(path)
    space.note(path, b"a")
    assert space.was_read(path)
    assert not space.stale(path)
    path.write_text("b")
    assert space.stale(path)
    path.write_text("a")
    assert not space.stale(path)
    path.unlink()
    assert space.stale(path)
    space.forget()
    assert not space.was_read(path)


def test_a_preview_is_outdated_once_the_file_is_another(place):
    space = workspace(place)
    path = place / "src" / "a.py"
    assert not space.outdated_preview("call", path, b"a")
    space.note_preview("call", path, b"a")
    assert not space.outdated_preview("call", path, b"a")
    space.note_preview("call", path, b"a")
    assert space.outdated_preview("call", path, b"b")
    assert not space.outdated_preview("call", path, b"b")
    space.note_preview("call", path, None)
    assert space.outdated_preview("call", path, b"")


def test_the_folder_of_long_outputs_is_private_readable_and_goes_away(tmp_path):
    root = tmp_path / "work"
    root.mkdir()
    space = workspace(root)
    path = space.new_output("shell")
    assert not path.is_relative_to(root)
    assert path.parent.stat().st_mode & 0o077 == 0
    assert not space.outside(str(path), write=False)
    assert space.outside(str(path), write=True)
    assert space.new_output("shell") != path
    folder = path.parent
    del space
    assert not folder.exists()
