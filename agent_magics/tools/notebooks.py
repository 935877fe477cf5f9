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
    notebook, fault = _parsed(text, name)
    cells = _items(notebook.get("cells"))
    language = _language(notebook)
    parts = [f"Notebook with {counted(len(cells), 'cell')}{f', {language}' if language else ''}"]
    if fault:
        parts.append(f"(it breaks the notebook format: {fault})")
    for number, cell in enumerate(cells, 1):
        parts.append(_heading(number, cell))
        parts.append(_joined(cell.get("source")))
        parts += [
            f"--- output of cell {number}{_output(output)}"
            for output in _items(cell.get("outputs"))
        ]
    return "\n".join(parts)


def _parsed(text: str, name: str) -> tuple[Mapping[str, Any], str]:
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


def _language(notebook: Mapping[str, Any]) -> str:
    metadata = notebook.get("metadata")
    kernel = metadata.get("kernelspec") if isinstance(metadata, Mapping) else None
    name = kernel.get("name") if isinstance(kernel, Mapping) else None
    return f"kernel {name}" if isinstance(name, str) else ""


def _heading(number: int, cell: Mapping[str, Any]) -> str:
    kind = cell.get("cell_type", "?")
    count = cell.get("execution_count")
    run = f" [{count}]" if isinstance(count, int) else ""
    name = f" id={cell['id']}" if isinstance(cell.get("id"), str) else ""
    return f"=== cell {number} {kind}{run}{name}"


def _output(output: Mapping[str, Any]) -> str:
    """One output after its heading's beginning."""
    match output.get("output_type"):
        case "stream":
            return f" ({output.get('name', 'stream')})\n{_short(_joined(output.get('text')))}"
        case "error":
            trace = _joined(output.get("traceback"), "\n")
            return f" (error {output.get('ename')}: {output.get('evalue')})\n{_short(trace)}"
        case _:
            data = output.get("data")
            return _bundle(data if isinstance(data, Mapping) else {})


def _bundle(data: Mapping[str, Any]) -> str:
    plain = _joined(data.get("text/plain"))
    others = "".join(
        f" [{_named(kind, content)}]" for kind, content in data.items() if kind != "text/plain"
    )
    return f"{others}\n{_short(plain)}".rstrip("\n")


def _named(kind: str, content: Any) -> str:
    text = content if isinstance(content, str) else _joined(content) or json.dumps(content)
    # Base64 has four characters for three bytes.
    count = len(text) * 3 // 4 if kind.startswith("image/") and "xml" not in kind else len(text)
    return f"{kind}, {size(count)}"


def _short(text: str) -> str:
    plain = terminal_text(text).rstrip("\n")
    return str(cut(plain, OUTPUT_BUDGET) or plain)


def _joined(value: Any, between: str = "") -> str:
    """A text that the format also lets be written as a list of lines."""
    if isinstance(value, list):
        return between.join(part for part in value if isinstance(part, str))
    return value if isinstance(value, str) else ""


def _items(value: Any) -> list[Mapping[str, Any]]:
    return [item for item in value if isinstance(item, Mapping)] if isinstance(value, list) else []


def sources(text: str) -> Iterator[tuple[int, str]] | None:
    """Each cell's number and source, or None when the text is no notebook of today's format.

    Reads the JSON alone: a search goes through many files, and nbformat checks each of them.
    """
    try:
        cells = json.loads(text)["cells"]
    except (ValueError, KeyError, TypeError, RecursionError):
        return None
    return ((n, _joined(cell.get("source"))) for n, cell in enumerate(_items(cells), 1))


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
