"""`%skills` as a value: a table to look at, and rows for code."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from agent_magics.context import estimated_tokens
from agent_magics.library.discovery import Entry
from agent_magics.library.requirements import install_line, missing_packages
from agent_magics.library.resources import resource_files
from agent_magics.magics.quick_actions import Offer, command, with_buttons
from agent_magics.magics.views import View, pairs_view, table_view
from agent_magics.skill import Action, Skill

DESCRIPTION = 160
"""Characters of a description in the table; `%skills NAME` shows the whole."""


@dataclass(frozen=True, slots=True)
class SkillRow:
    """One skill in the table.

    Args:
        name: What `%use` takes.
        description: Whole.
        origin: Where it comes from.
        state: active, enabled, disabled, untrusted, shadowed or broken, and why.
        tools: What it shows of the built-in tools; None: all.
        bundled: Tools it brings.
        tokens: Size of its instructions, estimated.
        folder: Where it lies.
    """

    name: str
    description: str
    origin: str
    state: str
    tools: tuple[str, ...] | None
    bundled: tuple[str, ...]
    tokens: int
    folder: str


@dataclass(frozen=True, slots=True)
class SkillsView:
    """What `%skills` returns: iterate over it, index it by name, or look at it."""

    rows: tuple[SkillRow, ...]
    notes: tuple[str, ...] = ()

    def __iter__(self) -> Iterator[SkillRow]:
        return iter(self.rows)

    def __len__(self) -> int:
        return len(self.rows)

    def __getitem__(self, name: str) -> SkillRow:
        for row in self.rows:
            if row.name == name:
                return row
        raise KeyError(f"no skill {name!r}; there are: {', '.join(r.name for r in self.rows)}")

    def __repr__(self) -> str:
        return self._view().text

    def _repr_mimebundle_(self, include: object = None, exclude: object = None) -> dict[str, str]:
        """IPython's seam for rich display."""
        return self._view()._repr_mimebundle_()

    def _view(self) -> View:
        if not self.rows:
            return View("No skills found.", "<p>No skills found.</p>")
        rows = [_cells(row) for row in self.rows]
        heads = ("", "name", "state", "from", "tools", "tokens", "description")
        return table_view("Skills", heads, rows, self.notes)


def skill_row(entry: Entry, state: str) -> SkillRow:
    """A table row of what the library found."""
    skill = entry.skill
    return SkillRow(
        skill.name,
        skill.description,
        skill.origin,
        state,
        skill.tools,
        skill.bundled,
        estimated_tokens(skill.instructions),
        str(skill.root),
    )


def details_view(entry: Entry, state: str) -> View:
    """`%skills NAME`: everything about one skill."""
    skill = entry.skill
    files, more = resource_files(skill.root)
    listed = "\n".join(files) + (f"\nand {more} more" if more else "")
    builtin = "all" if skill.tools is None else ", ".join(skill.tools) or "none"
    pairs = [
        ("description", skill.description or "(none)"),
        ("state", state),
        ("use it with", _usage(skill)),
        ("from", f"{skill.origin}: {skill.root}"),
        ("built-in tools", builtin),
        ("bundled tools", ", ".join(skill.bundled) or "none"),
        ("missing packages", _missing(skill)),
        ("suggested tools", ", ".join(skill.suggested_tools)),
        ("asks for approval of", ", ".join(skill.allowed_tools)),
        ("instructions", f"{estimated_tokens(skill.instructions)} tokens, estimated"),
        ("content hash", skill.digest[:12]),
        ("files", listed),
        ("quick actions", "\n".join(_action(skill, action) for action in skill.actions)),
    ]
    problems = [f"{d.severity}: {d}" for d in skill.diagnostics]
    view = pairs_view(f"Skill {skill.name}", [pair for pair in pairs if pair[1]], problems)
    usable = entry.state == "enabled" and state != "disabled"
    offered = [Offer(skill, action, state == "active") for action in skill.actions if usable]
    return with_buttons(view, offered)


def _usage(skill: Skill) -> str:
    """The line that takes arguments, where the author said which."""
    hint = skill.metadata.get("argument-hint")
    return f"%use {skill.name} {hint}" if isinstance(hint, str) and hint.strip() else ""


def _missing(skill: Skill) -> str:
    """What the skill's code needs and this Python has not, with the line that installs it."""
    missing = missing_packages(skill.root) if skill.bundled else ()
    return f"{', '.join(missing)}: {install_line(missing)}" if missing else ""


def _action(skill: Skill, action: Action) -> str:
    """An action, and the line that runs it."""
    hint = f" ({action.hint})" if action.hint else ""
    return f"{command(skill, action)} — {action.title}{hint}"


def _cells(row: SkillRow) -> Sequence[str]:
    mark = "*" if row.state == "active" else ""
    builtin = "all" if row.tools is None else ", ".join(row.tools) or "none"
    tools = f"{', '.join(row.bundled)}; {builtin}" if row.bundled else builtin
    text = " ".join(row.description.split())
    short = text if len(text) <= DESCRIPTION else text[: DESCRIPTION - 1] + "…"
    return (mark, row.name, row.state, row.origin, tools, str(row.tokens), short)
