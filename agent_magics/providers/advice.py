"""What a person reads when an endpoint gives no answer: what happened, and what to do next.

Pure. Two lines each. Owns the words; `place` keeps secrets out of them, `reaching` has the words
for servers that were never reached, and what is tried again is decided in `retrying`.
"""

from __future__ import annotations

import re

from agent_magics.errors import ContextOverflow, ModelError
from agent_magics.providers.complaints import Complaint
from agent_magics.providers.place import Place


def refused(complaint: Complaint, place: Place, wait: float | None = None) -> ModelError:
    """The error for a refusal.

    Args:
        complaint: What the server said.
        place: Where the request went.
        wait: Seconds that the server asked to wait.
    """
    said = place.clean(complaint.message).rstrip(".")
    quoted = f": {said}" if said else ""
    status = complaint.status
    if complaint.overflows:
        return ContextOverflow(
            f"The conversation is longer than {place.model} can take{quoted}.\n"
            "Shorten it with `%agent compact`, or start a new one with `%%agent --new`.",
            status=status,
        )
    number = f" ({status})" if status else ""
    happened, advice = _explained(complaint, place, wait)
    text = f"{happened}{number}{quoted}.\n{advice}"
    return ModelError(text, status=status, retry_after=wait)


def _explained(complaint: Complaint, place: Place, wait: float | None) -> tuple[str, str]:
    words, status = complaint.words, complaint.status
    if complaint.exhausted:
        return (
            f"The account at {place.host} has no quota or credit left",
            "Check plan and billing there, or choose another model with `%agent model NAME`.",
        )
    if wait is not None:
        return (
            f"{place.host} is limiting requests and asks to wait {duration(wait)}",
            "Run the cell again after that, or choose another model with `%agent model NAME`.",
        )
    if status in _BY_STATUS:
        happened, advice = _BY_STATUS[status]
        return happened.format(place=place), advice.format(place=place)
    if status == 404:
        return _not_found(words, place)
    if complaint.page:
        return f"{place.host} answered with a web page", _URL_ADVICE.format(place=place)
    if status is not None and status >= 500:
        return (
            f"{place.host} has a problem of its own",
            "Run the cell again later; if it stays, look at the server's own log or status page.",
        )
    if re.search(_NO_MODEL, words):
        return _not_found("model", place)
    return (
        f"{place.host} refused the request",
        "If it names a field or feature, leave that out; `%agent test` checks the connection.",
    )


_NO_MODEL = r"model\W.*(not (found|exist)|unknown|invalid)|(no such|unknown|invalid) model"
_URL_ADVICE = (
    "Check the base URL {place.url}: it usually ends in /v1. A sign-in page or a proxy may also "
    "stand in between."
)
_BY_STATUS = {
    301: ("{place.host} has moved", _URL_ADVICE),
    302: ("{place.host} sends requests elsewhere", _URL_ADVICE),
    307: ("{place.host} sends requests elsewhere", _URL_ADVICE),
    308: ("{place.host} has moved", _URL_ADVICE),
    401: (
        "{place.host} refused the API key",
        "{place.key_hint}, and that the key belongs to {place.url}.",
    ),
    403: (
        "{place.host} denies access to {place.model}",
        "The key may lack the right to this model, or a proxy, firewall or region block answered.",
    ),
    405: ("Nothing at {place.url} takes chat requests", _URL_ADVICE),
    407: (
        "The proxy wants a password",
        "Put user and password into the proxy's URL: in HTTPS_PROXY, or in the variable that "
        "`proxy: {{env: NAME}}` of the endpoint names; or except this host with NO_PROXY.",
    ),
    408: ("{place.host} gave up waiting", "Run the cell again."),
    425: ("{place.host} is not ready", "Run the cell again."),
    429: (
        "{place.host} is limiting requests",
        "Run the cell again later, or choose another model with `%agent model NAME`.",
    ),
}


def _not_found(words: str, place: Place) -> tuple[str, str]:
    if "model" in words or "deployment" in words:
        return (
            f"{place.host} does not have the model {place.model!r}",
            "Set another one with `%agent model NAME`; `%agent test` lists what the server has.",
        )
    return f"Nothing answers at {place.url}/chat/completions", _URL_ADVICE.format(place=place)


def page_in_place(title: str, place: Place) -> ModelError:
    """The error for a web page where an answer should be."""
    called = f" ({place.clean(title)!r})" if title else ""
    return ModelError(
        f"{place.host} answered with a web page{called} in place of an answer.\n"
        + _URL_ADVICE.format(place=place)
    )


def unreadable(what: str, place: Place) -> ModelError:
    """The error for an answer that is no chat completion."""
    return ModelError(
        f"The answer of {place.host} cannot be read: {place.clean(what)}.\n"
        + _URL_ADVICE.format(place=place)
    )


def unwritable(why: str, place: Place) -> ModelError:
    """The error for a request that JSON has no form for."""
    return ModelError(
        f"The request to {place.model} cannot be written as JSON: {place.clean(why)}.\n"
        "Look at the options of the model and at the parameters of the tools that a skill brought."
    )


def empty_answer(place: Place) -> ModelError:
    """The error for answers without content."""
    return ModelError(
        f"{place.model} gave an empty answer, again and again.\n"
        "Put the prompt in other words, or choose another model with `%agent model NAME`."
    )


def broken_off(what: str, place: Place) -> ModelError:
    """The error for a connection that was lost in the middle of an answer."""
    return ModelError(
        f"The answer of {place.host} broke off: {place.clean(what)}.\n"
        "Run the cell again; if it happens each time, look at the network, a proxy, or the server."
    )


def too_slow(seconds: float, what: str, place: Place) -> ModelError:
    """The error for silence.

    Args:
        seconds: How long it lasted.
        what: What did not come ("connection", "first word", "next word").
        place: Where.
    """
    return ModelError(
        f"No {what} from {place.host} within {duration(seconds)}.\n"
        "The server may be overloaded or loading the model; a firewall or proxy may be in between."
    )


def duration(seconds: float) -> str:
    """Seconds in words: `0.3 s`, `12 s`, `5 min`, `2 h`."""
    if seconds < 10:
        return f"{seconds:.2f}".rstrip("0").rstrip(".") + " s"
    if seconds < 120:
        return f"{seconds:.0f} s"
    if seconds < 7200:
        return f"{seconds / 60:.0f} min"
    return f"{seconds / 3600:.0f} h"
