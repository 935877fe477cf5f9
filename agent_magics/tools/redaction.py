"""Which environment variables hold secrets, and texts without their values. Pure.

Owns the name patterns. Deliberately reads no environment: it is given the variables.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping

MIN_LENGTH = 8
"""Shorter values occur in ordinary text, and hiding them would spoil it."""

_SECRET_NAME = re.compile(
    r"SECRET|PASSWO?R?D|PASSPHRASE|CREDENTIAL|(TOKEN|KEY)S?(?=[_\d]|$)|(^|_)(PAT|PASS)(?=_|$)|_PWD$",
    re.IGNORECASE,
)
_COMMON = frozenset(
    (
        *("password", "changeme", "localhost", "postgres", "postgresql", "production", "username"),
        *("development", "disabled", "required", "optional", "undefined", "anonymous", "keychain"),
        *("not-needed", "no-key-required", "sk-no-key-required", "lm-studio", "xxxxxxxx"),
        *("00000000", "11111111", "12345678", "123456789", "1234567890"),
    )
)
_PAIR = re.compile(r"([A-Za-z_][A-Za-z0-9_]*)=(.*)", re.DOTALL)


def says_secret(name: str) -> bool:
    """Whether a variable's name says that its value must not be passed on."""
    return _SECRET_NAME.search(name) is not None


def secret_pairs(environment: Mapping[str, str]) -> tuple[str, ...]:
    """The variables whose names say secret, each as `NAME=value`."""
    return tuple(f"{name}={value}" for name, value in environment.items() if says_secret(name))


def redacted(text: str, secrets: Iterable[str]) -> str:
    """The text with each secret value exchanged for `[redacted NAME]`.

    Args:
        text: Anything on its way to a model, a screen or a log.
        secrets: Each `NAME=value`, or a bare value. Short and common values are left alone.
    """
    # Longest first: one secret can be the beginning of another.
    for value, mark in sorted(marks(secrets).items(), key=lambda item: -len(item[0])):
        text = text.replace(value, mark)
    return text


def marks(secrets: Iterable[str]) -> dict[str, str]:
    """Each value to look for, and what stands in its place.

    Args:
        secrets: As for `redacted`.
    """
    found: dict[str, str] = {}
    for secret in secrets:
        pair = _PAIR.fullmatch(secret)
        name, value = (pair[1], pair[2]) if pair and _telling(pair[2]) else ("", secret)
        mark = f"[redacted {name}]" if name else "[redacted]"
        # A key of several lines must not pass one line at a time.
        for line in (value.strip(), *value.splitlines()):
            if _telling(line.strip()):
                found.setdefault(line.strip(), mark)
    return found


def _telling(value: str) -> bool:
    """Whether a value is long and odd enough to be looked for in any text."""
    distinct = len(set(value))
    return len(value) >= MIN_LENGTH and distinct > 2 and value.casefold() not in _COMMON
