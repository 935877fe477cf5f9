"""The tap on a made-up kernel with a real message session: the odd cases, one by one."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import pytest
import zmq
from jupyter_client.session import Session

from agent_magics.frontends.tap import TapProblem, released, tapped


class Stream:
    """A ZMQStream's receiving side."""

    def __init__(self, receiver: Any) -> None:
        self._recv_callback = receiver
        self._recv_copy = False
        self.socket = None

    def on_recv(self, receiver: Any, copy: bool = True) -> None:
        self._recv_callback, self._recv_copy = receiver, copy

    def flush(self, _flag: int) -> int:
        raise zmq.ZMQError


class Kernel:
    """A kernel as far as a tap can see; notes what reaches it."""

    def __init__(self, *, started: bool = True) -> None:
        self.session = Session(key=b"secret")
        self.iopub_socket = None
        self.got: list[str] = []
        self.shell_stream = Stream(self.receive if started else None)

    def receive(self, frames: list[zmq.Frame]) -> str:
        self.got.append(self.session.unpack(frames[2].bytes)["msg_type"])
        return "what the kernel returns"

    def _topic(self, kind: str) -> bytes:
        return kind.encode()

    def frames(self, kind: str, content: dict[str, Any], **header: Any) -> list[zmq.Frame]:
        message = self.session.msg(kind, content)
        message["header"].update(header)
        return [zmq.Frame(part) for part in self.session.serialize(message)]

    def arrive(self, kind: str, content: dict[str, Any], **header: Any) -> Any:
        return self.shell_stream._recv_callback(self.frames(kind, content, **header))


def test_what_the_kernel_returns_is_returned_since_it_may_have_to_be_awaited():
    kernel = Kernel()
    tapped(kernel)
    assert kernel.arrive("execute_request", {"code": "1"}) == "what the kernel returns"


def test_only_a_watched_comm_is_taken_and_only_while_it_is_watched():
    kernel, seen = Kernel(), []
    tap = tapped(kernel)
    tap.watch("ours", seen.append)
    for comm_id in ("ours", "theirs"):
        for kind in ("comm_msg", "comm_close", "comm_open"):
            kernel.arrive(kind, {"comm_id": comm_id, "data": {}})
    assert [(m["header"]["msg_type"], m["content"]["comm_id"]) for m in seen] == [
        ("comm_msg", "ours"),
        ("comm_close", "ours"),
    ]
    assert kernel.got == ["comm_open", "comm_msg", "comm_close", "comm_open"]
    tap.unwatch("ours")
    kernel.arrive("comm_msg", {"comm_id": "ours", "data": {}})
    assert len(seen) == 2


def test_a_message_that_cannot_be_read_is_the_kernels():
    kernel, seen = Kernel(), []
    tapped(kernel).watch("ours", seen.append)
    frames = kernel.frames("comm_msg", {"comm_id": "ours"})
    kernel.shell_stream._recv_callback([frames[0], zmq.Frame(b"forged"), *frames[2:]])
    kernel.shell_stream._recv_callback([frames[0], frames[1], frames[2]])
    assert seen == []
    assert kernel.got == ["comm_msg", "comm_msg"]


def test_a_receiver_that_fails_does_not_lose_the_message_for_the_kernel():
    def fails(_message):
        raise ValueError

    kernel = Kernel()
    tapped(kernel).watch("ours", fails)
    kernel.arrive("comm_msg", {"comm_id": "ours", "data": {}})
    assert kernel.got == ["comm_msg"]


def test_questions_of_a_page_go_to_bystanders_only_while_a_comm_is_watched():
    kernel, asked = Kernel(), []

    def answer(idents, message):
        asked.append((message["header"]["msg_type"], message["content"]))
        return True

    tap = tapped(kernel)
    tap.bystanders.append(answer)
    kernel.arrive("kernel_info_request", {})
    tap.watch("ours", lambda _message: None)
    kernel.arrive("kernel_info_request", {})
    kernel.arrive("comm_info_request", {"target_name": "x"})
    kernel.arrive("kernel_info_request", {}, subshell_id="a subshell")
    kernel.arrive("complete_request", {})
    assert asked == [("kernel_info_request", {}), ("comm_info_request", {"target_name": "x"})]
    assert kernel.got == ["kernel_info_request", "kernel_info_request", "complete_request"]


def test_a_question_that_no_bystander_takes_can_still_be_read_by_the_kernel():
    kernel = Kernel()
    tap = tapped(kernel)
    tap.bystanders.append(lambda _idents, _message: False)
    tap.watch("ours", lambda _message: None)
    frames = kernel.frames("kernel_info_request", {})
    kernel.shell_stream._recv_callback(frames)
    _, parts = kernel.session.feed_identities(frames, copy=False)
    assert kernel.session.deserialize(parts, copy=False)["msg_type"] == "kernel_info_request"


def test_users_share_one_and_the_last_gives_the_stream_back():
    kernel = Kernel()
    first, second = tapped(kernel), tapped(kernel)
    assert first is second
    released(first)
    assert first.in_place
    released(second)
    assert not first.in_place
    assert kernel.shell_stream._recv_callback == kernel.receive


def test_one_that_someone_stands_before_lets_everything_pass_and_takes_nothing_back():
    kernel, seen = Kernel(), []
    tap = tapped(kernel)
    tap.watch("ours", seen.append)
    ours = kernel.shell_stream._recv_callback

    def other(frames):
        return ours(frames)

    kernel.shell_stream._recv_callback = other
    released(tap)
    assert kernel.shell_stream._recv_callback is other
    kernel.arrive("comm_msg", {"comm_id": "ours", "data": {}})
    assert (seen, kernel.got) == ([], ["comm_msg"])


@pytest.mark.parametrize(
    ("kernel", "why"),
    [
        (Kernel(started=False), "still starting"),
        (SimpleNamespace(), "no shell stream"),
        (SimpleNamespace(shell_stream=None), "no shell stream"),
    ],
)
def test_a_kernel_it_does_not_fit_is_left_alone_and_the_reason_is_said(kernel, why):
    with pytest.raises(TapProblem, match=why):
        tapped(kernel)


def test_a_kernel_that_reads_its_messages_otherwise_is_left_alone():
    kernel = Kernel()
    kernel.shell_stream._recv_copy = True
    with pytest.raises(TapProblem, match="another form"):
        tapped(kernel)
    assert kernel.shell_stream._recv_callback == kernel.receive


def test_a_failed_self_test_changes_nothing():
    kernel = Kernel()
    kernel.session.unpack = lambda _part: {"msg_type": "unknown"}
    with pytest.raises(TapProblem, match="self-test failed"):
        tapped(kernel)
    assert kernel.shell_stream._recv_callback == kernel.receive


def test_a_socket_in_trouble_does_not_trouble_the_cell():
    tap = tapped(Kernel())
    tap.watch("ours", lambda _message: None)
    assert tap.poll is not None
    tap.poll()
