"""A saved session as a notebook: each turn is a cell as it stood, with its outputs.

The only module beside the tools that imports nbformat.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from typing import Any, cast

from agent_magics.frontends.notebook import METADATA_KEY, published
from agent_magics.magics.export_markdown import literal
from agent_magics.magics.replaying import blocks_of
from agent_magics.messages import JSON
from agent_magics.records.stored import Stored, StoredTurn

WIDGET_VIEW = "application/vnd.jupyter.widget-view+json"
JSON_KIND = re.compile(r"application/(.*\+)?json")
"""The MIME types that may hold more than text; from the schema of the format, 4.5."""


def notebook_text(stored: Stored, title: str, facts: str) -> str:
    """The text of an `.ipynb` file.

    Args:
        stored: The session.
        title: For the first cell.
        facts: The line below it.
    """
    import nbformat
    from nbformat import v4

    cells = [v4.new_markdown_cell(f"# {literal(title)}\n\n{literal(facts)}")]
    cells.append(v4.new_code_cell("%load_ext agent_magics"))
    cells += [_cell(turn, v4) for turn in stored.turns]
    for number, cell in enumerate(cells):
        cell["id"] = f"cell-{number}"  # the same session gives the same file
    notebook = v4.new_notebook(cells=cells, metadata={"language_info": {"name": "python"}})
    nbformat.validate(notebook)
    return cast("str", nbformat.writes(notebook)) + "\n"


def _cell(turn: StoredTurn, v4: Any) -> Any:
    outputs = [
        v4.new_output(
            "display_data",
            data=_valid(published(block)),
            metadata={METADATA_KEY: dict(block.metadata)},
        )
        for block in blocks_of(turn)
        if block.bundle or block.html or block.text
    ]
    return v4.new_code_cell(f"%%agent\n{turn.began.prompt.text}", outputs=outputs)


def _valid(bundle: Mapping[str, JSON]) -> dict[str, JSON]:
    """A bundle that the format takes; views of widgets are left out, whose kernel is gone."""
    return {
        kind: value if _fits(kind, value) else json.dumps(value, default=str)
        for kind, value in bundle.items()
        if kind != WIDGET_VIEW
    }


def _fits(kind: str, value: JSON) -> bool:
    lines = value if isinstance(value, list) else [value]
    return JSON_KIND.fullmatch(kind) is not None or all(isinstance(line, str) for line in lines)
