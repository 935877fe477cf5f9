"""Functions under `@tool`, by the syntax tree, under whatever name the decorator was imported.

Sees `from agent_magics import tool [as …]` and `import agent_magics [as …]`. What is made in other
ways shows at the import.
"""

from __future__ import annotations

import ast
from collections.abc import Iterable
from dataclasses import dataclass
from typing import TypeAlias

Function: TypeAlias = "ast.FunctionDef | ast.AsyncFunctionDef"


@dataclass(frozen=True, slots=True)
class Marked:
    """What the decorator above a function says, as far as it is written out.

    Args:
        name: Of the tool: its own, or the function's.
        described: Whether there is a description beside the docstring.
    """

    name: str
    described: bool = False


def marked_functions(tree: ast.Module, functions: Iterable[Function]) -> dict[str, Marked]:
    """The functions under `@tool`, by their names in the file."""
    direct, packages = _imported(tree)
    if not direct and not packages:
        return {}

    def is_tool(decorator: ast.expr) -> bool:
        match decorator:
            case ast.Name(id=name):
                return name in direct
            case ast.Attribute(value=ast.Name(id=name), attr="tool"):
                return name in packages
            case _:
                return False

    found: dict[str, Marked] = {}
    for function in functions:
        for decorator in function.decorator_list:
            if is_tool(decorator):
                found[function.name] = Marked(function.name)
            elif isinstance(decorator, ast.Call) and is_tool(decorator.func):
                found[function.name] = _marked(function.name, decorator)
    return found


def _imported(tree: ast.Module) -> tuple[set[str], set[str]]:
    """The names that the decorator has in a file, and those that the package has."""
    direct: set[str] = set()
    packages: set[str] = set()
    for node in ast.walk(tree):
        match node:
            case ast.ImportFrom(module="agent_magics", names=names, level=0):
                direct.update(a.asname or a.name for a in names if a.name == "tool")
            case ast.Import(names=names):
                packages.update(a.asname or a.name for a in names if a.name == "agent_magics")
            case _:
                pass
    return direct, packages


def _marked(name: str, call: ast.Call) -> Marked:
    described = False
    for keyword in call.keywords:
        match keyword:
            case ast.keyword(arg="name", value=ast.Constant(value=str(given))) if given:
                name = given
            case ast.keyword(arg="description"):
                described = True
            case _:
                pass
    return Marked(name, described)
