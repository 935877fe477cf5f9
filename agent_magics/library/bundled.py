"""The tools that a skill brings: functions of its `tools.py`, imported when a person asks for it.

All or nothing: a skill whose code cannot be imported whole brings no tool. Who may import which
skill's code is decided before; calls are judged and approved by the loop like any other.
"""

from __future__ import annotations

import inspect
import re
from collections.abc import Callable, Collection, Sequence
from pathlib import Path
from types import ModuleType
from typing import Any

from agent_magics.errors import SkillError
from agent_magics.importing import alone
from agent_magics.library.calling import Call, place, relative_name, said
from agent_magics.library.folder import TOOLS, unchanged
from agent_magics.library.isolation import SkillModules
from agent_magics.library.requirements import install_line, missing_packages
from agent_magics.library.signatures import Signature, signature_of
from agent_magics.library.toolfile import TOOL_NAME, read_toolfile
from agent_magics.marking import mark_of
from agent_magics.skill import Skill
from agent_magics.skill.naming import shown
from agent_magics.tool import Arguments, Tool


def function_names(source: bytes) -> tuple[str, ...]:
    """The functions of a tools.py that would become tools, by its syntax tree, without import."""
    return read_toolfile(source).names


def load_tools(
    skill: Skill, *, workspace: Callable[[], Path], builtin_names: Collection[str]
) -> tuple[Tool, ...]:
    """Import a skill's tools.py and make its functions tools; every call imports afresh.

    Functions become tools that are public, defined in the file, have a type for each parameter and
    a docstring; or exactly those that the file lists in `TOOLS` (functions or names); or those
    under `@tool`; or those in `__all__`: the first of these that there is.

    Args:
        skill: As the library gave it; the code is imported only if it still has that hash.
        workspace: The folder that a parameter `workspace: Path` gets, asked at each call.
        builtin_names: Names that no bundled tool may take.

    Returns:
        In the order of the file; empty when the skill has no tools.py.

    Raises:
        SkillError: The code cannot be imported or offers no tool; the message says where and why.
    """
    file = skill.root / TOOLS
    if not file.exists():
        return ()
    with alone():
        return _loaded(skill, file, workspace, builtin_names)


def _loaded(
    skill: Skill, file: Path, workspace: Callable[[], Path], builtin_names: Collection[str]
) -> tuple[Tool, ...]:
    _check_unchanged(skill)
    _check_packages(skill)
    modules = _modules(skill)
    functions = _exported(skill, _imported(modules, skill), file)
    tools = []
    for name, function in functions.items():
        if name in builtin_names:
            raise SkillError(
                f"{skill.name}/tools.py: {name} is the name of a built-in tool; "
                "rename the function."
            )
        if not TOOL_NAME.fullmatch(name):
            raise SkillError(
                f"{skill.name}/tools.py: {shown(name)} cannot be a tool's name; providers take "
                "letters, digits and underscores, at most 64."
            )
        with modules.present():
            tools.append(_tool(skill, name, function, workspace))
    return tuple(tools)


def _check_unchanged(skill: Skill) -> None:
    """What was looked at, and perhaps trusted, is what is imported."""
    if skill.digest and not unchanged(skill):
        raise SkillError(f"The skill {skill.name} changed on disk just now; run %use again.")


def _check_packages(skill: Skill) -> None:
    """Say at once all that is not installed, not one package at each try."""
    missing = missing_packages(skill.root.resolve())
    if missing:
        raise SkillError(_needs(f"{skill.name}/tools.py", missing))


def _needs(where: str, missing: Sequence[str]) -> str:
    if len(missing) == 1:
        what = f"the package {missing[0]}, which is not installed"
    else:
        listed = f"{', '.join(missing[:-1])} and {missing[-1]}"
        what = f"the packages {listed}, which are not installed"
    return f"{where} needs {what}:\n{install_line(missing)}"


def _modules(skill: Skill) -> SkillModules:
    slug = re.sub(r"\W", "_", skill.name)
    return SkillModules(skill.root.resolve(), f"_agent_magics_skill_{slug}_{skill.digest[:12]}")


def _imported(modules: SkillModules, skill: Skill) -> ModuleType:
    root = skill.root.resolve()
    where = f"{skill.name}/tools.py"
    try:
        return modules.module("tools")
    except SyntaxError as error:
        name = relative_name(error.filename, root) or TOOLS
        text = f"{skill.name}/{name}, line {error.lineno}: {error.msg}"
        raise SkillError(f"{text}. The skill is not loaded; mend the file.") from error
    except ModuleNotFoundError as error:
        raise SkillError(_missing(where, error)) from error
    except SystemExit as error:
        raise SkillError(
            f"{where} ended the program (SystemExit) while it was imported{place(error, root)}; "
            "a tools.py may only define functions."
        ) from error
    except BaseException as error:
        # Whatever a stranger's code raises at import, an interrupt in it included, ends the load
        # of this skill and nothing else.
        raise SkillError(f"{where} failed while it was imported: {said(error, root)}") from error


def _missing(where: str, error: ModuleNotFoundError) -> str:
    name = error.name or ""
    top = name.partition(".")[0]
    if not top.isidentifier() or name != top:
        return f"{where} cannot be imported: {shown(str(error), 200)}."
    return _needs(where, [top])


def _exported(skill: Skill, module: ModuleType, file: Path) -> dict[str, Callable[..., Any]]:
    """The functions that become tools, by name."""
    if module.__dict__.get("TOOLS") is not None:
        return _listed(skill, module, module.__dict__["TOOLS"], "TOOLS")
    marked = _marked(skill, module)
    if marked:
        return marked
    if module.__dict__.get("__all__") is not None:
        return _listed(skill, module, module.__dict__["__all__"], "__all__")
    found = read_toolfile(file.read_bytes())
    functions = {
        name: function
        for name in found.names
        if callable(function := getattr(module, name, None))
        and getattr(function, "__module__", "") == module.__name__
    }
    if functions:
        return functions
    lacking = f" ({'; '.join(found.left_out[:3])})" if found.left_out else ""
    raise SkillError(
        f"{skill.name}/tools.py defines no tool{lacking}. A tool is a public function with a type "
        "for each parameter and a docstring."
    )


def _marked(skill: Skill, module: ModuleType) -> dict[str, Callable[..., Any]]:
    """The functions of the file that are under `@tool`, by the names of their tools."""
    functions: dict[str, Callable[..., Any]] = {}
    for attribute, value in list(module.__dict__.items()):
        mark = mark_of(value)
        if mark is None or getattr(value, "__module__", "") != module.__name__:
            continue
        name = mark.name or attribute
        if functions.setdefault(name, value) is not value:
            raise SkillError(f"{skill.name}/tools.py has two tools named {shown(name)}.")
    return functions


def _listed(
    skill: Skill, module: ModuleType, chosen: object, key: str
) -> dict[str, Callable[..., Any]]:
    where = f"{skill.name}/tools.py"
    if not isinstance(chosen, (list, tuple)) or not chosen:
        raise SkillError(f"{where}: {key} is to be a list of functions.")
    functions: dict[str, Callable[..., Any]] = {}
    for item in chosen:
        function = getattr(module, item, None) if isinstance(item, str) else item
        name = item if isinstance(item, str) else getattr(item, "__name__", "")
        if not callable(function) or inspect.isclass(function) or not name:
            raise SkillError(f"{where} lists {shown(str(item))}, which is no function in it.")
        mark = mark_of(function)
        name = (mark and mark.name) or name
        if name in functions:
            raise SkillError(f"{where} lists two tools named {name}.")
        functions[name] = function
    return functions


def _tool(
    skill: Skill, name: str, function: Callable[..., Any], workspace: Callable[[], Path]
) -> Tool:
    try:
        mark = mark_of(function)
        signature = signature_of(function, mark.description if mark is not None else "")
    except SkillError as error:
        raise SkillError(f"{skill.name}/tools.py: {error}.") from error
    return Tool(
        name=name,
        description=signature.description,
        parameters=signature.parameters,
        effect="bundled",
        run=Call(function, signature, workspace, skill.root.resolve()).run,
        skill=skill.name,
        operand=_operand(signature),
    )


def _operand(signature: Signature) -> Callable[[Arguments], str]:
    """The first text among the arguments: a path or a query, most often."""
    texts = [
        name
        for name, schema in signature.parameters["properties"].items()
        if schema.get("type") == "string"
    ]

    def operand(arguments: Arguments) -> str:
        value = arguments.get(texts[0]) if texts else None
        return value if isinstance(value, str) else ""

    return operand
