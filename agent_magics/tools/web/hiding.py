"""Which elements a reader of the page would not see. Pure; best effort.

What only a program would read is where instructions for programs are hidden. Looks at attributes
and inline styles alone: it knows no style sheets, so text that those hide is still there.
"""

from __future__ import annotations

import re
from collections.abc import Mapping

_NUMBER = re.compile(r"-?\d*\.?\d+")
_WHITE = re.compile(
    r"white|#fff(?:fff)?(?:ff?)?"
    r"|rgba?\(\s*25[45]\s*[, ]\s*25[45]\s*[, ]\s*25[45]\s*(?:[,/]\s*1?\s*)?\)"
)
_CLEAR = re.compile(r"transparent|#[0-9a-f]{3}0|#[0-9a-f]{6}00|rgba\([^)]*[, /]0?\.?0+%?\s*\)")
_COLOUR = re.compile(r"#[0-9a-f]{3,8}\b|rgba?\([^)]*\)|\b[a-z]+\b")
MAX_VALUE = 100
"""Characters of a property's value that are looked at."""
FAR = 900
"""Pixels beyond an edge that no screen shows."""


def styles(attributes: Mapping[str, str]) -> dict[str, str]:
    """The inline style, by property; the last of two counts."""
    # Comments begin with /* and end with the next */, however many begin in between.
    first, *others = attributes.get("style", "").lower().split("/*")
    text = first + "".join(part.partition("*/")[2] for part in others)
    found: dict[str, str] = {}
    for declaration in text.split(";"):
        name, _, value = declaration.partition(":")
        value = value[:MAX_VALUE].replace("!important", "").replace("! important", "")
        found[name.strip()] = " ".join(value.split())
    return found


def background(attributes: Mapping[str, str], style: Mapping[str, str]) -> str:
    """The colour behind an element; `?` for a picture, empty where none is set."""
    if "background-image" in style or "background" in attributes:
        return "?"
    value = style.get("background-color") or style.get("background") or attributes.get("bgcolor")
    if not value:
        return ""
    if "url(" in value or "gradient" in value:
        return "?"
    colour = _COLOUR.search(value.lower())
    return _plain(colour.group()) if colour else "?"


def is_hidden(name: str, attributes: Mapping[str, str], behind: str) -> bool:
    """Whether an element is not shown.

    Args:
        name: The element's name.
        attributes: With their values.
        behind: The colour behind it, as far as it is known; empty: white, as pages are.
    """
    if "hidden" in attributes and attributes["hidden"].lower() != "until-found":
        return True
    if attributes.get("aria-hidden", "").lower() == "true":
        return True
    style = styles(attributes)
    colour = style.get("color") or (attributes.get("color", "") if name == "font" else "")
    return _not_drawn(style) or (bool(colour) and _same(_plain(colour.lower()), behind))


def _not_drawn(style: Mapping[str, str]) -> bool:
    if style.get("display") == "none" or style.get("visibility") in ("hidden", "collapse"):
        return True
    if _is_zero(style.get("opacity")) or _is_zero(style.get("font-size")):
        return True
    if _number(style.get("font-size"), 16) <= 1 and "px" in style.get("font-size", ""):
        return True
    if style.get("overflow") in ("hidden", "clip") and (
        _is_zero(style.get("height")) or _is_zero(style.get("width"))
        or _is_zero(style.get("max-height"))
    ):  # fmt: skip
        return True
    away = (style.get(side) for side in ("left", "top", "right", "bottom", "text-indent"))
    if any(_number(value, 0) <= -FAR for value in away):
        return True
    return "scale(0" in style.get("transform", "").replace(" ", "").replace("scale(0.", "")


def _is_zero(value: str | None) -> bool:
    return value is not None and value != "" and _number(value, 1) == 0


def _number(value: str | None, otherwise: float) -> float:
    found = _NUMBER.match(value or "")
    return float(found.group()[:12]) if found else otherwise


def _same(colour: str, behind: str) -> bool:
    if _CLEAR.fullmatch(colour):
        return True
    return behind != "?" and colour == (behind or "#fff")


def _plain(colour: str) -> str:
    colour = colour.strip()
    return "#fff" if _WHITE.fullmatch(colour) else colour
