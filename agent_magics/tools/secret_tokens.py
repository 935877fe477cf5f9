"""Texts that are secrets by their form: tokens of known services, keys, passwords in URLs. Pure.

Owns the table of forms. Each is looked for at its anchor, a text that every one of them has, and
matched from there with bounded repetition only: the time grows with the text, whatever is in it.
Knows nothing of the values of this machine; the forms are those that the services document and
that the public scanners (GitHub, gitleaks, detect-secrets) look for.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass

from agent_magics.tools.secret_keys import KEY, Span, key_spans

# A token begins where no word is: `task-abc` is no `sk-abc`. What is written as an escape
# (`\n` in JSON, `%3D` in a URL) ends in a letter or digit, but is not part of a word.
_START = r"(?:(?<![A-Za-z0-9])|(?<=\\[nrtbf])|(?<=%[0-9A-Fa-f]{2})|(?<=\\u[0-9A-Fa-f]{4}))"
_END = r"(?![A-Za-z0-9])"
_PLACEHOLDER = re.compile(
    r"your|example|change.?me|placeholder|dummy|redacted|insert|xxxx|\*\*\*|\.\.\.|…|[<>{}$]|%s",
    re.IGNORECASE,
)
MARKED = "[redacted "
"""How what stands in a secret's place begins."""
_BLANK = re.compile(r"[xX*.…_-]*")


def _filled(value: str) -> bool:
    """Whether a token of a strict form is more than a row of x, as in a manual."""
    return _BLANK.fullmatch(value[8:]) is None


def _random(value: str) -> bool:
    """Whether a value of a loose form looks made by a machine or a careful person."""
    return (
        len(set(value)) > 4
        and any(c.isdigit() for c in value)
        and any(c.isalpha() for c in value)
        and _PLACEHOLDER.search(value) is None
    )


def _password(value: str) -> bool:
    """Whether what stands as a password in a URL can be one."""
    return (
        len(value) >= 4
        and value.casefold() not in _EXAMPLES
        and _PLACEHOLDER.search(value) is None
        and _BLANK.fullmatch(value) is None
    )


_EXAMPLES = frozenset(
    (
        *("pass", "password", "passwd", "passw0rd", "secret", "user", "username", "root", "admin"),
        *("test", "guest", "postgres", "mysql", "token", "key", "port", "mypassword", "pwd"),
    )
)


@dataclass(frozen=True, slots=True)
class Form:
    """One form of secret.

    Args:
        name: What it is, for the mark.
        anchors: Texts of which each secret of this form has one.
        pattern: Matches from the anchor on; its group 1, if it has one, is what is hidden. A text,
            since compiling all of them would make loading slow, and most never meet their anchor.
        check: Says of what is hidden whether it can be real.
    """

    name: str
    anchors: tuple[str, ...]
    pattern: str
    check: Callable[[str], bool] = _filled

    @property
    def mark(self) -> str:
        """What stands in the secret's place."""
        return f"{MARKED}{self.name}]"


def _form(name: str, anchors: str, pattern: str, check: Callable[[str], bool] = _filled) -> Form:
    return Form(name, tuple(anchors.split()), pattern, check)


def _token(name: str, anchors: str, rest: str, check: Callable[[str], bool] = _filled) -> Form:
    """A token that begins with its anchor, where no word is, and ends where its letters end."""
    choices = "|".join(re.escape(anchor) for anchor in anchors.split())
    return _form(name, anchors, f"{_START}(?:{choices}){rest}", check)


_W = "[A-Za-z0-9_-]"
_QUOTED = r"""\\?["']"""
_ASSIGNED = (
    rf"S?(?:_[A-Z0-9_]{{1,30}}+)?+(?:{_QUOTED})?"
    rf"(?:[ \t]{{1,3}}=[ \t]{{1,3}}(?={_QUOTED})|:[ \t]{{1,3}}|[=:])(?:{_QUOTED})?"
)
"""Between a name in capitals and its value: no blanks, or a quoted value."""

FORMS: tuple[Form, ...] = (
    _token("OpenAI key", "sk-proj- sk-svcacct- sk-admin-", f"{_W}{{20,300}}"),
    _token("Anthropic key", "sk-ant-", f"{_W}{{16,300}}"),
    _token("OpenRouter key", "sk-or-", f"{_W}{{20,200}}"),
    _token("API key", "sk-", rf"(?=[A-Za-z]{{0,60}}[0-9])[A-Za-z0-9]{{20,200}}+{_END}"),
    _token("GitHub token", "ghp_ gho_ ghu_ ghs_ ghr_", rf"[A-Za-z0-9]{{36,255}}+{_END}"),
    _token("GitHub token", "github_pat_", "[A-Za-z0-9_]{22,255}"),
    _token(
        "GitLab token",
        "glpat- gldt- glrt- glcbt- glptt- glft- glsoat- glimt- glagent-",
        f"{_W}{{20,300}}",
    ),
    _token("AWS key id", "AKIA ASIA ABIA", rf"[A-Z0-9]{{16}}+{_END}"),
    _form(
        "AWS secret key",
        "AKIA ASIA",
        r"A[KS]IA[A-Z0-9]{16}[^A-Za-z0-9/+]{1,8}([A-Za-z0-9/+]{40}+)(?![A-Za-z0-9/+=])",
    ),
    _form(
        "AWS secret key",
        "ecret_access_key SECRET_ACCESS_KEY ecretAccessKey ession_token SESSION_TOKEN"
        " essionToken ecretKey",
        rf"[A-Za-z_]{{9,18}}(?:{_QUOTED})?[ \t]{{0,4}}[=:>,]{{1,2}}[ \t]{{0,4}}(?:{_QUOTED})?"
        r"([A-Za-z0-9/+]{40,2000}+={0,2}+)(?![A-Za-z0-9/+])",
    ),
    _token("Google key", "AIza", r"[A-Za-z0-9_-]{35}+(?![A-Za-z0-9_-])"),
    _token("Google secret", "GOCSPX-", f"{_W}{{20,100}}"),
    _token("Google token", "ya29.", "[A-Za-z0-9_.-]{20,2000}"),
    _token(
        "Slack token",
        "xoxb- xoxp- xoxa- xoxe- xoxe. xoxo- xoxr- xoxs- xoxc- xoxd- xapp-",
        "[A-Za-z0-9.%-]{10,400}",
    ),
    _form(
        "webhook",
        "hooks.slack.com/ discord.com/api/webhooks/ discordapp.com/api/webhooks/"
        " webhook.office.com/",
        r"[a-z.]{8,20}/((?:services|workflows|api/webhooks|webhookb2|triggers)/"
        r"[A-Za-z0-9_/@-]{20,400})",
    ),
    _token("Stripe key", "sk_live_ rk_live_ sk_test_ rk_test_", r"[A-Za-z0-9]{16,250}"),
    _token("webhook secret", "whsec_", "[A-Za-z0-9+/=]{24,100}"),
    _token("npm token", "npm_", rf"[A-Za-z0-9]{{36}}+{_END}"),
    _token("PyPI token", "pypi-AgE", f"{_W}{{16,1000}}"),
    _token(
        "Hugging Face token",
        "hf_ api_org_",
        rf"(?=[A-Za-z]{{0,60}}[A-Z0-9])[A-Za-z0-9]{{30,100}}+{_END}",
    ),
    _form(
        "JWT",
        "eyJ",
        rf"{_START}(?<![_-])eyJ{_W}{{8,4000}}+\.eyJ{_W}{{8,8000}}(?:\.{_W}{{10,2000}})?",
    ),
    _token("Databricks token", "dapi", rf"[a-f0-9]{{32}}+(?:-[0-9])?{_END}"),
    _form("Telegram token", ":AA", r"(?<=\d{8}):AA[A-Za-z0-9_-]{33}+(?![A-Za-z0-9_-])"),
    _token("SendGrid key", "SG.", rf"{_W}{{16,32}}\.{_W}{{16,64}}"),
    _token("Twilio key", "SK", rf"[a-f0-9]{{32}}+{_END}"),
    _token("Mailgun key", "key-", rf"[a-f0-9]{{32}}+{_END}"),
    _token("DigitalOcean token", "dop_v1_ doo_v1_ dor_v1_", "[a-f0-9]{64}"),
    _token("Shopify token", "shpat_ shpca_ shppa_ shpss_", "[a-fA-F0-9]{32}"),
    _token("API key", "lin_api_ sbp_ sntrys_ PMAK- NRAK- figd_ phc_ phx_", f"{_W}{{24,400}}"),
    _token(
        "Notion token", "ntn_ secret_", rf"(?=[A-Za-z]{{0,60}}[0-9])[A-Za-z0-9]{{40,60}}+{_END}"
    ),
    _token("Vault token", "hvs. hvb. hvr.", f"{_W}{{20,300}}"),
    _form("Terraform token", ".atlasv1.", rf"\.atlasv1\.{_W}{{50,100}}"),
    _token("Grafana token", "glsa_ glc_", "[A-Za-z0-9_+/=]{30,400}"),
    _token("Docker token", "dckr_pat_ dckr_oat_", f"{_W}{{20,100}}"),
    _token(
        "API key", "gsk_ r8_ pplx- xai- tvly- nvapi- csk- fw_ tgp_v1_", f"{_W}{{24,200}}", _random
    ),
    _token("LangSmith key", "lsv2_pt_ lsv2_sk_", "[a-f0-9]{32}_[a-f0-9]{10}"),
    _token("Square token", "sq0atp- sq0csp-", f"{_W}{{22,60}}"),
    _token("Atlassian token", "ATATT3 ATCTT3", "[A-Za-z0-9_=-]{50,400}"),
    _token("age key", "AGE-SECRET-KEY-1", "[A-Z0-9]{50,70}"),
    _form(
        "Azure key",
        "AccountKey= SharedAccessKey=",
        r"[A-Za-z]{10,15}=([A-Za-z0-9+/]{40,100}={0,2})",
    ),
    _form("Azure signature", "sig=", r"(?<=[?&;])sig=([A-Za-z0-9%+/_-]{20,200}={0,2})"),
    _form("Azure secret", "Q~", rf"(?<=[A-Za-z0-9_~.-]{{3}}\d)Q~[A-Za-z0-9_~.-]{{31,34}}+{_END}"),
    # -- in a place that says so -------------------------------------------------------------
    _form(
        "password",
        "://",
        r"""://[^\s/:@'"<>`]{0,200}:([^\s/@'"<>`]{1,500})@[A-Za-z0-9\[%]""",
        _password,
    ),
    _form(
        "credentials",
        "uthorization UTHORIZATION",
        rf"(?i)uthorization(?:{_QUOTED})?[ \t]{{0,3}}[:=,][ \t]{{0,3}}(?:b?{_QUOTED})?"
        r"(?:bearer|basic|token|apikey|digest|negotiate|aws4-hmac-sha256)[ \t]{1,3}"
        r"([A-Za-z0-9._~+/=:-]{8,4000})",
        lambda value: _PLACEHOLDER.search(value) is None,
    ),
    _form(
        "credentials",
        "earer BEARER",
        r"(?:earer|BEARER)[ \t]{1,3}([A-Za-z0-9._~+/-]{20,4000}={0,2})",
        _random,
    ),
    _form(
        "API key",
        "pi-key pi-Key PI-KEY uth-token uth-Token ivate-token IVATE-TOKEN",
        rf"[A-Za-z-]{{6,11}}(?:{_QUOTED})?[ \t]{{0,3}}[:=,][ \t]{{0,3}}(?:{_QUOTED})?"
        r"([A-Za-z0-9._~+/=-]{16,400})",
        _random,
    ),
    _form(
        "npm token",
        ":_authToken= :_password= :_auth=",
        r":_[A-Za-z]{4,9}=([A-Za-z0-9+/=_-]{8,1000})",
    ),
    _form(
        "password",
        "machine",
        r"machine\s{1,4}\S{1,255}\s{1,4}login\s{1,4}\S{1,255}\s{1,4}password\s{1,4}(\S{4,500})",
        _password,
    ),
    _form("credentials", '"auth"', r'"auth"\s{0,4}:\s{0,4}"([A-Za-z0-9+/]{12,4000}={0,2})"'),
    _form(
        "token",
        "access_token refresh_token id_token session_token client_secret",
        rf"[a-z]{{2,7}}_[a-z]{{5,6}}(?:{_QUOTED}[ \t]{{0,3}}:[ \t]{{0,3}}{_QUOTED}|=)"
        r"([A-Za-z0-9._~+/%|-]{16,4000}={0,2})",
        _random,
    ),
    _form(
        "key",
        "client-key-data: api_key= apikey= apiKey=",
        r"(?:client-key-data: |(?<=[?&;])api_?[kK]ey=)([A-Za-z0-9._~+/%-]{16,8000}={0,2})",
        _random,
    ),
    _form(
        "password",
        "assword passwd",
        rf"[a-z]{{6,7}}(?:{_QUOTED}[ \t]{{0,3}}:[ \t]{{0,3}}{_QUOTED}|=(?:{_QUOTED})?)"
        r"""([^\s"'`\\(){}\[\]<>$,;&]{8,200}+)(?=\\?["'\s;&]|$)""",
        _random,
    ),
    # -- a name in capitals that says so: .env files, shells, containers, settings ---------------
    _form(
        "value",
        "PASSWORD PASSWD PASSPHRASE SECRET TOKEN _PASS _PWD _PAT",
        r"(?:PASSWORD|PASSWD|PASSPHRASE|SECRET|TOKEN|_PASS|_PWD|_PAT)"
        + _ASSIGNED
        + r"""([^\s"'`\\(){}\[\]<>|]{8,500}+)(?=\\?["'\s]|\\n|$)""",
        _random,
    ),
    _form(
        "value",
        "_KEY APIKEY",
        r"(?:_KEY|APIKEY)" + _ASSIGNED + r"""([^\s"'`\\(){}\[\]<>|]{16,500}+)(?=\\?["'\s]|\\n|$)""",
        _random,
    ),
)


def token_spans(text: str) -> Iterator[Span]:
    """Where secrets are in a text, by their form alone; spans may overlap."""
    for form in FORMS:
        for anchor in form.anchors:
            yield from _found(text, form, anchor)
    yield from key_spans(text)


def _found(text: str, form: Form, anchor: str) -> Iterator[Span]:
    at = text.find(anchor)
    if at < 0:
        return
    pattern = re.compile(form.pattern)  # kept by the module re
    while at >= 0:
        match = pattern.match(text, at)
        after = at + len(anchor)
        if match is not None:
            group = 1 if pattern.groups else 0
            after = max(after, match.end(group))
            if MARKED not in match[group] and form.check(match[group]):
                yield *match.span(group), form.mark
        at = text.find(anchor, after)


MARKS = frozenset((*(form.mark for form in FORMS), KEY))
"""All that stands in texts in the place of what was found by its form."""
