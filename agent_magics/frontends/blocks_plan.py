"""A plan as one block that stays in its place and changes as the work goes on."""

from __future__ import annotations

from dataclasses import replace

from agent_magics.frontends import theme
from agent_magics.frontends.blocks_block import Block
from agent_magics.frontends.summary import safe_line
from agent_magics.messages import ToolResult

STEP = 300
"""Characters of one step that are shown."""
_SIGNS: dict[str, tuple[str, str, theme.Tone]] = {
    "[x]": ("☑", "done", "good"),
    "[~]": ("▶", "active", "warn"),
    "[-]": ("☒", "dropped", "muted"),
    "[ ]": ("☐", "to do", "plain"),
}


def plan_of(result: ToolResult | None) -> str:
    """The plan that a call brought, in lines; empty where it brought none."""
    displays = result.display if result else ()
    return next((display.text for display in displays if display.kind == "plan"), "")


def plan_block(key: str, plan: str, call: Block) -> Block:
    """The plan, in the place of the call that brought it.

    Args:
        key: The block's place.
        plan: Lines that begin with `[ ]`, `[~]`, `[x]` or `[-]`.
        call: The call's own block, whose facts are kept.
    """
    steps = [(row[:3], safe_line(row[4:], STEP)) for row in plan.split("\n")]
    done = sum(mark == "[x]" for mark, _ in steps)
    head = f"Plan · {done} of {len(steps)} done"
    rows = "".join(_row(mark, step) for mark, step in steps)
    html = f'{theme.line(f"<b>{head}</b>")}<div role="list">{rows}</div>'
    text = "\n".join([head, "", *(f"- {mark} {step}" for mark, step in steps)])
    return replace(call, key=key, html=html, text=text)


def _row(mark: str, step: str) -> str:
    sign, word, tone = _SIGNS.get(mark, _SIGNS["[ ]"])
    words = theme.text_html(step)
    if mark == "[~]":
        words = f"<b>{words}</b>"
    elif mark == "[-]":
        words = f"<s>{words}</s>"
    return f'<div role="listitem">{theme.mark(sign, word, tone)} {words}</div>'
