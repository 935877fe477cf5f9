"""What the Agent Skills standard asks of a SKILL.md beyond what loading it here needs.

For authors who share skills: `%skills --check` says it, the list of skills does not. Rules that
matter here as well (form of the name, length of the description) are checked where a skill is read.
"""

from __future__ import annotations

from collections.abc import Mapping

from agent_magics.skill import Diagnostic
from agent_magics.skill.header import read_header
from agent_magics.skill.naming import composed, normalised, shown
from agent_magics.skill.splitting import parts
from agent_magics.skill.yaml_values import Value

FIELDS = ("name", "description", "license", "compatibility", "metadata", "allowed-tools")
"""All keys of the standard; strict clients refuse any other."""
MAX_COMPATIBILITY = 500
"""Characters, from the standard."""
LONG_BODY = 500
"""Lines of instructions that the standard advises to stay below."""


def about_standard(data: bytes, folder: str) -> tuple[Diagnostic, ...]:
    """Every rule of the standard that a SKILL.md breaks, as far as `read_skill` is silent on it.

    Args:
        data: The file's bytes.
        folder: The name of the skill's folder.
    """
    split = parts(data)
    if split.header is None:
        return ()
    values = read_header(split.header, split.first_line).values
    return (
        *_name(values.get("name"), composed(folder)),
        *_compatibility(values.get("compatibility")),
        *_texts(values),
        *_keys(values),
        *_length(split.body),
    )


def _name(given: Value, folder: str) -> tuple[Diagnostic, ...]:
    if not isinstance(given, str) or composed(given.strip()) == folder:
        return ()
    if normalised(given) != normalised(folder):
        return ()  # said where the skill is read
    message = f"the name `{shown(given)}` is spelled otherwise than the folder, `{shown(folder)}`"
    return (Diagnostic("warning", message, "the standard wants them equal"),)


def _compatibility(value: Value) -> tuple[Diagnostic, ...]:
    if value is None:
        return ()
    if not isinstance(value, str):
        return (Diagnostic("warning", "`compatibility` is no text", "write one or two sentences"),)
    if not 1 <= len(value.strip()) <= MAX_COMPATIBILITY:
        message = f"`compatibility` has {len(value.strip())} characters"
        return (Diagnostic("warning", message, f"the standard allows 1 to {MAX_COMPATIBILITY}"),)
    return ()


def _texts(values: Mapping[str, Value]) -> tuple[Diagnostic, ...]:
    problems: list[Diagnostic] = []
    if not isinstance(values.get("license"), (str, type(None))):
        problems.append(Diagnostic("info", "`license` is no text", "name it, or its file"))
    allowed = values.get("allowed-tools")
    if not isinstance(allowed, (str, type(None))) or (allowed and "," in _outside(allowed)):
        fix = "`allowed-tools: Read Grep` is what every client takes"
        problems.append(Diagnostic("info", "`allowed-tools` is no text with blanks between", fix))
    metadata = values.get("metadata")
    if isinstance(metadata, dict):
        odd = [shown(key, 40) for key, value in metadata.items() if not isinstance(value, str)]
        if odd:
            message = f"in `metadata`, {', '.join(odd[:5])} is no text"
            problems.append(Diagnostic("info", message, "the standard has texts there only"))
    return tuple(problems)


def _outside(text: str) -> str:
    """A text without what stands in parentheses: `Bash(python -c "a,b")` is one tool."""
    kept, depth = [], 0
    for character in text:
        depth += (character == "(") - (character == ")")
        if depth <= 0:
            kept.append(character)
    return "".join(kept)


def _keys(values: Mapping[str, Value]) -> tuple[Diagnostic, ...]:
    others = [f"`{shown(key, 40)}`" for key in values if key not in FIELDS]
    if not others:
        return ()
    more = f" and {len(others) - 10} more" if len(others) > 10 else ""
    message = f"not in the standard: {', '.join(others[:10])}{more}"
    return (Diagnostic("info", message, "strict clients refuse the skill for them"),)


def _length(body: str) -> tuple[Diagnostic, ...]:
    lines = body.count("\n") + 1
    if lines < LONG_BODY:
        return ()
    message = f"the instructions have {lines:,} lines; the standard advises fewer than {LONG_BODY}"
    return (Diagnostic("info", message, "move parts of them to references/"),)
