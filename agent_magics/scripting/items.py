"""What became of many inputs: each item with its answer or error, and all of them as a table."""

from __future__ import annotations

import traceback
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal, TypeAlias, overload

from agent_magics.errors import AgentMagicsError
from agent_magics.findings import Findings
from agent_magics.frontends.summary import count, safe_line
from agent_magics.importing import installed_pandas
from agent_magics.magics.views import View, table_view
from agent_magics.messages import JSON, Usage
from agent_magics.result import CallRecord, TurnResult

Status: TypeAlias = Literal["done", "failed", "not run"]

ROWS = 50
"""Items in the table that is shown; all are in the value."""
INPUT, ANSWER = 60, 160
"""Characters of each that are shown."""
COLUMNS = ("index", "input", "status", "text", "error", "reason", "tokens", "seconds", "saved")


@dataclass(frozen=True, slots=True)
class Item:
    """One input and what became of it.

    Args:
        index: Its place among the inputs, from 0.
        input: As it was given.
        status: `done`, `failed`, or `not run`.
        text: The answer; empty where there is none.
        error: Why it failed or was not run.
        reason: How its turn ended, see `TurnEnded`: `answered`, `limit` and so on.
        usage: Tokens, also of one that failed on the way.
        seconds: Wall time.
        saved: Whether the answer comes from the file of an earlier call.
        findings: What the turn reported.
        result: The turn, with its calls and conversation; None where it failed or was saved.
        key: By which a saved answer is found.
    """

    index: int
    input: Any
    status: Status = "not run"
    text: str = ""
    error: str = ""
    reason: str = ""
    usage: Usage = Usage()
    seconds: float = 0.0
    saved: bool = False
    findings: Findings = field(default_factory=Findings)
    result: TurnResult | None = field(default=None, repr=False)
    key: str = field(default="", repr=False)

    def to_dict(self) -> dict[str, JSON]:
        """Its row."""
        tokens = self.usage.input + self.usage.output
        return {name: tokens if name == "tokens" else getattr(self, name) for name in COLUMNS}


@dataclass(frozen=True, slots=True)
class MapResult(Sequence[Item]):
    """The items in the order of the inputs.

    Args:
        items: All that were read.
        unread: Whether inputs were left that nobody looked at, since no more were to be begun.
        notes: What else there is to know, such as a file that could not be written.
    """

    items: tuple[Item, ...] = ()
    unread: bool = False
    notes: tuple[str, ...] = ()

    def __len__(self) -> int:
        return len(self.items)

    def __iter__(self) -> Iterator[Item]:
        return iter(self.items)

    @overload
    def __getitem__(self, index: int) -> Item: ...
    @overload
    def __getitem__(self, index: slice) -> MapResult: ...
    def __getitem__(self, index: int | slice) -> Item | MapResult:
        return MapResult(self.items[index]) if isinstance(index, slice) else self.items[index]

    @property
    def texts(self) -> list[str]:
        """The answers, in order; an empty text where there is none."""
        return [item.text for item in self.items]

    @property
    def failed(self) -> MapResult:
        """The items that failed."""
        return MapResult(tuple(item for item in self.items if item.status == "failed"))

    @property
    def not_run(self) -> MapResult:
        """The items that were not begun, or stopped by an interrupt."""
        return MapResult(tuple(item for item in self.items if item.status == "not run"))

    @property
    def refused(self) -> tuple[CallRecord, ...]:
        """The calls of all items that were not allowed to run; see `TurnResult.refused`."""
        results = (item.result for item in self.items if item.result is not None)
        return tuple(call for result in results for call in result.refused)

    @property
    def usage(self) -> Usage:
        """Tokens of all items; those of saved answers were used earlier and do not count."""
        return sum((item.usage for item in self.items if not item.saved), Usage())

    @property
    def findings(self) -> Findings:
        """What all items reported, the most severe first."""
        return Findings().merged(finding for item in self.items for finding in item.findings)

    def to_dicts(self) -> list[dict[str, JSON]]:
        """One plain dictionary for each item."""
        return [item.to_dict() for item in self.items]

    def to_dataframe(self) -> Any:
        """A pandas DataFrame with a row for each item.

        Raises:
            UsageProblem: pandas is not installed.
        """
        return installed_pandas().DataFrame(self.to_dicts(), columns=list(COLUMNS))

    def summary(self) -> str:
        """One line: how many there are of each, and the tokens."""
        done = sum(item.status == "done" for item in self.items)
        saved = sum(item.saved for item in self.items)
        parts = [f"{done} of {len(self.items)} items done"]
        parts += [f"{saved} of them from the file"] if saved else []
        parts += [f"{len(self.failed)} failed"] if self.failed else []
        parts += [f"{len(self.not_run)} not run"] if self.not_run else []
        parts += ["inputs left unread"] if self.unread else []
        parts += [f"{len(self.refused)} calls refused"] if self.refused else []
        parts.append(tokens(self.usage))
        return " · ".join(parts)

    def __str__(self) -> str:
        return self._view().text

    def __repr__(self) -> str:
        return f"<MapResult: {self.summary()}>"

    def _repr_html_(self) -> str:
        """IPython's seam for rich display."""
        return self._view().html

    def _repr_pretty_(self, printer: Any, cycle: bool) -> None:
        """IPython's seam for plain text."""
        printer.text(self._view().text)

    def _view(self) -> View:
        shown = self.items[:ROWS]
        rows = [
            (
                str(item.index),
                safe_line(_shown(item.input), INPUT),
                item.status
                if item.reason in ("", "answered")
                else f"{item.status} ({item.reason})",
                safe_line(item.text or item.error, ANSWER) or "(empty)",
            )
            for item in shown
        ]
        rest = len(self.items) - len(shown)
        notes = [f"… and {rest:,} more, in the value only"] * bool(rest) + list(self.notes)
        return table_view(self.summary(), ("#", "input", "status", "answer or error"), rows, notes)


class MapInterrupted(KeyboardInterrupt):
    """Somebody stopped `map`; what was done by then is in `result`.

    Args:
        result: All items so far.
    """

    def __init__(self, result: MapResult) -> None:
        super().__init__(f"stopped: {result.summary()}; they are in this error's .result")
        self.result = result

    def _render_traceback_(self) -> list[str]:
        """IPython calls this in place of its own traceback."""
        hint = "In the next cell: import sys; result = sys.last_value.result"
        return [f"MapInterrupted: {self}", hint]


class InputsFailed(AgentMagicsError):
    """The iterable of inputs raised an error; what was done by then is in `result`.

    Args:
        error: What it raised.
        result: All items so far.
    """

    def __init__(self, error: Exception, result: MapResult) -> None:
        said = traceback.format_exception_only(error)[-1].strip()
        super().__init__(
            f"Input {len(result)} could not be read ({said}). {result.summary()}; they are in this "
            "error's .result"
        )
        self.result = result


def tokens(usage: Usage) -> str:
    """Tokens in a few words."""
    return f"{count(usage.input)} in / {count(usage.output)} out tokens"


def _shown(value: object) -> str:
    if isinstance(value, str):
        return value
    try:
        return repr(value)
    except Exception as error:  # noqa: BLE001  # a stranger's object may raise anything
        return f"<{type(value).__name__}: its repr raised {type(error).__name__}>"
