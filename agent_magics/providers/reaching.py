"""Why a connection could not be made, in words: name, port, TLS, proxy, URL, key. Pure.

`advice` has the words for servers that were reached and said no.
"""

from __future__ import annotations

import re

from agent_magics.errors import ModelError
from agent_magics.providers.place import Place


def unreachable(cause: BaseException, place: Place) -> ModelError:
    """The error for a connection that could not be made."""
    words = _words(cause)
    if _is_elsewhere(words, place):
        words = f"proxy {words}"
    happened, advice = next(
        (texts for pattern, *texts in _CONNECTION if re.search(pattern, words, re.IGNORECASE)),
        ["No connection to {place.host}", _NETWORK_ADVICE],
    )
    said = place.clean(str(_chain(cause)[-1]))[:200].rstrip(".")
    detail = f": {said}" if said else ""
    return ModelError(f"{happened.format(place=place)}{detail}.\n{advice.format(place=place)}")


def bad_url(why: str, place: Place) -> ModelError:
    """The error for a base URL that is none.

    Args:
        why: What is wrong with it, as the end of a sentence.
        place: Where it should have led.
    """
    return ModelError(
        f"The base URL {place.url} cannot be used: {why}.\n"
        "It should look like https://host/v1 or http://127.0.0.1:11434/v1."
    )


def bad_header(name: str) -> ModelError:
    """The error for a key or header that cannot be sent; deliberately does not repeat it."""
    return ModelError(
        f"The {name} holds characters that cannot be sent.\n"
        "Copy it again, without quotes, line ends or typographic characters."
    )


_NETWORK_ADVICE = (
    "Check the base URL {place.url}, the network, and a proxy (HTTPS_PROXY, NO_PROXY)."
)
_CONNECTION = (
    (
        r"CERTIFICATE_VERIFY_FAILED|CertVerification",
        "The TLS certificate of {place.host} cannot be verified",
        "If a company's proxy opens TLS, let SSL_CERT_FILE name its certificate file.",
    ),
    (
        r"WRONG_VERSION_NUMBER|record layer failure|UNEXPECTED_MESSAGE",
        "{place.host} does not speak TLS there",
        "Check the base URL {place.url}: a local server usually wants http:// in place of https://.",
    ),
    (r"ProxyError|\bproxy\b", "The proxy gave no connection to {place.host}", _NETWORK_ADVICE),
    (
        r"gaierror|Name or service|nodename nor|getaddrinfo|name resolution",
        "The host {place.host} cannot be found",
        _NETWORK_ADVICE,
    ),
    (
        r"FileNotFoundError|PermissionError|IsADirectoryError",
        "The certificates for TLS cannot be read",
        "Check the files that SSL_CERT_FILE and SSL_CERT_DIR name.",
    ),
    (
        r"without sending a response",
        "{place.host} closed the connection without an answer",
        "Check the base URL {place.url}: a server with TLS wants https://. Else run it again.",
    ),
    (
        r"refused|10061",
        "Nothing listens at {place.url}",
        "Start the server, or check host and port of the base URL.",
    ),
)


def lasting(cause: BaseException) -> bool:
    """Whether a failed connection will fail again in the same way."""
    words = _words(cause)
    return bool(
        re.search(
            r"CERTIFICATE_VERIFY_FAILED|CertVerification|WRONG_VERSION_NUMBER|UnsupportedProtocol"
            r"|InvalidURL|Proxy Authentication|\b407\b",
            words,
        )
    )


def _is_elsewhere(words: str, place: Place) -> bool:
    """Whether another port than the URL's was tried, which is a proxy's."""
    tried = re.search(r"Connect call failed \('[^']*', (\d+)", words)
    return tried is not None and int(tried.group(1)) != place.port


def _words(cause: BaseException) -> str:
    return " ".join(f"{type(c).__name__} {c}" for c in _chain(cause))


def _chain(cause: BaseException) -> list[BaseException]:
    """The exception and what it came from, the first cause last."""
    chain = [cause]
    while (deeper := chain[-1].__cause__ or chain[-1].__context__) and deeper not in chain:
        chain.append(deeper)
    return chain
