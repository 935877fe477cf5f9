"""Notebook files as text: their cells for reading, their sources for searching.

The only module that imports nbformat. Outputs are summarised: a picture is named, never dumped.
Knows no workspace; gets texts, gives texts.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from typing import Any

from agent_magics.errors import ToolError
from agent_magics.importing import installed_only
from agent_magics.tools.plain import counted, cut, size, terminal_text

OUTPUT_BUDGET = 2000
"""Characters of one output that are shown: enough for a table's head or an error."""
MAX_LINE = 300
"""Characters of an error's last words, which anybody's code may have made."""
SUFFIX = ".ipynb"
FORMAT = 4
"""The major version in which notebooks are shown; older ones are converted."""


def cells_text(text: str, name: str) -> str:
    """A notebook as its cells: number, type, id, source, and what the outputs say.

    Args:
        text: The file's JSON.
        name: For messages.

    Raises:
        ToolError: It is no notebook.
    """
    notebook, fault = parsed(text, name)
    cells = items(notebook.get("cells"))
    kernel = language(notebook)
    code = sum(cell.get("cell_type") == "code" for cell in cells)
    of_code = f" ({code} of them code)" if code else ""
    parts = [
        f"Notebook with {counted(len(cells), 'cell')}{of_code}{f', {kernel}' if kernel else ''}"
    ]
    if fault:
        parts.append(f"(it breaks the notebook format: {fault})")
    for number, cell in enumerate(cells, 1):
        parts.append(heading(cell, number))
        parts.append(joined(cell.get("source")))
        parts += [
            f"--- output of cell {number}{output_text(output)}"
            for output in items(cell.get("outputs"))
        ]
    return "\n".join(parts)


def parsed(text: str, name: str) -> tuple[Mapping[str, Any], str]:
    """The notebook in today's format, and how it breaks the format, if it does."""
    with installed_only():
        from nbformat import convert, reader, validator

    # Not `nbformat.reads`: it makes up ids where they are missing or doubled, and warns the user.
    try:
        notebook = reader.reads(text)  # type: ignore[no-untyped-call]  # nbformat has no types
        if reader.get_version(notebook)[0] != FORMAT:  # type: ignore[no-untyped-call]  # as above
            notebook = convert(notebook, FORMAT)  # type: ignore[no-untyped-call]  # as above
        faults = validator.iter_validate(notebook)  # type: ignore[no-untyped-call]  # as above
        fault = next(faults, None)
    except Exception as error:
        # It raises whatever its readers and converters trip over.
        reason = str(error).split("\n")[0][:200] or type(error).__name__
        raise ToolError(
            f"{name} cannot be read as a notebook ({reason}). "
            "Read it with raw=true to see the file's own text."
        ) from error
    if not isinstance(notebook.get("cells"), list):
        raise ToolError(f"{name} has no cells. Read it with raw=true to see the file's own text.")
    return notebook, str(fault).split("\n")[0][:200] if fault else ""


def language(notebook: Mapping[str, Any]) -> str:
    """The kernel that a notebook asks for, in words; empty: it does not say."""
    metadata = notebook.get("metadata")
    kernel = metadata.get("kernelspec") if isinstance(metadata, Mapping) else None
    name = kernel.get("name") if isinstance(kernel, Mapping) else None
    return f"kernel {name}" if isinstance(name, str) else ""


def heading(cell: Mapping[str, Any], number: int = 0) -> str:
    """The line above a cell.

    Args:
        cell: Its value.
        number: Its place from 1; 0: not said.
    """
    kind = cell.get("cell_type", "?")
    count = cell.get("execution_count")
    run = f" [{count}]" if isinstance(count, int) else ""
    name = f" id={cell['id']}" if isinstance(cell.get("id"), str) else ""
    return f"=== cell {f'{number} ' if number else ''}{kind}{run}{name}"


def output_text(output: Mapping[str, Any], budget: int = OUTPUT_BUDGET) -> str:
    """One output after its heading's beginning.

    Args:
        output: Its value.
        budget: Characters of its text.
    """
    match output.get("output_type"):
        case "stream":
            text = joined(output.get("text"))
            return f" ({output.get('name', 'stream')})\n{_short(text, budget)}"
        case "error":
            trace = joined(output.get("traceback"), "\n")
            what = _line(f"{output.get('ename')}: {output.get('evalue')}")
            return f" (error {what})\n{_short(trace, budget)}"
        case _:
            data = output.get("data")
            return _bundle(data if isinstance(data, Mapping) else {}, budget)


def output_lines(cell: Mapping[str, Any]) -> list[str]:
    """Each output of a cell as one line: its kind and size, the error's last words."""
    lines = []
    for output in items(cell.get("outputs")):
        match output.get("output_type"):
            case "stream":
                name = output.get("name", "stream")
                lines.append(f"{name}, {size(len(joined(output.get('text'))))}")
            case "error":
                lines.append(_line(f"error {output.get('ename')}: {output.get('evalue')}"))
            case _:
                data = output.get("data")
                kinds = data if isinstance(data, Mapping) else {}
                lines.append(", ".join(_named(k, v) for k, v in kinds.items()) or "nothing")
    return lines


def _line(text: str) -> str:
    """A text as one line of bounded length."""
    line = " ".join(terminal_text(text).split())
    return line if len(line) <= MAX_LINE else f"{line[:MAX_LINE]}…"


def _bundle(data: Mapping[str, Any], budget: int) -> str:
    plain = joined(data.get("text/plain"))
    others = "".join(
        f" [{_named(kind, content)}]" for kind, content in data.items() if kind != "text/plain"
    )
    return f"{others}\n{_short(plain, budget)}".rstrip("\n")


def _named(kind: str, content: Any) -> str:
    text = content if isinstance(content, str) else joined(content) or json.dumps(content)
    # Base64 has four characters for three bytes.
    count = len(text) * 3 // 4 if kind.startswith("image/") and "xml" not in kind else len(text)
    return f"{kind}, {size(count)}"


def _short(text: str, budget: int) -> str:
    plain = terminal_text(text).rstrip("\n")
    return str(cut(plain, budget) or plain)


def joined(value: Any, between: str = "") -> str:
    """A text that the format also lets be written as a list of lines."""
    if isinstance(value, list):
        return between.join(part for part in value if isinstance(part, str))
    return value if isinstance(value, str) else ""


def items(value: Any) -> list[Mapping[str, Any]]:
    """The objects of a list; empty where there is no list."""
    return [item for item in value if isinstance(item, Mapping)] if isinstance(value, list) else []


def sources(text: str) -> Iterator[tuple[int, str]] | None:
    """Each cell's number and source, or None when the text is no notebook of today's format.

    Reads the JSON alone: a search goes through many files, and nbformat checks each of them.
    """
    try:
        cells = json.loads(text)["cells"]
    except (ValueError, KeyError, TypeError, RecursionError):
        return None
    return ((n, joined(cell.get("source"))) for n, cell in enumerate(items(cells), 1))


def fault(text: str) -> str:
    """How a notebook's text breaks the format, in one line; empty: it does not.

    Raises:
        ToolError: It cannot be read at all.
    """
    found = parsed(text, "The notebook")[1]
    doubled = _doubled(text)
    return found or (f"two cells have the id {doubled}" if doubled else "")


def _doubled(text: str) -> str:
    ids = [cell.get("id") for cell in items(json.loads(text).get("cells"))]
    return next((str(name) for name in ids if name is not None and ids.count(name) > 1), "")


def broken(text: str) -> str:
    """Why a text cannot be the content of a notebook file, or the empty text."""
    try:
        value = json.loads(text)
    except (ValueError, RecursionError) as error:
        return f"it would be no JSON any more ({error})"
    if not isinstance(value, dict) or not isinstance(
        value.get("cells", value.get("worksheets")), list
    ):
        return "it would have no cells any more"
    return ""
