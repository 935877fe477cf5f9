"""The lines of a recording: reading a file that can come from anybody, and writing one.

Owns the bounds: a file, its nesting and its numbers are limited, and the first slip is said with
its line. A last line that was half written when a process was killed is left out.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import get_args

from agent_magics.errors import ConfigError
from agent_magics.messages import JSON, Assistant, Stop, ToolCall
from agent_magics.providers.recording import VERSION, Recording, Reply, Result, spaced

MAX_BYTES = 64_000_000
"""Bytes of a file: about a thousand long turns."""
MAX_DEPTH = 60
"""How deep a line may be nested; the arguments of real calls stay far below."""
MAX_RESULT = 1_000_000
"""Characters of one result; what is recorded stays below a tenth of it."""
MAX_CALLS, MAX_STEP = 200, 100_000
"""Calls of one reply, and the largest number of a step or a turn."""

_KEYS = frozenset(
    ("prompt", "step", "reply", "after", "expect", "kind", "turn", "skills", "results")
)
_STOPS: frozenset[str] = frozenset(get_args(Stop))


def read_recording(path: Path) -> Recording:
    """Read and check a recording that can be played.

    Raises:
        ConfigError: The file cannot be read, or a line is off; the message has its number.
    """
    recording = load_recording(path)
    if not recording.replies:
        raise ConfigError(f"The recording {path.name} holds no reply.")
    return recording


def load_recording(path: Path) -> Recording:
    """As `read_recording`, also of a file that holds no reply yet."""
    lines = _text(path).split("\n")
    title, cut = "", False
    replies: list[Reply] = []
    for number, line in enumerate(lines, start=1):
        if not line.strip():
            continue
        try:
            record = json.loads(line)
            _check_depth(record)
            if number == 1:
                title = _header(record)
            else:
                replies.append(_reply(record))
        except (ValueError, TypeError, KeyError, RecursionError) as error:
            # Whoever was killed while writing left half of the last line and no end of it.
            cut = number == len(lines) and bool(replies) and isinstance(error, ValueError)
            if not cut:
                why = "nested too deeply" if isinstance(error, RecursionError) else error
                raise ConfigError(f"The recording {path.name}, line {number}: {why}") from error
    return Recording(title, tuple(replies), cut)


def header_line(title: str, created: str) -> bytes:
    """The first line of a file, its end included.

    Args:
        title: What the file is about.
        created: When, in ISO 8601.
    """
    head = {"agent_magics_recording": VERSION, "title": title, "created": created}
    return _line(head)


def reply_line(reply: Reply) -> bytes:
    """The line of a reply, its end included.

    Raises:
        ValueError: It could not be read again: it is nested too deeply, or has too many calls.
    """
    fields: dict[str, JSON] = {"prompt": reply.prompt, "step": reply.step}
    if reply.kind != "answer":
        fields["kind"] = reply.kind
    if reply.turn is not None:
        fields["turn"] = reply.turn
    if reply.after != "any":
        fields["after"] = reply.after
    if reply.expect:
        fields["expect"] = list(reply.expect)
    if reply.skills is not None:
        fields["skills"] = [list(pair) for pair in reply.skills]
    if reply.results is not None:
        fields["results"] = [_result_fields(result) for result in reply.results]
    value = {**fields, "reply": _message_fields(reply.message)}
    _check_depth(value)
    try:
        _reply(value)
    except TypeError as error:
        raise ValueError(str(error)) from error
    return _line(value)


def is_recording(first: bytes) -> bool:
    """Whether a file's first line says that it is a recording that can be added to."""
    try:
        _header(json.loads(first.decode("utf-8-sig")))
    except (ValueError, RecursionError):
        return False
    return True


def _text(path: Path) -> str:
    try:
        if not path.is_file():
            what = "is a folder" if path.is_dir() else "does not exist"
            raise ConfigError(f"The recording {path} cannot be read: it {what}.")
        with path.open("rb") as file:
            content = file.read(MAX_BYTES + 1)
        if len(content) > MAX_BYTES:
            raise ConfigError(f"The recording {path.name} is larger than {MAX_BYTES:,} bytes.")
        return content.decode("utf-8-sig")
    except (OSError, UnicodeDecodeError) as error:
        raise ConfigError(f"The recording {path.name} cannot be read: {error}") from error


def _line(fields: dict[str, JSON]) -> bytes:
    text = json.dumps(fields, ensure_ascii=False)
    try:
        return text.encode() + b"\n"
    except UnicodeEncodeError:  # half of a pair, which only an escape can hold
        return json.dumps(fields).encode() + b"\n"


def _check_depth(value: JSON) -> None:
    level = [value]
    for _ in range(MAX_DEPTH):
        parts: list[JSON] = []
        for item in level:
            parts += item.values() if isinstance(item, dict) else item
        level = [part for part in parts if isinstance(part, dict | list)]
        if not level:
            return
    raise ValueError("nested too deeply")


def _header(record: JSON) -> str:
    version = record.get("agent_magics_recording") if isinstance(record, Mapping) else None
    if version != VERSION:
        raise ValueError(f'the first line must be {{"agent_magics_recording": {VERSION}, …}}')
    return str(record.get("title", ""))


def _reply(record: JSON) -> Reply:
    if not isinstance(record, Mapping):
        raise TypeError("a JSON object is needed")
    unknown = set(record) - _KEYS
    if unknown:
        raise ValueError(f"unknown key {min(unknown)!r}")
    if not isinstance(record.get("prompt"), str):
        raise TypeError("'prompt' is missing or of the wrong type")
    step = _number(record, "step")
    turn = _number(record, "turn") if "turn" in record else None
    if not isinstance(record.get("reply"), Mapping):
        raise TypeError("'reply' is missing or of the wrong type")
    after, kind = record.get("after", "any"), record.get("kind", "answer")
    if after not in ("any", "ok", "refused"):
        raise ValueError(f"'after' must be ok or refused, not {after!r}")
    if kind not in ("answer", "task", "summary"):
        raise ValueError(f"'kind' must be task or summary, not {kind!r}")
    expect = record.get("expect", [])
    if not isinstance(expect, list) or not all(isinstance(text, str) for text in expect):
        raise TypeError("'expect' must be a list of texts")
    return Reply(
        spaced(record["prompt"]),
        step,
        _message(record["reply"], step),
        after,
        tuple(expect),
        kind,
        turn,
        _skills(record["skills"]) if "skills" in record else None,
        _results(record["results"]) if "results" in record else None,
    )


def _number(record: Mapping[str, JSON], key: str) -> int:
    value = record.get(key)
    if isinstance(value, bool) or not isinstance(value, int):
        raise TypeError(f"{key!r} is missing or of the wrong type")
    if not 0 <= value <= MAX_STEP:
        raise ValueError(f"{key!r} must be from 0 to {MAX_STEP}")
    return value


def _skills(value: JSON) -> tuple[tuple[str, str], ...]:
    pairs: list[tuple[str, str]] = []
    for pair in value if isinstance(value, list) else [None]:
        texts = pair if isinstance(pair, list) else []
        if len(texts) != 2 or not all(isinstance(text, str) for text in texts):
            raise TypeError("'skills' must be a list of [name, digest]")
        pairs.append((texts[0], texts[1]))
    return tuple(pairs)


def _results(value: JSON) -> tuple[Result, ...]:
    if not isinstance(value, list) or len(value) > MAX_CALLS:
        raise TypeError(f"'results' must be a list of at most {MAX_CALLS} objects")
    return tuple(_result(item) for item in value)


def _result(value: JSON) -> Result:
    if not isinstance(value, Mapping):
        raise TypeError("each result must be an object")
    texts = {name: value.get(name, "") for name in ("name", "text", "digest", "decided", "by")}
    for name, text in texts.items():
        if not isinstance(text, str):
            raise TypeError(f"a result's {name!r} must be a text")
        if len(text) > MAX_RESULT:
            raise ValueError(f"a result's {name!r} is longer than {MAX_RESULT:,} characters")
    for name in ("ok", "cut"):
        if not isinstance(value.get(name, False), bool):
            raise TypeError(f"a result's {name!r} must be true or false")
    ran = value.get("ran")
    if ran is not None and not isinstance(ran, Mapping):
        raise TypeError("a result's 'ran' must be an object")
    return Result(**texts, ok=value.get("ok", True), cut=value.get("cut", False), ran=ran)


def _result_fields(result: Result) -> dict[str, JSON]:
    fields: dict[str, JSON] = {"name": result.name, "ok": result.ok, "text": result.text}
    rest = {
        "digest": result.digest,
        "cut": result.cut,
        "decided": result.decided,
        "by": result.by,
        "ran": result.ran,
    }
    return fields | {name: value for name, value in rest.items() if value not in ("", False, None)}


def _message(reply: Mapping[str, JSON], step: int) -> Assistant:
    text, reasoning = reply.get("text", ""), reply.get("reasoning", "")
    given = reply.get("calls", [])
    if not isinstance(given, list) or len(given) > MAX_CALLS:
        raise TypeError(f"'calls' must be a list of at most {MAX_CALLS} calls")
    calls = tuple(_call(call, f"rec{step}{number}") for number, call in enumerate(given))
    if not isinstance(text, str) or not isinstance(reasoning, str) or not (text or calls):
        raise ValueError("a reply needs 'text', 'calls', or both")
    stop = reply.get("stop", "calls" if calls else "end")
    if not isinstance(stop, str) or stop not in _STOPS:
        raise ValueError(f"'stop' must be one of {', '.join(sorted(_STOPS))}, not {stop!r}")
    # Tokens that were used once are not used again, so 'usage' stays in the file.
    return Assistant(text, calls, stop, reasoning=reasoning)  # type: ignore[arg-type]  # checked


def _call(call: JSON, ident: str) -> ToolCall:
    if not isinstance(call, Mapping) or not isinstance(call.get("name"), str):
        raise TypeError("each call needs a 'name'")
    arguments, problem = call.get("arguments", {}), call.get("problem", "")
    if not isinstance(arguments, Mapping):
        raise TypeError("a call's 'arguments' must be an object")
    if not isinstance(problem, str):
        raise TypeError("a call's 'problem' must be a text")
    written = json.dumps(arguments, ensure_ascii=False)
    return ToolCall(ident, call["name"], written, problem=problem)


def _message_fields(message: Assistant) -> dict[str, JSON]:
    calls = [
        {
            "name": call.name,
            "arguments": json.loads(call.arguments),
            **({"problem": call.problem} if call.problem else {}),
        }
        for call in message.calls
    ]
    usage = {
        name: count
        for name in ("input", "output", "cached", "reasoning")
        if (count := getattr(message.usage, name))
    }
    usual = "calls" if calls else "end"
    fields: dict[str, JSON] = {
        "text": message.text,
        "reasoning": message.reasoning,
        "calls": calls,
        "stop": "" if message.stop == usual else message.stop,
        "model": message.model,
        "usage": usage,
    }
    return {name: value for name, value in fields.items() if value}
