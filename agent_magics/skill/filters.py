"""What a skill's header says about tools: the whitelist, the hints, the request for approval.

The whitelist narrows and fails closed: a value that cannot be read makes the skill unusable, it
never makes every tool visible. The two others are text for people and models; they neither narrow
nor grant anything.
"""

from __future__ import annotations

import fnmatch
from collections.abc import Collection, Mapping
from dataclasses import dataclass

from agent_magics.skill import SERVERS, Diagnostic
from agent_magics.skill.naming import shown
from agent_magics.skill.toolnames import (
    are_clients,
    entries,
    is_foreign,
    is_glob,
    matching,
    nearest,
    our_name,
)


@dataclass(frozen=True, slots=True)
class Filter:
    """One tool list of a header.

    Args:
        names: The tools, in the order of the header; None: the header does not say.
        diagnostics: What is off about it.
        excluded: Server tools that a glob among the names does not stand for.
    """

    names: tuple[str, ...] | None = None
    diagnostics: tuple[Diagnostic, ...] = ()
    excluded: tuple[str, ...] = ()


def whitelist(
    values: Mapping[str, object], known: Collection[str], bundled: Collection[str]
) -> Filter:
    """The built-in tools that stay visible: those of `tools`, less those of `disallowed-tools`.

    Args:
        values: The header.
        known: The built-in tools there are.
        bundled: The tools that the skill brings itself.
    """
    keep = _listed("tools", values.get("tools"), known)
    drop = _listed("disallowed-tools", values.get("disallowed-tools"), known)
    problems = (*keep.diagnostics, *drop.diagnostics)
    if any(problem.severity == "error" for problem in problems):
        return Filter((), problems)
    if keep.names is None and not drop.names:
        return Filter(None, problems)
    base = tuple(sorted(known)) if keep.names is None else keep.names
    dropped = drop.names or ()
    excluded = tuple(name for name in dropped if name.startswith(SERVERS))
    names = tuple(n for n in base if n not in dropped and not _excludes(excluded, n))
    if names or bundled:
        return Filter(names, problems, excluded)
    if values.get("tools") == []:
        message = "`tools: []` leaves no tool at all; the model can only talk"
        return Filter((), (*problems, Diagnostic("info", message)))
    return Filter((), (*_without_near(problems), _nothing_left(values, known)))


def allowed_tools(value: object, known: Collection[str]) -> Filter:
    """The standard's request for pre-approval, as the header writes it."""
    if value is None:
        return Filter(())
    listed = entries(value)
    if listed is None:
        message = "`allowed-tools` is no list of tool names and is not used"
        return Filter((), (Diagnostic("warning", message, "write `allowed-tools: Read Grep`"),))
    problems: list[Diagnostic] = []
    absent: list[str] = []
    for entry in listed:
        if is_glob(entry) or our_name(entry, known):
            continue
        near = "" if is_foreign(entry) else nearest(entry, known)
        if near:
            problems.append(_unknown("allowed-tools", entry, near))
        else:
            absent.append(f"`{shown(entry)}`")
    if absent:
        message = f"not available here, from `allowed-tools`: {', '.join(absent)}"
        problems.append(Diagnostic("info", message))
    return Filter(listed, tuple(problems))


def suggested_tools(value: object) -> Filter:
    """Names for a hint in the text."""
    if value is None:
        return Filter(())
    listed = entries(value)
    if listed is None:
        message = "`suggested-tools` is no list of tool names and is not used"
        return Filter((), (Diagnostic("warning", message, "write `suggested-tools: read, grep`"),))
    return Filter(listed)


def _listed(key: str, value: object, known: Collection[str]) -> Filter:
    """A list that narrows, in our own names; globs become the tools they stand for."""
    if value is None:
        return Filter()
    listed = entries(value)
    if listed is None:
        message = f"`{key}` is no list of tool names"
        fix = f"write `{key}: [read, glob]`, `{key}: []` for none, or leave it out for all"
        return Filter((), (Diagnostic("error", message, fix),))
    if are_clients(listed):
        message = f"`{key}` names programs and not tools ({', '.join(listed)}); it filters nothing"
        return Filter(None, (Diagnostic("warning", message, "say so under `compatibility`"),))
    names: list[str] = []
    problems: list[Diagnostic] = []
    for entry in listed:
        found = matching(entry, known) if is_glob(entry) else _single(entry, known)
        names.extend(found)
        if not found:
            near = "" if is_foreign(entry) or is_glob(entry) else nearest(entry, known)
            problems.append(_unknown(key, entry, near))
        elif "(" in entry:
            message = f"`{shown(entry)}` in {key} is taken as {found[0]}, without the pattern"
            fix = f"write `{found[0]}`; what may run is decided at each call"
            problems.append(Diagnostic("warning", message, fix))
    return Filter(tuple(dict.fromkeys(names)), tuple(problems))


def _excludes(excluded: Collection[str], name: str) -> bool:
    """Whether a server's tool is taken away by its name; what a glob stands for is seen later."""
    return not is_glob(name) and any(fnmatch.fnmatchcase(name, glob) for glob in excluded)


def _single(entry: str, known: Collection[str]) -> tuple[str, ...]:
    name = our_name(entry, known)
    return (name,) if name else ()


def _unknown(key: str, entry: str, near: str) -> Diagnostic:
    if near:
        return Diagnostic("warning", f"`{shown(entry)}` in {key}: did you mean {near}?")
    return Diagnostic("warning", f"`{shown(entry)}` in {key} is no tool here", "leave it out")


def _nothing_left(values: Mapping[str, object], known: Collection[str]) -> Diagnostic:
    """The reason why a filter makes a skill unusable, with what the author may have meant."""
    listed = entries(values.get("tools")) if values.get("tools") is not None else None
    if listed is None:
        message = "`disallowed-tools` leaves no tool at all"
        return Diagnostic("error", message, "leave some of them out")
    guesses = (
        f"`{shown(e)}` in tools: did you mean {nearest(e, known)}?"
        for e in listed
        if not is_foreign(e) and not is_glob(e) and nearest(e, known)
    )
    more = f" and {len(listed) - 10} more" if len(listed) > 10 else ""
    names = ", ".join(shown(entry, 30) for entry in listed[:10])
    message = f"`tools` names no tool that exists here: {names}{more}"
    hint = next(guesses, "")
    there = f"there are {', '.join(sorted(known))}"
    return Diagnostic("error", f"{message} ({hint})" if hint else message, there)


def _without_near(problems: tuple[Diagnostic, ...]) -> tuple[Diagnostic, ...]:
    """The error that follows says it all again."""
    return tuple(p for p in problems if " in tools" not in p.message)
