"""What a notebook shows of values that a turn leaves behind: findings, and a turn's result.

Owns the table from a type to its HTML. The values themselves know no markup; in a kernel these
functions are put beside IPython's own formatters, and taken out again.
"""

from __future__ import annotations

from collections.abc import Callable
from types import MappingProxyType
from typing import TYPE_CHECKING, Any

from agent_magics.findings import Findings
from agent_magics.frontends import theme
from agent_magics.frontends.findings import findings_html
from agent_magics.frontends.markdown import to_html
from agent_magics.frontends.summary import count, money, safe_line
from agent_magics.result import TurnResult

if TYPE_CHECKING:
    from IPython.core.formatters import DisplayFormatter


def result_html(result: TurnResult) -> str:
    """A turn's result: the answer, what was found, and how it went, as safe HTML."""
    parts = [theme.lead(to_html(result.text))] if result.text.strip() else []
    if result.findings:
        parts.append(findings_html(result.findings))
    return "".join(parts) + theme.footer(_facts(result), "")


def _facts(result: TurnResult) -> str:
    calls = len(result.calls)
    facts = [safe_line(result.model, 80), safe_line(result.reason, 40)]
    facts.append(f"{calls} call{'' if calls == 1 else 's'}")
    if result.refused:
        facts.append(f"{len(result.refused)} not run")
    usage = result.usage
    if usage.input or usage.output:
        facts.append(f"{count(usage.input)} in / {count(usage.output)} out tokens")
    if result.cost is not None:
        facts.append(f"cost {money(result.cost)}")
    return " · ".join(fact for fact in facts if fact)


HTML: MappingProxyType[type, Callable[[Any], str]] = MappingProxyType(
    {Findings: findings_html, TurnResult: result_html}
)


def install(formatter: DisplayFormatter | None) -> None:
    """Have a shell draw these values; None: a shell that shows nothing."""
    for kind, draw in HTML.items():
        if formatter is not None:
            formatter.formatters["text/html"].for_type(kind, draw)


def remove(formatter: DisplayFormatter | None) -> None:
    """Take out what `install` put in, and nothing that a person put in its place."""
    for kind, draw in HTML.items():
        html: Any = formatter.formatters["text/html"] if formatter is not None else {}
        if kind in html and html.lookup_by_type(kind) is draw:
            html.pop(kind)
