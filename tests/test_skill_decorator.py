"""`@tool` in a skill's tools.py, and what is said of packages that the file needs."""

from __future__ import annotations

import asyncio
import importlib.util
import os
import subprocess
import sys
from pathlib import Path

import pytest

import agent_magics
from agent_magics.errors import SkillError
from agent_magics.library.bundled import function_names, load_tools
from agent_magics.library.discovery import Library, Place
from agent_magics.library.requirements import missing_packages
from agent_magics.marking import Mark, mark_of, tool
from agent_magics.skill import Skill
from agent_magics.tool import Tool
from tests.shellkit import magic, skill

pytest_plugins = ["tests.shellkit_fixtures"]

FILE = '''
from __future__ import annotations
import functools
from pathlib import Path
from agent_magics import tool
import agent_magics as am

def helper(text: str) -> str:
    """No tool, since others are marked."""
    return text.upper()

@tool
def loud(text: str) -> str:
    """Say it loud.

    Args:
        text: What to say.
    """
    return helper(text)

@am.tool(name="later", description="Say it later.")
async def _wait(text: str, times: int = 1) -> str:
    """Not this.

    Args:
        times: How often.
    """
    return text * times

def kept(function):
    @functools.wraps(function)
    def inner(*args, **named):
        return function(*args, **named) + "!"
    return inner

@tool()
@kept
def shout(workspace: Path, text: str) -> str:
    """Shout."""
    return text
'''


def written(root: Path, source: str, **files: str) -> Skill:
    root.mkdir(parents=True, exist_ok=True)
    (root / "SKILL.md").write_text("---\nname: s\ndescription: d\n---\nDo.\n", encoding="utf-8")
    (root / "tools.py").write_text(source, encoding="utf-8")
    for name, text in files.items():
        (root / name).parent.mkdir(parents=True, exist_ok=True)
        (root / name).write_text(text, encoding="utf-8")
    return Skill("s", root=root, origin="user")


def load(root: Path, source: str, **files: str) -> dict[str, Tool]:
    found = load_tools(
        written(root, source, **files), workspace=lambda: root, builtin_names=("read",)
    )
    return {tool.name: tool for tool in found}


def refusal(root: Path, source: str, **files: str) -> str:
    with pytest.raises(SkillError) as caught:
        load(root, source, **files)
    return str(caught.value)


def call(tool: Tool, **arguments) -> str:
    return asyncio.run(tool.run(arguments, lambda _: None)).text


def test_exactly_the_marked_functions_are_tools_before_and_after_the_import(tmp_path):
    assert function_names(FILE.encode()) == ("loud", "later", "shout")
    assert list(load(tmp_path, FILE)) == ["loud", "later", "shout"]


def test_marked_functions_run_plain_and_awaited_and_through_other_decorators(tmp_path):
    tools = load(tmp_path, FILE)
    assert call(tools["loud"], text="a") == "A"
    assert call(tools["later"], text="a", times=2) == "aa"
    assert call(tools["shout"], text="a") == "a!"


def test_a_description_stands_in_for_the_docstring_and_its_arguments_still_count(tmp_path):
    later = load(tmp_path, FILE)["later"]
    assert later.description == "Say it later."
    assert later.parameters["properties"]["times"]["description"] == "How often."
    assert list(load(tmp_path, FILE)["shout"].parameters["properties"]) == ["text"]


@pytest.mark.parametrize(
    "source",
    [
        'from agent_magics import tool\n@tool\ndef a() -> str:\n    "A."\n',
        'from agent_magics import tool as t\n@t\ndef a() -> str:\n    "A."\n',
        'from agent_magics import tool\n@tool(name="a")\ndef x() -> str:\n    "A."\n',
        'from agent_magics import tool\n@tool(description="A.")\ndef a() -> str: ...\n',
        'import agent_magics\n@agent_magics.tool\ndef a() -> str:\n    "A."\n',
        'import agent_magics as m\n@m.tool(name="a")\nasync def x() -> str:\n    "A."\n',
        "try:\n    from agent_magics import tool\nexcept ImportError:\n    tool = lambda f: f\n"
        '@tool\ndef a() -> str:\n    "A."\n',
    ],
)
def test_the_decorator_is_seen_in_each_way_of_importing_it(tmp_path, source):
    more = 'def other(text: str) -> str:\n    "Other."\n'
    assert function_names((source + more).encode()) == ("a",)
    assert list(load(tmp_path, source + more)) == ["a"]


def test_another_decorator_of_that_name_is_not_ours(tmp_path):
    source = 'def tool(f):\n    return f\n@tool\ndef a() -> str:\n    "A."\n'
    assert function_names(source.encode()) == ("a",)
    assert "tool" not in load(tmp_path, source)


def test_a_list_goes_before_the_marks_and_marks_before_all(tmp_path):
    marked = 'from agent_magics import tool\n@tool(name="x")\ndef a() -> str:\n    "A."\n'
    plain = 'def b() -> str:\n    "B."\n'
    for line, names in (("TOOLS = [a, b]", ["x", "b"]), ("__all__ = ['b']", ["x"])):
        source = f"{marked}{plain}{line}\n"
        assert list(function_names(source.encode())) == names
        assert list(load(tmp_path, source)) == names


def test_what_is_marked_in_a_file_beside_it_and_only_imported_is_no_tool(tmp_path):
    source = (
        'from helper import b\nfrom agent_magics import tool\n@tool\ndef a() -> str:\n    "A."\n'
    )
    helper = 'from agent_magics import tool\n@tool\ndef b() -> str:\n    "B."\n'
    assert list(load(tmp_path, source, **{"helper.py": helper})) == ["a"]


@pytest.mark.parametrize(
    ("function", "message"),
    [
        ("@tool\ndef a(b): 'A.'\n", "the parameter b has no type"),
        ("@tool\ndef a(b: str): ...\n", "a has no docstring"),
        ("@tool\ndef a(*b: str): 'A.'\n", "takes *b"),
        ("@tool(name='read')\ndef a(b: str): 'A.'\n", "read is the name of a built-in tool"),
        ("@tool(name='no way')\ndef a(b: str): 'A.'\n", "no way cannot be a tool's name"),
        ("@tool\ndef a(): 'A.'\n@tool(name='a')\ndef b(): 'B.'\n", "two tools named a"),
        ("@tool('a')\ndef a(): 'A.'\n", "@tool goes above a function"),
        ("@tool\nclass A:\n    'A.'\n", "@tool goes above a function"),
        ("@tool(name=3)\ndef a(): 'A.'\n", "takes texts"),
    ],
)
def test_a_marked_function_that_cannot_be_a_tool_is_refused_with_the_reason(
    tmp_path, function, message
):
    assert message in refusal(tmp_path, f"from agent_magics import tool\n{function}")


@pytest.mark.parametrize(
    ("function", "message"),
    [
        ("@tool\ndef a(b): 'A.'\n", "a has no type for b, which a tool needs"),
        ("@tool\ndef a(b: str): ...\n", "a has no docstring"),
        ("@tool(name='read')\ndef a(b: str): 'A.'\n", "read is the name of a built-in tool"),
        ("@tool(name='no way')\ndef a(b: str): 'A.'\n", "no way cannot be a tool's name"),
    ],
)
def test_that_is_said_before_anything_runs_too(tmp_path, function, message):
    written(tmp_path / "s", f"from agent_magics import tool\n{function}")
    (entry,) = Library(lambda: [Place(tmp_path, "user")], ("read",)).entries()
    assert message in entry.skill.broken


def test_the_mark_changes_nothing_of_the_function():
    def plain(a: int) -> int:
        return a + 1

    assert tool(plain) is plain
    assert tool(name="x", description="y")(plain) is plain
    assert (plain(1), mark_of(plain)) == (2, Mark("x", "y"))
    assert mark_of(len) is None


def test_a_file_with_the_decorator_is_an_ordinary_module_outside(tmp_path):
    written(tmp_path, FILE)
    code = "import tools, asyncio; print(tools.loud('a'), asyncio.run(tools._wait('b', 2)))"
    environment = {**os.environ, "PYTHONPATH": str(Path(agent_magics.__file__).parents[1])}
    done = subprocess.run(
        [sys.executable, "-c", code], cwd=tmp_path, env=environment, capture_output=True, text=True
    )
    assert done.stdout.split() == ["A", "bb"], done.stderr


def test_the_decorator_stays_in_place_when_the_module_of_that_name_is_imported():
    code = (
        "import sys, agent_magics; before = agent_magics.tool\n"
        "from agent_magics.tool import Tool\nfrom agent_magics import tool\n"
        "print(before is tool is agent_magics.tool, sys.modules['agent_magics.tool'].Tool is Tool)"
    )
    environment = {**os.environ, "PYTHONPATH": str(Path(agent_magics.__file__).parents[1])}
    done = subprocess.run(
        [sys.executable, "-c", code], env=environment, capture_output=True, text=True, check=True
    )
    assert done.stdout.split() == ["True", "True"]


def test_a_skill_with_the_decorator_is_used_and_gone_again(shell, home, capsys):
    before = (set(sys.modules), list(sys.path), set(shell.user_ns))
    skill(home / ".agents" / "skills", "loud", tools="tools: []", code=FILE)
    magic(shell, "use", "loud")
    assert "bundled: later, loud, shout" in capsys.readouterr().out
    magic(shell, "unuse")
    after = (set(sys.modules), list(sys.path), set(shell.user_ns))
    assert (after[0] - before[0] - {"agent_magics.marking"}, after[1:]) == (set(), before[1:])


# ---- packages that are not there

NEEDS = """
from __future__ import annotations
import json, sklearn_zz, yaml_zz.deep
from typing import TYPE_CHECKING
from Bio_zz import Seq
import yaml, numpy_free
import helper
from . import other
from pack import inner
if TYPE_CHECKING:
    import typed_zz
try:
    import fast_zz
except ImportError:
    import slow_zz
try:
    import wanted_zz
finally:
    pass
try:
    import quick_zz
except (ValueError, ModuleNotFoundError):
    pass
with open(__file__):
    import with_zz

class Thing:
    import class_zz

def f() -> str:
    \"\"\"F.\"\"\"
    import late_zz
"""
BESIDE = {
    "helper.py": "import from_helper_zz, helper\n",
    "other.py": "import from_other_zz\n",
    "pack/__init__.py": "from .sister import S\n",
    "pack/inner.py": "import from_inner_zz\n",
    "pack/sister.py": "import from_sister_zz\nimport other\n",
    "numpy_free.py": "def (\n",
    "unused.py": "import unused_zz\n",
}


def test_all_missing_packages_are_found_at_once_in_all_files_that_would_run(tmp_path):
    written(tmp_path, NEEDS, **BESIDE)
    assert set(missing_packages(tmp_path)) == {
        "sklearn_zz", "yaml_zz", "Bio_zz", "wanted_zz", "with_zz", "class_zz",
        "from_helper_zz", "from_other_zz", "from_inner_zz", "from_sister_zz",
    }  # fmt: skip


def test_they_are_said_with_one_line_to_run(tmp_path):
    source = "import aa_zz, cc_zz\nfrom bb_zz.x import y\n1 / 0\n"
    assert refusal(tmp_path, source) == (
        "s/tools.py needs the packages aa_zz, cc_zz and bb_zz, which are not installed:\n"
        "%pip install aa-zz cc-zz bb-zz"
    )


def test_a_package_goes_by_the_name_to_install(tmp_path, monkeypatch):
    real = importlib.util.find_spec
    monkeypatch.setattr(
        importlib.util, "find_spec", lambda name: None if name in ("PIL", "cv2") else real(name)
    )
    monkeypatch.delitem(sys.modules, "PIL", raising=False)
    assert "%pip install pillow opencv-python" in refusal(
        tmp_path, "import PIL.Image\nimport cv2\n"
    )


def test_a_finder_that_fails_leaves_the_word_to_the_import(tmp_path, monkeypatch):
    def explode(name):
        raise ValueError(name)

    monkeypatch.setattr(importlib.util, "find_spec", explode)
    written(tmp_path, "import odd_zz\n")
    assert missing_packages(tmp_path) == ()


def test_looking_for_packages_imports_and_runs_nothing(tmp_path):
    before = set(sys.modules)
    written(tmp_path, "import this_zz, wave\nraise SystemExit\n")
    missing_packages(tmp_path)
    assert set(sys.modules) == before


def test_the_details_of_a_skill_say_what_is_missing(shell, home):
    code = 'import rd_zz\ndef f() -> str:\n    """F."""\n    return ""\n'
    skill(home / ".agents" / "skills", "chem", code=code)
    assert "rd_zz: %pip install rd-zz" in magic(shell, "skills", "chem").text
    assert "missing packages" not in magic(shell, "skills", "code-review").text
