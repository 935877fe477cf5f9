"""Why a connection could not be made, in words: name, port, TLS, proxy, URL, key. Pure.

`advice` has the words for servers that were reached and said no.
"""

from __future__ import annotations

import re

from agent_magics.errors import ModelError
from agent_magics.providers.place import Place, shown_url


def unreachable(cause: BaseException, place: Place) -> ModelError:
    """The error for a connection that could not be made."""
    words = _words(cause)
    if place.proxy or _is_elsewhere(words, place):  # names are looked up by it, too
        words = f"proxy {words}"
    happened, advice = next(
        (texts for pattern, *texts in _CONNECTION if re.search(pattern, words, re.IGNORECASE)),
        ["No connection to {place.host}", _NETWORK_ADVICE],
    )
    said = place.clean(str(_chain(cause)[-1]))[:200].rstrip(".")
    detail = f": {said}" if said else ""
    through = f" The way leads through the proxy {place.proxy}." if place.proxy else ""
    return ModelError(
        f"{happened.format(place=place)}{detail}.\n{advice.format(place=place)}{through}"
    )


def silent_proxy(seconds: float, place: Place) -> ModelError:
    """The error for a proxy that took the connection and then said nothing."""
    return ModelError(
        f"The proxy {place.proxy or 'of the environment'} opened no way to {place.host} within "
        f"{seconds:g} s.\n" + _PROXY_ADVICE.format(place=place)
    )


def bad_ca_file(path: str, wrong: BaseException) -> ModelError:
    """The error for a file of certificates that cannot be used."""
    why = getattr(wrong, "strerror", None) or getattr(wrong, "reason", None) or str(wrong)
    return ModelError(
        f"The certificates in {path} cannot be used: {why}.\n"
        "`ca_file` must name a readable file in PEM form, with lines BEGIN CERTIFICATE."
    )


def elsewhere(where: str, status: int, place: Place) -> ModelError:
    """The error for a redirect, which is never followed: conversation and key would go along."""
    return ModelError(
        f"{place.host} sends requests elsewhere ({status}), to {shown_url(where)}.\n"
        "Nothing was sent there. If that is the right address, set it as the base URL; it usually "
        "ends in /v1. A sign-in page may also stand in between.",
        status=status,
    )


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
_PROXY_ADVICE = (
    "Check the proxy (`proxy:` of the endpoint in config.yaml, else HTTPS_PROXY), or except "
    "{place.host} from it with NO_PROXY or `proxy: none`."
)
_CONNECTION = (
    (
        r"CERTIFICATE_VERIFY_FAILED|CertVerification",
        "The TLS certificate of {place.host} cannot be verified",
        "If a company's proxy opens TLS, or the server has a certificate of its own making, let "
        "`ca_file:` of the endpoint, or SSL_CERT_FILE, name the file that vouches for it.",
    ),
    (
        r"WRONG_VERSION_NUMBER|record layer failure|UNEXPECTED_MESSAGE",
        "{place.host} does not speak TLS there",
        "Check the base URL {place.url}: a local server usually wants http:// in place of https://.",
    ),
    (
        r"Proxy Authentication|\b407\b",
        "The proxy wants a password",
        "Put user and password into the proxy's URL: in HTTPS_PROXY, or in the variable that "
        "`proxy: {{env: NAME}}` of the endpoint names; or except this host with NO_PROXY.",
    ),
    (r"ProxyError|\bproxy\b", "The proxy gave no connection to {place.host}", _PROXY_ADVICE),
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
