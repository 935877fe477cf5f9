"""Blocks of Markdown one after the other, in their lists and quotations. Pure.

Owns indentation, the marks of list items, and which blocks have an empty line between them.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace

DEEPEST = 8
"""Levels of lists and quotations that are indented."""
_BULLETS = -1
_BULLET = "- "


@dataclass(frozen=True, slots=True)
class _Block:
    """A block's text; whether it begins an item of a list, and whether it is in one."""

    text: str
    item: bool
    listed: bool


@dataclass(slots=True)
class Written:
    """The blocks so far, and the lists and quotations that are open."""

    _blocks: list[_Block] = field(default_factory=list)
    _lists: list[int] = field(default_factory=list)
    _quotes: int = 0
    _mark: str = ""

    def __len__(self) -> int:
        return len(self._blocks)

    def add(self, text: str) -> None:
        """A block."""
        depth = min(len(self._lists), DEEPEST)
        first = "  " * (depth - 1) + self._mark if self._mark else "  " * depth
        quoted = "> " * min(self._quotes, DEEPEST)
        head, *others = text.split("\n")
        lines = [quoted + first + head, *(quoted + "  " * depth + line for line in others)]
        item = bool(self._mark)
        listed = depth > 0 or self._mark == _BULLET
        self._mark = ""
        # Nothing trails on empty lines; code keeps its own blanks.
        whole = "\n".join(line if line.strip("> ") else line.rstrip() for line in lines)
        self._blocks.append(_Block(whole, item, listed))

    def text(self, first: int = 0, last: int | None = None) -> str:
        """The blocks of a part, with empty lines between them but for the items of a list."""
        parts: list[str] = []
        before = False
        for block in self._blocks[first:last]:
            if parts:
                parts.append("\n" if block.item and before else "\n\n")
            parts.append(block.text)
            before = block.listed
        return "".join(parts)

    def begin_list(self, first: int | None = None) -> None:
        """A list begins; `first` is the number of its first item, None for bullets."""
        self._lists.append(_BULLETS if first is None else first - 1)

    def end_list(self) -> None:
        """The innermost list ends."""
        if self._lists:
            self._lists.pop()
        self._mark = ""
        if not self._lists and self._blocks:
            # The next list is another one.
            self._blocks[-1] = replace(self._blocks[-1], listed=False)

    def begin_item(self) -> None:
        """The next block begins an item."""
        if not self._lists or self._lists[-1] == _BULLETS:
            self._mark = _BULLET
        else:
            self._lists[-1] += 1
            self._mark = f"{self._lists[-1]}. "

    def begin_meaning(self) -> None:
        """The next block explains the one before it."""
        self._mark = ": "

    def begin_quote(self) -> None:
        """A quotation begins."""
        self._quotes += 1

    def end_quote(self) -> None:
        """The innermost quotation ends."""
        self._quotes = max(self._quotes - 1, 0)
