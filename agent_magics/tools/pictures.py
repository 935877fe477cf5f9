"""Pictures for models that take them: PNG, JPEG, GIF and WebP, known by their content.

Owns how large a picture may be that is sent, and making large ones smaller. The only module that
imports Pillow, which is an extra (`images`): without it small pictures are sent as they are, and
large ones are refused. SVG is text and no business of this module.
"""

from __future__ import annotations

import base64
import io
import struct
import warnings
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal, TypeAlias

from agent_magics.errors import ToolError
from agent_magics.importing import installed_only
from agent_magics.messages import Image
from agent_magics.tools.plain import size

if TYPE_CHECKING:
    from PIL.Image import Image as Opened

Kind: TypeAlias = Literal["PNG", "JPEG", "GIF", "WEBP"]

LONGEST_EDGE = 1568
"""Pixels of the longer side from which a picture is made smaller: providers do it otherwise."""
MOST_BYTES = 3_750_000
"""Of a picture that is sent: five megabytes in base64, the lowest limit of the large providers."""
MOST_EDGE = 8000
"""Pixels of a side that providers take."""
MOST_PIXELS = 60_000_000
"""In a picture that is opened to be made smaller; each needs up to four bytes of memory."""
MOST_READ = 50_000_000
"""Bytes of a picture file that is read at all."""


@dataclass(frozen=True, slots=True)
class Picture:
    """What the head of a picture file says.

    Args:
        kind: Its format.
        width: In pixels.
        height: In pixels.
    """

    kind: Kind
    width: int
    height: int

    @property
    def media_type(self) -> str:
        """For example `image/png`."""
        return f"image/{self.kind.lower()}"


def recognised(data: bytes) -> Picture | None:
    """The picture that some bytes begin, or None for anything else.

    Args:
        data: A file's content, or its beginning.
    """
    try:
        if data.startswith(b"\x89PNG\r\n\x1a\n") and data[12:16] == b"IHDR":
            return Picture("PNG", *struct.unpack(">II", data[16:24]))
        if data[:6] in (b"GIF87a", b"GIF89a"):
            return Picture("GIF", *struct.unpack("<HH", data[6:10]))
        if data[:4] == b"RIFF" and data[8:12] == b"WEBP":
            return Picture("WEBP", *_webp(data))
        if data[:3] == b"\xff\xd8\xff":
            return _jpeg(data)
    except (struct.error, IndexError):
        pass
    return None


def _jpeg(data: bytes) -> Picture | None:
    """A JPEG's size stands in a frame header, after any number of other segments."""
    place = 2
    while place + 9 <= len(data) and data[place] == 0xFF:
        mark = data[place + 1]
        if mark == 0xFF or mark == 0x01 or 0xD0 <= mark <= 0xD8:
            # Filling, or a mark without a segment.
            place += 1 if mark == 0xFF else 2
            continue
        if 0xC0 <= mark <= 0xCF and mark not in (0xC4, 0xC8, 0xCC):
            height, width = struct.unpack(">HH", data[place + 5 : place + 9])
            return Picture("JPEG", width, height)
        place += 2 + int.from_bytes(data[place + 2 : place + 4], "big")
    return None


def _webp(data: bytes) -> tuple[int, int]:
    match data[12:16]:
        case b"VP8 ":
            width, height = struct.unpack("<HH", data[26:30])
            return width & 0x3FFF, height & 0x3FFF
        case b"VP8L":
            bits = int.from_bytes(data[21:25], "little")
            return (bits & 0x3FFF) + 1, (bits >> 14 & 0x3FFF) + 1
        case _:
            width, height = (int.from_bytes(data[at : at + 3], "little") + 1 for at in (24, 27))
            return width, height


def shown_to_model(picture: Picture, data: bytes, name: str) -> tuple[str, Image]:
    """A picture as it is sent, and the line about it.

    Args:
        picture: What its head says.
        data: The whole file.
        name: For messages.

    Raises:
        ToolError: It is damaged, or too large to be sent.
    """
    about = f"{picture.media_type}, {picture.width}×{picture.height} pixels, {size(len(data))}"
    if not _whole(picture, data):
        raise ToolError(_damaged(picture, name))
    fits = len(data) <= MOST_BYTES and max(picture.width, picture.height) <= MOST_EDGE
    small = fits and max(picture.width, picture.height) <= LONGEST_EDGE
    opened = _opened(picture, data, name)
    if opened is None:
        if not fits:
            raise ToolError(
                f"{name} is too large to be sent ({about}; at most {size(MOST_BYTES)} and "
                f"{MOST_EDGE} pixels a side). With Pillow it is made smaller: "
                'pip install "agent_magics[images]".'
            )
        return f"[{about}]", _encoded(picture.media_type, data)
    if small:
        return f"[{about}]", _encoded(picture.media_type, data)
    made, media_type, edges = _smaller(picture, opened, name)
    width, height = edges
    return f"[{about}; made smaller: {width}×{height}]", _encoded(media_type, made)


def _encoded(media_type: str, data: bytes) -> Image:
    return Image(media_type, base64.b64encode(data).decode("ascii"))


def _whole(picture: Picture, data: bytes) -> bool:
    """Whether a file reaches to its format's end mark: providers refuse what does not."""
    if not picture.width or not picture.height:
        return False
    match picture.kind:
        case "PNG":
            return b"IEND" in data[-64:]
        case "JPEG":
            return b"\xff\xd9" in data[-4096:]
        case "GIF":
            return b";" in data[-64:]
        case "WEBP":
            return len(data) >= 8 + int.from_bytes(data[4:8], "little")


def _damaged(picture: Picture, name: str) -> str:
    return (
        f"{name} begins as a {picture.kind} image and is damaged, so it cannot be shown. "
        "Look into it with python or run_shell."
    )


def _opened(picture: Picture, data: bytes, name: str) -> Opened | None:
    """The picture in memory, read to its end; None without Pillow."""
    try:
        with installed_only():
            from PIL import Image as Pillow
            from PIL import ImageOps
    except ImportError:
        return None
    if picture.width * picture.height > MOST_PIXELS:
        raise ToolError(
            f"{name} has {picture.width}×{picture.height} pixels, too many to be opened. "
            "Make a smaller copy with python or run_shell."
        )
    try:
        with warnings.catch_warnings():
            # About odd but harmless metadata, and about sizes that were just checked.
            warnings.simplefilter("ignore")
            opened = Pillow.open(io.BytesIO(data), formats=[picture.kind])
            opened.load()
            # Cameras write the picture as the sensor lay, and a note on which side is up.
            return ImageOps.exif_transpose(opened)
    except Exception as error:
        # It raises whatever its readers trip over in a file that anybody may have made.
        raise ToolError(_damaged(picture, name)) from error


def _smaller(picture: Picture, opened: Opened, name: str) -> tuple[bytes, str, tuple[int, int]]:
    """The picture within the limits: its bytes, their type, and its size in pixels."""
    plain = _ordinary(opened)
    edge = LONGEST_EDGE
    while edge >= 100:
        scale = min(1, edge / max(plain.size))
        made = plain.resize([max(1, round(side * scale)) for side in plain.size])
        for kind in ("JPEG",) if picture.kind == "JPEG" else ("PNG", "JPEG"):
            out = io.BytesIO()
            (made.convert("RGB") if kind == "JPEG" else made).save(out, kind)
            if out.tell() <= MOST_BYTES:
                return out.getvalue(), f"image/{kind.lower()}", made.size
        edge //= 2
    raise ToolError(f"{name} cannot be made small enough to be sent.")


def _ordinary(opened: Opened) -> Opened:
    """The picture with eight bits for each of its colours, so that it can be made smaller."""
    if opened.mode.startswith("I"):
        # Sixteen bits of grey; converting alone would make nearly all of it white.
        return opened.convert("I").point(lambda value: value * (1 / 256)).convert("L")
    if opened.mode in ("L", "RGB", "RGBA"):
        return opened
    return opened.convert("RGBA" if opened.has_transparency_data else "RGB")
