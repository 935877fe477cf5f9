"""What code displayed, for a model: figures as images within a budget, the rest as text.

Owns how much of it is sent. The person sees all of it as it is.
"""

from __future__ import annotations

import base64
import binascii
import re
from collections.abc import Sequence

from agent_magics.errors import ToolError
from agent_magics.messages import Display, Image
from agent_magics.tools.pictures import recognised, shown_to_model
from agent_magics.tools.plain import cut, printable

MOST_FIGURES = 4
"""Images of one call that are sent: each costs about as much as a page of text."""
MOST_DATA = 4_000_000
"""Characters in base64 of all of them."""
TEXT = 4_000
"""Characters of one display's text."""
_ADDRESS_ONLY = re.compile(r"<[\w.]+ (object|at|size|with)\b[^<>]*>")


def told_of(displays: Sequence[Display], value: str) -> tuple[tuple[str, ...], tuple[Image, ...]]:
    """What a model gets of displays: a line or a text for each, and images.

    Args:
        displays: MIME bundles.
        value: The text of the last value, which is not told twice.
    """
    texts: list[str] = []
    images: list[Image] = []
    left = MOST_DATA
    for display in displays:
        if (image := _image_of(display)) is not None:
            note, sent = _figure(image, len(images), left)
            if sent is not None:
                images.append(sent)
                left -= len(sent.data)
            texts.append(note)
        else:
            texts.append(_text(display, value))
    return tuple(texts), tuple(images)


def _image_of(display: Display) -> bytes | None:
    for kind in ("image/png", "image/jpeg", "image/gif", "image/webp"):
        data = display.data.get(kind)
        if isinstance(data, str):
            try:
                return base64.b64decode(data)
            except (ValueError, binascii.Error):
                return None
    return None


def _figure(data: bytes, count: int, left: int) -> tuple[str, Image | None]:
    picture = recognised(data)
    if picture is None:
        return "[an image that cannot be read, shown to the user]", None
    about = f"{picture.media_type}, {picture.width}×{picture.height} pixels"
    if count >= MOST_FIGURES:
        return f"[figure ({about}) shown to the user only: at most {MOST_FIGURES} are sent]", None
    try:
        note, image = shown_to_model(picture, data, "the figure")
    except ToolError as error:
        return f"[figure ({about}) shown to the user only: {error}]", None
    if len(image.data) > left:
        return f"[figure ({about}) shown to the user only: too much data for one result]", None
    return f"[figure {count + 1}, shown to the user and sent as an image: {note[1:]}", image


def _text(display: Display, value: str) -> str:
    kinds = [printable(str(kind)) for kind in display.data if kind != "text/plain"]
    kind = (kinds or ["text/plain"])[0]
    plain = display.data.get("text/plain")
    text = plain.strip("\n") if isinstance(plain, str) else ""
    # An object's type and address say nothing; the last value's text is told as such.
    if not text or _ADDRESS_ONLY.fullmatch(text) or text in value:
        return f"[shown to the user: {kind}]"
    return f"[shown to the user: {kind}]\n{cut(text, TEXT) or text}"
