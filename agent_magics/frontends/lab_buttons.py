"""Buttons that JupyterLab and Notebook 7 understand by themselves: they put a cell below.

Plain HTML without script or widget, so that they work in a saved notebook and without a kernel.
Lab runs the command that a `data-commandlinker-command` attribute names; a click inserts text, and
never runs it. Where Lab's style is absent the buttons have no height, since they would be dead.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from html import escape

from agent_magics.frontends.theme import text_html

# Lab's themes set this variable, and pages made by nbconvert do not, though they have Lab's look.
_ONLY_IN_LAB = "max-height:calc(200*var(--jp-datagrid-font-size,0px));overflow:hidden"
_BUTTON = (
    "margin:2px 6px 2px 0;padding:2px 10px;border:1px solid;border-radius:3px;background:none;"
    "color:inherit;font:inherit;cursor:pointer;white-space:normal"
)
_INSERT = (
    "notebook:insert-cell-below",
    "notebook:change-cell-to-code",
    "notebook:enter-edit-mode",
    "notebook:replace-selection",
)


def cell_buttons(cells: Sequence[tuple[str, str]]) -> str:
    """One button for each cell that can be put below; empty without any.

    Args:
        cells: Label and source.
    """
    if not cells:
        return ""
    return f'<div style="{_ONLY_IN_LAB}">{"".join(_button(*cell) for cell in cells)}</div>'


def _button(label: str, source: str) -> str:
    # Lab gives the one set of arguments to each command in the list.
    arguments = json.dumps({"commands": _INSERT, "args": {"text": source}})
    return (
        '<button type="button" data-commandlinker-command="apputils:run-all-enabled" '
        f'data-commandlinker-args="{escape(arguments)}" style="{_BUTTON}" '
        f'title="Put this into a new cell below; nothing runs">{text_html(label)}</button>'
    )
