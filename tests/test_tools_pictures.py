"""`read` of pictures: which are sent, how large, and what is said of those that are not."""

from __future__ import annotations

import base64
import io
import random
import struct
import subprocess
import sys
import zlib
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from PIL import Image as Pillow

from agent_magics.messages import Assistant, Image, ToolCall, ToolResult, User
from agent_magics.providers.profiles import Profile
from agent_magics.providers.wire import in_order, wire_message
from agent_magics.tools.pictures import LONGEST_EDGE, MOST_BYTES, recognised
from tests.test_tools_kit import Kit, powerless


@pytest.fixture
def kit(tmp_path: Path) -> Kit:
    return Kit(tmp_path)


@pytest.fixture
def _without_pillow(monkeypatch: pytest.MonkeyPatch) -> None:
    """As where the extra is not installed."""
    monkeypatch.setitem(sys.modules, "PIL", None)


def picture(kind: str, width: int, height: int, mode: str = "RGB", **options: object) -> bytes:
    out = io.BytesIO()
    Pillow.effect_noise((width, height), 60).convert(mode).save(out, kind, **options)
    return out.getvalue()


def sent(image: Image) -> Pillow.Image:
    return Pillow.open(io.BytesIO(base64.b64decode(image.data)))


@pytest.mark.parametrize(
    ("kind", "options", "media_type"),
    [
        ("PNG", {}, "image/png"),
        ("JPEG", {}, "image/jpeg"),
        ("JPEG", {"progressive": True}, "image/jpeg"),
        ("GIF", {}, "image/gif"),
        ("WEBP", {}, "image/webp"),
        ("WEBP", {"lossless": True}, "image/webp"),
    ],
)
@pytest.mark.parametrize("pillow", [True, False])
def test_a_small_picture_is_sent_as_it_is_whatever_its_name(
    kit, monkeypatch, kind, options, media_type, pillow
):
    data = picture(kind, 40, 30, **options)
    if not pillow:
        monkeypatch.setitem(sys.modules, "PIL", None)
    kit.file("figure.txt", data)
    output = kit.run("read", path="figure.txt")
    assert output.text.startswith(f"[{media_type}, 40×30 pixels, ")
    assert output.images == (Image(media_type, base64.b64encode(data).decode()),)


def test_a_picture_with_an_alpha_channel_in_webp_has_the_right_size(kit):
    kit.file("a.webp", picture("WEBP", 33, 21, "RGBA", lossless=False))
    assert "33×21 pixels" in kit.run("read", path="a.webp").text


@pytest.mark.parametrize(
    ("kind", "mode"),
    [
        *(
            ("PNG", "RGB"),
            ("PNG", "RGBA"),
            ("PNG", "L"),
            ("PNG", "P"),
            ("PNG", "I;16"),
            ("PNG", "1"),
        ),
        *(("JPEG", "RGB"), ("JPEG", "CMYK"), ("GIF", "P"), ("WEBP", "RGBA")),
    ],
)
def test_a_large_picture_is_made_smaller_and_that_is_said(kit, kind, mode):
    kit.file("a", picture(kind, 2000, 500, mode))
    output = kit.run("read", path="a")
    assert "2000×500 pixels" in output.text
    assert f"made smaller: {LONGEST_EDGE}×392" in output.text
    assert sent(output.images[0]).size == (LONGEST_EDGE, 392)


def test_a_picture_of_noise_is_made_small_enough_to_be_sent(kit):
    noise = Pillow.frombytes("RGB", (1500, 1500), random.Random(1).randbytes(6_750_000))
    out = io.BytesIO()
    noise.save(out, "PNG")
    kit.file("a.png", out.getvalue())
    assert out.tell() > MOST_BYTES
    image = kit.run("read", path="a.png").images[0]
    assert len(base64.b64decode(image.data)) <= MOST_BYTES


def test_a_photograph_that_lies_on_its_side_is_put_upright(kit):
    exif = Pillow.Exif()
    exif[0x0112] = 6
    kit.file("a.jpg", picture("JPEG", 2000, 1000, exif=exif))
    width, height = sent(kit.run("read", path="a.jpg").images[0]).size
    assert (width, height) == (LONGEST_EDGE // 2, LONGEST_EDGE)


@pytest.mark.usefixtures("_without_pillow")
def test_without_pillow_a_picture_within_the_limits_is_sent_and_a_larger_one_is_refused(kit):
    kit.file("wide.png", _bare_png(2000, 10))
    assert kit.run("read", path="wide.png").images
    kit.file("wider.png", _bare_png(9000, 10))
    message = kit.refusal("read", path="wider.png")
    assert "9000×10 pixels" in message
    assert 'pip install "agent_magics[images]"' in message


def _bare_png(width: int, height: int) -> bytes:
    def chunk(kind: bytes, data: bytes) -> bytes:
        return (
            struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))
        )

    lines = zlib.compress((b"\0" + b"\x80" * width) * height)
    head = struct.pack(">IIBBBBB", width, height, 8, 0, 0, 0, 0)
    return b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", head) + chunk(b"IDAT", lines) + chunk(b"IEND", b"")


@pytest.mark.parametrize("pillow", [True, False])
@pytest.mark.parametrize("kind", ["PNG", "JPEG", "GIF", "WEBP"])
def test_a_picture_that_is_cut_off_is_refused_in_words(kit, monkeypatch, kind, pillow):
    """A server would answer 400 to it, and to the whole conversation after it."""
    data = picture(kind, 60, 60)
    if not pillow:
        monkeypatch.setitem(sys.modules, "PIL", None)
    kit.file("a", data[: len(data) * 2 // 3])
    message = kit.refusal("read", path="a")
    assert f"{kind} image and is damaged" in message
    assert "python or run_shell" in message


def test_a_picture_with_a_damaged_inside_is_refused(kit):
    data = bytearray(picture("PNG", 60, 60))
    data[len(data) // 2] ^= 0xFF
    kit.file("a.png", bytes(data))
    assert "damaged" in kit.refusal("read", path="a.png")


def test_a_picture_that_would_fill_memory_is_not_opened(kit):
    kit.file(
        "bomb.png", _bare_png(50_000, 1).replace(struct.pack(">II", 50_000, 1), b"\0\0\xc3P" * 2)
    )
    assert "50000×50000 pixels, too many" in kit.refusal("read", path="bomb.png")


def test_vector_graphics_are_read_as_text(kit):
    kit.file("a.svg", '<svg xmlns="http://www.w3.org/2000/svg"/>\n')
    output = kit.run("read", path="a.svg")
    assert output.text.startswith("1|<svg")
    assert not output.images


def test_other_formats_are_refused_by_their_content(kit):
    out = io.BytesIO()
    Pillow.new("RGB", (9, 9)).save(out, "BMP")
    kit.file("a.png", out.getvalue())
    assert "is not text" in kit.refusal("read", path="a.png")


def test_a_model_that_takes_no_pictures_is_told_that_there_was_one(kit):
    kit.file("a.png", picture("PNG", 8, 8))
    output = kit.run("read", path="a.png")
    result = ToolResult("c1", output.text, images=output.images)
    told = (User("look"), Assistant(calls=(ToolCall("c1", "read"),)), result)
    *_, taken = (wire_message(m, "m", Profile()) for m in in_order(told, ""))
    assert taken["content"][1]["image_url"]["url"].startswith("data:image/png;base64,")
    *_, left_out = (wire_message(m, "m", Profile(images=False)) for m in in_order(told, ""))
    assert "1 image(s) left out: this model takes none" in left_out["content"]
    assert "8×8 pixels" in result.text


def test_a_picture_is_no_text_to_be_edited(kit):
    kit.file("a.png", picture("PNG", 8, 8))
    kit.run("read", path="a.png")
    assert "is not text" in kit.refusal("edit", path="a.png", old="a", new="b")


def test_a_picture_that_may_not_be_read_is_an_error_in_words():
    with powerless() as root:
        kit = Kit(root)
        kit.file("a.png", picture("PNG", 8, 8)).chmod(0)
        assert kit.refusal("read", path="a.png") == "a.png: Permission denied."


@given(st.binary(max_size=40), st.sampled_from(["PNG", "JPEG", "GIF", "WEBP"]), st.integers(0, 200))
def test_no_bytes_break_the_recognition(tail, kind, end):
    assert recognised(tail) is None or recognised(tail).width >= 0
    recognised(_SAMPLES[kind][:end] + tail)


_SAMPLES = {kind: picture(kind, 20, 20) for kind in ("PNG", "JPEG", "GIF", "WEBP")}


def test_pillow_waits_for_its_first_use():
    code = "import sys, agent_magics.tools; print('PIL' in sys.modules)"
    run = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert run.stdout.strip() == "False"
