"""The value that every front end shows: one output, in HTML and in plain text.

Owns its shape and its metadata. Knows no events.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, field

from agent_magics.frontends.summary import duration
from agent_magics.messages import JSON

NOTHING = "<span></span>"
"""HTML without height; not the empty text, which some would take for no HTML at all."""
VERSION = 1
"""The version of the metadata below the key `agent_magics` of an output."""


@dataclass(frozen=True, slots=True)
class Block:
    """One output of a turn.

    Args:
        key: Names its place, unique in the turn; a later block with this key replaces it.
        html: Safe to publish as `text/html`.
        text: Markdown that reads well as it is; published as `text/plain`.
        metadata: What is needed to audit and repeat; goes under the key `agent_magics` of the
            output's metadata. Has `version` and `kind`.
        live: Whether a block with this key is going to follow.
        bundle: MIME types made by the user's own code, to be published in place of `html`.
    """

    key: str
    html: str
    text: str
    metadata: Mapping[str, JSON] = field(default_factory=dict)
    live: bool = False
    bundle: Mapping[str, JSON] | None = None


def metadata(kind: str, **facts: JSON) -> dict[str, JSON]:
    """A block's metadata; facts that are None or empty are left out.

    Args:
        kind: `answer`, `reasoning`, `call`, `approval`, `attached`, `display`, `findings`,
            `notice`, `proposed`, `retry`, `compacted`, `policy`, `turn` or `status`.
        facts: JSON values; their texts must be fit for UTF-8, see `fit`.
    """
    kept = {name: value for name, value in facts.items() if value not in (None, "", [], {})}
    return {"version": VERSION, "kind": kind, **kept}


def fit(text: str, limit: int = 1_000) -> str:
    """The text for metadata: encodable, and not longer than `limit` characters.

    Bidi and control characters stay, since JSON escapes what matters and nobody draws it.
    """
    whole = text[:limit].encode(errors="backslashreplace").decode()
    return whole if len(text) <= limit else f"{whole}… ({len(text):,} characters)"


def gone(key: str) -> Block:
    """A place with nothing left to see."""
    return Block(key, NOTHING, "(nothing is left here)", metadata("status"))


def amount(cost: float | None) -> float | None:
    """A cost for metadata, to a hundred-millionth; None for what JSON cannot hold."""
    return round(cost, 8) if cost is not None and math.isfinite(cost) else None


def rounded(seconds: float) -> float | None:
    """Seconds for metadata, to a hundredth; None for what JSON cannot hold."""
    return round(seconds, 2) if duration(seconds) else None
