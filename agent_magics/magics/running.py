"""`%agent run [N]`: the person runs a block of Python that the last answer holds.

Nothing of an answer runs by itself: this is the one way, it takes the person's own command, and the
code is shown before it runs.
"""

from __future__ import annotations

from collections.abc import Sequence

from agent_magics.errors import UsageProblem
from agent_magics.frontends.markdown import code_blocks
from agent_magics.frontends.theme import code_box, line, text_html
from agent_magics.magics.services import Controls
from agent_magics.magics.views import View, table_view
from agent_magics.messages import Assistant
from agent_magics.plain import visible

PYTHON = ("python", "py", "python3", "ipython", "ipython3")
FIRST = 80
"""Characters of a block's first line in the list."""


def run(magics: Controls, words: str) -> View | None:
    """Show a block and run it; without a number, the only one, or a list of them.

    Raises:
        UsageProblem: There is no such block, or it failed; its error is shown before.
    """
    blocks = _blocks(_answer(magics))
    if not words and len(blocks) > 1:
        rows = [(f"%agent run {n}", _first(block)) for n, block in enumerate(blocks, 1)]
        title = f"The last answer has {len(blocks)} blocks of Python; none was run"
        return table_view(title, ("run it with", "it begins with"), rows)
    number = _number(words, len(blocks))
    code = blocks[number - 1]
    magics.show(_shown(code, number, len(blocks)))
    if not magics.run_here(code):
        raise UsageProblem(f"Block {number} failed; its error is above.")
    return None


def _answer(magics: Controls) -> str:
    last = magics.session.last
    if last is not None and last.text:
        return last.text
    # A session that was resumed has answers and no result yet.
    said = [m.text for m in magics.session.conversation if isinstance(m, Assistant) and m.text]
    if not said:
        raise UsageProblem("There is no answer yet; ask something in a %%agent cell first.")
    return said[-1]


def _blocks(answer: str) -> Sequence[str]:
    found = code_blocks(answer)
    python = [code for language, code in found if language in PYTHON and code.strip()]
    if not python:
        others = sorted({language or "no language" for language, _ in found})
        there = f" It has blocks of: {visible(', '.join(others))[:200]}." if others else ""
        raise UsageProblem(f"The last answer has no block of Python to run.{there}")
    return python


def _number(words: str, count: int) -> int:
    if not words:
        return 1
    if not words.isdecimal() or not 1 <= int(words[:9]) <= count:
        have = "1" if count == 1 else f"1 to {count}"
        raise UsageProblem(f"%agent run takes the number of a block, {have}, not {words!r}.")
    return int(words)


def _shown(code: str, number: int, count: int) -> View:
    head = f"Running block {number} of {count} of the last answer"
    text = visible(code.rstrip("\n"))
    box = code_box(text, "python", "the block that runs")
    indented = "\n".join(f"    {row}" for row in text.split("\n"))
    return View(f"{head}:\n\n{indented}\n", f"{line(f'<b>{text_html(head)}</b>')}{box}")


def _first(code: str) -> str:
    row = next(row.strip() for row in code.splitlines() if row.strip())
    return row if len(row) <= FIRST else f"{row[:FIRST]}…"
