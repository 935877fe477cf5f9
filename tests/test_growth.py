"""What a turn costs: bytes in the notebook's file, bytes to the browser, updates a second."""

from __future__ import annotations

import asyncio
import json

import pytest
from IPython.core.interactiveshell import InteractiveShell

from agent_magics.events import MessageAdded, TextDelta, TurnEnded, TurnStarted
from agent_magics.frontends.notebook import INTERVAL, NotebookRenderer
from agent_magics.messages import Assistant, Usage
from benchmarks.growth import CALLS, LONG, beyond, outputs, stored
from tests.shellkit import magic

pytest_plugins = ["tests.shellkit_fixtures"]

PARAGRAPH = "The report adds whole cents, so that nothing is rounded; see `shop/report.py`.\n\n"
CODE = "```python\n" + "total = sum(order.cents for order in orders)\n" * 20 + "```\n\n"
ANSWER = ("## Part\n\n" + PARAGRAPH * 8 + CODE + "| a | b |\n|---|---|\n| 1 | 2 |\n\n") * 24
TOKENS_A_SECOND = 50
EDITED = "edit, changed by hand"


@pytest.mark.parametrize("name", CALLS)
def test_a_call_adds_at_most_a_kilobyte_beyond_its_text_to_the_notebook(name):
    _, rest = beyond(CALLS[name])
    # One that a person changed holds two diffs, and both versions of its arguments.
    assert rest <= (1200 if name == EDITED else 1040)


def test_a_long_output_is_cut_in_the_notebook():
    assert len(LONG) > 40_000
    assert stored(outputs(CALLS["shell, 46 kB of output"])) < 25_000


class Wire:
    """Counts what a cell sends to its page."""

    def __init__(self) -> None:
        self.bytes = 0
        self.updates = 0

    def show(self, bundle, metadata=None, *, slot=""):
        self._sent(bundle, metadata)
        return slot or f"slot-{self.updates}"

    def replace(self, slot, bundle, metadata=None):
        self._sent(bundle, metadata)

    def _sent(self, bundle, metadata):
        self.updates += 1
        self.bytes += len(json.dumps({"data": bundle, "metadata": metadata}).encode())


def streamed(answer: str, size: int = 4) -> tuple[Wire, float]:
    """An answer in deltas of some characters, at `TOKENS_A_SECOND`; the wire and the seconds."""
    now = 0.0
    wire = Wire()
    renderer = NotebookRenderer(wire, clock=lambda: now)

    async def main() -> None:
        nonlocal now
        renderer.show(TurnStarted("Go.", "m"))
        for start in range(0, len(answer), size):
            now += 1 / TOKENS_A_SECOND
            renderer.show(TextDelta(answer[start : start + size]))
        renderer.show(MessageAdded(Assistant(answer)))
        renderer.show(TurnEnded("answered", Usage(), 1.0, 1))
        renderer.close()

    asyncio.run(main())
    return wire, now


def test_an_answer_of_37_kilobytes_takes_at_most_15_bytes_to_the_browser_for_each_of_its_own():
    answer = ANSWER[:37_000]
    assert len(answer) == 37_000
    wire, _ = streamed(answer)
    assert wire.bytes <= 15 * len(answer)


def test_twice_the_answer_takes_about_twice_the_bytes():
    half, whole = (streamed(ANSWER[:size])[0].bytes for size in (15_000, 30_000))
    assert whole < 2.3 * half


@pytest.mark.parametrize("size", [1, 4, 400])
def test_a_page_gets_at_most_ten_updates_a_second(size):
    wire, seconds = streamed(ANSWER[: 2_000 * size][:20_000], size)
    assert wire.updates <= seconds / INTERVAL + 10


def test_the_list_of_skills_says_each_style_in_few_bytes(shell: InteractiveShell):
    bundle = magic(shell, "skills")._repr_mimebundle_()
    cells = bundle["text/html"].count("<td") + bundle["text/html"].count("<th")
    assert len(bundle["text/html"]) - len(bundle["text/plain"]) < 60 * cells
