"""Taking up a saved session: what comes back, and what a person has to say again.

The conversation, its tokens, its denials and its skills come back. What was allowed does not, and
no code of a skill is imported that is not exactly what was trusted; both are said.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING

from agent_magics.compaction import conversation_size
from agent_magics.errors import SkillError, UsageProblem
from agent_magics.frontends.summary import count, cut, safe_line
from agent_magics.magics.activation import Active, activated, current, swap
from agent_magics.magics.recording import folder_of
from agent_magics.magics.services import Services
from agent_magics.magics.trusting import Gatekeeper
from agent_magics.messages import Assistant, User
from agent_magics.namespace.looking import look, shown_name
from agent_magics.plain import visible
from agent_magics.policy import Answer
from agent_magics.records.archive import Summary
from agent_magics.records.entries import KeptSkill
from agent_magics.records.names import believed
from agent_magics.records.opened import Resumed
from agent_magics.session import Session

if TYPE_CHECKING:
    from agent_magics.magics.services import Controls

TITLE, WORDS = 70, 600
"""Characters that are shown of a title, and of the last answer."""
NAMES = 20
"""Variables that are listed."""


def resume_session(magics: Controls, word: str) -> str:
    """Make a saved session the one that `%%agent` goes on with; gives what to say.

    Args:
        magics: Whose session it becomes.
        word: Its id or name; empty: the newest of this folder.

    Raises:
        UsageProblem: There is none, or it cannot be read.
    """
    services = magics.services
    open_here = {session.id: session for session in magics.sessions.values() if session.id}
    summary = _meant(services, word, open_here)
    if summary.id in open_here:
        magics.session = open_here[summary.id]
        return f"%%agent goes on with {titled(summary)}, which is open in this kernel."
    resumed = services.records.resume(summary, folder_of(services))
    session = resumed.session
    before, note = magics.session, ""
    if not before.conversation:
        magics.sessions.pop(before.name, None)
    _take_rules(session, before)
    if session.name in magics.sessions:
        note = _moved(magics, session.name)
    magics.sessions[session.name] = magics.session = session
    # The next model call has read nothing yet; its edits need a new look at the files.
    services.workspace.forget()
    active, lines = skills_again(resumed.stored.skills, services, magics.skill_code)
    swap(session, active if resumed.stored.skills else current(before))
    said = [*_told(summary, resumed), *lines, *_permissions(resumed), *([note] if note else [])]
    said.append("Files have to be read again before they are edited.")
    words = [*_last_words(session)]
    said += _reconciled(session, believed(resumed.stored.turns), magics.namespace())
    return "\n".join([*(visible(line) for line in said), *words])


def _reconciled(
    session: Session, names: Mapping[str, str], there: Mapping[str, object]
) -> Iterator[str]:
    """Compare the variables that the conversation speaks of with the live ones, and say it.

    Args:
        session: The model is told in its conversation.
        names: What it takes to exist, with types where they are known.
        there: What there is.
    """
    gone = [shown_name(name) for name in names if name not in there]
    other = [
        f"{shown_name(name)} (was {kind}, is {look(there[name]).kind})"
        for name, kind in names.items()
        if kind and name in there and look(there[name]).kind != kind
    ]
    if not gone and not other:
        return
    parts = [_some("do not exist any more", gone), _some("are of another type now", other)]
    told = "; ".join(part for part in parts if part)
    note = User(
        "[A note of the program.] The conversation goes on in another kernel than before. Of the "
        f"variables that it speaks of, these {told}. Make them again, or ask, before you use them."
    )
    if note not in session.conversation:
        answer = Assistant("Understood; I look at the variables before I use them.")
        session.conversation = (*session.conversation, note, answer)
    yield f"Variables of the conversation that {told}. The model is told."


def _some(what: str, names: Sequence[str]) -> str:
    more = f" and {len(names) - NAMES} more" if len(names) > NAMES else ""
    return f"{what}: {', '.join(names[:NAMES])}{more}" if names else ""


def titled(summary: Summary) -> str:
    """A session as it is named in a sentence."""
    title = safe_line(summary.title, TITLE)
    return f"session {summary.id} “{title}”" if title else f"session {summary.id}"


def skills_again(
    kept: Sequence[KeptSkill], services: Services, skill_code: str
) -> tuple[Active, list[str]]:
    """The skills of a saved session as far as they are what they were, and a line for each.

    Args:
        kept: What was in force, in the order of use.
        services: For the disk, trust and configuration.
        skill_code: The setting of this name.
    """
    active, lines = Active(), []
    # Nothing is trusted by resuming: who wants it says %use, and is asked then.
    gate = Gatekeeper(services.trust, skill_code, lambda _question: Answer(False, "nobody"))
    for item in kept:
        try:
            found = services.library.find(item.name)
        except SkillError:
            lines.append(f"Skill {item.name} is not there any more; it is not active.")
            continue
        if found.digest != item.digest:
            lines.append(
                f"Skill {item.name} changed since, and is not active: %use {item.name} takes the "
                "change."
            )
            continue
        try:
            active = activated(
                item.name,
                services=services,
                before=active,
                gate=gate,
                arguments=item.arguments,
                add=True,
            )
        except SkillError as error:
            lines.append(f"Skill {item.name} is not active: {error} Or say %use {item.name}.")
    if active.skills:
        names = ", ".join(one.skill.name for one in active.skills)
        lines.insert(0, f"Active again: {names}.")
    return active, lines


def _meant(services: Services, word: str, open_here: dict[str, Session]) -> Summary:
    folder, archive = folder_of(services), services.records.archive
    if word:
        return archive.find(word, folder)
    for summary in archive.summaries():
        if summary.head.folder == folder and summary.id not in open_here:
            return summary
    raise UsageProblem(
        "There is no saved session of this folder that is not open; %agent sessions lists all."
    )


def _take_rules(session: Session, before: Session) -> None:
    """What the person said in this kernel holds on; what the session denied holds above it."""
    strict = session.policy.from_source("session")
    policy = before.policy
    for rule in strict:
        policy = policy.with_rule(rule)
    session.policy = policy


def _moved(magics: Controls, name: str) -> str:
    """Give the session of this kernel that has the name another one, so that it stays."""
    number = 2
    while f"{name}-{number}" in magics.sessions:
        number += 1
    other = magics.sessions.pop(name)
    other.name = f"{name}-{number}"
    magics.sessions[other.name] = other
    return (
        f"The conversation of before stays as session {other.name}: %%agent --session {other.name}"
    )


def _told(summary: Summary, resumed: Resumed) -> Iterator[str]:
    stored, session = resumed.stored, resumed.session
    size = count(conversation_size(session.conversation))
    turns = f"{len(stored.turns)} turn{'' if len(stored.turns) == 1 else 's'}"
    when = f"{summary.changed:%Y-%m-%d %H:%M}"
    yield f"Resumed {titled(summary)} of {when}: {turns}, about {size} tokens."
    if resumed.copy:
        yield f"It goes on in a copy, session {session.id}, since {resumed.copy}."
    if stored.cut_calls:
        names = ", ".join(stored.cut_calls)
        yield (
            f"Its last turn broke off while {names} ran: the effects are unknown, and the model is "
            "told so."
        )
    elif stored.broke_off:
        yield "Its last turn broke off when the kernel ended."
    if stored.damaged:
        yield f"{stored.damaged} damaged line(s) of its file could not be read and were left out."


def _permissions(resumed: Resumed) -> Iterator[str]:
    if resumed.withheld:
        rules = "; ".join(safe_line(str(rule), TITLE) for rule in resumed.withheld)
        yield f"Permissions are not restored; you had said: {rules}"


def _last_words(session: Session) -> Iterator[str]:
    prompts = [m.text for m in session.conversation if isinstance(m, User)]
    # What closes a broken turn was said by no model.
    answers = [
        m.text for m in session.conversation if isinstance(m, Assistant) and m.text and m.model
    ]
    if prompts:
        yield f"Last asked: {cut(visible(prompts[-1].strip()), WORDS)}"
    if answers:
        yield f"Last answer: {cut(visible(answers[-1].strip()), WORDS)}"
