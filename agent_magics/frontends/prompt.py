"""A question as typed text: in a terminal, or in a kernel's input box.

Owns the words of the prompt and how an answer is read. Whoever calls it brings the two ways that
text takes, so it knows neither terminal nor kernel.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Awaitable, Callable

from agent_magics.events import Question
from agent_magics.frontends.arguments import edited_arguments, same_arguments, visible_json
from agent_magics.plain import visible
from agent_magics.policy import Answer, Scope

log = logging.getLogger(__name__)

Read = Callable[[str], Awaitable[str]]
"""Shows a prompt and gives the line that was typed; raises `EOFError` at the end of input."""

Say = Callable[[str], None]
"""Prints a line."""


def choices(scopes: tuple[Scope, ...], *, editable: bool = True, following: int = 0) -> str:
    """The prompt, with every "always" on offer in words."""
    if len(scopes) == 1:
        always = f" / [a]lways ({visible(scopes[0].label)})"
    else:
        always = "".join(
            f" / [a{number}] always ({visible(scope.label)})"
            for number, scope in enumerate(scopes, start=1)
        )
    edit = " / [e]dit" if editable else ""
    rest = f" / none [reason] (this and the {following} behind it)" if following else ""
    return f"approve? [y]es{always}{edit} / [n]o [reason]{rest}: "


async def answered_within(limit: float | None, answering: Awaitable[Answer]) -> Answer:
    """An answer, or the word that none came. Raises nothing but `CancelledError`.

    Args:
        limit: Seconds; None: as long as it takes.
        answering: Asks the person.
    """
    try:
        async with asyncio.timeout(limit):
            return await answering
    except TimeoutError:
        return Answer(False, by="timeout", reason=f"no answer within {limit:g} s")
    except Exception as error:  # whatever broke, nothing may run without a person's word
        log.warning("a question could not be asked", exc_info=True)
        return Answer(False, by="nobody", reason=f"the question could not be asked: {error}")


async def ask_typed(question: Question, read: Read, say: Say) -> Answer:
    """Ask until there is an answer that can be understood.

    Args:
        question: Already shown.
        read: Asks for a line.
        say: Prints what was wrong with one.

    Returns:
        The answer; the end of input is a no.
    """
    prompt = choices(question.scopes, editable=question.editable, following=question.following)
    try:
        while True:
            answer = understood(await read(prompt), question.scopes, editable=question.editable)
            if answer == "edit":
                answer = await _edited(question, read, say)
            if isinstance(answer, Answer):
                return answer
            say(answer)
    except EOFError:
        return Answer(False, by="nobody", reason="the input ended before an answer came")


def understood(line: str, scopes: tuple[Scope, ...], *, editable: bool = True) -> Answer | str:
    """What a line means.

    Returns:
        An answer, `edit`, or what to type instead.
    """
    word, _, rest = line.strip().partition(" ")
    word, rest = word.rstrip(":,.").casefold(), rest.strip()
    if word == "none":
        return Answer(False, by="typed", reason=rest, rest=True)
    if word in ("n", "no"):
        return Answer(False, by="typed", reason=rest)
    if word in ("y", "yes") and not rest:
        return Answer(True, by="typed")
    if editable and word in ("e", "edit") and not rest:
        return "edit"
    if word in ("a", "always") and len(scopes) == 1 and not rest:
        return Answer(True, by="typed", scope=scopes[0])
    for number, scope in enumerate(scopes, start=1):
        if f"{word}{rest}" in (f"a{number}", f"always{number}"):
            return Answer(True, by="typed", scope=scope)
    always = ["a"] if len(scopes) == 1 else [f"a{n}" for n in range(1, len(scopes) + 1)]
    words = ", ".join(["y", *always, *(["e"] if editable else []), "n"])
    return f"Type one of: {words} (n may be followed by a reason)."


async def _edited(question: Question, read: Read, say: Say) -> Answer | str:
    """The call with other arguments, or a word on why not, and the question comes again."""
    say("The arguments are: " + visible_json(question.call.arguments))
    line = await read("new arguments, as a JSON object on one line (empty: as they are): ")
    if not line.strip():
        return "The arguments stay as they are; nothing has run yet."
    arguments, problem = edited_arguments(line)
    if arguments is None:
        return problem
    if same_arguments(arguments, question.call.arguments):
        return Answer(True, by="typed")
    return Answer(True, by="typed", arguments=arguments)
