"""Messages of our own widgets, taken off a kernel's shell channel while a cell runs.

A kernel handles one shell message at a time, so a click on a button waits until the running cell
has ended, and a cell that waits for the click waits for ever. Kernel subshells cure that only for
some versions and front ends. The tap stands between the socket and the kernel: messages of comms
that it was told to watch are handed over at once, every other message goes on unchanged and in
order. It owns that and the state that it is in; it knows nothing of widgets and approvals.

It relies on these parts of ipykernel (6.29 to 7.4) and pyzmq: `kernel.shell_stream` is a
`ZMQStream` whose one receiver is `_recv_callback`; `kernel.shell_channel_thread` (7 and newer) owns
that stream, in older kernels the main thread does. `install` tests all of it.
"""

from __future__ import annotations

import contextlib
import logging
import threading
from collections import deque
from collections.abc import Callable, Iterator, Sequence
from typing import Any, TypeAlias, TypeVar

from agent_magics.frontends.tap_check import Message, Receiver, check

R = TypeVar("R")
Bystander: TypeAlias = Callable[[list[bytes], Message], bool]
"""Takes a request, with its sender, that may be answered before the kernel is free; says whether it
did. Called on the thread that owns the shell stream."""

QUESTIONS = ("kernel_info_request", "comm_info_request", "comm_open")
"""What bystanders are asked about."""

REMEMBERED = 500
"""Comms that are gone and remembered: a page's last words about a card come within seconds."""

PATIENCE = 5.0
"""Seconds within which the shell channel's thread has to answer; it answers in milliseconds."""

WATCHDOG = 0.25
"""Seconds between looks at the shell socket while a comm is watched.

ipykernel 7.0 to 7.3 can leave a request unread on the socket until the next one arrives, when a
reply is sent at the same moment (mended in 7.4).
"""

log = logging.getLogger(__name__)


class TapProblem(Exception):  # it never reaches a person as an error
    """The tap cannot work in this kernel; the text says why."""


class CommTap:
    """One kernel's tap. Made by `tapped`, so that there is never a second one.

    Args:
        kernel: A started `ipykernel` kernel.
    """

    agent_magics_tap = True
    """Tells a tap by its attribute, since a reloaded module's class is another one."""

    def __init__(self, kernel: Any) -> None:
        self.kernel = kernel
        self.users = 0
        self.bystanders: list[Bystander] = []
        self._stream = kernel.shell_stream
        self._thread: Any = getattr(kernel, "shell_channel_thread", None)
        self._watched: dict[str, Receiver] = {}
        self._gone: deque[str] = deque(maxlen=REMEMBERED)
        self._original: Callable[[Sequence[Any]], Any] | None = None
        self._ticking = False

    # Any thread ---------------------------------------------------------------------------------

    @property
    def in_place(self) -> bool:
        """Whether the shell stream's messages come here; someone else may have taken them."""
        return self._original is not None and _owner(self._stream) is self

    def watch(self, comm_id: str, receiver: Receiver) -> None:
        """Hand messages of this comm to the receiver from now on."""
        self._watched[comm_id] = receiver
        if self._thread is not None and not self._ticking:
            self._ticking = True
            self._thread.io_loop.add_callback(self._tick)

    def unwatch(self, comm_id: str) -> None:
        """Hand nothing of this comm on any more: it is gone, and a page's last words end here.

        Lab gives widgets a subshell and ends it with the last of them; a late message that meets it
        on its way out makes asyncio complain in some later cell.
        """
        if self._watched.pop(comm_id, None) is not None:
            self._gone.append(comm_id)

    @contextlib.contextmanager
    def answering(self, message: Message) -> Iterator[None]:
        """Tell the front end that the message is being handled, and then that it was.

        Without the last word a widget holds back all its later messages.
        """
        self._status("busy", message)
        try:
            yield
        finally:
            self._status("idle", message)

    @property
    def reply_stream(self) -> Any:
        """Where a reply is sent, from the thread that owns the shell stream.

        A blocked loop does not empty the stream's queue, the socket itself sends at once.
        """
        return self._stream if self._thread is not None else self._stream.socket

    @property
    def poll(self) -> Callable[[], None] | None:
        """What the thread that runs the cell has to call all the time, if anything.

        Older kernels read the shell socket on the thread that the cell blocks.
        """
        return self._poll if self._thread is None else None

    # Putting in place and taking away -----------------------------------------------------------

    def install(self) -> None:
        """Stand between the shell stream and the kernel, and test it.

        Raises:
            TapProblem: It cannot work here. Nothing is changed then.
        """
        if self._thread is None and threading.current_thread() is not threading.main_thread():
            raise TapProblem("the extension was loaded outside the main thread")
        self._on_owner(self._put_in_place)
        try:
            check(self.kernel, self._watched, self._take)
        except Exception as error:
            self.remove()
            raise TapProblem(f"the self-test failed: {error}") from error

    def remove(self) -> None:
        """Give the shell stream back. Leaves it alone where someone else stands before us."""
        self._watched.clear()
        self._gone.clear()
        self.bystanders.clear()

        def give_back() -> None:
            if self.in_place:
                self._stream.on_recv(self._original, copy=False)
                self._original = None

        with contextlib.suppress(TapProblem):  # a kernel that ends answers no more
            self._on_owner(give_back)

    def _put_in_place(self) -> None:
        original = getattr(self._stream, "_recv_callback", None)
        if original is None:
            raise TapProblem("the kernel is still starting")
        if getattr(self._stream, "_recv_copy", False):
            raise TapProblem("the kernel reads its messages in another form")
        self._original = original
        self._stream.on_recv(self._received, copy=False)

    def _on_owner(self, job: Callable[[], R]) -> R:
        """Run a job on the thread that owns the shell stream."""
        if self._thread is None or threading.current_thread() is self._thread:
            return job()
        done = threading.Event()
        results: list[R] = []
        errors: list[Exception] = []

        def run() -> None:
            try:
                results.append(job())
            except Exception as error:  # noqa: BLE001  # raised again on the asking thread
                errors.append(error)
            finally:
                done.set()

        self._thread.io_loop.add_callback(run)
        if not done.wait(PATIENCE):
            raise TapProblem("the kernel's shell channel does not answer")
        if errors:
            raise errors[0]
        return results[0]

    # On the thread that owns the shell stream ---------------------------------------------------

    def _received(self, frames: Sequence[Any]) -> Any:
        """Take the message, or let the kernel have it: what that returns is awaited by pyzmq."""
        try:
            taken = bool(self._watched or self._gone) and self._take(frames)
        except Exception:
            # Whatever a message looks like, the kernel must get to see it.
            log.debug("a message could not be looked at", exc_info=True)
            taken = False
        if taken or self._original is None:
            return None
        return self._original(frames)

    def _take(self, frames: Sequence[Any]) -> bool:
        session = self.kernel.session
        # signature, header, parent, metadata, content, then buffers
        idents, parts = session.feed_identities(frames, copy=False)
        header = session.unpack(parts[1].bytes)
        if header["msg_type"] in ("comm_msg", "comm_close"):
            comm_id = session.unpack(parts[4].bytes).get("comm_id")
            receiver = self._watched.get(comm_id)
            if receiver is not None:
                receiver(self._read(parts))
                return True
            if comm_id in self._gone:
                with self.answering(self._read(parts)):
                    return True
        elif header["msg_type"] in QUESTIONS and not header.get("subshell_id"):
            # A subshell answers by itself.
            return bool(self.bystanders) and self._asked(idents, parts)
        return False

    def _asked(self, idents: list[bytes], parts: Sequence[Any]) -> bool:
        message = self._peek(parts)
        return any(take(idents, message) for take in tuple(self.bystanders))

    def _read(self, parts: Sequence[Any]) -> Message:
        """The whole message, its signature checked."""
        message: Message = self.kernel.session.deserialize(parts, content=True, copy=False)
        return message

    def _peek(self, parts: Sequence[Any]) -> Message:
        """As `_read`, but the kernel may read the message too: it refuses what it saw before."""
        session = self.kernel.session
        message = dict(session.deserialize(parts, content=False, copy=False))
        message["content"] = session.unpack(message["content"])
        return message

    def _tick(self) -> None:
        if not self._watched or not self.in_place:
            self._ticking = False
            return
        self._flush()
        self._thread.io_loop.call_later(WATCHDOG, self._tick)

    def _poll(self) -> None:
        if self._watched and threading.current_thread() is threading.main_thread():
            self._flush()

    def _flush(self) -> None:
        import zmq

        try:
            self._stream.flush(zmq.POLLIN)
        except Exception:
            # The socket's trouble is the kernel's; the cell goes on without clicks.
            log.debug("the shell socket could not be read", exc_info=True)

    def _status(self, state: str, message: Message) -> None:
        kernel = self.kernel
        kernel.session.send(
            kernel.iopub_socket,
            "status",
            {"execution_state": state},
            parent=message,
            ident=kernel._topic("status"),
        )


def tapped(kernel: Any) -> CommTap:
    """The kernel's tap, put in place if there is none; counts its users.

    The tap is found through the stream it sits on, so two loads (or two copies of this package)
    share one.

    Raises:
        TapProblem: It cannot work in this kernel.
    """
    found = _owner(getattr(kernel, "shell_stream", None))
    if found is not None and getattr(found, "agent_magics_tap", False):
        tap: CommTap = found
    else:
        if getattr(kernel, "shell_stream", None) is None:
            raise TapProblem("the kernel has no shell stream")
        tap = CommTap(kernel)
        tap.install()
    tap.users += 1
    return tap


def released(tap: CommTap) -> None:
    """Say that a user of `tapped` is done; the last one takes the tap away."""
    tap.users -= 1
    if tap.users <= 0:
        tap.remove()


def _owner(stream: Any) -> Any:
    return getattr(getattr(stream, "_recv_callback", None), "__self__", None)
