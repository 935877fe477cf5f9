"""What every tool of a turn has in common on the way out: no secret leaves, every text can be sent.

Owns the one seam where results, live output, previews and errors pass, whoever brought the tool.
Knows no secret itself.
"""

from __future__ import annotations

import threading
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from typing import TypeAlias

from agent_magics.errors import ToolError
from agent_magics.messages import JSON, Display
from agent_magics.tool import Arguments, Report, Tool, ToolOutput
from agent_magics.tools.plain import sendable
from agent_magics.tools.secret_keys import BEGIN, END, LONGEST_KEY

Redact: TypeAlias = Callable[[str], str]
MAX_LINE = 64_000
"""Characters of one line of live output that wait for its end."""


def discreet(tool: Tool, redactor: Callable[[], Redact]) -> Tool:
    """The tool, with everything it says freed of secrets and of what no server takes.

    Args:
        tool: Built-in, of a skill, or foreign.
        redactor: What takes secrets out, as of the moment when it is asked for.
    """

    async def run(arguments: Arguments, report: Report) -> ToolOutput:
        live = LiveLines(report, redactor)
        try:
            output = await tool.run(arguments, live.add)
        except ToolError as error:
            raise ToolError(_clean(str(error), redactor())) from None
        except Exception as error:  # noqa: BLE001  # whatever a tool raises may hold a secret
            told = f"{tool.name} failed: {type(error).__name__}: {error}"
            raise ToolError(_clean(told, redactor())) from None
        finally:
            live.flush()
        redact = redactor()
        return replace(
            output, text=_clean(output.text, redact), display=_shown(output.display, redact)
        )

    def preview(arguments: Arguments) -> tuple[Display, ...]:
        try:
            return _shown(tool.preview(arguments), redactor())
        except ToolError as error:
            raise ToolError(_clean(str(error), redactor())) from None

    return replace(tool, run=run, preview=preview)


@dataclass(slots=True)
class LiveLines:
    """Passes live output on in whole lines: half of a secret would not be known as one.

    Args:
        report: Takes the lines.
        redactor: As for `discreet`.
    """

    report: Report
    redactor: Callable[[], Redact]
    _waiting: str = field(default="")
    _taking: threading.Lock = field(default_factory=threading.Lock)

    def add(self, text: str) -> None:
        """Take a piece, and pass on what is whole with it; from any thread."""
        with self._taking:
            self._add(text)

    def _add(self, text: str) -> None:
        waiting = self._waiting + text
        end = max(waiting.rfind("\n"), waiting.rfind("\r")) + 1
        if len(waiting) - end > MAX_LINE:
            end = len(waiting)
        end = _before_unended_key(waiting, end)
        self._waiting = waiting[end:]
        if end:
            self.report(_clean(waiting[:end], self.redactor()))

    def flush(self) -> None:
        """Pass on the rest."""
        with self._taking:
            rest, self._waiting = self._waiting, ""
        if rest:
            self.report(_clean(rest, self.redactor()))


def _before_unended_key(text: str, end: int) -> int:
    """The end, or where a private key begins that does not end before it."""
    begin = text.rfind(BEGIN, 0, end)
    if begin < 0 or len(text) - begin > LONGEST_KEY or END in text[begin:end]:
        return end
    return text.rfind("\n", 0, begin) + 1


def _clean(text: str, redact: Redact) -> str:
    return redact(sendable(text))


def _shown(displays: tuple[Display, ...], redact: Redact) -> tuple[Display, ...]:
    return tuple(
        replace(d, text=_clean(d.text, redact), data=_each(d.data, redact)) for d in displays
    )


def _each(value: JSON, redact: Redact) -> JSON:
    if isinstance(value, str):
        return _clean(value, redact)
    if isinstance(value, dict):
        return {name: _each(part, redact) for name, part in value.items()}
    return [_each(part, redact) for part in value] if isinstance(value, list) else value
