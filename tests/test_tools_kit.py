"""The kit of the built-in tools' tests, and the tests of what all of these tools share."""

from __future__ import annotations

import asyncio
import os
import shutil
import subprocess
import sys
import tempfile
import threading
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import TypeVar

import pytest

from agent_magics.errors import ToolError
from agent_magics.messages import Display
from agent_magics.notebook import NoNotebook
from agent_magics.ports import CodeOutput
from agent_magics.tool import Tool, ToolOutput
from agent_magics.tools import (
    CELL_MAKERS,
    KERNEL_MAKERS,
    MAKERS,
    NOTEBOOK_MAKERS,
    PROPOSAL_MAKERS,
    WEB_MAKERS,
    builtin_tools,
)
from agent_magics.tools.blocking import in_thread
from agent_magics.tools.checking import check
from agent_magics.tools.delegating import Delegation
from agent_magics.tools.discretion import discreet
from agent_magics.tools.web.pages import Web
from agent_magics.tools.workspace import Workspace

T = TypeVar("T")
SECRET = "MY_API_KEY=sk-verysecretvalue123"


@dataclass
class FakeKernel:
    """Gives what it was told to give, and remembers the code."""

    output: CodeOutput = field(default_factory=lambda: CodeOutput(ok=True))
    codes: list[str] = field(default_factory=list)
    variables: dict[str, object] = field(default_factory=dict)
    seconds: list[float] = field(default_factory=list)

    async def run_code(self, code: str, seconds: float = 0) -> CodeOutput:
        self.codes.append(code)
        self.seconds.append(seconds)
        return self.output

    def names(self) -> Mapping[str, object]:
        return self.variables

    async def on_main(self, job: Callable[[], T]) -> T:
        return job()


@contextmanager
def powerless() -> Iterator[Path]:
    """A folder of our own, as a user whom modes of files concern: root is nobody meanwhile."""
    folder = Path(tempfile.mkdtemp())
    root = os.geteuid() == 0
    if root:
        os.chown(folder, 65534, 65534)
        os.seteuid(65534)
    try:
        yield folder
    finally:
        if root:
            os.seteuid(0)
        for closed in folder.rglob("*"):
            if closed.is_dir() and not closed.is_symlink():
                closed.chmod(0o700)
        shutil.rmtree(folder)


class Kit:
    """A workspace with all tools, used as the loop uses them: checked, judged, previewed, run."""

    def __init__(
        self, root: Path, readable: Iterable[Path] = (), kernel: FakeKernel | None = None
    ) -> None:
        self.root = root
        self.kernel = kernel or FakeKernel()
        self.workspace = Workspace(lambda: self.root, lambda: readable, lambda: [SECRET])
        # As a turn gets them.
        self.tools = {
            tool.name: discreet(tool, self.workspace.redactor)
            for tool in builtin_tools(self.workspace, self.kernel)
        }
        self.live: list[str] = []

    def tool(self, name: str) -> Tool:
        return self.tools[name]

    def preview(self, name: str, **arguments: object) -> tuple[Display, ...]:
        problem = check(self.tool(name).parameters, arguments)
        assert not problem, problem
        return self.tool(name).preview(arguments)

    def run(self, name: str, **arguments: object) -> ToolOutput:
        problem = check(self.tool(name).parameters, arguments)
        assert not problem, problem

        async def run() -> ToolOutput:
            return await self.tool(name).run(arguments, self.live.append)

        return asyncio.run(run())

    def text(self, name: str, **arguments: object) -> str:
        output = self.run(name, **arguments)
        assert output.ok, output.text
        return output.text

    def refusal(self, name: str, **arguments: object) -> str:
        with pytest.raises(ToolError) as caught:
            self.run(name, **arguments)
        return str(caught.value)

    def outside(self, name: str, **arguments: object) -> bool:
        return self.tool(name).facts(arguments).outside

    def file(self, name: str, content: str | bytes = "") -> Path:
        path = self.root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(content.encode() if isinstance(content, str) else content)
        return path


@pytest.fixture
def kit(tmp_path: Path) -> Kit:
    return Kit(tmp_path)


def test_python_and_variables_need_a_kernel(tmp_path):
    workspace = Workspace(lambda: tmp_path)
    names = [tool.name for tool in builtin_tools(workspace, FakeKernel())]
    assert len(names) == len(set(names))
    assert [tool.name for tool in builtin_tools(workspace)] == names[:-3]
    assert names[-3:] == ["propose_cell", "python", "variables"]


def test_a_tool_is_one_function_and_one_name_in_a_table(tmp_path):
    workspace = Workspace(lambda: tmp_path)
    made = [
        *(make(workspace) for make in MAKERS),
        *(make(workspace, NoNotebook()) for make in NOTEBOOK_MAKERS),
        *(make(workspace, Web()) for make in WEB_MAKERS),
        *(make(workspace, Delegation()) for make in CELL_MAKERS),
        *(make(FakeKernel(), NoNotebook()) for make in PROPOSAL_MAKERS),
        *(make(workspace, FakeKernel()) for make in KERNEL_MAKERS),
    ]
    built = builtin_tools(workspace, FakeKernel())
    assert [t.name for t in made] == [t.name for t in built]


@pytest.mark.parametrize(
    "name",
    ["ls", "glob", "read", "grep", "write", "edit", "delete", "move", "run_shell", "fetch"],
)
def test_a_schema_is_closed_and_each_argument_is_described(tmp_path, name):
    schema = Kit(tmp_path).tool(name).parameters
    assert schema["additionalProperties"] is False
    assert all(part.get("description") for part in schema["properties"].values())
    assert set(schema["required"]) <= set(schema["properties"])


def test_the_first_line_of_each_description_stands_alone_and_is_short(tmp_path):
    for tool in Kit(tmp_path).tools.values():
        first = tool.description.split("\n")[0]
        assert first.endswith((".", ":"))
        assert len(first) <= 120


def test_looking_is_allowed_by_default_and_changing_and_running_are_not(tmp_path):
    effects = {name: tool.effect for name, tool in Kit(tmp_path).tools.items()}
    assert effects == {
        **dict.fromkeys(("ls", "glob", "read", "grep", "variables"), "read"),
        **dict.fromkeys(("notebook_outline", "notebook_read"), "read"),
        **dict.fromkeys(("write", "edit", "move", "notebook_edit"), "write"),
        "delete": "delete",
        **dict.fromkeys(("run_shell", "python"), "run"),
        **dict.fromkeys(("todo", "delegate", "propose_cell"), "control"),
        "fetch": "fetch",
    }


def test_facts_of_impossible_arguments_never_raise(tmp_path):
    kit = Kit(tmp_path)
    for path in ("", "\0", "x" * 5000, "\ud800", "a\nb", "~nobody/x", "*/../x"):
        for name in ("ls", "read", "grep", "write", "edit"):
            kit.tool(name).facts({"path": path, "pattern": "x"})
            kit.tool(name).scopes({"path": path, "pattern": "x"})
        for name, path_names in (("delete", ("path",)), ("move", ("source", "destination"))):
            arguments = dict.fromkeys(path_names, path)
            kit.tool(name).facts(arguments)
            kit.tool(name).scopes(arguments)
        kit.tool("glob").facts({"pattern": path})
        kit.tool("glob").scopes({"pattern": path})


def test_no_tool_lets_a_secret_of_the_environment_out(tmp_path):
    value = SECRET.split("=")[1]
    output = CodeOutput(ok=True, stdout=value, value=value, error=value)
    kit = Kit(tmp_path, kernel=FakeKernel(output))
    kit.file("a.txt", f"key = {value}\n")
    texts = [
        kit.text("read", path="a.txt"),
        kit.text("grep", pattern="key"),
        kit.text("run_shell", command="cat a.txt"),
        kit.text("python", code="key"),
        kit.preview("edit", path="a.txt", old="key", new="token")[0].text,
    ]
    for text in texts:
        assert value not in text
        assert "[redacted MY_API_KEY]" in text


def test_a_secret_is_not_destroyed_by_writing_back_what_stands_for_it(tmp_path):
    kit = Kit(tmp_path)
    path = kit.file("a.txt", "key = sk-verysecretvalue123\nport = 1\n")
    kit.text("read", path="a.txt")
    content = "key = [redacted MY_API_KEY]\nport = 2\n"
    assert "destroy" in kit.refusal("write", path="a.txt", content=content)
    kit.text("edit", path="a.txt", old="port = 1", new="port = 2")
    assert path.read_text() == "key = sk-verysecretvalue123\nport = 2\n"


def test_every_result_can_be_sent_to_a_server(tmp_path):
    kit = Kit(tmp_path)
    kit.file("a.txt", b"x" * 9000 + b"\0 \xff\xfe end\n")
    text = kit.text("read", path="a.txt")
    text.encode("utf-8")
    assert "\0" not in text


def test_blocking_work_does_not_keep_an_interrupt_waiting_and_learns_of_it():
    begun, told = threading.Event(), threading.Event()

    def work(stop: Callable[[], bool]) -> None:
        begun.set()
        while not stop():
            told.wait(0.001)
        told.set()

    async def interrupted() -> None:
        task = asyncio.create_task(in_thread(work))
        await asyncio.to_thread(begun.wait, 30)
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task

    asyncio.run(interrupted())
    assert told.is_set()


def test_an_error_of_the_operating_system_is_told_in_words():
    def work(_stop: Callable[[], bool]) -> None:
        Path("/nowhere/at/all.txt").read_bytes()

    with pytest.raises(ToolError, match=r"^all\.txt: No such file or directory\.$"):
        asyncio.run(in_thread(work))


def test_importing_the_tools_imports_nothing_heavy():
    """Loading the extension must not cost a second; each of these waits for its first use."""
    code = "import sys, agent_magics.tools; print(*sys.modules)"
    run = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    heavy = {"openai", "IPython", "ipywidgets", "nbformat", "jsonschema", "pathspec", "markdown_it"}
    assert heavy.isdisjoint(run.stdout.split())
