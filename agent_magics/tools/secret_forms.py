"""The ways in which a known value can be written down. Pure.

Owns encodings: base64 at each of its three alignments, hexadecimal, URLs, JSON, HTML, Python's
and the shell's quoting. What is reversed, encrypted or spelled out is found by no list.
"""

from __future__ import annotations

import base64
import html
import json
import shlex
from urllib.parse import quote, quote_plus

SHORTEST = 8
"""Characters of a written form that is looked for; shorter ones occur by chance."""


def written_forms(value: str) -> frozenset[str]:
    """Every text that stands for the value, the value itself included.

    Args:
        value: Anything that UTF-8 can hold; another value has no form but itself.
    """
    try:
        data = value.encode("utf-8")
    except UnicodeEncodeError:
        return frozenset((value,))
    forms = {value, data.hex(), data.hex().upper(), "".join(f"\\x{byte:02x}" for byte in data)}
    forms.update(_in_base64(data))
    forms.update(_quoted(value))
    return frozenset(form for form in forms if len(form) >= SHORTEST)


def _quoted(value: str) -> set[str]:
    urls = (quote(value), quote(value, safe=""), quote_plus(value))
    written = json.dumps(value)[1:-1]
    return {
        *urls,
        *(_lower_escapes(url) for url in urls),
        written,
        written.replace("/", "\\/"),
        json.dumps(value, ensure_ascii=False)[1:-1],
        json.dumps(written)[1:-1],
        repr(value)[1:-1],
        shlex.quote(value).strip("'"),
        html.escape(value),
        # As bash writes it: in double quotes (declare -x), and with a backslash each (%q).
        "".join(f"\\{c}" if c in '$`"\\' else c for c in value),
        "".join(c if c.isalnum() or c in "_-./:=@%+," else f"\\{c}" for c in value),
    }


def _lower_escapes(url: str) -> str:
    first, *rest = url.split("%")
    return "%".join((first, *(part[:2].lower() + part[2:] for part in rest)))


def _in_base64(data: bytes) -> set[str]:
    """What of the encoded value is the same, whatever stands before and after it."""
    forms = {base64.b64encode(data).decode("ascii").rstrip("=")}
    for before in range(3):
        encoded = base64.b64encode(b"\0" * before + data).decode("ascii")
        first = -(-before * 8 // 6)
        last = (before + len(data)) * 8 // 6
        forms.add(encoded[first:last])
    return forms | {form.replace("+", "-").replace("/", "_") for form in forms}
