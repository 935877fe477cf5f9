"""The file of answers: one JSON value a line, added as answers come, read by a later call.

Owns that a line is whole or not there, and that no secret gets into it. The inputs are not kept,
only the key of each.
"""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path

from agent_magics.errors import UsageProblem
from agent_magics.findings import MIME, Findings, findings_of
from agent_magics.messages import JSON, Display
from agent_magics.records.encoding import decoded_usage, encoded_usage
from agent_magics.scripting.items import Item

Redact = Callable[[str], str]
FORMAT = "agent_magics.map"
VERSION = 1


@dataclass(slots=True)
class SaveFile:
    """Answers on disk.

    Args:
        path: The file; made with the first answer, readable by its owner alone.
        redact: Takes secrets out of a text.
        known: The lines that were there, by key.
    """

    path: Path
    redact: Redact
    known: dict[str, Mapping[str, JSON]] = field(default_factory=dict)
    torn: bool = False

    @staticmethod
    def opened(path: str | Path, redact: Redact) -> SaveFile:
        """The file with what is in it.

        Lines that a crash left unfinished are passed over.

        Raises:
            UsageProblem: It cannot be read or written, or holds something else.
        """
        file = SaveFile(Path(path).expanduser().absolute(), redact)
        try:
            text = file.path.read_bytes().decode("utf-8", "replace")
        except FileNotFoundError:
            text = ""
        except OSError as error:
            raise UsageProblem(f"{file.path} cannot be read: {error.strerror}.") from error
        lines = text.split("\n")
        file.torn = bool(lines[-1])
        for number, line in enumerate(lines, start=1):
            entry = _entry(line)
            if entry is not None:
                file.known[str(entry["key"])] = entry
            elif line.strip() and not _begun(line):
                raise UsageProblem(
                    f"{file.path}, line {number}: this is no answer that agent_magics.map saved; "
                    "name another file in save=."
                )
        if not file.path.parent.is_dir():
            raise UsageProblem(f"save: there is no folder {file.path.parent}.")
        return file

    def found(self, item: Item) -> Item | None:
        """The item with its saved answer, if there is one."""
        entry = self.known.get(item.key)
        if entry is None:
            return None
        bundle = Display("bundle", data={MIME: entry.get("findings")})
        return replace(
            item,
            status="done",
            text=str(entry.get("text", "")),
            reason="answered",
            usage=decoded_usage(entry.get("usage", {})),
            seconds=seconds if isinstance(seconds := entry.get("seconds"), int | float) else 0.0,
            findings=findings_of([bundle]) or Findings(),
            saved=True,
        )

    def add(self, item: Item) -> None:
        """Write one answer.

        Raises:
            UsageProblem: The disk refuses.
        """
        entry: dict[str, JSON] = {
            "format": FORMAT,
            "version": VERSION,
            "key": item.key,
            "index": item.index,
            "text": self.redact(item.text),
            "model": item.result.model if item.result is not None else "",
            "usage": encoded_usage(item.usage),
            "seconds": round(item.seconds, 3),
        }
        if item.findings:
            entry["findings"] = _each(item.findings.to_json(), self.redact)
        line = ("\n" if self.torn else "") + json.dumps(entry) + "\n"
        try:
            self._append(line.encode())
        except OSError as error:
            raise UsageProblem(f"{self.path} cannot be written: {error.strerror}.") from error
        self.torn = False

    def _append(self, data: bytes) -> None:
        # One write, so that two programs with one file do not cut into each other's lines.
        handle = os.open(self.path, os.O_WRONLY | os.O_APPEND | os.O_CREAT, 0o600)
        try:
            while data:
                data = data[os.write(handle, data) :]
        finally:
            os.close(handle)


def _entry(line: str) -> dict[str, JSON] | None:
    try:
        entry = json.loads(line)
    except (ValueError, RecursionError):
        return None
    if not isinstance(entry, dict) or entry.get("format") != FORMAT or "key" not in entry:
        return None
    return entry


def _begun(line: str) -> bool:
    """Whether a line that is no JSON may be the beginning of one of ours."""
    start = f'{{"format": "{FORMAT}"'
    return line.startswith(start) or start.startswith(line)


def _each(value: JSON, redact: Redact) -> JSON:
    if isinstance(value, str):
        return redact(value)
    if isinstance(value, dict):
        return {name: _each(part, redact) for name, part in value.items()}
    return [_each(part, redact) for part in value] if isinstance(value, list | tuple) else value
