"""The text of a SKILL.md becomes a `Skill`. Pure: bytes in, value out, nothing is ever raised.

Owns what the header's fields mean and what is said about the ones that are off. Deliberately knows
no disk: where the folder lies, what else is in it and which skills there are besides is the
library's business.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Mapping, Sequence
from typing import Literal

from agent_magics.skill import Diagnostic, Skill
from agent_magics.skill.filters import Filter, allowed_tools, suggested_tools, whitelist
from agent_magics.skill.header import read_header
from agent_magics.skill.naming import composed, is_standard, normalised, shown
from agent_magics.skill.splitting import parts
from agent_magics.skill.yaml_values import Header, Value

MAX_DESCRIPTION = 1024
"""Characters of a description, from the Agent Skills standard; longer ones are warned about."""
LONG_BODY = 64_000
"""Characters of instructions that are fair without a word; 0.2% of public skills have more."""

FIELDS = (
    "name",
    "description",
    "tools",
    "allowed-tools",
    "suggested-tools",
    "disallowed-tools",
    "metadata",
    "license",
    "compatibility",
    "disable-model-invocation",
    "user-invocable",
    "argument-hint",
)
"""Keys that mean something here, or in the standard."""
_UNSUPPORTED = ("model", "effort", "context", "agent", "hooks", "paths", "shell")
_FLAGS = {"true": True, "yes": True, "on": True, "1": True} | {
    "false": False,
    "no": False,
    "off": False,
    "0": False,
}
_TYPED = re.compile(
    r"(y|n|yes|no|on|off|true|false|null|~|[-+]?(0x)?[\d_.,:]+(e[-+]?\d+)?|\.inf|\.nan|[\d-]+)",
    re.IGNORECASE,
)
# Control characters, direction marks, invisible operators, and the "tag" characters that can carry
# hidden text. The two joiners stay: Indic and Persian words and many emoji need them.
_INVISIBLE = re.compile(
    "[\x00-\x1f\x7f-\x9f\u00ad\u200b\u200e\u200f\u202a-\u202e\u2060-\u2069\ufeff\U000e0000-\U000e007f]"
)
_MARKUP = re.compile(r"</?[A-Za-z!]")


def read_skill(
    data: bytes, folder: str, *, known_tools: Collection[str], bundled: tuple[str, ...] = ()
) -> Skill:
    """The skill that a SKILL.md describes; whatever is off about it is among its diagnostics.

    Args:
        data: The file's bytes, in any encoding and of any size.
        folder: The name of the skill's folder, which is the skill's name.
        known_tools: The names of the built-in tools.
        bundled: The names of the functions in the skill's `tools.py`.
    """
    name = composed(folder)
    about_name = _folder_name(name)
    name = shown(name) if about_name else name
    split = parts(data)
    about_file = (*about_name, *split.diagnostics)
    if split.header is None:
        # What cannot be read must not leave every tool visible either.
        closed = () if _has_error(about_file) else None
        return Skill(name, "", split.body, tools=closed, diagnostics=about_file, bundled=bundled)
    header = read_header(split.header, split.first_line)
    if _has_error(header.diagnostics):
        problems = (*about_file, *header.diagnostics)
        return Skill(name, "", split.body, tools=(), diagnostics=problems, bundled=bundled)
    header, spelling = _canonical(header)
    values = header.values
    description, about_description = _description(values.get("description"))
    tools = whitelist(values, known_tools, bundled)
    allowed = allowed_tools(values.get("allowed-tools"), known_tools)
    suggested = suggested_tools(values.get("suggested-tools"))
    metadata, about_metadata = _metadata(values)
    return Skill(
        name,
        description,
        split.body,
        tools=tools.names,
        excluded=tools.excluded,
        suggested_tools=suggested.names or (),
        allowed_tools=allowed.names or (),
        metadata=metadata,
        diagnostics=(
            *about_file,
            *header.diagnostics,
            *spelling,
            *_header_name(name, header),
            *about_description,
            *_filters(tools, allowed, suggested),
            *about_metadata,
            *_body(split.body),
        ),
        bundled=bundled,
    )


def flag(skill: Skill, key: str, default: bool) -> bool:
    """A switch of the header: `disable-model-invocation`, `user-invocable`."""
    value = skill.metadata.get(key)
    return value if isinstance(value, bool) else default


def _canonical(header: Header) -> tuple[Header, tuple[Diagnostic, ...]]:
    """The header with `allowed_tools`, `allowedTools`, `Description` under their own names."""
    forms = {_form(field): field for field in FIELDS}
    values: dict[str, Value] = {}
    plain = set(header.plain)
    problems: list[Diagnostic] = []
    for key, value in header.values.items():
        field = forms.get(_form(key), key)
        if field != key:
            if field in header.values or field in values:
                continue
            message = f"the key `{shown(key)}` is read as `{field}`"
            problems.append(Diagnostic("warning", message, f"write `{field}`"))
            if key in plain:
                plain.add(field)
        values[field] = value
    return Header(values, frozenset(plain), header.diagnostics), tuple(problems)


def _has_error(problems: Sequence[Diagnostic]) -> bool:
    return any(problem.severity == "error" for problem in problems)


def _form(key: str) -> str:
    return key.casefold().replace("_", "").replace("-", "")


def _folder_name(name: str) -> tuple[Diagnostic, ...]:
    """Names stand in prompts and on screens, so what could end a line or a tag is refused."""
    if name and name.isprintable() and not any(c in '<>&"\\/' for c in name):
        return ()
    message = "the folder's name holds characters that a skill's name cannot have"
    return (Diagnostic("error", message, "rename the folder: lower case, digits, hyphens"),)


def _header_name(name: str, header: Header) -> tuple[Diagnostic, ...]:
    given = header.values.get("name")
    if given is None:
        fix = f"add `name: {name}`"
        return (Diagnostic("warning", "the header has no name", fix),)
    if not isinstance(given, str) or "\n" in given.strip() or not given.strip():
        message = "the name in the header is no single line of text"
        return (Diagnostic("warning", f"{message}; the folder's is used", f"write `name: {name}`"),)
    given = given.strip()
    problems: list[Diagnostic] = []
    if composed(given) != name and normalised(given) != normalised(name):
        message = f"the header's name `{shown(given)}` is not the folder's, `{shown(name)}`"
        problems.append(Diagnostic("warning", message, "rename one; %use takes both"))
    if not is_standard(given):
        message = f"the name `{shown(given)}` is not of the standard's form"
        fix = "lower case, digits and single hyphens, at most 64 characters"
        problems.append(Diagnostic("warning", message, fix))
    elif "name" in header.plain and _TYPED.fullmatch(given):
        message = f"`name: {shown(given)}` is no text for other clients"
        problems.append(Diagnostic("warning", message, f'write `name: "{given}"`'))
    return tuple(problems)


def _description(value: Value) -> tuple[str, tuple[Diagnostic, ...]]:
    """The description in one line, without invisible characters."""
    problems: list[Diagnostic] = []
    if isinstance(value, list) and value and all(isinstance(item, str) for item in value):
        value = ", ".join(str(item) for item in value)
        problems.append(Diagnostic("warning", "the description is a list", "write it as text"))
    if isinstance(value, (list, dict)):
        problem = Diagnostic("warning", "the description is no text", "write one or two sentences")
        return "", (problem,)
    line = " ".join((value or "").split())
    text = " ".join(_INVISIBLE.sub("", line).split())
    if not text:
        what = "there is no description" if value is None else "the description is empty"
        fix = "say what the skill does and when to use it"
        return "", (Diagnostic("warning", what, fix),)
    if _INVISIBLE.search(line):
        message = "the description holds invisible characters, which are left out"
        problems.append(Diagnostic("warning", message, "remove them"))
    if len(text) > MAX_DESCRIPTION:
        message = f"the description has {len(text):,} characters; the standard allows 1,024"
        problems.append(Diagnostic("warning", message, "shorten it"))
    if _MARKUP.search(text):
        message = "the description holds what looks like markup; it is shown as text"
        problems.append(Diagnostic("warning", message, "leave the brackets out"))
    return text, tuple(problems)


def _filters(*filters: Filter) -> tuple[Diagnostic, ...]:
    return tuple(problem for each in filters for problem in each.diagnostics)


def _metadata(values: Mapping[str, Value]) -> tuple[dict[str, object], tuple[Diagnostic, ...]]:
    """Every key that has no field of its own, with the switches as switches."""
    own = ("description", "tools", "allowed-tools", "suggested-tools", "disallowed-tools")
    rest: dict[str, object] = {key: value for key, value in values.items() if key not in own}
    problems: list[Diagnostic] = []
    name = rest.get("name")
    if isinstance(name, str):
        rest["name"] = name.strip()
    for key in ("disable-model-invocation", "user-invocable"):
        value = rest.pop(key, None)
        switch = _FLAGS.get(value.strip().lower()) if isinstance(value, str) else None
        if switch is not None:
            rest[key] = switch
        elif value is not None:
            problems.append(Diagnostic("warning", f"`{key}` is neither true nor false", "mend it"))
    hint = rest.get("argument-hint")
    if isinstance(hint, list):  # `argument-hint: [file]` is a list for YAML, a text for people
        rest["argument-hint"] = f"[{', '.join(str(item) for item in hint)}]"
    if not isinstance(rest.get("metadata"), (dict, type(None))):
        message = "`metadata` is no mapping of names to values"
        problems.append(Diagnostic("warning", message, "write `key: value` lines below it"))
    unused = [key for key in _UNSUPPORTED if key in values]
    if unused:
        keys = ", ".join(f"`{key}`" for key in unused)
        problems.append(Diagnostic("info", f"not supported here and not used: {keys}"))
    return rest, tuple(problems)


def _body(body: str) -> tuple[Diagnostic, ...]:
    problems: list[Diagnostic] = []
    if not body:
        problems.append(
            Diagnostic("warning", "there are no instructions", "write them below the header")
        )
    if len(body) > LONG_BODY:
        message = (
            f"the instructions have {len(body):,} characters, about {len(body) // 4:,} tokens, "
            "and go to the model whole in every request"
        )
        problems.append(Diagnostic("warning", message, "move parts of them to references/"))
    hidden = len(_INVISIBLE.findall(body.replace("\n", "").replace("\t", "")))
    if hidden:
        level: Literal["warning", "info"] = "warning" if _hides_text(body) else "info"
        message = f"the instructions hold {hidden} invisible characters, which the model can read"
        problems.append(Diagnostic(level, message, "look at the file's bytes before you use it"))
    return tuple(problems)


def _hides_text(body: str) -> bool:
    """Whether characters are there that serve to hide text or to turn its direction around."""
    return re.search("[\u202a-\u202e\u2066-\u2069\U000e0000-\U000e007f]", body) is not None
