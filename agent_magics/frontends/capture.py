"""What code prints and displays, kept instead of shown, with IPython left as it was.

Owns every temporary change to IPython and to the process that running code on the agent's behalf
needs: the streams, the display hooks, tracebacks, `input()` and `exit()`. Each is put back however
the code ends. Knows nothing of the agent.
"""

from __future__ import annotations

import base64
import builtins
import contextlib
import getpass
import io
import sys
from collections.abc import Callable, Mapping
from typing import Any, NoReturn

from agent_magics.frontends.capture_descriptors import Descriptors
from agent_magics.messages import JSON

LIMIT = 1_000_000
"""Characters of printed text that are kept, half from the start and half from the end.

A loop that prints without end must not fill the memory; what a model gets is cut far below this.
"""

NO_INPUT = (
    "input() cannot be answered in code that the agent runs. Put the value into the code, or ask "
    "the person in your answer."
)


class PrintedText(io.TextIOBase):
    """Takes what is printed to both standard streams, in its order, within a limit.

    Args:
        limit: Characters to keep.
        fileno: The descriptor for callers that insist on one.
        before: Gives, piece by piece, what others have written before this text.
    """

    encoding = "utf-8"

    def __init__(
        self,
        limit: int = LIMIT,
        fileno: Callable[[], int] | None = None,
        before: Callable[[], str] | None = None,
    ) -> None:
        super().__init__()
        self._before = before
        self._half = limit // 2
        self._head: list[str] = []
        self._head_size = 0
        self._tail: list[str] = []
        self._tail_size = 0
        self._lost = 0
        self._fileno = fileno

    def writable(self) -> bool:
        """Always."""
        return True

    def fileno(self) -> int:
        """The real stream's descriptor."""
        if self._fileno is None:
            raise io.UnsupportedOperation("fileno")
        return self._fileno()

    def write(self, text: str) -> int:
        """Keep what others wrote before, and the text."""
        if not isinstance(text, str):
            raise TypeError(f"write() argument must be str, not {type(text).__name__}")
        if self._before is not None:
            for piece in iter(self._before, ""):
                self.keep(piece)
        self.keep(text)
        return len(text)

    def keep(self, text: str) -> None:
        """Keep the text, or as much of it as the limit allows."""
        room = self._half - self._head_size
        head, rest = text[:room], text[room:]
        if head:
            self._head.append(head)
            self._head_size += len(head)
        if rest:
            self._tail.append(rest)
            self._tail_size += len(rest)
            if self._tail_size > 2 * self._half:
                self._drop()

    def _drop(self) -> None:
        kept = "".join(self._tail)[-self._half :]
        self._lost += self._tail_size - len(kept)
        self._tail, self._tail_size = [kept], len(kept)

    @property
    def text(self) -> str:
        """What was printed, as a terminal would have it after carriage returns."""
        if self._tail_size > self._half:
            self._drop()
        lost = f"\n[… {self._lost:,} characters left out …]\n" if self._lost else ""
        whole = "".join(self._head) + lost + "".join(self._tail)
        return (
            "\n".join(_overwritten(line) for line in whole.split("\n")) if "\r" in whole else whole
        )


def _overwritten(line: str) -> str:
    """A line after its carriage returns, as progress bars use them."""
    return line.rstrip("\r").rpartition("\r")[2]


def bundle_of(data: Mapping[str, Any]) -> dict[str, JSON]:
    """A MIME bundle fit for JSON: pictures in base64, other bytes as text."""
    return {mime: _plain(mime, content) for mime, content in data.items() if content is not None}


def _plain(mime: str, content: Any) -> JSON:
    if not isinstance(content, bytes):
        return content
    if mime.startswith(("image/", "audio/", "video/", "application/pdf")):
        return base64.b64encode(content).decode("ascii")
    return content.decode(errors="replace")


class Capture:
    """What came of running code, and the changes to IPython that keep it.

    Use it so that an interrupt at any moment leaves IPython whole::

        capture = Capture(shell)
        try:
            capture.start()
            ...
        finally:
            capture.stop()

    Args:
        shell: IPython's shell.
    """

    def __init__(self, shell: Any) -> None:
        self._shell = shell
        self._undo: list[Callable[[], None]] = []
        # In a terminal the descriptors are the person's own view of the turn.
        self._descriptors = Descriptors() if getattr(shell, "kernel", None) is not None else None
        before = self._descriptors.new if self._descriptors is not None else None
        self.printed = PrintedText(fileno=getattr(sys.stdout, "fileno", None), before=before)
        """Both standard streams."""
        self.displays: list[dict[str, JSON]] = []
        """MIME bundles of `display()` and of rich values, in order."""
        self.values: list[str] = []
        """Texts of the values that IPython would have shown as results."""

    def start(self) -> None:
        """Keep from now on. The user's `_`, `Out` and `In` stay as they are.

        `input()` and `exit()` are refused: nobody is meant to answer the first, and the second
        would end the person's kernel.
        """
        from IPython.core import interactiveshell

        shell = self._shell
        self._undo.append(_notes(shell))
        if self._descriptors is not None:
            descriptors = self._descriptors
            self._undo.append(lambda: descriptors.stop(self.printed.keep))
            descriptors.start()
        for owner, name, value in (
            (sys, "stdout", self.printed),
            (sys, "stderr", self.printed),
            (sys, "stdin", io.StringIO()),
            (sys, "displayhook", self._keep_value),
            (shell.display_trap, "hook", self._keep_value),
            (shell, "display_pub", self._publisher()),
            (builtins, "input", _no_input),
            (getpass, "getpass", _no_input),
            (shell, "ask_exit", _no_exit),
            # The error is read from the result; shown, it would look like the cell's own.
            (shell, "showtraceback", _silent),
            (shell, "showsyntaxerror", _silent),
            (interactiveshell, "warn", _without_farewell(interactiveshell.__dict__["warn"])),
        ):
            self.replace(owner, name, value)
        if hasattr(shell, "_tee"):
            # IPython 9 notes each printed piece for its history, at many times the print's cost.
            self.replace(shell, "_tee", lambda channel: contextlib.nullcontext())

    def replace(self, owner: Any, name: str, value: Any) -> None:
        """Give an attribute another value until the end."""
        inherited = name not in vars(owner) and not _is_trait(owner, name)
        before = None if inherited else getattr(owner, name)

        def put_back() -> None:
            if not inherited:
                setattr(owner, name, before)
            elif name in vars(owner):
                delattr(owner, name)

        self._undo.append(put_back)
        setattr(owner, name, value)

    def stop(self) -> None:
        """Put everything back; an interrupt that comes meanwhile is raised afterwards."""
        try:
            self._put_back()
        except KeyboardInterrupt:
            self._put_back()
            raise

    def _put_back(self) -> None:
        while self._undo:
            self._undo[-1]()  # harmless twice, so it goes only when it is done
            self._undo.pop()

    def _keep_value(self, value: Any = None) -> None:
        if value is None:
            return
        data, _metadata = self._shell.display_formatter.format(value)
        self.values.append(str(data.get("text/plain", "")))
        if len(data) > 1:
            self.displays.append(bundle_of(data))

    def _publisher(self) -> Any:
        """A display publisher that keeps; updates replace what they update."""
        from IPython.core.displaypub import DisplayPublisher

        displays, slots = self.displays, dict[str, int]()

        class KeepingPublisher(DisplayPublisher):
            def publish(
                self,
                data: Mapping[str, Any],
                metadata: Mapping[str, Any] | None = None,
                source: Any = None,
                *,
                transient: Mapping[str, Any] | None = None,
                update: bool = False,
                **_others: Any,
            ) -> None:
                del metadata, source
                slot = str((transient or {}).get("display_id") or "")
                if update and slot in slots:
                    displays[slots[slot]] = bundle_of(data)
                elif not update:
                    if slot:
                        slots[slot] = len(displays)
                    displays.append(bundle_of(data))

            def clear_output(self, wait: bool = False) -> None:
                del wait
                displays.clear()
                slots.clear()

        return KeepingPublisher()


def _is_trait(owner: Any, name: str) -> bool:
    has_trait = getattr(owner, "has_trait", None)
    return bool(has_trait and has_trait(name))


def _notes(shell: Any) -> Callable[[], None]:
    """What a cell inside a cell changes of IPython's own notes, and how to put it back."""
    hook = shell.displayhook
    result, count = getattr(hook, "exec_result", None), shell.execution_count
    outputs = getattr(shell.history_manager, "outputs", None)  # IPython 9
    noted = list(outputs.get(count, ())) if outputs is not None else []
    last = (shell.last_execution_succeeded, shell.last_execution_result)

    def put_back() -> None:
        hook.exec_result = result
        shell.last_execution_succeeded, shell.last_execution_result = last
        if outputs is not None:
            outputs.pop(count, None)
            if noted:
                outputs[count] = noted

    return put_back


def _no_input(*_arguments: Any, **_options: Any) -> NoReturn:
    raise EOFError(NO_INPUT)


def _no_exit(*_arguments: Any, **_options: Any) -> NoReturn:
    raise SystemExit("exit() was called")


def _without_farewell(warn: Callable[..., None]) -> Callable[..., None]:
    """IPython tells whoever ran into an exit how to leave; here that is a model."""

    def other_warnings(message: Any, *arguments: Any, **options: Any) -> None:
        if not str(message).startswith("To exit:"):
            warn(message, *arguments, **options)

    return other_warnings


def _silent(*_arguments: Any, **_options: Any) -> None:
    return None
