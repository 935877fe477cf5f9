"""`reference/settings.md`: the traits of `AgentMagics`."""

from __future__ import annotations

from traitlets import Bool, Dict, Enum, Float, Int, List, TraitType, Unicode

from agent_magics.magics.settings import AgentSettings
from docs.generating.markdown import code, page, prose, table

INTRODUCTION = """\
`%config AgentMagics` lists them with their values in this kernel. `%config AgentMagics.max_turns
= 20` sets one for this kernel, `c.AgentMagics.max_turns = 20` in an IPython profile for every
one. What the larger ones mean is said in [Configuration](../configuration.md)."""
WORDS = {Unicode: "text", Bool: "true or false", Int: "whole number", Float: "number"}


def settings() -> str:
    """The page."""
    traits = AgentSettings.class_own_traits(config=True)
    rows = [
        (code(name), _kind(trait), code(repr(trait.default())), prose(trait.help))
        for name, trait in traits.items()
    ]
    head = ("setting", "value", "default", "meaning")
    return page("Settings of a kernel", INTRODUCTION, table(head, rows))


def _kind(trait: TraitType[object, object]) -> str:
    none = " or `None`" if trait.allow_none else ""
    match trait:
        case Enum():
            return ", ".join(code(repr(value)) for value in trait.values or ()) + none
        case List():
            return "list of texts" + none
        case Dict():
            return "mapping" + none
        case _:
            return WORDS.get(type(trait), type(trait).__name__) + none
