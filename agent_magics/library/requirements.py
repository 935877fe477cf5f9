"""Packages that a skill's code needs, by its syntax trees, before anything of it runs.

Follows imports into the files beside `tools.py`. What stands in a function, under a condition, or
in a `try` that expects it to fail is not needed for the import.
"""

from __future__ import annotations

import ast
import importlib.machinery
import importlib.util
import sys
import warnings
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from types import MappingProxyType

from agent_magics.library.toolfile import MAX_SOURCE

MAX_FILES = 100
"""Files of one skill whose imports are followed."""
_DISTRIBUTIONS: Mapping[str, str] = MappingProxyType(
    {
        "attr": "attrs",
        "Bio": "biopython",
        "Crypto": "pycryptodome",
        "OpenSSL": "pyopenssl",
        "PIL": "pillow",
        "bs4": "beautifulsoup4",
        "cv2": "opencv-python",
        "dateutil": "python-dateutil",
        "docx": "python-docx",
        "dotenv": "python-dotenv",
        "fitz": "pymupdf",
        "git": "gitpython",
        "jose": "python-jose",
        "jwt": "pyjwt",
        "magic": "python-magic",
        "pptx": "python-pptx",
        "serial": "pyserial",
        "skimage": "scikit-image",
        "sklearn": "scikit-learn",
        "slugify": "python-slugify",
        "usb": "pyusb",
        "yaml": "pyyaml",
        "zmq": "pyzmq",
    }
)
"""Packages whose name to import is not the name to install."""
_EXPECTED = frozenset({"ImportError", "ModuleNotFoundError", "Exception", "BaseException"})


def distribution(module: str) -> str:
    """What to install for a module."""
    return _DISTRIBUTIONS.get(module, module.replace("_", "-"))


def install_line(modules: Iterable[str]) -> str:
    """The line that installs what some modules come from."""
    return f"%pip install {' '.join(dict.fromkeys(distribution(name) for name in modules))}"


def missing_packages(root: Path, name: str = "tools") -> tuple[str, ...]:
    """Top-level modules that a skill's code imports and that are not installed, in order.

    Args:
        root: The skill's folder, by its real path.
        name: The module that is imported first.
    """
    needed: dict[str, None] = {}
    waiting, seen = [name], {name}
    while waiting and len(seen) <= MAX_FILES:
        module = waiting.pop(0)
        for imported, relative in _imports(_source(root, module), module):
            if _is_beside(root, imported):
                if imported not in seen:
                    seen.add(imported)
                    waiting.append(imported)
            elif not relative:
                needed.setdefault(imported.partition(".")[0])
    return tuple(name for name in needed if not _installed(name))


def _source(root: Path, module: str) -> bytes:
    path = root.joinpath(*module.split("."))
    for file in (path / "__init__.py", path.with_name(f"{path.name}.py")):
        try:
            if file.is_file() and file.stat().st_size <= MAX_SOURCE:
                return file.read_bytes()
        except OSError:
            continue
    return b""


def _imports(source: bytes, module: str) -> Iterator[tuple[str, bool]]:
    """What a file imports while it is imported itself: dotted names, and whether with a dot."""
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            tree = ast.parse(source)
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return  # the import says so, with the line
    for node in _run(tree.body):
        match node:
            case ast.Import(names=names):
                for alias in names:
                    yield from ((name, False) for name in _prefixes(alias.name))
            case ast.ImportFrom(module=name, names=names, level=level):
                # In a package's own file one dot means the package, else what it lies in.
                for start in (module, module.rpartition(".")[0]) if level else ("",):
                    for alias in names:
                        full = ".".join(part for part in (start, name, alias.name) if part)
                        yield from ((part, bool(level)) for part in _prefixes(full))
            case _:
                pass


def _prefixes(name: str) -> Iterator[str]:
    """`a`, `a.b`, `a.b.c`: each is imported in turn."""
    parts = name.split(".")
    return (".".join(parts[: number + 1]) for number in range(len(parts)))


def _run(body: Sequence[ast.stmt]) -> Iterator[ast.stmt]:
    """The statements that surely run at the import and have to work."""
    for node in body:
        match node:
            case ast.Try(handlers=handlers) if any(_expects(h.type) for h in handlers):
                yield from _run(node.finalbody)
            case ast.Try() | ast.TryStar():
                yield from _run([*node.body, *node.orelse, *node.finalbody])
            case ast.With() | ast.ClassDef():
                yield from _run(node.body)
            case _:
                yield node


def _expects(kind: ast.expr | None) -> bool:
    """Whether an `except` takes a missing module."""
    match kind:
        case None:
            return True
        case ast.Name(id=name) | ast.Attribute(attr=name):
            return name in _EXPECTED
        case ast.Tuple(elts=kinds):
            return any(_expects(each) for each in kinds)
        case _:
            return False


def _is_beside(root: Path, module: str) -> bool:
    """Whether a file or folder of the skill may be meant; the import decides in the end."""
    top = module.partition(".")[0]
    if top in sys.stdlib_module_names:
        return False
    path = root / top
    try:
        return path.with_name(f"{top}.py").is_file() or path.is_dir()
    except (OSError, ValueError):
        return False


def _installed(name: str) -> bool:
    """Whether a top-level module can be found, without importing it."""
    if name in sys.modules or name in sys.stdlib_module_names:
        return True
    try:
        return importlib.util.find_spec(name) is not None
    except Exception:  # noqa: BLE001 - finders of others; the import itself decides then
        return True
