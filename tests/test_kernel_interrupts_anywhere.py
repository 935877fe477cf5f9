"""Interrupts at moments that chance chooses, against the whole product in a real kernel.

Whatever the turn is doing then (waiting for the server, streaming, running a tool, asking, waiting
to try again), the cell ends, nothing it started is left, and the next cell works: the server is
strict and refuses any history in which a call is not answered.

The environment variable AGENT_MAGICS_INTERRUPTS says how many interrupts there are.
"""

from __future__ import annotations

import json
import os
import random
from urllib.parse import quote

import pytest

from tests.fake import FakeServer
from tests.kernelkit import FrontEnd, Kernel

pytest_plugins = ["tests.kernelkit_fixtures"]
pytestmark = pytest.mark.kernel

COUNT = int(os.environ.get("AGENT_MAGICS_INTERRUPTS", "12"))
MARK = "agent-magics-test-sleep"


def called(tool: str, **arguments: object) -> dict[str, object]:
    return {"turns": 3, "tool": tool, "args": quote(json.dumps(arguments), safe="")}


SCENARIOS: dict[str, dict[str, object]] = {
    "streaming": {"turns": 0, "final": 400, "delay": 0.02},
    "waiting for the first byte": {"turns": 0, "ttfb": 20},
    "a command": called("run_shell", command=f"sh -c 'trap \"\" TERM INT; sleep 97' {MARK}"),
    "code in the kernel": called("python", code="import time; time.sleep(97)"),
    "a card": called("write", path="x.txt", content="x"),
    "waiting to try again": {"turns": 0, "fault": "429", "ra": 97},
    "calls of reading tools": called("ls", path="."),
}


@pytest.fixture(scope="module")
def server():
    with FakeServer() as running:
        yield running


def start(page: FrontEnd) -> None:
    page.do("%load_ext agent_magics")
    page.do("%agent allow run_shell")
    page.do("%agent allow python")
    page.do("%config AgentMagics.model = 'fake'")


def point(page: FrontEnd, url: str) -> None:
    assert page.do(f"%config AgentMagics.base_url = {url!r}").error == ""


def sleepers(page: FrontEnd) -> str:
    return page.do(f"!pgrep -f -c {MARK[:-1]}[p] || true").text.strip()


def test_the_next_cell_works_wherever_the_interrupt_came(server: FakeServer, kernel: Kernel):
    chance = random.Random(20)
    names = [list(SCENARIOS)[i % len(SCENARIOS)] for i in range(COUNT)]
    refused: list[str] = []
    with kernel.page() as page:
        start(page)
        for name in names:
            scenario = server.scenario(**SCENARIOS[name])
            point(page, scenario.url)
            cell = page.run("%%agent\nGo on.")
            page.take_for(chance.uniform(0, 1.5))
            page.interrupt()
            page.finish(cell)
            # A turn that was over before the interrupt is one, too.
            assert cell.error in ("", "AgentInterrupted", "KeyboardInterrupt"), (name, cell.text)
            refused += scenario.protocol_errors
            assert page.do("print(6 * 7)").text.strip() == "42"
        last = server.scenario(turns=1, tool="ls", args=quote('{"path": "."}', safe=""), final=5)
        point(page, last.url)
        end = page.do("%%agent\nAnd now?")
        assert "DONE" in end.text
        assert sleepers(page) == "0"
    assert refused + last.protocol_errors == []
