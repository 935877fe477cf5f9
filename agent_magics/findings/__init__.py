"""Findings of a review as a value: what a tool reports, a front end draws, and code works with.

Any tool can report some: its output carries `findings.display()`, a bundle with the MIME type
below. Front ends draw the table from that data and from nothing else, so no tool supplies markup.
Knows no HTML and no files; whether a place exists is the reporting tool's business.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from fnmatch import fnmatchcase
from typing import Any, overload

from agent_magics.errors import UsageProblem
from agent_magics.findings.finding import (
    FIELDS,
    SEVERITIES,
    Finding,
    Severity,
    finding_of,
)
from agent_magics.findings.markdown import counted, to_markdown
from agent_magics.importing import installed_pandas
from agent_magics.messages import JSON, Display

__all__ = ["MIME", "SEVERITIES", "Finding", "Findings", "Severity", "findings_of"]

MIME = "application/vnd.agent_magics.findings+json"
"""The type of findings as data, in a display and in a saved notebook."""
VERSION = 1


@dataclass(frozen=True, slots=True)
class Findings(Sequence[Finding]):
    """Findings in an order; each step gives new ones, so steps can be chained.

    `findings.filter(severity="high", file="*.py").sorted("file")`. Shown as a table in a notebook,
    as Markdown everywhere else.
    """

    items: tuple[Finding, ...] = ()

    def __len__(self) -> int:
        return len(self.items)

    def __iter__(self) -> Iterator[Finding]:
        return iter(self.items)

    @overload
    def __getitem__(self, index: int) -> Finding: ...
    @overload
    def __getitem__(self, index: slice) -> Findings: ...
    def __getitem__(self, index: int | slice) -> Finding | Findings:
        return Findings(self.items[index]) if isinstance(index, slice) else self.items[index]

    def __str__(self) -> str:
        return self.to_markdown()

    def __repr__(self) -> str:
        return f"<{counted(self.items)}>"

    def _repr_pretty_(self, printer: Any, cycle: bool) -> None:
        """IPython's seam for plain text."""
        printer.text(self.to_markdown())

    # -- choosing ---------------------------------------------------------------------------

    @property
    def counts(self) -> dict[Severity, int]:
        """How many there are of each severity, the most severe first."""
        found = Counter(finding.severity for finding in self.items)
        return {name: found[name] for name in SEVERITIES}

    def filter(
        self,
        *,
        severity: str | Iterable[str] = (),
        file: str = "",
        category: str = "",
        contains: str = "",
    ) -> Findings:
        """The findings that fit all that is given.

        Args:
            severity: One of `high`, `medium`, `low`, or several of them.
            file: A path, or a pattern in which `*` stands for anything (`*.py`, `shop/*`).
            category: A category or a pattern, in any case.
            contains: A text in the message or the suggestion, in any case.

        Raises:
            UsageProblem: There is no such severity.
        """
        wanted = _severities(severity)
        kind, text = category.casefold(), contains.casefold()
        return Findings(
            tuple(
                f
                for f in self.items
                if f.severity in wanted
                and (not file or fnmatchcase(f.file, file))
                and (not kind or fnmatchcase(f.category.casefold(), kind))
                and (not text or text in f"{f.message}\n{f.suggestion}".casefold())
            )
        )

    def sorted(self, *by: str, reverse: bool = False) -> Findings:
        """The findings in another order.

        Args:
            by: Names of fields, the first one counts most; none: severity, file, line.
            reverse: The other way round.

        Raises:
            UsageProblem: A finding has no such field.
        """
        for name in by:
            if name not in FIELDS:
                raise UsageProblem(
                    f"Findings have no field {name!r} to sort by; there are: {', '.join(FIELDS)}."
                )
        names = by or ("severity", "file", "line")

        def order(finding: Finding) -> tuple[Any, ...]:
            return tuple(
                finding.rank if name == "severity" else getattr(finding, name) for name in names
            )

        return Findings(tuple(sorted(self.items, key=order, reverse=reverse)))

    def merged(self, newer: Iterable[Finding]) -> Findings:
        """These and the newer ones, the most severe first; what was reported twice stands once.

        Two findings with the same file, line and message are one; the newer one counts.
        """
        found = {finding.key: finding for finding in (*self.items, *newer)}
        return Findings(tuple(found.values())).sorted()

    # -- giving away ------------------------------------------------------------------------

    def to_dicts(self) -> list[dict[str, JSON]]:
        """One plain dictionary for each finding, with all its fields."""
        return [finding.to_dict() for finding in self.items]

    def to_dataframe(self) -> Any:
        """A pandas DataFrame with a row for each finding; severities are an ordered category.

        Raises:
            UsageProblem: pandas is not installed.
        """
        pandas = installed_pandas()
        frame = pandas.DataFrame(self.to_dicts(), columns=list(FIELDS))
        # From the least severe up, so that `frame.severity >= "medium"` means what it says.
        frame["severity"] = pandas.Categorical(frame["severity"], SEVERITIES[::-1], ordered=True)
        return frame

    def to_markdown(self) -> str:
        """A table, and below it the code and the suggestions."""
        return to_markdown(self.items)

    def to_json(self) -> dict[str, JSON]:
        """The data of the MIME type."""
        return {"version": VERSION, "findings": [finding.to_json() for finding in self.items]}

    def display(self) -> Display:
        """What a tool puts beside its result, to have the findings drawn and kept."""
        return Display("bundle", data={MIME: self.to_json(), "text/plain": self.to_markdown()})


def findings_of(displays: Iterable[Display]) -> Findings | None:
    """The findings that displays carry, merged; None where no display carries any.

    Args:
        displays: Of any tool. Whatever in their data is no finding is left out.
    """
    found: Findings | None = None
    for display in displays:
        if MIME not in display.data:
            continue
        data = display.data[MIME]
        rows = data.get("findings") if isinstance(data, Mapping) else None
        each = [finding_of(row) for row in rows] if isinstance(rows, list | tuple) else []
        found = (found or Findings()).merged(finding for finding in each if finding is not None)
    return found


def _severities(wanted: str | Iterable[str]) -> frozenset[str]:
    names = [wanted] if isinstance(wanted, str) else list(wanted)
    for name in names:
        if name.lower() not in SEVERITIES:
            raise UsageProblem(
                f"There is no severity {name!r}; there are: {', '.join(SEVERITIES)}."
            )
    return frozenset(name.lower() for name in names) or frozenset(SEVERITIES)
