"""File names: as git writes them, and as a person and a model can read and repeat them."""

from __future__ import annotations

_ESCAPES = {7: "\\a", 8: "\\b", 9: "\\t", 10: "\\n", 11: "\\v", 12: "\\f", 13: "\\r"}


def shown(name: bytes) -> str:
    """A file's name for reading: in quotes, with escapes, where it would be mistaken otherwise."""
    text = name.decode("utf-8", "surrogateescape")
    if text.isprintable() and not any(c in text for c in '"\\') and text == text.strip():
        return text
    escaped = "".join(
        f"\\{ord(c) - 0xDC00:03o}" if 0xDC80 <= ord(c) <= 0xDCFF else _escaped(c) for c in text
    )
    return f'"{escaped}"'


def _escaped(character: str) -> str:
    code = ord(character)
    if character in '"\\':
        return f"\\{character}"
    if code in _ESCAPES:
        return _ESCAPES[code]
    return character if character.isprintable() else f"\\u{code:04x}"


def quoted(name: bytes) -> bytes:
    """A name as git writes it in a diff's first line with core.quotePath off."""
    if not any(byte < 32 or byte in b'\x7f"\\' for byte in name):
        return name
    escaped = bytearray()
    for byte in name:
        if byte in b'"\\':
            escaped += b"\\%c" % byte
        elif byte in _ESCAPES:
            escaped += _ESCAPES[byte].encode()
        elif byte < 32 or byte == 127:
            escaped += b"\\%03o" % byte
        else:
            escaped.append(byte)
    return b'"%b"' % bytes(escaped)
