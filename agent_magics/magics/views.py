"""What line magics return: values that show well in a notebook, in a terminal and in a diff.

Everything that comes from files, names or models is escaped here; no view holds a style sheet, a
script or a remote address.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from agent_magics.frontends.theme import CELL, styled, text_html
from agent_magics.plain import visible

_CELL = styled(CELL)


@dataclass(frozen=True, slots=True)
class View:
    """A text and the same as HTML."""

    text: str
    html: str

    def __str__(self) -> str:
        return self.text

    def __repr__(self) -> str:
        return self.text

    def _repr_mimebundle_(self, include: object = None, exclude: object = None) -> dict[str, str]:
        """IPython's seam for rich display."""
        return {"text/plain": self.text, "text/html": self.html}


def pairs_view(title: str, pairs: Sequence[tuple[str, str]], notes: Sequence[str] = ()) -> View:
    """Names and values, one line each, and notes below.

    Args:
        title: The head line.
        pairs: Name and value; a value may hold several lines.
        notes: Lines of text.
    """
    title, notes = visible(title), [visible(note) for note in notes]
    pairs = [(visible(name), visible(value)) for name, value in pairs]
    width = max((len(name) for name, _ in pairs), default=0)
    lines = [title, ""]
    rows = []
    for name, value in pairs:
        first, *rest = value.split("\n")
        lines.append(f"- {name:<{width}}  {first}".rstrip())
        lines.extend(f"  {'':<{width}}  {line}".rstrip() for line in rest)
        shown = text_html(value).replace("\n", "<br>")
        rows.append(f"<tr><th scope=row{_CELL}>{text_html(name)}</th><td{_CELL}>{shown}</td></tr>")
    lines.extend(_below(notes))
    below = "".join(f"<p>{text_html(note)}</p>" for note in notes)
    html = f"<p><b>{text_html(title)}</b></p><table><tbody>{''.join(rows)}</tbody></table>{below}"
    return View("\n".join(lines), html)


def table_view(
    title: str,
    heads: Sequence[str],
    rows: Sequence[Sequence[str]],
    notes: Sequence[str] = (),
) -> View:
    """A table with a head row; as text it is one of Markdown, its columns aligned but the last.

    Args:
        title: The head line.
        heads: Names of the columns.
        rows: Texts; each row as long as `heads`.
        notes: Lines of text below.
    """
    title, notes = visible(title), [visible(note) for note in notes]
    rows = [[visible(cell) for cell in row] for row in rows]
    flat = [[cell.replace("\n", " ").replace("|", "\\|") for cell in row] for row in (heads, *rows)]
    widths = [max(len(row[i]) for row in flat) for i in range(len(heads))]
    lines = [title, ""]
    for row in flat:
        cells = [cell.ljust(width) for cell, width in zip(row[:-1], widths, strict=False)]
        lines.append(f"| {' | '.join([*cells, row[-1]])} |")
    lines.insert(3, f"|{'|'.join('-' * (width + 2) for width in [*widths[:-1], len(heads[-1])])}|")
    lines.extend(_below(notes))
    head = "".join(f"<th scope=col{_CELL}>{text_html(cell)}</th>" for cell in heads)
    body = "".join(
        "<tr>" + "".join(f"<td{_CELL}>{text_html(cell)}</td>" for cell in row) + "</tr>"
        for row in rows
    )
    below = "".join(f"<p>{text_html(note)}</p>" for note in notes)
    html = (
        f"<p><b>{text_html(title)}</b></p><table><thead><tr>{head}</tr></thead>"
        f"<tbody>{body}</tbody></table>{below}"
    )
    return View("\n".join(lines), html)


def _below(notes: Sequence[str]) -> list[str]:
    """Notes as paragraphs of their own: Markdown would draw them into the table or the list."""
    return [line for note in notes for line in ("", note)]
