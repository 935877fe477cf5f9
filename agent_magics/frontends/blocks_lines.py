"""The small blocks of a turn: what is going on, notices, retries, and the footer.

Owns their words. Each error, limit and cut says what to do next. Knows no order and no state.
"""

from __future__ import annotations

from agent_magics.events import Compacted, Notice, PolicyChanged, Retrying, TurnEnded
from agent_magics.frontends import theme
from agent_magics.frontends.blocks_block import Block, amount, fit, metadata, rounded
from agent_magics.frontends.summary import count, cut, duration, money, safe_line
from agent_magics.messages import JSON
from agent_magics.plain import visible

NOTICE, REASON = 4_000, 300
"""Characters that are shown of a notice and of a reason."""

_LEVELS: dict[str, tuple[str, str, theme.Tone]] = {
    "info": ("ℹ", "note", "muted"),
    "warning": ("⚠", "warning", "warn"),
    "error": ("✗", "error", "bad"),
}
_TEST = "%agent test"
_ENDINGS: dict[str, tuple[str, str, str]] = {
    "limit": ("warning", "Stopped at a limit of this turn.", "Go on in the next cell."),
    "interrupted": (
        "warning",
        "Interrupted.",
        "What was done until then is kept; go on in the next cell.",
    ),
    "failed": (
        "error",
        "No answer came.",
        f"The conversation is kept; go on in the next cell. {_TEST} checks the connection.",
    ),
    "stopped": ("warning", "Stopped early.", "Go on in the next cell."),
    "refused": ("warning", "The model refused to answer.", "Ask in other words in the next cell."),
    "cut": (
        "warning",
        "The answer was cut at the output limit.",
        "Write “continue” in the next cell to go on.",
    ),
}


def status_block(key: str, words: str) -> Block:
    """What is going on while there is nothing else to see."""
    html = theme.muted_line(theme.text_html(f"… {words}"))
    return Block(key, html, f"… {visible(words)}", metadata("status"), live=True)


def notice_block(key: str, notice: Notice) -> Block:
    """Something the person should know."""
    html, text = _notice(notice.level, notice.text)
    return Block(key, html, text, metadata("notice", level=fit(notice.level)))


def _notice(level: str, message: str) -> tuple[str, str]:
    sign, word, tone = _LEVELS.get(level, _LEVELS["info"])
    text = cut(visible(message.strip()), NOTICE)
    words = theme.text_html(text).replace("\n", "<br>\n")
    html = theme.line(f'<span role="note">{theme.mark(sign, word, tone)} {words}</span>')
    return html, f"{sign} {text}"


def retry_block(key: str, event: Retrying, *, live: bool, stable: bool) -> Block:
    """A request that is sent again, and why."""
    reason = safe_line(event.reason, REASON).rstrip(".")
    number = f"try {event.attempt} of {event.limit}"
    wait = "" if stable else duration(event.seconds)
    when = f" in {wait}" if wait and live else ""
    words = f"Asking again{when} ({number})" if live else f"Asked again ({number})"
    text = f"↻ {words}: {reason}."
    return Block(key, theme.muted_line(theme.text_html(text)), text, metadata("retry"), live)


def restart_block(key: str, reason: str) -> Block:
    """An answer that is asked for again before anything of it was to be seen."""
    text = f"↻ Asked again: {safe_line(reason, REASON).rstrip('.')}."
    return Block(key, theme.muted_line(theme.text_html(text)), text, metadata("retry"))


def policy_block(key: str, event: PolicyChanged) -> Block:
    """A rule that is in force from now on."""
    rule = safe_line(str(event.rule), REASON)
    html = theme.muted_line(f"⚙ From now on: {theme.code(rule)}")
    return Block(key, html, f"⚙ From now on: {rule}", metadata("policy", rule=fit(rule)))


def compacted_block(key: str, event: Compacted) -> Block:
    """A conversation that was shortened."""
    text = (
        "⇣ Older parts of the conversation were shortened for the model: about "
        f"{count(event.before)} → {count(event.after)} tokens."
    )
    facts = metadata("compacted", before=event.before, after=event.after)
    return Block(key, theme.muted_line(theme.text_html(text)), text, facts)


def turn_block(
    key: str,
    event: TurnEnded,
    model: str,
    skills: tuple[tuple[str, str], ...],
    *,
    stable: bool,
) -> Block:
    """The end of a turn: what went wrong and what to do next, if anything; and the footer.

    Args:
        key: The block's place.
        event: How the turn ended.
        model: The model's name.
        skills: Names and digests of the active skills.
        stable: Leave out times.
    """
    html, text = "", ""
    if event.reason in _ENDINGS:
        level, default, todo = _ENDINGS[event.reason]
        said = event.text.strip() or default
        if "next cell" not in said:
            todo = todo.partition(f" {_TEST}")[0] if _TEST in said else todo
            said = f"{said if said[-1] in '.!?' else said + '.'} {todo}"
        html, text = _notice(level, said)
        text += "\n\n"
    facts = " · ".join(_footer(event, model, skills))
    time = "" if stable else duration(event.seconds)
    footer = theme.footer(facts, theme.time_span(time))
    plain = f"— {facts}" + (f" · {time}" if time else "")
    return Block(key, html + footer, text + plain, _turn_facts(event, model, skills, stable))


def _footer(event: TurnEnded, model: str, skills: tuple[tuple[str, str], ...]) -> list[str]:
    usage = event.usage
    parts = [safe_line(model, 80)] if model else []
    parts += [f"{safe_line(name, 64)} ({safe_line(digest[:8], 8)})" for name, digest in skills]
    # Only requests that were answered are counted.
    counted = {0: "no answer", 1: "1 request"}
    parts.append(counted.get(event.requests, f"{event.requests} requests"))
    if usage.input or usage.output:
        tokens = f"{count(usage.input)} in / {count(usage.output)} out"
        tokens += f" / {count(usage.cached)} cached" if usage.cached else ""
        parts.append(f"{tokens} tokens")
    if event.cost is not None:
        parts.append(f"cost {money(event.cost)}")
    return parts


def _turn_facts(
    event: TurnEnded, model: str, skills: tuple[tuple[str, str], ...], stable: bool
) -> dict[str, JSON]:
    usage = event.usage
    tokens = {
        "input": usage.input,
        "output": usage.output,
        "cached": usage.cached,
        "reasoning": usage.reasoning,
    }
    return metadata(
        "turn",
        reason=fit(event.reason),
        model=fit(model, 200),
        skills=[{"name": fit(name, 64), "digest": fit(digest, 64)} for name, digest in skills],
        requests=event.requests,
        usage={name: number for name, number in tokens.items() if number},
        cost=amount(event.cost),
        seconds=None if stable else rounded(event.seconds),
    )
