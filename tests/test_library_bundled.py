"""The tools that a skill brings: what becomes one, how it is imported, how it is called."""

from __future__ import annotations

import asyncio
import os
import sys
import threading
from pathlib import Path

import pytest

from agent_magics.errors import SkillError, ToolError
from agent_magics.library.bundled import function_names, load_tools
from agent_magics.library.discovery import Library, Place
from agent_magics.skill import Skill
from agent_magics.tool import Tool, ToolOutput

BUILTIN = ("ls", "glob", "read")


def skill(root: Path, source: str, **files: str) -> Skill:
    root.mkdir(parents=True, exist_ok=True)
    (root / "SKILL.md").write_text("---\nname: s\ndescription: d\n---\nDo.\n", encoding="utf-8")
    (root / "tools.py").write_text(source, encoding="utf-8")
    for name, text in files.items():
        path = root / name.replace("__", "/")
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")
    return Skill("s", root=root, origin="user")


def load(root: Path, source: str, **files: str) -> dict[str, Tool]:
    found = load_tools(skill(root, source, **files), workspace=lambda: root, builtin_names=BUILTIN)
    return {tool.name: tool for tool in found}


def call(tool: Tool, **arguments) -> str:
    return asyncio.run(tool.run(arguments, lambda _: None)).text


def refusal(root: Path, source: str, **files: str) -> str:
    with pytest.raises(SkillError) as caught:
        load(root, source, **files)
    return str(caught.value)


# ---- what becomes a tool

CHOICE = '''
from os import getcwd
import json

def one(path: str) -> str:
    """One."""
    return path

async def two() -> str:
    """Two."""
    return "2"

def _hidden(path: str) -> str:
    """Hidden."""

def untyped(path):
    """Untyped."""

def silent(path: str) -> str:
    return path

def spread(*paths: str) -> str:
    """Spread."""

class Thing:
    """Thing."""

if True:
    def three(a: int = 1) -> int:
        """Three."""
        return a
'''


def test_public_typed_documented_functions_of_the_file_become_tools(tmp_path):
    assert function_names(CHOICE.encode()) == ("one", "two", "three")
    assert list(load(tmp_path, CHOICE)) == ["one", "two", "three"]


@pytest.mark.parametrize("line", ["TOOLS = [two]", "TOOLS = ['two']", "__all__ = ['two']"])
def test_a_list_in_the_file_says_exactly_which(tmp_path, line):
    assert function_names(f"{CHOICE}\n{line}\n".encode()) == ("two",)
    assert list(load(tmp_path, f"{CHOICE}\n{line}\n")) == ["two"]


def test_a_listed_function_may_come_from_a_file_beside_it(tmp_path):
    source = "from helper import shared\n__all__ = ['shared']\n"
    helper = 'def shared(a: str) -> str:\n    """Shared."""\n    return a\n'
    assert function_names(source.encode()) == ("shared",)
    assert call(load(tmp_path, source, **{"helper.py": helper})["shared"], a="x") == "x"


def test_a_skill_without_tools_has_no_tools(tmp_path):
    assert load_tools(Skill("s", root=tmp_path), workspace=Path, builtin_names=()) == ()


@pytest.mark.parametrize(
    ("source", "message"),
    [
        ("x = 1\n", "s/tools.py defines no tool"),
        ("def a(b): 'A.'\n", "a has no type for b"),
        ("TOOLS = []\n", "TOOLS is to be a list of functions"),
        ("TOOLS = ['nothing']\n", "lists nothing, which is no function"),
        ("def a(b: str): 'A.'\nTOOLS = [a, 'a']\n", "lists two tools named a"),
        (
            "from typing import Literal\ndef a(b: Literal[b'x']): 'A.'\n",
            "something else than texts and numbers",
        ),
        ("TOOLS = [str]\n", "which is no function"),
        ("def a(b): 'A.'\nTOOLS = [a]\n", "a: the parameter b has no type"),
        ("def a(b: str): pass\nTOOLS = [a]\n", "a has no docstring"),
        ("def a(*b: str): 'A.'\nTOOLS = [a]\n", "takes *b"),
        ("def read(a: str):\n    'R.'\n", "read is the name of a built-in tool"),
        ("def caf\u00e9(a: str):\n    'C.'\n", "cannot be a tool's name"),
        ("def a(b: set): 'A.'\n", "the parameter b has the type set; use str, int"),
        ("def a(b: dict[int, str]): 'A.'\n", "keys other than str"),
        ("from __future__ import annotations\ndef a(b: Nope): 'A.'\n", "its types cannot be read"),
    ],
)
def test_what_cannot_be_a_tool_is_refused_with_the_reason(tmp_path, source, message):
    assert message in refusal(tmp_path, source)


# ---- the schema

RICH = '''
from __future__ import annotations
from pathlib import Path
from typing import Annotated, Any, Literal, Optional

def rich(
    workspace: Path,
    text: str,
    number: int,
    ratio: float = 0.5,
    flag: bool = False,
    names: list[str] | None = None,
    mode: Literal["a", "b"] = "a",
    old: Optional[int] = None,
    table: dict[str, float] = {},
    noted: Annotated[str, "A note."] = "",
    anything: Any = None,
    place: str = Path,
) -> str:
    """Do rich things.

    More about it, in a
    second paragraph.

    Args:
        text: The text
            over two lines: with a colon.
        number (int): How many.
        workspace: Not for the model.

    Returns:
        A text.
    """
    return f"{workspace.name} {text} {number} {names}"
'''


def test_the_schema_comes_from_the_signature_and_the_docstring(tmp_path):
    tool = load(tmp_path, RICH)["rich"]
    assert tool.description == (
        "Do rich things.\n\nMore about it, in a\nsecond paragraph.\n\nReturns:\n    A text."
    )
    assert tool.parameters["required"] == ["text", "number"]
    assert tool.parameters["additionalProperties"] is False
    assert tool.parameters["properties"] == {
        "text": {"type": "string", "description": "The text over two lines: with a colon."},
        "number": {"type": "integer", "description": "How many."},
        "ratio": {"type": "number", "default": 0.5},
        "flag": {"type": "boolean", "default": False},
        "names": {
            "anyOf": [{"type": "array", "items": {"type": "string"}}, {"type": "null"}],
            "default": None,
        },
        "mode": {"type": "string", "enum": ["a", "b"], "default": "a"},
        "old": {"anyOf": [{"type": "integer"}, {"type": "null"}], "default": None},
        "table": {
            "type": "object",
            "additionalProperties": {"type": "number"},
            "default": {},
        },
        "noted": {"type": "string", "description": "A note.", "default": ""},
        "anything": {"default": None},
        "place": {"type": "string"},
    }
    assert (tool.effect, tool.skill) == ("bundled", "s")


def test_the_workspace_is_given_and_never_asked_for(tmp_path):
    tool = load(tmp_path / "skill-folder", RICH)["rich"]
    assert call(tool, text="a", number=2) == "skill-folder a 2 None"
    assert tool.operand({"text": "a", "number": 2}) == "a"


def test_a_workspace_that_is_no_path_is_an_ordinary_parameter(tmp_path):
    tool = load(tmp_path, 'def t(workspace: str) -> str:\n    """T."""\n    return workspace\n')[
        "t"
    ]
    assert list(tool.parameters["properties"]) == ["workspace"]
    assert call(tool, workspace="x") == "x"


# ---- the import leaves no trace


def state() -> tuple[object, ...]:
    return (set(sys.modules), list(sys.path), list(sys.meta_path), Path.cwd())


NOISY = '''
import os, sys, importlib
from dataclasses import dataclass
from helper import VALUE
from package.inner import deep
from . import other
sys.path.insert(0, os.path.dirname(__file__))
direct = importlib.import_module("direct")
os.chdir(os.path.dirname(__file__))

@dataclass
class Thing:
    value: "int" = VALUE

def show() -> dict:
    """Show."""
    import late
    return {"value": Thing().value, "deep": deep, "late": late.LATE, "other": other.X,
            "module": __name__}
'''
FILES = {
    "helper.py": "from __future__ import annotations\nVALUE = 7\n",
    "late.py": "LATE = 8\n",
    "other.py": "X = 1\n",
    "direct.py": "Y = 1\n",
    "package__inner.py": "from ..helper import VALUE\nfrom .sister import S\ndeep = VALUE + S\n",
    "package__sister.py": "S = 2\n",
}


def test_an_import_leaves_modules_search_path_and_folder_as_they_were(tmp_path):
    before = state()
    tool = load(tmp_path, NOISY, **FILES)["show"]
    assert state() == before
    text = call(tool)
    assert state() == before
    assert '"value": 7, "deep": 9, "late": 8, "other": 1' in text
    assert not list(tmp_path.rglob("tools*.pyc"))


def test_a_failed_import_leaves_no_trace_either(tmp_path):
    before = state()
    assert "ZeroDivisionError" in refusal(tmp_path, f"{NOISY}\n1 / 0\n", **FILES)
    assert state() == before


def test_two_skills_with_files_of_one_name_do_not_meet(tmp_path):
    source = 'import helper\ndef v() -> int:\n    """V."""\n    return helper.V\n'
    one = load(tmp_path / "1", source, **{"helper.py": "V = 1"})["v"]
    two = load(tmp_path / "2", source, **{"helper.py": "V = 2"})["v"]
    assert (call(one), call(two), call(one)) == ("1", "2", "1")


def test_a_file_beside_tools_comes_before_a_module_of_that_name_elsewhere(tmp_path, monkeypatch):
    monkeypatch.setitem(sys.modules, "helper", type(sys)("helper"))
    before = sys.modules["helper"]
    source = 'from helper import V\ndef v() -> int:\n    """V."""\n    return V\n'
    assert call(load(tmp_path, source, **{"helper.py": "V = 3"})["v"]) == "3"
    assert sys.modules["helper"] is before


def test_a_file_named_like_the_standard_library_shadows_nothing(tmp_path):
    source = 'import json\ndef v() -> str:\n    """V."""\n    return json.dumps([1])\n'
    assert call(load(tmp_path, source, **{"json.py": "1 / 0"})["v"]) == "[1]"


def test_an_edit_is_in_force_at_the_next_load(tmp_path):
    source = 'from helper import V\ndef v() -> int:\n    """V."""\n    return {}\n'
    old = load(tmp_path, source.format("V"), **{"helper.py": "V = 1"})["v"]
    assert call(load(tmp_path, source.format("V"), **{"helper.py": "V = 2"})["v"]) == "2"
    assert call(load(tmp_path, source.format("9"), **{"helper.py": "V = 2"})["v"]) == "9"
    assert call(old) == "1"


def test_compiled_leftovers_are_never_run(tmp_path):
    source = 'from helper import V\ndef v() -> int:\n    """V."""\n    return V\n'
    load(tmp_path, source, **{"helper.py": "V = 1"})
    cache = tmp_path / "__pycache__"
    cache.mkdir()
    (cache / "evil.py").write_text("V = 666", encoding="utf-8")
    assert "No module named" in refusal(
        tmp_path, "from __pycache__.evil import V\n", **{"helper.py": "V = 1"}
    ) or "no module" in refusal(tmp_path, "from __pycache__.evil import V\n")


def test_code_behind_a_link_out_of_the_folder_is_not_imported(tmp_path):
    outside = tmp_path / "outside.py"
    outside.write_text("V = 1\n", encoding="utf-8")
    root = tmp_path / "skill"
    root.mkdir()
    (root / "helper.py").symlink_to(outside)
    assert "needs the package helper" in refusal(root, "from helper import V\n")


def test_code_that_changed_since_it_was_looked_at_is_not_imported(tmp_path):
    skill(tmp_path / "s", 'def v() -> int:\n    """V."""\n    return 1\n')
    found = Library(lambda: [Place(tmp_path, "project", tmp_path)], BUILTIN).find("s")
    assert load_tools(found, workspace=Path, builtin_names=BUILTIN)
    (found.root / "helper.py").write_text("new = 1\n", encoding="utf-8")
    with pytest.raises(SkillError, match="changed on disk just now; run %use again"):
        load_tools(found, workspace=Path, builtin_names=BUILTIN)
    (found.root / "SKILL.md").unlink()
    with pytest.raises(SkillError, match="is gone from"):
        load_tools(found, workspace=Path, builtin_names=BUILTIN)


# ---- what can go wrong at the import


@pytest.mark.parametrize(
    ("source", "message"),
    [
        (
            "import sys\nsys.exit(3)\n",
            "ended the program (SystemExit) while it was imported (tools.py:2)",
        ),
        (
            "raise KeyboardInterrupt\n",
            "failed while it was imported: KeyboardInterrupt (tools.py:1)",
        ),
        ("def a(:\n", "s/tools.py, line 1: invalid syntax"),
        ("import no_such_package_zz\n", "not installed:\n%pip install no-such-package-zz"),
        ("import sklearn_zz.x\n", "%pip install sklearn-zz"),
        ("from . import nothing\n", "cannot import name 'nothing'"),
        ("from .nothing import x\n", "cannot be imported"),
        ("from .. import x\n", "beyond the skill's folder"),
        ("import json.nothing\n", "cannot be imported"),
        ("raise ValueError('a\\n\\x1b[31mb')\n", "ValueError: a [31mb (tools.py:1)"),
        ("x = input('?')\n", "input() cannot be used in a skill's tools"),
        (
            "class E(Exception):\n    def __str__(self): 1/0\nraise E\n",
            "failed while it was imported: E",
        ),
        ("def f(): f()\nf()\n", "RecursionError"),
    ],
)
def test_a_failing_import_is_one_clear_error_and_nothing_else(tmp_path, source, message):
    assert message in refusal(tmp_path, source)


def test_a_mistake_in_a_file_beside_tools_is_placed_there(tmp_path):
    assert "s/helper.py, line 2: " in refusal(
        tmp_path, "import helper\n", **{"helper.py": "x = 1\ndef (\n"}
    )


# ---- calls


def run_error(tool: Tool, **arguments) -> str:
    with pytest.raises(ToolError) as caught:
        call(tool, **arguments)
    return str(caught.value)


CALLS = r'''
import asyncio, sys, threading
from pathlib import Path

def where() -> str:
    """Where."""
    return threading.current_thread().name

async def awaited() -> str:
    """Awaited."""
    await asyncio.sleep(0)
    return threading.current_thread().name

def value(kind: str) -> object:
    """A value.

    Args:
        kind: Which.
    """
    return {"none": None, "list": [1, "\u00e9"], "path": Path("x"), "keys": {(1, 2): 3},
            "half": "\udc80", "number": 1.5}[kind]

def fails(how: str) -> str:
    """Fail."""
    if how == "exit":
        sys.exit(3)
    if how == "interrupt":
        raise KeyboardInterrupt
    if how == "stop":
        raise StopIteration
    if how == "input":
        return input("?")
    raise ValueError("no such\nthing")

async def fails_later() -> str:
    """Fail."""
    sys.exit(3)

def placed(a: int, /, b: int = 2, *, c: int = 3) -> str:
    """Placed."""
    return f"{a}{b}{c}"
'''


@pytest.fixture
def calls(tmp_path) -> dict[str, Tool]:
    return load(tmp_path, CALLS)


def test_plain_functions_run_in_a_thread_and_coroutines_are_awaited(calls):
    assert call(calls["where"]) == "skill tool"
    assert call(calls["awaited"]) == threading.current_thread().name


@pytest.mark.parametrize(
    ("kind", "text"),
    [
        ("none", "null"),
        ("list", '[1, "\u00e9"]'),
        ("path", '"x"'),
        ("number", "1.5"),
        ("half", "\\udc80"),
    ],
)
def test_results_are_text_as_it_is_or_json(calls, kind, text):
    assert call(calls["value"], kind=kind) == text


@pytest.mark.parametrize(
    ("how", "text"),
    [
        ("value", "ValueError: no such thing (tools.py:33)"),
        ("exit", "SystemExit: 3 (tools.py:26)"),
        ("interrupt", "KeyboardInterrupt (tools.py:28)"),
        ("stop", "StopIteration (tools.py:30)"),
        ("input", "RuntimeError: input() cannot be used in a skill's tools"),
    ],
)
def test_whatever_a_call_raises_becomes_one_line_for_the_model(calls, how, text):
    assert run_error(calls["fails"], how=how).startswith(text)


def test_an_exit_in_a_coroutine_ends_the_call_and_not_the_kernel(calls):
    assert run_error(calls["fails_later"]).startswith("SystemExit: 3 (tools.py:")


def test_a_result_that_is_no_json_is_said(calls):
    assert "cannot be written as JSON" in run_error(calls["value"], kind="keys")


def test_positional_only_parameters_get_their_values(calls):
    assert call(calls["placed"], a=1, c=9) == "129"


def test_a_full_output_is_passed_on_as_it_is(tmp_path):
    source = (
        "from agent_magics.tool import ToolOutput\n"
        "def t() -> ToolOutput:\n    'T.'\n    return ToolOutput('x', ok=False)\n"
    )
    tool = load(tmp_path, source)["t"]
    assert asyncio.run(tool.run({}, lambda _: None)) == ToolOutput("x", ok=False)


def test_a_plain_function_may_return_something_to_await(tmp_path):
    source = (
        "async def late(): return 'late'\n"
        "def t() -> str:\n    'T.'\n    return late()\n"
        "def bad() -> str:\n    'T.'\n"
        "    async def fail(): raise ValueError('x')\n    return fail()\n"
    )
    tools = load(tmp_path, source)
    assert call(tools["t"]) == "late"
    assert run_error(tools["bad"]) == "ValueError: x (tools.py:7)"


def test_a_tool_may_say_an_error_in_the_products_own_words(tmp_path):
    source = (
        "from agent_magics.errors import ToolError\n"
        "def t() -> str:\n    'T.'\n    raise ToolError('Ask for less.')\n"
    )
    assert run_error(load(tmp_path, source)["t"]) == "Ask for less."


def test_a_section_for_arguments_ends_where_the_margin_begins_again(tmp_path):
    source = (
        'def t(a: str) -> str:\n    """T.\n\n    Args:\n        a: An A.\n    And more.\n    """\n'
    )
    tool = load(tmp_path, source)["t"]
    assert tool.description == "T.\n\nAnd more."
    assert tool.parameters["properties"]["a"]["description"] == "An A."


def test_an_import_works_in_a_folder_that_is_gone(tmp_path, monkeypatch):
    gone = tmp_path / "gone"
    gone.mkdir()
    monkeypatch.chdir(gone)
    gone.rmdir()
    assert call(load(tmp_path / "s", "def t() -> str:\n    'T.'\n    return 'x'\n")["t"]) == "x"


def test_an_interrupted_call_does_not_wait_for_its_thread(tmp_path):
    source = (
        "import os, threading\nBEGUN, END = threading.Event(), threading.Event()\n"
        "def begun() -> bool:\n    'B.'\n    return BEGUN.wait(10)\n"
        "def end() -> None:\n    'E.'\n    END.set()\n"
        "def slow() -> None:\n    'S.'\n    BEGUN.set()\n    END.wait(60)\n"
    )
    tools = load(tmp_path, source)

    async def turn() -> None:
        task = asyncio.create_task(tools["slow"].run({}, lambda _: None))
        await tools["begun"].run({}, lambda _: None)
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task
        running = [t for t in threading.enumerate() if t.name == "skill tool"]
        assert running
        await tools["end"].run({}, lambda _: None)
        for thread in running:
            thread.join(10)
        await asyncio.sleep(0)  # its late result finds nobody waiting

    asyncio.run(turn())


def test_a_hostile_file_runs_only_when_it_is_loaded(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    source = "open('SHOULD_NOT_EXIST', 'w')\ndef t() -> str:\n    'T.'\n    return ''\n"
    found = skill(tmp_path / "skills" / "s", source)
    assert function_names((found.root / "tools.py").read_bytes()) == ("t",)
    Library(lambda: [Place(tmp_path / "skills", "user")], BUILTIN).entries()
    assert not os.path.exists("SHOULD_NOT_EXIST")
    load_tools(found, workspace=Path, builtin_names=BUILTIN)
    assert os.path.exists("SHOULD_NOT_EXIST")


@pytest.mark.parametrize("source", [b"\xff", b"x = '\0'", b"def", b"(" * 5000, b"-" * 100_000])
def test_no_source_makes_the_look_at_it_raise(source):
    assert function_names(source) == ()
