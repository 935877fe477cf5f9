"""`reference/configuration-keys.md`: the keys, from the text of `extension/config.py`.

That text holds one line for each key: an example, and behind `#` what it means. A key without a
line there, or a line that is no key, ends the making of the page.
"""

from __future__ import annotations

import re

from agent_magics.extension import config
from docs.generating.markdown import code, page, prose, table

INTRODUCTION = """\
Keys of your `config.yaml`, and which of them a project's `.agent_magics/config.yaml` may hold,
where they can only tighten. What they mean together is said in
[Configuration](../configuration.md)."""
KEY = re.compile(r"^    (?P<key>[A-Za-z_]\w*):(?P<example>[^#\n]*)(?:#(?P<meaning>.*))?$")


class KeyWithoutText(Exception):
    """A key of `USER_KEYS` has no line in the module's text, or the other way round."""


def keys() -> str:
    """The page.

    Raises:
        KeyWithoutText: The module's text and its table of keys differ.
    """
    lines = _lines()
    if set(lines) != set(config.USER_KEYS):
        odd = sorted(set(lines) ^ set(config.USER_KEYS))
        raise KeyWithoutText(f"extension/config.py: its text and USER_KEYS differ in {odd}")
    rows = [
        (code(key), code(example) if example else "a mapping", prose(meaning), _project(key))
        for key, (example, meaning) in ((key, lines[key]) for key in config.USER_KEYS)
    ]
    head = ("key", "for example", "meaning", "in a project's file")
    example = f"## All of it\n\n```yaml\n{_example()}```"
    return page("Keys of config.yaml", INTRODUCTION, table(head, rows), example)


def _lines() -> dict[str, tuple[str, str]]:
    found = (KEY.match(line) for line in (config.__doc__ or "").splitlines())
    return {
        match["key"]: (match["example"].strip(), (match["meaning"] or "").strip())
        for match in found
        if match is not None
    }


def _example() -> str:
    """The indented block of the module's text."""
    lines = (config.__doc__ or "").splitlines()
    block = [line.removeprefix("    ") for line in lines if line.startswith("    ")]
    return "\n".join(block) + "\n"


def _project(key: str) -> str:
    return "yes" if key in config.PROJECT_KEYS else ""
