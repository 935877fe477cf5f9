"""Quick actions: what a skill's `plugin.json`, and `metadata.palette` in its header, offer.

Pure: bytes and values in, actions and diagnostics out. Whatever is off costs one action and never
the skill. Deliberately knows no way to run an action.

    {"version": 1, "palette": [{"id": "review", "title": "Review my changes",
     "hint": "Bugs first", "keywords": ["diff"], "prompt": "Review my uncommitted changes."}]}
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field

from agent_magics.plain import visible
from agent_magics.skill import Action, Diagnostic
from agent_magics.skill.naming import shown

FILE = "plugin.json"
MAX_BYTES = 128_000
"""Bytes of a plugin.json that is read: the most that its bounds allow, nearly."""
MAX_ACTIONS = 20
MAX_TITLE = 100
MAX_HINT = 300
MAX_KEYWORDS = 20
MAX_KEYWORD = 100
MAX_PROMPT = 8_000
"""Characters; the others above, like the form of an id, are those of the palettes in use."""

_ID = re.compile(r"[a-z0-9-]{1,64}")
_PERMISSIONS = ("files", "network", "shell", "browser")
_ENTRY_KEYS = ("id", "title", "hint", "keywords", "prompt")


@dataclass(slots=True)
class _Palette:
    """Collects the actions of one skill and what is off about them."""

    actions: dict[str, Action] = field(default_factory=dict)
    problems: list[Diagnostic] = field(default_factory=list)

    def warn(self, message: str, fix: str) -> None:
        self.problems.append(Diagnostic("warning", message, fix))

    def take(self, entries: object, where: str) -> None:
        """The entries of a list, as far as they are in order."""
        if not isinstance(entries, (list, tuple)):
            self.warn(f"{where}: the palette is no list", "write a list of actions")
            return
        for number, entry in enumerate(entries, 1):
            place = f"{where}, action {number}"
            if len(self.actions) == MAX_ACTIONS:
                self.warn(f"{place}: only the first {MAX_ACTIONS} count", "leave some out")
                return
            if not isinstance(entry, Mapping):
                self.warn(f"{place} is no mapping", f"give it {', '.join(_ENTRY_KEYS)}")
                continue
            self._entry(entry, place)

    def _entry(self, entry: Mapping[str, object], place: str) -> None:
        self.unknown(entry, _ENTRY_KEYS, place)
        name = entry.get("id")
        if not isinstance(name, str) or not _ID.fullmatch(name):
            said = shown(name) if isinstance(name, str) else "missing or no text"
            self.warn(
                f"{place}: its id is {said or 'empty'}",
                "write 1 to 64 lower case letters, digits and hyphens",
            )
            return
        place = f"{place} ({name})"
        if name in self.actions:
            self.warn(f"{place}: the id is there already; the first one counts", "rename one")
            return
        title = self._text(entry, "title", MAX_TITLE, place)
        hint = self._text(entry, "hint", MAX_HINT, place, needed=False)
        keywords = self._keywords(entry.get("keywords"), place)
        if title is None or hint is None or keywords is None:
            return
        prompt = self._prompt(entry, title, place)
        if prompt is not None:
            self.actions[name] = Action(name, title, prompt, hint, keywords)

    def _text(
        self, entry: Mapping[str, object], key: str, limit: int, place: str, *, needed: bool = True
    ) -> str | None:
        """A line of text; None: it is off, which was said."""
        value = entry.get(key)
        if value is None and not needed:
            return ""
        if not isinstance(value, str):
            self.warn(f"{place}: `{key}` is missing or no text", f"write one line, {key}: …")
            return None
        line = " ".join(value.split())
        if self._hides(line, key, place):
            return None
        if (needed and not line) or len(line) > limit:
            size = f"{len(line)} characters" if line else "empty"
            self.warn(f"{place}: `{key}` is {size}", f"write 1 to {limit} characters")
            return None
        return line

    def _prompt(self, entry: Mapping[str, object], title: str, place: str) -> str | None:
        value = entry.get("prompt")
        if value is None:
            message = f"{place} has no prompt; its title is sent"
            self.problems.append(Diagnostic("info", message, "add a prompt"))
            return title
        if not isinstance(value, str) or not value.strip():
            self.warn(f"{place}: `prompt` is empty or no text", "write what is to be sent")
            return None
        if len(value) > MAX_PROMPT:
            size = f"{len(value):,} characters"
            fix = f"keep it below {MAX_PROMPT:,}; the rest belongs into SKILL.md"
            self.warn(f"{place}: `prompt` has {size}", fix)
            return None
        text = value.replace("\r\n", "\n").strip()
        return None if self._hides(text, "prompt", place) else text

    def _keywords(self, value: object, place: str) -> tuple[str, ...] | None:
        if value is None:
            return ()
        words = value.split(",") if isinstance(value, str) else value
        if not isinstance(words, list) or len(words) > MAX_KEYWORDS:
            self.warn(f"{place}: `keywords` is no list", f"write at most {MAX_KEYWORDS} words")
            return None
        lines = [" ".join(word.split()) for word in words if isinstance(word, str)]
        if len(lines) < len(words) or any(len(line) > MAX_KEYWORD for line in lines):
            fix = f"write words of at most {MAX_KEYWORD} characters"
            self.warn(f"{place}: `keywords` holds what is no word", fix)
            return None
        return (
            None if self._hides(" ".join(lines), "keywords", place) else tuple(filter(None, lines))
        )

    def _hides(self, text: str, key: str, place: str) -> bool:
        """What a person sees must be all that is sent."""
        if visible(text) == text:
            return False
        self.warn(f"{place}: `{key}` holds characters that nobody sees", "remove them")
        return True

    def unknown(self, mapping: Mapping[str, object], known: Sequence[str], place: str) -> None:
        """Say which keys mean nothing here; the others still count."""
        keys = [key for key in mapping if key not in known]
        if keys:
            listed = ", ".join(f"`{shown(str(key), 40)}`" for key in keys[:5])
            self.warn(f"{place}: unknown keys {listed}", f"there are: {', '.join(known)}")


def read_actions(
    plugin: bytes | None, metadata: object
) -> tuple[tuple[Action, ...], tuple[Diagnostic, ...]]:
    """A skill's quick actions and what is off about them. Never raises.

    Args:
        plugin: The content of `plugin.json`; None: there is none.
        metadata: The header's `metadata`; its `palette` is a list like the one in the file, or
            the same as JSON text, since the standard's metadata are texts.
    """
    palette = _Palette()
    if plugin is not None:
        _from_file(plugin, palette)
    if isinstance(metadata, Mapping) and metadata.get("palette") is not None:
        _from_header(metadata["palette"], palette)
    return tuple(palette.actions.values()), tuple(palette.problems)


def _from_file(data: bytes, palette: _Palette) -> None:
    if len(data) > MAX_BYTES:
        palette.warn(f"{FILE} has more than {MAX_BYTES:,} bytes", "it holds quick actions only")
        return
    manifest = _json(data, FILE, palette)
    if manifest is None:
        return
    if not isinstance(manifest, dict):
        palette.warn(f"{FILE} is no JSON object", 'write {"version": 1, "palette": […]}')
        return
    if "palette" not in manifest:
        # Other clients have files of this name with other things in them.
        message = f"{FILE} has no `palette`: it offers no quick action"
        palette.problems.append(Diagnostic("info", message))
        return
    palette.unknown(manifest, ("version", "permissions", "palette"), FILE)
    version = manifest.get("version", 1)
    if version != 1 or isinstance(version, bool):
        palette.warn(f"{FILE}: its version is not 1; it is read as that", 'write "version": 1')
    _permissions(manifest.get("permissions"), palette)
    palette.take(manifest["palette"], FILE)


def _from_header(value: object, palette: _Palette) -> None:
    where = "metadata.palette"
    if isinstance(value, str):
        value = _json(value.encode("utf-8", "replace"), where, palette)
        if value is None:
            return
    palette.take(value, where)


def _permissions(value: object, palette: _Palette) -> None:
    if value is None or value == []:
        return
    listed = value if isinstance(value, list) else []
    known = [name for name in listed if isinstance(name, str) and name in _PERMISSIONS]
    if not known or len(known) != len(listed) or len(set(known)) != len(known):
        names = ", ".join(_PERMISSIONS)
        palette.warn(f"{FILE}: `permissions` is no list of known ones", f"there are: {names}")
        return
    message = f"{FILE}: `permissions` ({', '.join(known)}) grants and forbids nothing"
    palette.problems.append(Diagnostic("info", message, "`tools` and your policy decide"))


def _json(data: bytes, where: str, palette: _Palette) -> object:
    """What JSON says; None: it is off (or null), which was said."""
    repeated: list[str] = []

    def mapping(pairs: Iterable[tuple[str, object]]) -> dict[str, object]:
        result: dict[str, object] = {}
        for key, value in pairs:
            if key in result:
                repeated.append(key)
            result[key] = value
        return result

    try:
        value: object = json.loads(data.decode("utf-8-sig"), object_pairs_hook=mapping)
    except json.JSONDecodeError as error:
        palette.warn(f"{where}, line {error.lineno}: no JSON ({error.msg})", "mend it")
        return None
    except (UnicodeDecodeError, ValueError, RecursionError) as error:
        what = "is not UTF-8" if isinstance(error, UnicodeDecodeError) else "is no plain JSON"
        palette.warn(f"{where} {what}", "write a small JSON file in UTF-8")
        return None
    if value is None:
        palette.warn(f"{where} says null", "write the actions, or remove it")
    for key in dict.fromkeys(repeated):
        message = f"{where}: `{shown(key, 40)}` is given twice; the last one counts"
        palette.warn(message, "remove one")
    return value
