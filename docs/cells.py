"""Colours for cells in the built pages, where a cell's body may be a prompt or any file."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from ipython_pygments_lexers import IPythonLexer  # type: ignore[import-untyped]  # has none
from pygments.token import Keyword, Text, _TokenType


class CellLexer(IPythonLexer):  # type: ignore[misc]  # its base has no types
    """IPython's lexer; the body of a cell magic is plain text unless it writes a Python file."""

    name = "Notebook cell"
    aliases = ["cell"]  # noqa: RUF012  # Pygments reads this name from the class

    def get_tokens_unprocessed(
        self, text: str, stack: Iterable[str] = ("root",)
    ) -> Iterator[tuple[int, _TokenType, str]]:
        """Called by Pygments."""
        line, rest = text.partition("\n")[0], text[text.find("\n") :]
        if not line.startswith("%%") or "\n" not in text:
            yield from super().get_tokens_unprocessed(text, stack)
            return
        yield 0, Keyword, line
        if not line.endswith(".py"):
            yield len(line), Text, rest
            return
        for index, kind, value in super().get_tokens_unprocessed(rest, stack):
            yield index + len(line), kind, value
