"""A real kernel and a scripted front end for it, over the wire.

`Kernel` starts ipykernel in the tests' interpreter, or in the one that the environment variable
AGENT_MAGICS_TEST_PYTHON names. `FrontEnd` does what a notebook page does: runs cells, collects
their outputs, keeps widget models, shows views, clicks buttons, answers input boxes.
"""

from __future__ import annotations

import os
import sys
import tempfile
import time
import uuid
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import zmq
from jupyter_client import BlockingKernelClient, KernelManager
from jupyter_client.kernelspec import KernelSpec

import agent_magics

HERE = Path(__file__).resolve().parent
SOURCES = Path(agent_magics.__file__).resolve().parents[1]
"""Where the package under test is imported from: a source tree or an installed wheel."""
PYTHON = os.environ.get("AGENT_MAGICS_TEST_PYTHON", sys.executable)
WIDGET_VIEW = "application/vnd.jupyter.widget-view+json"

DEADLINE = 30.0
"""Seconds after which a test gives up; nothing here takes more than a few."""


@dataclass
class Cell:
    """One execution as a page would have it."""

    id: str
    outputs: list[dict[str, Any]] = field(default_factory=list)
    foreign: list[dict[str, Any]] = field(default_factory=list)
    reply: dict[str, Any] | None = None
    idle: bool = False
    started: bool = False

    @property
    def done(self) -> bool:
        return self.reply is not None and self.idle

    @property
    def text(self) -> str:
        """Everything a reader without HTML would see, in order."""
        return "\n".join(plain(output) for output in self.outputs)

    @property
    def displays(self) -> list[dict[str, Any]]:
        return [o for o in self.outputs if o["type"] in ("display_data", "execute_result")]

    @property
    def result(self) -> str:
        """The text of the cell's last value."""
        values = [o for o in self.outputs if o["type"] == "execute_result"]
        return values[-1]["data"]["text/plain"] if values else ""

    @property
    def error(self) -> str:
        """The name of the error that ended the cell, or nothing."""
        return self.reply.get("ename", "") if self.reply else ""


def plain(output: dict[str, Any]) -> str:
    match output["type"]:
        case "stream":
            return output["text"]
        case "error":
            return "\n".join(output["traceback"])
        case _:
            return output["data"].get("text/plain", "")


class Kernel:
    """A kernel process. Starting is tried again: ipykernel sometimes misses its first client."""

    def __init__(
        self,
        arguments: Sequence[str] = (),
        tries: int = 4,
        python: str = PYTHON,
        *,
        variables: Mapping[str, str] | None = None,
        cwd: Path | None = None,
    ) -> None:
        self.arguments = arguments
        self.python = python
        self.cwd = cwd
        self._stack = ExitStack()
        folder = Path(self._stack.enter_context(tempfile.TemporaryDirectory()))
        self.env = {
            **os.environ,
            "PYTHONPATH": os.pathsep.join([str(SOURCES), str(HERE)]),
            "IPYTHONDIR": str(folder / "ipython"),
            "JUPYTER_RUNTIME_DIR": str(folder / "runtime"),
            "JUPYTER_DATA_DIR": str(folder / "data"),
            "PYDEVD_DISABLE_FILE_VALIDATION": "1",
            **(variables or {}),
        }
        # ipykernel behaves otherwise under pytest: it leaves the process's own output alone.
        self.env.pop("PYTEST_CURRENT_TEST", None)
        for attempt in range(tries):
            try:
                self._start(folder)
                return
            except RuntimeError:
                self.manager.shutdown_kernel(now=True)
                if attempt == tries - 1:
                    raise

    def _start(self, folder: Path) -> None:
        self.manager = KernelManager()
        self.manager._kernel_spec = KernelSpec(
            argv=[
                self.python,
                "-m",
                "ipykernel_launcher",
                "-f",
                "{connection_file}",
                *self.arguments,
            ],
            display_name="test",
            language="python",
        )
        self.manager.start_kernel(env=self.env, cwd=str(self.cwd or folder))
        client = self.manager.client()
        client.start_channels()
        try:
            client.wait_for_ready(timeout=20)
        finally:
            client.stop_channels()

    @contextmanager
    def page(self, **options: Any) -> Iterator[FrontEnd]:
        """A front end with the test's extension loaded."""
        page = FrontEnd(self, **options)
        try:
            assert page.do("%load_ext kernelkit_extension").error == ""
            yield page
        finally:
            page.close()

    def interrupt(self) -> None:
        self.manager.interrupt_kernel()

    def close(self) -> None:
        self.manager.shutdown_kernel(now=True)
        self._stack.close()


class FrontEnd:
    """A page with one notebook.

    Args:
        kernel: Which it talks to.
        widgets: Whether it shows widgets.
        cell_ids: Whether it names its cells, as notebooks do and consoles do not.
        allow_stdin: Whether it has input boxes.
        deadline: Seconds that anything may take.
    """

    def __init__(
        self,
        kernel: Kernel,
        *,
        widgets: bool = True,
        cell_ids: bool = True,
        allow_stdin: bool = True,
        deadline: float = DEADLINE,
    ) -> None:
        self.kernel, self.deadline = kernel, deadline
        self.client: BlockingKernelClient = kernel.manager.client()
        # Each page has a session of its own; the manager would lend its.
        self.client.session = self.client.session.clone()
        self.client.session.session = uuid.uuid4().hex
        self.client.start_channels()
        self.client.wait_for_ready(timeout=30)
        self.widgets, self.cell_ids, self.allow_stdin = widgets, cell_ids, allow_stdin
        self.cells: dict[str, Cell] = {}
        self.models: dict[str, dict[str, Any]] = {}
        self.closed: set[str] = set()
        self.control_states: dict[str, dict[str, Any]] = {}
        self.inputs: list[dict[str, Any]] = []
        self.replies: dict[str, dict[str, Any]] = {}
        self.statuses: dict[str, list[str]] = {}
        self.log: list[tuple[str, str]] = []

    def close(self) -> None:
        self.client.stop_channels()

    # Cells

    def run(self, code: str, **options: Any) -> Cell:
        """Send a cell and come back at once."""
        content = {
            "code": code,
            "silent": False,
            "store_history": True,
            "user_expressions": {},
            "allow_stdin": options.get("allow_stdin", self.allow_stdin),
            "stop_on_error": True,
        }
        message = self.client.session.msg("execute_request", content)
        if options.get("cell_ids", self.cell_ids):
            cell_id = options.get("cell_id", f"cell-{len(self.cells)}")
            message["metadata"]["cellId"] = cell_id
        if options.get("subshell"):
            message["header"]["subshell_id"] = options["subshell"]
        cell = self.cells[message["header"]["msg_id"]] = Cell(message["header"]["msg_id"])
        self.client.shell_channel.send(message)
        return cell

    def new_subshell(self) -> str:
        """Make a subshell; gives its id, or nothing where the kernel has none."""
        facts = self.reply(self.ask("kernel_info_request", {}))
        if "kernel subshells" not in facts.get("supported_features", []):
            return ""
        made = self.ask("create_subshell_request", {}, self.client.control_channel)
        subshell = self.reply(made)["subshell_id"]
        self._until_it_answers(subshell)
        return subshell

    def _until_it_answers(self, subshell: str) -> None:
        """A request can reach a subshell's thread while it begins, and lie there unread until the
        next one; so ask again until one is answered."""
        for _ in range(int(DEADLINE)):
            asked = self.ask("kernel_info_request", {}, subshell=subshell)
            until = time.monotonic() + 1
            while asked not in self.replies and time.monotonic() < until:
                self.take(0.05)
            if asked in self.replies:
                return
        raise AssertionError("The new subshell does not answer.")

    def ask(
        self, kind: str, content: dict[str, Any], channel: Any = None, subshell: str = ""
    ) -> str:
        """Send a request; gives its message id."""
        message = self.client.session.msg(kind, content)
        if subshell:
            message["header"]["subshell_id"] = subshell
        (channel or self.client.shell_channel).send(message)
        return message["header"]["msg_id"]

    def reply(self, request: str) -> dict[str, Any]:
        """Wait for what a request is answered with."""
        return self.wait(lambda: self.replies.get(request), "a reply")["content"]

    def known_comms(self) -> dict[str, Any]:
        """What a page asks first when it loads: which widgets there are."""
        request = {"target_name": "jupyter.widget"}
        return self.reply(self.ask("comm_info_request", request))["comms"]

    def load_widgets(self) -> None:
        """What it asks then: the state of all of them."""
        comm_id = uuid.uuid4().hex
        message = self.client.session.msg(
            "comm_open",
            {"comm_id": comm_id, "target_name": "jupyter.widget.control", "data": {}},
            metadata={"version": "1.0.0"},
        )
        self.client.shell_channel.send(message)
        self.send_comm(comm_id, {"method": "request_states"})
        self.wait(lambda: self.control_states, "the widgets' states")
        self.models.update(self.control_states)

    def do(self, code: str, **options: Any) -> Cell:
        """Run a cell to its end."""
        return self.finish(self.run(code, **options))

    def finish(self, cell: Cell) -> Cell:
        self.wait(lambda: cell.done, "the end of the cell")
        return cell

    # What comes in

    def wait(self, condition: Callable[[], Any], what: str) -> Any:
        """Take messages until something is true."""
        deadline = time.monotonic() + self.deadline
        while not (value := condition()):
            if time.monotonic() > deadline:
                seen = "\n".join(cell.text for cell in self.cells.values())
                raise AssertionError(f"{what} did not come.\n{self.log[-30:]}\n{seen}")
            self.take(0.05)
        return value

    def take_for(self, seconds: float) -> None:
        """Take messages for a while; not for waiting, only to let chance choose a moment."""
        end = time.monotonic() + seconds
        while (left := end - time.monotonic()) > 0:
            self.take(left)

    def take(self, seconds: float) -> None:
        """Take what is there, waiting a little for the first."""
        channels = (
            (self.client.iopub_channel, self._on_iopub),
            (self.client.shell_channel, self._on_reply),
            (self.client.control_channel, self._on_reply),
            (self.client.stdin_channel, lambda message: self.inputs.append(message)),
        )
        poller = zmq.Poller()
        for channel, _ in channels:
            poller.register(channel.socket, zmq.POLLIN)
        ready = dict(poller.poll(int(seconds * 1000)))
        for channel, handler in channels:
            if channel.socket in ready:
                handler(channel.get_msg(timeout=1))

    def _on_reply(self, message: dict[str, Any]) -> None:
        parent = message["parent_header"].get("msg_id", "")
        self.log.append((message["msg_type"], parent))
        self.replies[parent] = message
        if message["msg_type"] == "execute_reply" and parent in self.cells:
            self.cells[parent].reply = message["content"]

    def _on_iopub(self, message: dict[str, Any]) -> None:
        kind, content = message["msg_type"], message["content"]
        parent = message["parent_header"].get("msg_id", "")
        cell = self.cells.get(parent)
        self.log.append((kind if kind != "status" else content["execution_state"], parent))
        match kind:
            case "status":
                self.statuses.setdefault(parent, []).append(content["execution_state"])
                if cell and content["execution_state"] == "idle":
                    cell.idle = True
            case "execute_input" if cell:
                cell.started = True
            case "stream" if cell:
                self._stream(cell, content)
            case "display_data" | "execute_result" | "error" if cell:
                slot = content.get("transient", {}).get("display_id")
                cell.outputs.append({"type": kind, "slot": slot, **content})
            case "update_display_data":
                self._update(content, parent)
            case "comm_open" | "comm_msg" | "comm_close":
                self._on_comm(kind, content["comm_id"], content)

    def _on_comm(self, kind: str, comm_id: str, content: dict[str, Any]) -> None:
        data = content.get("data") or {}
        if kind == "comm_close":
            self.closed.add(comm_id)
            self.models.pop(comm_id, None)
        elif kind == "comm_open" and content["target_name"] == "jupyter.widget":
            self.models[comm_id] = dict(data["state"])
        elif data.get("method") == "update" and comm_id in self.models:
            self.models[comm_id].update(data["state"])
        elif data.get("method") == "update_states":
            self.control_states = {
                model_id: {"_model_name": model["model_name"], **model["state"]}
                for model_id, model in data["states"].items()
            }

    @staticmethod
    def _stream(cell: Cell, content: dict[str, Any]) -> None:
        last = cell.outputs[-1] if cell.outputs else None
        if last and last["type"] == "stream" and last["name"] == content["name"]:
            last["text"] += content["text"]
        else:
            cell.outputs.append({"type": "stream", **content})

    def _update(self, content: dict[str, Any], parent: str) -> None:
        slot = content["transient"]["display_id"]
        for cell in self.cells.values():
            for output in cell.outputs:
                if output.get("slot") == slot:
                    output.update(data=content["data"], metadata=content["metadata"])
                    output.setdefault("parents", []).append(parent)

    # What a person does

    def interrupt(self) -> None:
        self.kernel.interrupt()

    def answer(self, text: str) -> str:
        """Answer the next input box; gives its prompt."""
        box = self.wait(lambda: self.inputs and self.inputs[0], "an input box")
        self.inputs.clear()
        self.client.input(text)
        return box["content"]["prompt"]

    def send_comm(self, comm_id: str, data: dict[str, Any], kind: str = "comm_msg") -> str:
        message = self.client.session.msg(kind, {"comm_id": comm_id, "data": data})
        self.client.shell_channel.send(message)
        return message["header"]["msg_id"]

    def set(self, comm_id: str, **state: Any) -> str:
        """Change a widget as typing in it would."""
        self.models[comm_id].update(state)
        data = {"method": "update", "state": state, "buffer_paths": []}
        return self.send_comm(comm_id, data)

    def show_views(self) -> None:
        """Say hello for everything that wants to know whether it is on screen."""
        for comm_id, state in list(self.models.items()):
            if state.get("_view_count") == 0:
                self.set(comm_id, _view_count=1)

    def card(self, cell: Cell) -> str:
        """Wait for a card in a cell; gives its widget's model."""

        def shown() -> str:
            views = [o["data"][WIDGET_VIEW] for o in cell.displays if WIDGET_VIEW in o["data"]]
            return views[-1]["model_id"] if views else ""

        return self.wait(shown, "a card")

    def model(self, name: str, **state: Any) -> str:
        """The newest open model of a kind with this state, or nothing."""
        found = [
            comm_id
            for comm_id, model in self.models.items()
            if model.get("_model_name") == name
            and all(model.get(key) == value for key, value in state.items())
        ]
        return found[-1] if found else ""

    def button(self, label: str) -> str:
        """Wait for a button that can be clicked, showing what is new meanwhile."""

        def alive() -> str:
            self.show_views()
            return self.model("ButtonModel", description=label, disabled=False)

        return self.wait(alive, f"a living button {label!r}")

    def click(self, label: str) -> str:
        """Click a button as soon as it can be; gives the click's message id."""
        return self.press(self.button(label))

    def press(self, comm_id: str) -> str:
        """Send a click, whatever the button's state."""
        return self.send_comm(comm_id, {"method": "custom", "content": {"event": "click"}})
