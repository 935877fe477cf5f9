"""Quick actions by name: which there are, which one a word means, and the cell that runs one.

Never guesses: a word that fits the actions of two skills is an error that lists both. Nothing in a
prompt is filled in or run here; it is text until a person runs the cell.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from agent_magics.errors import UsageProblem
from agent_magics.frontends.lab_buttons import cell_buttons
from agent_magics.magics.activation import Active, current
from agent_magics.magics.services import Controls, Services
from agent_magics.magics.views import View, table_view
from agent_magics.skill import Action, Skill
from agent_magics.skill.naming import near, normalised, shown
from agent_magics.skill.reading import flag

LISTED = 20
"""Names that an error lists; further ones are counted."""


@dataclass(frozen=True, slots=True)
class Offer:
    """An action of a skill that could run now.

    Args:
        skill: As it is on the disk, or as it was loaded if it is active.
        action: One of its actions.
        active: Whether the skill is in force.
    """

    skill: Skill
    action: Action
    active: bool = False

    @property
    def name(self) -> str:
        """What `%%agent --action` takes, without ambiguity."""
        return f"{word(self.skill)}:{self.action.id}"


def word(skill: Skill) -> str:
    """A skill's name as one word of a command line."""
    plain = not any(c.isspace() or c in "'\"\\:" for c in skill.name)
    return skill.name if plain else normalised(skill.name).replace(":", "-")


def offers(services: Services, active: Active) -> tuple[Offer, ...]:
    """Every action of the skills that a person can use, and of the active ones as loaded."""
    held = {item.skill.name: item.skill for item in active.skills}
    disabled = services.configuration().disabled_skills
    found = [
        entry.skill
        for entry in services.library.entries()
        if entry.state == "enabled"
        and entry.skill.name not in disabled
        and entry.skill.name not in held
        and flag(entry.skill, "user-invocable", default=True)
    ]
    skills = sorted([*found, *held.values()], key=lambda skill: skill.name)
    return tuple(
        Offer(skill, action, skill.name in held) for skill in skills for action in skill.actions
    )


def action_names(offered: Sequence[Offer]) -> list[str]:
    """What can be typed: the whole names, and ids that only one skill has."""
    ids = [offer.action.id for offer in offered]
    alone = [name for name in ids if ids.count(name) == 1]
    return [*(offer.name for offer in offered), *alone]


def chosen(typed: str, offered: Sequence[Offer], within: str = "") -> Offer:
    """The one action that a word means.

    Args:
        typed: An id, or `skill:id`.
        offered: What there is.
        within: The name of the only skill that counts; empty: all do.

    Raises:
        UsageProblem: None fits, or more than one; the text says which there are.
    """
    there = [offer for offer in offered if not within or offer.skill.name == within]
    for fits in (_exactly, _nearly):
        found = [offer for offer in there if fits(typed, offer)]
        if len(found) == 1:
            return found[0]
        if found:
            raise UsageProblem(
                f"{shown(typed)!r} is a quick action of more than one skill; "
                f"type one of: {_listed(found)}"
            )
    raise UsageProblem(_unknown(typed, there, within))


def _exactly(typed: str, offer: Offer) -> bool:
    skill, _, name = typed.rpartition(":")
    return offer.action.id == name and (not skill or skill in (offer.skill.name, word(offer.skill)))


def _nearly(typed: str, offer: Offer) -> bool:
    skill, _, name = typed.rpartition(":")
    same_skill = not skill or normalised(skill) == normalised(offer.skill.name)
    return same_skill and normalised(name) == normalised(offer.action.id)


def _unknown(typed: str, there: Sequence[Offer], within: str) -> str:
    where = f" in the skill {within}" if within else ""
    if not there:
        hint = " %skills NAME lists the actions of a skill."
        return f"There is no quick action {shown(typed)!r}: there are none{where}.{hint}"
    nearest = near(typed, action_names(there))
    guess = f" Did you mean {' or '.join(nearest)}?" if nearest else ""
    return f"There is no quick action {shown(typed)!r}{where}.{guess} There are: {_listed(there)}"


def _listed(offered: Sequence[Offer]) -> str:
    more = f" and {len(offered) - LISTED} more" if len(offered) > LISTED else ""
    return ", ".join(offer.name for offer in offered[:LISTED]) + more


def taken(offer: Offer, active: Active) -> Action:
    """The action as the skill that was loaded for the cell has it: trusted, and not as seen before.

    Raises:
        UsageProblem: The skill changed in between, and has no such action now.
    """
    for item in active.skills:
        if item.skill.root == offer.skill.root:
            for action in item.skill.actions:
                if action.id == offer.action.id:
                    return action
    raise UsageProblem(f"The skill {offer.skill.name} changed just now and has no {offer.name}.")


def joined(prompt: str, body: str) -> str:
    """An action's prompt with the cell's body, byte for byte, as further text."""
    return f"{prompt}\n\n{body}" if body.strip() else prompt


def with_buttons(view: View, offered: Iterable[Offer]) -> View:
    """A view with a button below it for each action, in front ends that have such buttons."""
    cells = [(f"Insert cell: {offer.action.title}", ready_cell(offer)) for offer in offered]
    return View(view.text, view.html + cell_buttons(cells))


def command(skill: Skill, action: Action) -> str:
    """The line that runs an action."""
    return f"%%agent --action {Offer(skill, action).name}"


def ready_cell(offer: Offer) -> str:
    """A cell that does the same and shows what it sends, to be changed or run."""
    option = "" if offer.active else f" --skill {word(offer.skill)}"
    return f"%%agent{option}\n{offer.action.prompt}"


def action(magics: Controls, words: str) -> View | str:
    """`%agent action`: list them, or put the cell that runs one where the person writes next."""
    offered = offers(magics.services, current(magics.session))
    if not words:
        rows = [(f"%%agent --action {o.name}", o.action.title, o.action.hint) for o in offered]
        notes = ["%agent action ID writes the whole prompt into the next cell, for you to change."]
        title = "Quick actions" if rows else "No skill offers a quick action"
        heads = ("run it with", "what it does", "")
        return with_buttons(table_view(title, heads, rows, notes if rows else ()), offered)
    if len(words.split()) > 1:
        raise UsageProblem(f"%agent action takes one id, not {words!r}.")
    cell = ready_cell(chosen(words, offered))
    magics.next_cell(cell)
    return f"The next cell, where the front end puts it; else copy it:\n\n{cell}"
