"""Importing a skill's tools.py, and the files beside it, without a trace in the interpreter.

The modules get names of their own and an `__import__` of their own that looks beside them first.
So neither sys.path nor sys.meta_path is touched, two skills can both have a `helper.py`, a late
`import helper` inside a function still works, and nothing stays in sys.modules. Sources are
compiled here and never taken from `__pycache__`: what runs is what the skill's hash covers.

This is tidiness and not a sandbox: the code runs with all rights of the kernel.
"""

from __future__ import annotations

import builtins
import os
import sys
import warnings
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from types import ModuleType
from typing import Any, NoReturn

from agent_magics.library.trees import SKIPPED


class SkillModules:
    """The modules of one skill, imported from its folder on demand.

    Args:
        root: The folder, by its real path.
        package: A name that no other module has; the modules' names begin with it.
    """

    def __init__(self, root: Path, package: str) -> None:
        self._root = root
        self._package = package
        self._modules: dict[str, ModuleType] = {}
        self._builtins = {**vars(builtins), "__import__": self._import, "input": _no_input}

    def module(self, name: str) -> ModuleType:
        """Import one of the skill's modules.

        Args:
            name: Dotted, relative to the folder: `tools`, `lib.text`.

        Raises:
            ModuleNotFoundError: There is no such file.
            BaseException: Whatever the module's code raises.
        """
        with _unchanged_process(self._root):
            return self._loaded(name)

    @contextmanager
    def present(self) -> Iterator[None]:
        """While this lasts, the modules stand in sys.modules, where `typing` looks names up."""
        names = {f"{self._package}.{name}": module for name, module in self._modules.items()}
        sys.modules.update(names)
        try:
            yield
        finally:
            for name in names:
                sys.modules.pop(name, None)

    def _import(
        self,
        name: str,
        globals: Mapping[str, Any] | None = None,  # noqa: A002 - the names of `__import__`
        locals: Mapping[str, Any] | None = None,  # noqa: A002 - as above
        fromlist: Sequence[str] | None = (),
        level: int = 0,
    ) -> ModuleType:
        """What an `import` statement in the skill's files calls."""
        if level:
            name = self._absolute(name, globals or {}, level)
        elif not name or not self._is_ours(name):
            try:
                return builtins.__import__(name, globals, locals, fromlist or (), level)
            except ModuleNotFoundError as error:
                # A folder without __init__.py is a package too, but anything installed goes first.
                top = name.partition(".")[0]
                if error.name != top or not self._folder(top).is_dir():
                    raise
        module = self._loaded(name) if name else self._base()
        if not fromlist:
            return module if level else self._modules[name.partition(".")[0]]
        for item in fromlist:
            child = f"{name}.{item}" if name else item
            if not hasattr(module, item) and self._exists(child):
                setattr(module, item, self._loaded(child))
        return module

    def _loaded(self, name: str) -> ModuleType:
        parent, _, last = name.rpartition(".")
        holder = self._loaded(parent) if parent else None
        if name not in self._modules:
            self._modules[name] = self._new(name)
        if holder is not None:
            setattr(holder, last, self._modules[name])
        return self._modules[name]

    def _new(self, name: str) -> ModuleType:
        file = self._file(name)
        if file is None and not (self._folder(name).is_dir() and self._inside(self._folder(name))):
            raise ModuleNotFoundError(
                f"the skill has no module {name!r}", name=f"{self._package}.{name}"
            )
        is_package = file is None or file.name == "__init__.py"
        full = f"{self._package}.{name}"
        module = ModuleType(full)
        module.__dict__["__builtins__"] = self._builtins
        module.__package__ = full if is_package else full.rpartition(".")[0]
        if is_package:
            module.__path__ = []
        if file is None:
            return module
        module.__file__ = str(file)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", SyntaxWarning)
            warnings.simplefilter("ignore", DeprecationWarning)
            code = compile(file.read_bytes(), str(file), "exec", dont_inherit=True)
        self._modules[name] = module
        # Dataclasses look their own module up while its classes are being made.
        sys.modules[full] = module
        try:
            exec(code, module.__dict__)  # noqa: S102 - importing the skill's code is the purpose
        except BaseException:
            self._modules.pop(name, None)
            raise
        finally:
            sys.modules.pop(full, None)
        return module

    def _base(self) -> ModuleType:
        """The folder itself, for `from . import helper`."""
        module = ModuleType(self._package)
        module.__path__ = []
        return module

    def _absolute(self, name: str, globals: Mapping[str, Any], level: int) -> str:  # noqa: A002 - as above
        parts = str(globals.get("__package__", self._package)).split(".")[1:]
        if level - 1 > len(parts):
            raise ImportError("attempted relative import beyond the skill's folder")
        kept = parts[: len(parts) - (level - 1)]
        return ".".join([*kept, *([name] if name else [])])

    def _is_ours(self, name: str) -> bool:
        """Whether a file of the skill has this name; the standard library keeps its own names."""
        top = name.partition(".")[0]
        return top not in sys.stdlib_module_names and self._file(top) is not None

    def _exists(self, name: str) -> bool:
        return self._file(name) is not None or self._folder(name).is_dir()

    def _folder(self, name: str) -> Path:
        return self._root.joinpath(*name.split("."))

    def _file(self, name: str) -> Path | None:
        folder = self._folder(name)
        for file in (folder / "__init__.py", folder.with_name(f"{folder.name}.py")):
            if file.is_file() and self._inside(file):
                return file
        return None

    def _inside(self, path: Path) -> bool:
        """Whether the path is part of the skill: no link out of it, nothing that is skipped."""
        real = path.resolve()
        if not real.is_relative_to(self._root):
            return False
        return SKIPPED.isdisjoint(real.relative_to(self._root).parts)


@contextmanager
def _unchanged_process(root: Path) -> Iterator[None]:
    """Undo what importing code may do: search path, folder, modules from the skill."""
    path, folder, before = list(sys.path), _cwd(), set(sys.modules)
    try:
        yield
    finally:
        sys.path[:] = path
        for name in set(sys.modules) - before:
            file = getattr(sys.modules.get(name), "__file__", None)
            if isinstance(file, str) and Path(file).is_relative_to(root):
                sys.modules.pop(name, None)
        if folder and _cwd() != folder:
            os.chdir(folder)


def _cwd() -> str:
    try:
        return os.getcwd()  # noqa: PTH109 - may be gone, and then has no path
    except OSError:
        return ""


def _no_input(_prompt: object = "") -> NoReturn:
    raise RuntimeError("input() cannot be used in a skill's tools: make it a parameter")
