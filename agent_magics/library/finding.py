"""A skill by the name that a person types: folder, header name, or another spelling of either.

Never guesses: what fits two skills is an error that lists both.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Sequence

from agent_magics.errors import SkillError
from agent_magics.skill import Skill
from agent_magics.skill.naming import composed, near, normalised, shown

LISTED = 30
"""Names that an error lists; further ones are counted."""


def find_skill(
    name: str, usable: Sequence[Skill], broken: Sequence[Skill], hidden: Collection[str] = ()
) -> Skill:
    """The one skill that a name means.

    An exact folder name comes first, then the exact name in a header, then other spellings
    (case, accents in another form, blanks and underscores for hyphens).

    Args:
        name: As typed.
        usable: The skills that could be loaded, shadowed ones left out.
        broken: Those that cannot, for their reasons.
        hidden: Names that an error does not offer: of disabled skills.

    Raises:
        SkillError: There is none, or more than one, or it is broken; the text says which.
    """
    wanted = composed(name.strip())
    _check(wanted)
    for fits in _ways(wanted):
        found = [skill for skill in usable if fits(skill)]
        if len(found) == 1:
            return found[0]
        if found:
            raise SkillError(
                f"{shown(wanted)!r} fits more than one skill: {_candidates(found)}. "
                "Type the folder's name."
            )
    for fits in _ways(wanted):
        for skill in broken:
            if fits(skill):
                raise SkillError(f"The skill {skill.name!r} cannot be loaded: {skill.broken}.")
    raise SkillError(_unknown(wanted, [s for s in usable if s.name not in hidden]))


def _ways(wanted: str) -> tuple[Callable[[Skill], bool], ...]:
    form = normalised(wanted)
    return (
        lambda skill: skill.name == wanted,
        lambda skill: _title(skill) == wanted,
        lambda skill: bool(form) and normalised(skill.name) == form,
        lambda skill: bool(form) and normalised(_title(skill)) == form,
    )


def _title(skill: Skill) -> str:
    """The name in the header."""
    title = skill.metadata.get("name")
    return composed(title) if isinstance(title, str) else ""


def _check(name: str) -> None:
    rule = "a skill is called by the name of its folder, without a path"
    if not name:
        raise SkillError(f"No skill is named: {rule}. %skills lists them.")
    if name in (".", "..") or any(c in "/\\" or not c.isprintable() for c in name):
        raise SkillError(f"{shown(name)!r} is no skill's name: {rule}. %skills lists them.")


def _candidates(skills: Iterable[Skill]) -> str:
    return ", ".join(f"{skill.name} ({skill.root})" for skill in skills)


def _unknown(name: str, usable: Sequence[Skill]) -> str:
    if not usable:
        return f"There is no skill {shown(name)!r}: no skill was found at all. %skills says more."
    names = sorted({skill.name for skill in usable})
    titles = {_title(skill): skill.name for skill in usable if _title(skill)}
    nearest = [titles.get(found, found) for found in near(name, [*names, *titles])]
    hint = f" Did you mean {' or '.join(dict.fromkeys(nearest))}?" if nearest else ""
    more = f" and {len(names) - LISTED} more" if len(names) > LISTED else ""
    return f"There is no skill {shown(name)!r}.{hint} There are: {', '.join(names[:LISTED])}{more}."
