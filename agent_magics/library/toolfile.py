"""A skill's `tools.py` as far as its syntax tree tells. Nothing here imports or runs it."""

from __future__ import annotations

import ast
import re
import warnings
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from agent_magics.importing import alone
from agent_magics.library.decorated import Function, Marked, marked_functions

MAX_SOURCE = 1_000_000
"""Bytes of a tools.py that is looked at."""
TOOL_NAME = re.compile(r"[A-Za-z_][A-Za-z0-9_]{0,63}")
"""What providers take for a tool's name, dashes aside."""


@dataclass(frozen=True, slots=True)
class ToolFile:
    """What a tools.py would offer.

    Args:
        names: The functions that would become tools, in the order of the file.
        problem: Why Python does not take the file; empty if it does.
        asks: Lines that call `input`, which no tool can.
        left_out: Public functions that lack what a tool needs, with what they lack.
        unfit: The same for functions under `@tool`, which have to be tools.
    """

    names: tuple[str, ...] = ()
    problem: str = ""
    asks: tuple[int, ...] = ()
    left_out: tuple[str, ...] = ()
    unfit: tuple[str, ...] = ()


def read_toolfile(source: bytes) -> ToolFile:
    """What the source says. Never raises."""
    if len(source) > MAX_SOURCE:
        return ToolFile(problem=f"tools.py has more than {MAX_SOURCE:,} bytes")
    try:
        # Alone, for the filters; and CPython 3.11 fails to parse in two threads at once.
        with alone(), warnings.catch_warnings():
            # The author's escapes and comparisons are not the reader's business.
            warnings.simplefilter("ignore")
            tree = ast.parse(source, "tools.py")
    except SyntaxError as error:
        line = f"tools.py, line {error.lineno}" if error.lineno else "tools.py"
        return ToolFile(problem=f"{line}: {error.msg}")
    except (ValueError, RecursionError, MemoryError) as error:
        return ToolFile(problem=f"tools.py: Python cannot read it ({type(error).__name__})")
    functions = {node.name: node for node in _functions(tree.body)}
    marked = marked_functions(tree, functions.values())
    lists = _lists(tree)
    if "TOOLS" in lists:
        return ToolFile(
            tuple(marked[name].name if name in marked else name for name in lists["TOOLS"]),
            asks=_asks(tree),
        )
    if marked:
        unfit = {name: _lacks(functions[name], mark) for name, mark in marked.items()}
        return ToolFile(
            tuple(dict.fromkeys(mark.name for mark in marked.values())),
            asks=_asks(tree),
            unfit=tuple(f"{name} has no {lack}" for name, lack in unfit.items() if lack),
        )
    if "__all__" in lists:
        return ToolFile(lists["__all__"], asks=_asks(tree))
    lacking = {name: _lacks(node) for name, node in functions.items() if not name.startswith("_")}
    return ToolFile(
        tuple(name for name, lack in lacking.items() if not lack),
        asks=_asks(tree),
        left_out=tuple(f"{name} has no {lack}" for name, lack in lacking.items() if lack),
    )


def _lists(tree: ast.Module) -> dict[str, tuple[str, ...]]:
    """The names in `TOOLS` and `__all__`, as far as they are written out."""
    lists: dict[str, tuple[str, ...]] = {}
    for node in tree.body:
        match node:
            case ast.Assign(targets=[ast.Name(id=("TOOLS" | "__all__") as name)], value=value):
                lists[name] = _written(value)
            case ast.AnnAssign(target=ast.Name(id=("TOOLS" | "__all__") as name), value=value):
                lists[name] = _written(value)
            case _:
                pass
    return lists


def _written(value: ast.expr | None) -> tuple[str, ...]:
    if not isinstance(value, (ast.List, ast.Tuple)):
        return ()
    names: list[str] = []
    for item in value.elts:
        match item:
            case ast.Name(id=name) | ast.Constant(value=str(name)):
                names.append(name)
            case _:
                pass
    return tuple(dict.fromkeys(names))


def _functions(body: Sequence[ast.stmt]) -> Iterator[Function]:
    """Functions at the top level, those in an `if` or `try` there included."""
    for node in body:
        match node:
            case ast.FunctionDef() | ast.AsyncFunctionDef():
                yield node
            case ast.If(body=inner, orelse=other):
                yield from _functions([*inner, *other])
            case ast.Try(body=inner, handlers=handlers, orelse=other, finalbody=last):
                caught = [statement for handler in handlers for statement in handler.body]
                yield from _functions([*inner, *caught, *other, *last])
            case _:
                pass


def _lacks(node: Function, mark: Marked | None = None) -> str:
    """What a function would need to be a tool; empty if nothing."""
    arguments = node.args
    if arguments.vararg or arguments.kwarg:
        return "fixed list of parameters"
    for argument in (*arguments.posonlyargs, *arguments.args, *arguments.kwonlyargs):
        if argument.annotation is None:
            return f"type for {argument.arg}"
    described = ast.get_docstring(node) or (mark is not None and mark.described)
    return "" if described else "docstring"


def _asks(tree: ast.Module) -> tuple[int, ...]:
    return tuple(
        node.lineno
        for node in ast.walk(tree)
        if isinstance(node, ast.Call)
        and isinstance(node.func, ast.Name)
        and node.func.id == "input"
    )
