"""`%agent model`, `models` and `test`: which model answers, what there is, and whether it works."""

from __future__ import annotations

from typing import TYPE_CHECKING

from agent_magics.errors import AgentMagicsError, UsageProblem
from agent_magics.magics.arguments import no_words
from agent_magics.magics.background import in_background
from agent_magics.magics.views import View, table_view

if TYPE_CHECKING:
    from agent_magics.magics.services import Controls, ModelChoice

MOST_SHOWN = 200
"""Models of a listing that are shown; some servers have thousands."""


def model(magics: Controls, words: str) -> View | str:
    """Show or choose the model; alone, with the endpoints that could be chosen."""
    if words:
        if len(words.split()) > 1:
            raise UsageProblem(f"%agent model takes one name, not {words!r}.")
        if words.startswith("replay:"):
            magics.choice(words)  # a file that cannot be played leaves the model as it is
        magics.services.endpoints.forget_key(words)
        magics.use_model(words)
        return _line(magics.choice()) + _goes_on(magics)
    rows = magics.services.endpoints.rows()
    if not rows:
        return _line(magics.choice())
    try:
        choice = magics.choice()
        title, mine = _line(choice), choice.endpoint
    except AgentMagicsError as error:
        title, mine = f"Model: none ({error})", ""
    table = [
        (
            f"{row.name} (in use)" if row.name == mine else row.name,
            row.server,
            row.where,
            row.model or "(none set)",
            row.key,
        )
        for row in rows
    ]
    heads = ("endpoint", "server", "address", "model", "key from")
    notes = ("Choose with %agent model NAME or NAME/MODEL; %agent models [NAME] lists models.",)
    return table_view(title, heads, table, notes)


def models(magics: Controls, words: str) -> View:
    """The models that a server lists: of the endpoint in use, or of a named one."""
    if len(words.split()) > 1:
        raise UsageProblem(f"%agent models takes the name of one endpoint, not {words!r}.")
    name, where = words.rstrip("/"), ""
    if name:
        names = magics.services.endpoints.models(name)
        where = next(row.where for row in magics.services.endpoints.rows() if row.name == name)
    else:
        choice = magics.choice()
        name, where = choice.endpoint, choice.where
        names = _listed(choice)
    prefix = f"{name}/" if name else ""
    shown = sorted(names)[:MOST_SHOWN]
    rows = [(f"%agent model {prefix}{each}",) for each in shown]
    notes = []
    if len(names) > MOST_SHOWN:
        notes.append(f"and {len(names) - MOST_SHOWN} more")
    if not names:
        notes.append("The server lists no models; its documentation names them.")
    return table_view(f"Models at {where}: {len(names)}", ("choose with",), rows, notes)


def _listed(choice: ModelChoice) -> tuple[str, ...]:
    made = choice.make()
    ask = getattr(made, "models", None)
    if ask is None:
        raise UsageProblem(f"{choice.name} is no server's model; there is nothing to list.")

    async def asked() -> tuple[str, ...]:
        try:
            names: tuple[str, ...] = await ask()
            return names
        finally:
            await made.aclose()  # type: ignore[attr-defined]  # a model with a server has it

    return in_background(asked)


def test(magics: Controls, words: str) -> str:
    """Make one small request."""
    no_words("test", words)
    choice = magics.choice()
    if choice.name.startswith("replay:"):
        return f"Nothing to test: a recording answers, not a model ({choice.where})."
    if choice.scripted:
        return (
            "No model is configured: the scripted demonstration answers, and there is nothing to "
            "test.\nSet OPENAI_API_KEY or OPENAI_BASE_URL before Jupyter starts, or "
            "%config AgentMagics.base_url = '…' here; then %agent test again."
        )
    from agent_magics.providers.checking import test_connection

    made = choice.make()
    return f"{in_background(lambda: test_connection(made))}\n({choice.why})"


def _line(choice: ModelChoice) -> str:
    return f"Model: {choice.name} at {choice.where} ({choice.why})"


def _goes_on(magics: Controls) -> str:
    """That a conversation goes on with another model."""
    count = len(magics.session.conversation)
    return f"\nThe conversation goes on with it ({count} messages)." if count else ""
