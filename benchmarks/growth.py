"""What a call adds to the notebook's file beyond its own text.

    python -m benchmarks.growth

A call's text is what a person can read of it: what its HTML says, its plain text, and the arguments
and reasons in its metadata, each as the file stores a text. The rest is markup, metadata and the
format's own.
"""

from __future__ import annotations

import json
import re
from collections.abc import Sequence
from html import unescape

from agent_magics.events import (
    ApprovalAsked,
    ApprovalGiven,
    CallFinished,
    CallJudged,
    CallProposed,
    CallStarted,
    Event,
    Question,
)
from agent_magics.frontends.blocks import Block, Transcript
from agent_magics.frontends.notebook import METADATA_KEY, published
from agent_magics.messages import Display, ToolCall, ToolResult
from agent_magics.policy import Answer, Verdict

ROWS = "".join(f"{n:>4}  value_{n} = compute({n})\n" for n in range(1, 61))
DIFF = "--- a/a.py\n+++ b/a.py\n@@ -21,3 +21,3 @@\n totals = x\n-old line\n+new line\n"
LONG = "a long line of output, " * 2_000


def call(name: str, **arguments: object) -> ToolCall:
    return ToolCall("call_a1b2c3d4e5f6g7h8i9j0", name, json.dumps(arguments))


def free(made: ToolCall, text: str, *display: Display, outcome: str = "done") -> list[Event]:
    """A call that nobody is asked about."""
    title = f"{made.name} {next(iter(json.loads(made.arguments).values()), '')}"
    result = ToolResult(made.id, text, ok=outcome == "done", display=display)
    return [
        CallProposed(made, title),
        CallJudged(made, Verdict("allow", "the default for read tools")),
        CallStarted(made),
        CallFinished(made, result, 0.123, outcome),
    ]


def asked(made: ToolCall, answer: Answer, *display: Display) -> list[Event]:
    """A call that a person decides about."""
    title = f"{made.name} {next(iter(json.loads(made.arguments).values()), '')}"
    reason = "the default for write tools"
    question = Question(made, title, display, (), reason)
    head = [CallProposed(made, title), CallJudged(made, Verdict("ask", reason))]
    head += [ApprovalAsked(question), ApprovalGiven(question, answer)]
    if not answer.allowed:
        told = ToolResult(made.id, "The person refused this call.", ok=False)
        return [*head, CallFinished(made, told, 0.0, "refused")]
    result = ToolResult(made.id, "Changed.", display=display)
    return [*head, CallStarted(made), CallFinished(made, result, 0.045, "done")]


EDIT = call("edit", path="a.py", old="old line", new="new line")
SHELL = call("run_shell", command="make test")
CALLS: dict[str, Sequence[Event]] = {
    "read, one line": free(call("read", path="a.py"), "   1  x = 1\n"),
    "read, 60 lines": free(call("read", path="a.py"), ROWS),
    "grep that finds nothing": free(call("grep", pattern="x"), "No match."),
    "read that fails": free(call("read", path="b.py"), "There is no b.py.", outcome="failed"),
    "edit, approved": asked(EDIT, Answer(True), Display("diff", DIFF)),
    "edit, refused with a reason": asked(EDIT, Answer(False, reason="no"), Display("diff", DIFF)),
    "edit, changed by hand": asked(
        EDIT,
        Answer(True, arguments='{"path": "a.py", "old": "old line", "new": "other"}'),
        Display("diff", DIFF),
    ),
    "shell, 46 kB of output": asked(SHELL, Answer(True), Display("text", LONG)),
}
"""What happens in a call of each kind."""


def outputs(events: Sequence[Event]) -> list[dict[str, object]]:
    """What the file keeps of the events, as outputs of a cell."""
    transcript = Transcript()
    blocks: dict[str, Block] = {b.key: b for event in events for b in transcript.feed(event)}
    return [
        {
            "output_type": "display_data",
            "data": published(block),
            "metadata": {METADATA_KEY: dict(block.metadata)},
        }
        for block in blocks.values()
        if block.metadata["kind"] != "status"
    ]


def stored(shown: Sequence[dict[str, object]]) -> int:
    """The bytes of a notebook with these outputs."""
    import nbformat
    from nbformat import v4

    cell = v4.new_code_cell("%%agent\nGo.", outputs=[v4.new_output(**o) for o in shown])
    return len(nbformat.writes(v4.new_notebook(cells=[cell])).encode())


def lines(text: str) -> int:
    """The bytes of a text as the file stores one: a string in JSON for each line."""
    indent = len(' "",\n') + 5
    rows = text.splitlines(keepends=True)
    return sum(len(json.dumps(row, ensure_ascii=False).encode()) - 2 + indent for row in rows)


def read_of(html: str) -> str:
    """What a person reads of HTML."""
    return unescape(re.sub(r"<[^>]*>", "", html))


def own_text(shown: Sequence[dict[str, object]]) -> int:
    """The bytes of what can be read."""
    total = 0
    for output in shown:
        bundle, facts = output["data"], output["metadata"][METADATA_KEY]
        total += lines(read_of(bundle["text/html"])) + lines(bundle["text/plain"])
        total += len(json.dumps(facts.get("arguments", "")))
        answer = facts.get("answer") or {}
        total += sum(len(json.dumps(answer.get(name, ""))) for name in ("edited", "reason"))
    return total


def beyond(events: Sequence[Event]) -> tuple[int, int]:
    """Bytes that a call adds to the file, and those of them that are not its text."""
    shown = outputs(events)
    grown = stored(shown) - stored([])
    return grown, grown - own_text(shown)


def main() -> None:
    print(f"{'call':32} {'bytes':>8} {'beyond its text':>16}")
    for name, events in CALLS.items():
        grown, rest = beyond(events)
        print(f"{name:32} {grown:8,} {rest:16,}")


if __name__ == "__main__":
    main()
