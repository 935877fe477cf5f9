"""One skill's folder as a `Skill`: its SKILL.md, what its tools.py defines, its hash.

Reads files, follows links as far as it is safe, and runs nothing. Everything that stands in the
way becomes a diagnostic of the skill.
"""

from __future__ import annotations

import errno
import os
import stat
from collections.abc import Collection
from dataclasses import dataclass, replace
from pathlib import Path

from agent_magics.errors import SkillError
from agent_magics.library.toolfile import MAX_SOURCE, TOOL_NAME, ToolFile, read_toolfile
from agent_magics.library.trees import Tree, digest, scanned_tree
from agent_magics.library.walking import Found, link_target
from agent_magics.skill import Diagnostic, Origin, Skill
from agent_magics.skill.actions import FILE as PLUGIN
from agent_magics.skill.actions import MAX_BYTES as MAX_PLUGIN
from agent_magics.skill.actions import read_actions
from agent_magics.skill.naming import composed, shown
from agent_magics.skill.reading import read_skill
from agent_magics.skill.splitting import MAX_BYTES
from agent_magics.skill.toolnames import our_name

TOOLS = "tools.py"


@dataclass(frozen=True, slots=True)
class _Content:
    """A file's bytes, or why there are none."""

    data: bytes = b""
    problem: str = ""
    fix: str = ""


def folder_name(path: str) -> str:
    """A folder's name as text, whatever bytes the file system has for it."""
    return composed(os.fsencode(Path(path).name).decode("utf-8", "replace"))


def broken_skill(found: Found, origin: Origin) -> Skill:
    """A skill that stands for what is in the way of one."""
    problem = Diagnostic("error", found.problem, found.fix)
    name = shown(folder_name(found.path))
    # Nothing that cannot be read may leave every tool visible.
    return Skill(name, root=Path(found.path), tools=(), diagnostics=(problem,), origin=origin)


def read_folder(
    found: Found, tree: Tree, origin: Origin, boundary: Path | None, known_tools: Collection[str]
) -> Skill:
    """The skill of a folder. Never raises.

    Args:
        found: The folder.
        tree: Its files.
        origin: Whose it is.
        boundary: No link may lead out of this folder; None: links may lead to a SKILL.md anywhere.
        known_tools: The names of the built-in tools.
    """
    main = _main_file(found, boundary)
    if main.problem:
        return broken_skill(replace(found, problem=main.problem, fix=main.fix), origin)
    code = _beside(found, TOOLS, MAX_SOURCE)
    toolfile = read_toolfile(code.data) if code is not None and not code.problem else ToolFile()
    skill = read_skill(
        main.data, folder_name(found.path), known_tools=known_tools, bundled=toolfile.names
    )
    total, whole = digest(found.real, tree, main.data)
    problems = list(skill.diagnostics)
    if found.file != "SKILL.md":
        message = f"the file is named {found.file}"
        problems.append(Diagnostic("warning", message, "rename it to SKILL.md"))
    problems.extend(_about_links(found.real, tree))
    if code is not None:
        problems.extend(_about_code(code, toolfile, known_tools, whole=whole))
    plugin = _beside(found, PLUGIN, MAX_PLUGIN)
    if plugin is not None and plugin.problem:
        problems.append(Diagnostic("warning", plugin.problem, plugin.fix))
        plugin = None
    data = plugin.data if plugin is not None else None
    actions, about_actions = read_actions(data, skill.metadata.get("metadata"))
    return replace(
        skill,
        root=Path(found.real),
        digest=total,
        origin=origin,
        diagnostics=(*problems, *about_actions),
        actions=actions,
    )


def current_digest(root: Path) -> str:
    """The hash of a skill's folder as it is now.

    Raises:
        OSError: It cannot be read, or holds no SKILL.md any more.
    """
    total, _ = digest(str(root), scanned_tree(str(root)), main_file(root).read_bytes())
    return total


def unchanged(skill: Skill) -> bool:
    """Whether a skill's folder is still what was read of it.

    Raises:
        SkillError: It is gone.
    """
    try:
        return current_digest(skill.root) == skill.digest
    except OSError as error:
        raise SkillError(f"The skill {skill.name} is gone from {skill.root}.") from error


def main_file(root: Path) -> Path:
    """A skill folder's SKILL.md, however it is spelled.

    Raises:
        OSError: The folder cannot be read.
    """
    names = [entry.name for entry in root.iterdir() if entry.name.lower() == "skill.md"]
    return root / ("SKILL.md" if "SKILL.md" in names or not names else names[0])


def _main_file(found: Found, boundary: Path | None) -> _Content:
    path = f"{found.real}{os.sep}{found.file}"
    content = _read(path, MAX_BYTES, found.file)
    if content.problem or not Path(path).is_symlink():
        return content
    real = Path(path).resolve()
    inside = boundary is None or real.is_relative_to(boundary.resolve())
    if inside and real.name.lower() == "skill.md":
        return content
    # A folder of skills from elsewhere must not bring any other file into a prompt.
    problem = f"{found.file} is a link to {shown(str(real), 200)}, which is not read"
    return _Content(problem=problem, fix="copy the file into the folder")


def _beside(found: Found, name: str, limit: int) -> _Content | None:
    """A file beside SKILL.md; None: there is no such file."""
    if not any(entry.name == name for entry in found.listing):
        return None
    path = f"{found.real}{os.sep}{name}"
    # Not `Path.resolve`: before Python 3.13 it raises for links in a circle.
    real = os.path.realpath(path)
    if Path(path).is_symlink() and not Path(real).is_relative_to(found.real):
        problem = f"{name} is a link out of the skill's folder, to {link_target(path)}"
        return _Content(problem=problem, fix="copy the file into the folder")
    return _read(path, limit, name)


def _read(path: str, limit: int, name: str) -> _Content:
    """A regular file's first bytes, one more than the limit where there are more."""
    try:
        if not stat.S_ISREG(os.stat(path).st_mode):  # noqa: PTH116 - before opening: pipes wait
            kind = "a folder" if Path(path).is_dir() else "no regular file"
            return _Content(problem=f"{name} is {kind}", fix="put a text file there")
        with open(path, "rb") as file:  # noqa: PTH123 - plain texts
            return _Content(file.read(limit + 1))
    except OSError as error:
        if Path(path).is_symlink() and error.errno in (errno.ENOENT, errno.ELOOP):
            what = "leads in a circle" if error.errno == errno.ELOOP else "does not exist"
            problem = f"{name} is a link to {link_target(path)}, which {what}"
            return _Content(problem=problem, fix="put the file itself there")
        problem = f"{name} cannot be read: {error.strerror or error}"
        return _Content(problem=problem, fix="give yourself the right to read it")


def _about_links(real: str, tree: Tree) -> list[Diagnostic]:
    out: list[str] = []
    for name in tree.links():
        if name.lower() in ("skill.md", TOOLS, PLUGIN):
            continue
        if not Path(real, name).resolve().is_relative_to(real):
            out.append(f"{shown(name)} (to {link_target(f'{real}{os.sep}{name}')})")
    if not out:
        return []
    listed = ", ".join(out[:3]) + (f" and {len(out) - 3} more" if len(out) > 3 else "")
    message = f"links lead out of the skill's folder and are not part of it: {listed}"
    return [Diagnostic("warning", message, "copy what they name")]


def _about_code(
    code: _Content, toolfile: ToolFile, known_tools: Collection[str], *, whole: bool
) -> list[Diagnostic]:
    """What is off about a tools.py; what would make every load of it fail is an error here."""
    if code.problem or toolfile.problem:
        problem = code.problem or toolfile.problem
        return [Diagnostic("error", problem, code.fix or "mend the file, or remove it")]
    problems: list[Diagnostic] = []
    if not whole:
        message = "the folder is too large for its hash to cover the code in it"
        problems.append(Diagnostic("error", message, "keep data out of a skill with a tools.py"))
    for lack in toolfile.unfit:
        message = f"tools.py: {lack}, which a tool needs"
        problems.append(Diagnostic("error", message, "add it, or take @tool away"))
    if not toolfile.names:
        lacking = f" ({'; '.join(toolfile.left_out[:3])})" if toolfile.left_out else ""
        message = f"tools.py defines no tool{lacking}"
        fix = "a tool is a public function with types and a docstring"
        problems.append(Diagnostic("warning", message, fix))
    for name in toolfile.names:
        if name in known_tools:
            message = f"tools.py: {name} is the name of a built-in tool"
            problems.append(Diagnostic("error", message, "rename the function"))
        elif not TOOL_NAME.fullmatch(name):
            message = f"tools.py: {shown(name)} cannot be a tool's name"
            problems.append(Diagnostic("error", message, "use letters, digits and underscores"))
        elif our_name(name, known_tools):
            message = f"tools.py: {name} reads like the built-in tool {our_name(name, known_tools)}"
            problems.append(Diagnostic("warning", message, "choose a name of its own"))
    for line in toolfile.asks:
        message = f"tools.py, line {line}: input() cannot be used in a tool"
        problems.append(Diagnostic("warning", message, "make it a parameter"))
    return problems
