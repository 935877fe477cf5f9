"""Secrets in texts: what is found whatever it is written like, and what is left alone."""

from __future__ import annotations

import asyncio
import base64
import hashlib
import html
import json
import random
import re
import shlex
import time
import traceback
import uuid
from pathlib import Path
from urllib.parse import quote, quote_plus

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from agent_magics.errors import ToolError
from agent_magics.messages import Display
from agent_magics.policy import Policy
from agent_magics.tool import Arguments, Report, Tool, ToolOutput
from agent_magics.tools.discretion import discreet
from agent_magics.tools.redaction import Redactor, redacted, secret_pairs
from agent_magics.tools.secret_tokens import FORMS, MARKS
from tests.test_tools_kit import Kit

ANCHORS = [anchor for form in FORMS for anchor in form.anchors]
MIXED = "aB3dE5gH7jK9mN1pQ3sT5vW7yZ9bC1eF3gH5jK7m"
HEX = "0123456789abcdef0fedcba987654321"
UPPER = "AB3DE5GH7JK9MN1P"

TOKENS = {
    # Put together here, so that no scanner of repositories takes them for real ones.
    "OpenAI project": "sk-" + "proj-" + MIXED + "_" + MIXED,
    "OpenAI service": "sk-" + "svcacct-" + MIXED,
    "OpenAI old": "sk-" + MIXED[:20] + "T3BlbkFJ" + MIXED[:20],
    "Anthropic": "sk-" + "ant-api03-" + MIXED + "-" + MIXED + "AA",
    "OpenRouter": "sk-" + "or-v1-" + HEX + HEX,
    "DeepSeek": "sk-" + HEX,
    "GitHub": "ghp" + "_" + MIXED[:36],
    "GitHub app": "ghs" + "_" + MIXED[:36],
    "GitHub fine": "github" + "_pat_" + MIXED[:22] + "_" + MIXED + MIXED[:19],
    "GitLab": "glpat" + "-" + MIXED[:20],
    "AWS id": "AKIA" + UPPER,
    "AWS temporary id": "ASIA" + UPPER,
    "Google": "AIza" + MIXED[:35],
    "Google token": "ya29." + MIXED,
    "Slack": "xoxb" + "-1234567890-" + MIXED[:24],
    "Stripe": "sk" + "_live_" + MIXED[:24],
    "npm": "npm" + "_" + MIXED[:36],
    "PyPI": "pypi-" + "AgEIcHlwaS5vcmc" + MIXED,
    "Hugging Face": "hf" + "_" + MIXED[:34],
    "JWT": "eyJ" + "hbGciOiJIUzI1NiJ9.eyJ" + "zdWIiOiIxMjM0NTY3ODkwIn0." + MIXED,
    "Databricks": "dapi" + HEX,
    "Telegram": "123456789:AA" + MIXED[:33],
    "SendGrid": "SG." + MIXED[:22] + "." + MIXED[:40],
    "Twilio": "SK" + HEX,
    "DigitalOcean": "dop" + "_v1_" + HEX + HEX,
    "Docker": "dckr" + "_pat_" + MIXED[:27],
    "Groq": "gsk" + "_" + MIXED,
    "Vault": "hvs." + MIXED,
    "Grafana": "glsa" + "_" + MIXED[:32] + "_12345678",
    "age": "AGE-SECRET-" + "KEY-1" + (UPPER * 4)[:58],
}

PLACES = {
    "AWS secret": ("aws_secret_access_key = ", MIXED, "\n"),
    "AWS secret in JSON": ('{"SecretAccessKey": "', MIXED, '"}'),
    "AWS pair": (f"AKIA{UPPER},", MIXED, "\n"),
    "password in a URL": ("postgresql://bob:", "hunter2-is-long", "@db.example.org:5432/x"),
    "password in a git URL": ("https://oauth2:", "x1y2z3w4v5", "@git.example.org/a.git"),
    "bearer": ("Authorization: Bearer ", MIXED, "\n"),
    "basic": ("'Authorization': 'Basic ", "dXNlcjpodW50ZXIyLWxvbmc=", "'"),
    "curl": ('curl -H "authorization: token ', MIXED, '" https://x'),
    "header": ("X-Api-Key: ", MIXED, "\r\n"),
    "Azure storage": ("AccountName=a;AccountKey=", MIXED + MIXED + "==", ";EndpointSuffix=x"),
    "Azure SAS": ("https://a.blob.core.windows.net/c?sv=1&sig=", MIXED + "%3D", "&se=2"),
    "npmrc": ("//registry.example.org/:_authToken=", MIXED, "\n"),
    "netrc": ("machine example.org login bob password ", "hunter2x", "\n"),
    "docker": ('"auths": {"x": {"auth": "', "Ym9iOmh1bnRlcjJ4", '"}}'),
    "OAuth": ('{"refresh_token": "', MIXED, '"}'),
    ".env": ("DB_PASSWORD=", "hunter2-very", "\nPORT=1"),
    ".env, exported": ("export STRIPE_SECRET='", "hunter2-very", "'\n"),
    "settings.py": ('SECRET_KEY = "', "django-insecure-x9#kq2m", '"\n'),
    "compose": ("  POSTGRES_PASSWORD: ", "hunter2very", "\n"),
    "JSON": ('{"password": "', "hunter2-very", '"}'),
    "DSN": ("host=db password=", "hunter2very", " port=1"),
    "Slack hook": ("https://hooks.slack.com/", "services/T012/B034/" + MIXED, "\n"),
    "URL query": ("https://x.example.org/?api_key=", MIXED, "&b=1"),
}


@pytest.mark.parametrize("name", TOKENS)
@pytest.mark.parametrize(
    "around",
    [
        *(
            "{}",
            "key = '{}'",
            "KEY={}\n",
            "({})",
            '"a\\n{}\\n"',
            "x%3D{}&y",
            "12|{}",
            "+{}",
            "`{}`,",
        ),
        *("\x1b[31m{}\x1b[0m", "Key: {}.", "a,{},b", "<b>{}</b>"),
    ],
)
def test_a_known_token_is_hidden_wherever_it_stands(name, around):
    token = TOKENS[name]
    text = redacted(around.format(token), [])
    assert token[12:] not in text
    assert "[redacted " in text


@pytest.mark.parametrize("name", PLACES)
def test_a_value_is_hidden_where_its_place_says_what_it_is(name):
    before, value, after = PLACES[name]
    text = redacted(before + value + after, [])
    assert value not in text
    assert text.endswith(after)
    assert "[redacted " in text


def test_a_token_coloured_inside_is_hidden():
    token = TOKENS["GitHub"]
    assert token[20:] not in redacted(f"{token[:20]}\x1b[1;32m{token[20:]}", [])


# -- what is left alone -------------------------------------------------------------------------


HARMLESS = [
    "commit 670ac8d5d1f6b1b9e0ae3a37e9b8d4ba21f0c9be",
    str(uuid.UUID(int=2**120 + 12345)),
    hashlib.sha256(b"x").hexdigest(),
    "sha512-" + base64.b64encode(hashlib.sha512(b"x").digest()).decode(),
    "data:image/png;base64," + base64.b64encode(random.Random(3).randbytes(3000)).decode(),
    "from sklearn import risk_assessment; task-management-and-risk-analysis-2024",
    "pip install sk-learn-contrib-extra-package-2",
    'api_key = os.environ["OPENAI_API_KEY"]',
    "API_KEY=$MY_KEY && TOKEN=$(cat token.txt)",
    'headers = {"Authorization": f"Bearer {token}"}',
    "Authorization: Bearer <your token>",
    "Authorization: Bearer YOUR_TOKEN_HERE",
    "password = get_password()",
    "self.password = password",
    "postgresql://user:password@localhost/db",
    "postgresql://${USER}:${PASSWORD}@${HOST}/db",
    "https://user:<password>@example.org",
    "https://example.org:8080/path@2x.png",
    "http://localhost:8888/lab?token=",
    "MAX_TOKENS=4096 TOKENIZERS_PARALLELISM=false",
    "PRIMARY_KEY = 'users'",
    "sk-xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx",
    "ghp_xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx",
    "OPENAI_API_KEY=your-key-here-1",
    "key-value-store, hf_transfer, npm_config_registry, r8_things",
    "-----BEGIN CERTIFICATE-----\nMIIDdzCCAl+gAwIBAgIEAgAAuTANBgkqhkiG9w0BAQUFADBaMQswCQ\n"
    "-----END CERTIFICATE-----",
    "-----BEGIN PUBLIC KEY-----\nMIIBIjANBgkqhkiG9w0BAQEFAAOCAQ8\n-----END PUBLIC KEY-----",
    "ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAIHK9xq9a0000000000000000000000 bob@host",
    "TOKEN = re.compile(r'[a-z]+')",
    "SECRET: str = field(default='')",
]


@pytest.mark.parametrize("text", HARMLESS)
def test_ordinary_text_is_left_alone(text):
    assert redacted(text, ["MY_API_KEY=sk-verysecretvalue123"]) == text


def test_the_source_of_this_package_is_left_alone():
    files = Path(__file__).parents[1].glob("agent_magics/**/*.py")
    changed = {f.name for f in files if redacted(t := f.read_text("utf-8"), []) != t}
    assert changed == set()


def test_what_was_redacted_stays_as_it_is():
    once = redacted(f"a {TOKENS['GitHub']} b postgres://u:hunter2long@h", ["A_KEY=abcd1234efgh"])
    assert redacted(once, ["A_KEY=abcd1234efgh"]) == once


# -- private keys -------------------------------------------------------------------------------


BODY = [base64.b64encode(random.Random(n).randbytes(48)).decode() for n in range(5)] + [
    "aB3dE5gH7jK9mN1pQ3=="
]
KEY = "\n".join(
    ["-----BEGIN RSA " + "PRIVATE KEY-----", *BODY, "-----END RSA " + "PRIVATE KEY-----"]
)


def leaks(text: str) -> list[str]:
    return [line for line in BODY if line in text]


@pytest.mark.parametrize(
    "written",
    [
        KEY,
        KEY.replace("RSA ", ""),
        KEY.replace("RSA PRIVATE KEY", "OPENSSH PRIVATE KEY"),
        KEY.replace("\n", "\r\n"),
        "\n".join(f"{n:>2}|{line}" for n, line in enumerate(KEY.split("\n"), 9)),
        "\n".join(f"+{line}" for line in KEY.split("\n")),
        "\n".join(f"    {line}" for line in KEY.split("\n")),
        "\n".join(f'    "{line}\\n"' for line in KEY.split("\n")),
        json.dumps({"private_key": KEY}),
        repr(KEY),
        KEY.split("-----END")[0],
        KEY.split("\n", 3)[3],
        KEY.replace("\n", " "),
    ],
)
def test_a_private_key_is_hidden_however_it_is_written(written):
    text = redacted(f"before\n{written}\nafter", [])
    assert leaks(text) == []
    assert text.startswith("before\n")
    assert text.endswith("after")


def test_a_text_keeps_its_lines_when_a_key_is_hidden():
    text = f"a\n{KEY}\nb"
    assert redacted(text, []).count("\n") == text.count("\n")


# -- known values -------------------------------------------------------------------------------


SECRET = "Tr0ub4dor&3/with+odd=chars\"and'more"
KNOWN = [f"MY_TOKEN={SECRET}"]


@pytest.mark.parametrize(
    "written",
    [
        SECRET,
        base64.b64encode(SECRET.encode()).decode(),
        base64.urlsafe_b64encode(SECRET.encode()).decode(),
        base64.b64encode(f"user:{SECRET}".encode()).decode(),
        base64.b64encode(f"a{SECRET}bc".encode()).decode(),
        base64.encodebytes(f"{SECRET}{SECRET}".encode()).decode(),
        SECRET.encode().hex(),
        SECRET.encode().hex().upper(),
        " ".join(re.findall("..", SECRET.encode().hex())),
        quote(SECRET, safe=""),
        quote(SECRET),
        quote_plus(SECRET),
        re.sub("%..", lambda escape: escape[0].lower(), quote(SECRET, safe="")),
        json.dumps(SECRET),
        json.dumps(json.dumps({"k": SECRET})),
        json.dumps(SECRET).replace("/", "\\/"),
        repr(SECRET),
        shlex.quote(SECRET),
        html.escape(SECRET),
        f"{SECRET[:11]}\n{SECRET[11:]}",
        f"{SECRET[:11]}\x1b[31m{SECRET[11:]}\x1b[0m",
        f"x\n 3|{SECRET[:11]}\n 4|{SECRET[11:]}",
        " ".join(SECRET),
        "\u200b".join(SECRET),
    ],
)
def test_a_known_value_is_hidden_however_it_is_written(written):
    text = redacted(f"before {written} after", KNOWN)
    assert "[redacted MY_TOKEN]" in text
    rest = text.removeprefix("before ").removesuffix(" after").replace("[redacted MY_TOKEN]", "")
    assert len(rest) <= 16, rest


printable_values = st.text(
    alphabet=st.characters(min_codepoint=33, max_codepoint=0x2FF, exclude_categories=["Cs", "Cc"]),
    min_size=12,
    max_size=60,
).filter(lambda v: len(set(v)) > 5 and v.isprintable() and "=" not in v[:1])


@settings(max_examples=150, deadline=None)
@given(value=printable_values, before=st.text(max_size=5), after=st.text(max_size=5))
def test_no_value_survives_any_of_its_written_forms(value, before, after):
    redact = Redactor.of([f"A_SECRET={value}"])
    if not redact.values:
        return
    for written in (
        value,
        base64.b64encode((before + value + after).encode("utf-8", "replace")).decode(),
        value.encode().hex(),
        quote(value, safe=""),
        json.dumps(value),
        repr(value),
    ):
        assert "[redacted A_SECRET]" in redact(f"x {written} y")


@settings(max_examples=300, deadline=None)
@given(st.text(max_size=300))
def test_any_text_comes_back_and_a_second_time_changes_nothing(text):
    redact = Redactor.of(KNOWN)
    once = redact(text)
    assert redact(once) == once


@settings(max_examples=150, deadline=None)
@given(st.lists(st.sampled_from([*ANCHORS, *'=:"x@ \n', "A1"]), max_size=40).map("".join))
def test_no_mixture_of_beginnings_breaks_the_search(text):
    redact = Redactor.of(KNOWN)
    assert redact(redact(text)) == redact(text)


def test_a_value_that_a_tool_cut_is_hidden_as_far_as_it_is_there():
    assert redacted(f"key {SECRET[:15]}… more", KNOWN) == "key [redacted MY_TOKEN]… more"
    assert redacted(f"… {SECRET[10:]} more", KNOWN) == "… [redacted MY_TOKEN] more"
    assert redacted(f"a {SECRET[:4]}… more", KNOWN) == f"a {SECRET[:4]}… more"


@pytest.mark.parametrize(
    "value",
    [
        *("us", "false", "production", "test-key", "/home/bob/.config/key.json", "~/keys/a.pem"),
        *("https://example.org/v1", "http://localhost:8080", "/run/secrets/db_password"),
    ],
)
def test_common_values_paths_and_addresses_are_no_secrets(value):
    assert redacted(f"x {value} y", [f"MY_KEY={value}"]) == f"x {value} y"


def test_what_an_environment_hides_without_saying_so_is_known_too():
    pairs = secret_pairs(
        {
            "GREETING": "hello world",
            "DATABASE_URL": "postgres://bob:hunter2-is-long@db/x",
            "SERVICE": TOKENS["GitHub"],
            "MY_KEY": "abcd1234efgh",
        }
    )
    assert pairs == (
        "DATABASE_URL=hunter2-is-long",
        f"SERVICE={TOKENS['GitHub']}",
        "MY_KEY=abcd1234efgh",
    )


def test_a_redactor_never_shows_its_values():
    assert SECRET not in repr(Redactor.of(KNOWN))


def test_the_time_grows_with_the_text_and_no_faster():
    """Not a measurement: a quadratic search would take hours here, not seconds."""
    redact = Redactor.of(KNOWN)
    begun = time.monotonic()
    for piece in ("eyJ_", "SECRET_ACCESS_KEY=", "-----BEGIN PRIVATE KEY-----", "://a:", "a…", "A="):
        redact(piece * (400_000 // len(piece)))
    redact("-----BEGIN RSA PRIVATE KEY-----\n" + "A\n" * 200_000)
    redact("x" * 1_000_000)
    assert time.monotonic() - begun < 300


# -- the seam of all tools ----------------------------------------------------------------------


def a_tool(run, preview=lambda _arguments: ()) -> Tool:
    return Tool("foreign", "Do it.", {"type": "object"}, "bundled", run, "skill", preview=preview)


def outcome(tool: Tool) -> tuple[ToolOutput | str, list[str]]:
    live: list[str] = []
    clean = discreet(tool, lambda: Redactor.of(KNOWN))
    try:
        return asyncio.run(clean.run({}, live.append)), live
    except ToolError as error:
        # Nobody who prints the chain of errors prints the secret.
        shown = "".join(traceback.format_exception(error))
        return f"{error}" if SECRET not in shown and MIXED[:20] not in shown else shown, live


def test_what_any_tool_returns_shows_or_raises_is_clean():
    async def returns(_arguments: Arguments, _report: Report) -> ToolOutput:
        data = {"text/plain": SECRET, "application/json": {"a": [SECRET, 1, None]}}
        shown = (Display("text", SECRET), Display("bundle", data=data))
        return ToolOutput(f"it is {SECRET}\0", shown)

    output, _ = outcome(a_tool(returns))
    assert output == ToolOutput(
        "it is [redacted MY_TOKEN]\u2400",
        (
            Display("text", "[redacted MY_TOKEN]"),
            Display(
                "bundle",
                data={
                    "text/plain": "[redacted MY_TOKEN]",
                    "application/json": {"a": ["[redacted MY_TOKEN]", 1, None]},
                },
            ),
        ),
    )


@pytest.mark.parametrize("kind", [ToolError, ValueError, KeyError])
def test_what_any_tool_raises_is_clean(kind):
    async def fails(_arguments: Arguments, _report: Report) -> ToolOutput:
        raise kind(f"cannot log in with {TOKENS['GitHub']}")

    text, _ = outcome(a_tool(fails))
    assert "[redacted GitHub token]" in text
    if kind is ValueError:
        assert text == "foreign failed: ValueError: cannot log in with [redacted GitHub token]"


def test_what_any_tool_previews_is_clean():
    def preview(_arguments: Arguments) -> tuple[Display, ...]:
        return (Display("diff", f"+{SECRET}"),)

    def refuses(_arguments: Arguments) -> tuple[Display, ...]:
        raise ToolError(SECRET)

    async def run(_arguments: Arguments, _report: Report) -> ToolOutput:
        return ToolOutput("")

    clean = discreet(a_tool(run, preview), lambda: Redactor.of(KNOWN))
    assert clean.preview({}) == (Display("diff", "+[redacted MY_TOKEN]"),)
    with pytest.raises(ToolError, match=r"^\[redacted MY_TOKEN\]$"):
        discreet(a_tool(run, refuses), lambda: Redactor.of(KNOWN)).preview({})


@pytest.mark.parametrize("size", [1, 3, 7, 20])
def test_a_secret_cut_in_pieces_does_not_leak_in_live_output(size):
    said = f"first\nuse {SECRET} and\n{KEY}\nlast {TOKENS['GitHub']}"

    async def reports(_arguments: Arguments, report: Report) -> ToolOutput:
        for start in range(0, len(said), size):
            report(said[start : start + size])
        return ToolOutput("done")

    _, live = outcome(a_tool(reports))
    whole = "".join(live)
    assert whole.startswith("first\nuse [redacted MY_TOKEN] and\n")
    assert whole.endswith("last [redacted GitHub token]")
    assert leaks(whole) == []
    assert live[0] == "first\n"


def test_live_output_before_a_failure_is_not_lost():
    async def fails(_arguments: Arguments, report: Report) -> ToolOutput:
        report("half a line")
        raise ToolError("no")

    assert outcome(a_tool(fails)) == ("no", ["half a line"])


# -- writing back -------------------------------------------------------------------------------


def test_a_mark_of_any_kind_is_not_written_in_the_place_of_its_secret(tmp_path):
    kit = Kit(tmp_path)
    content = f"token = '{TOKENS['GitHub']}'\nport = 1\n"
    path = kit.file("settings.py", content)
    shown = kit.text("read", path="settings.py")
    assert "[redacted GitHub token]" in shown
    new = "token = '[redacted GitHub token]'\nport = 2\n"
    assert "destroy" in kit.refusal("write", path="settings.py", content=new)
    assert "destroy" in kit.refusal("write", path="other.py", content=new)
    refusal = kit.refusal(
        "edit", path="settings.py", old="token = '[redacted GitHub token]'", new="token = ''"
    )
    assert "stands for a secret that you were not shown" in refusal
    assert path.read_text() == content
    kit.text("edit", path="settings.py", old="port = 1", new="port = 2")
    assert path.read_text() == content.replace("port = 1", "port = 2")


def test_a_mark_in_a_command_is_refused(tmp_path):
    kit = Kit(tmp_path)
    for mark in ("[redacted MY_API_KEY]", "[redacted GitHub token]"):
        assert "stands for a secret" in kit.refusal("run_shell", command=f"echo '{mark}' > x")


def test_each_form_has_a_mark_of_its_own_and_no_mark_is_itself_a_secret():
    assert all(redacted(f"KEY={mark}", []) == f"KEY={mark}" for mark in MARKS)


def test_no_long_line_is_cut_in_the_midst_of_a_token(tmp_path):
    kit = Kit(tmp_path)
    token = TOKENS["OpenAI project"]
    for filler in range(300, 420, 13):
        kit.file("a.txt", "needle " + "x " * (filler // 2) + token + " y" * 2000)
        text = kit.text("grep", pattern="needle")
        assert not any(token[n : n + 20] in text for n in range(0, len(token) - 20, 5))
    kit.file("a.txt", "x " * 980 + token + " y" * 30_000)
    assert token[:30] not in kit.text("read", path="a.txt")


# -- the session --------------------------------------------------------------------------------


pytest_plugins = ["tests.shellkit_fixtures"]


def test_a_variable_that_was_set_a_moment_ago_is_a_secret_already(shell, monkeypatch):
    magics = shell.magics_manager.registry["AgentMagics"]
    shell.run_line_magic("env", "MY_NEW_TOKEN=set-in-the-session-1")
    try:
        text = magics.services.workspace.redact("it is set-in-the-session-1")
        assert text == "it is [redacted MY_NEW_TOKEN]"
    finally:
        monkeypatch.delenv("MY_NEW_TOKEN")


def test_the_configured_key_is_a_secret_whatever_its_variable_is_called(shell, home, monkeypatch):
    monkeypatch.setenv("PLAIN_NAME", "an-odd-key-of-a-provider-1")
    (home / "config.yaml").write_text(
        "model: m\nbase_url: http://127.0.0.1:9/v1\napi_key_env: PLAIN_NAME\n", encoding="utf-8"
    )
    magics = shell.magics_manager.registry["AgentMagics"]
    magics.choice()
    workspace = magics.services.workspace
    assert workspace.redact("an-odd-key-of-a-provider-1") == "[redacted PLAIN_NAME]"
    run = next(tool for tool in magics.services.builtins() if tool.name == "run_shell").run
    output = asyncio.run(run({"command": "env"}, lambda _text: None))
    assert "an-odd-key" not in output.text


def test_every_tool_of_a_turn_passes_the_seam(shell, home):
    """Bundled, control and built-in tools alike: the effective list is made of clean ones."""
    from agent_magics.magics.activation import Active, visible_tools

    async def leaks_it(_arguments: Arguments, _report: Report) -> ToolOutput:
        return ToolOutput(TOKENS["GitHub"])

    magics = shell.magics_manager.registry["AgentMagics"]
    services = magics.services
    tools = visible_tools(
        (a_tool(leaks_it),),
        Active((), (a_tool(leaks_it),)),
        services.configuration(),
        Policy(),
        services.workspace.redactor,
        (Tool("steer", "x", {}, "control", leaks_it),),
    )
    assert [tool.name for tool in tools] == ["foreign", "steer"]
    for tool in tools:
        output = asyncio.run(tool.run({}, lambda _text: None))
        assert output.text == "[redacted GitHub token]"


def test_instructions_of_a_project_reach_no_model_with_a_secret(shell):
    Path("AGENTS.md").write_text(f"Use {TOKENS['GitHub']} to push.\n", encoding="utf-8")
    view = shell.run_cell_magic("agent", "--preview", "Hello.")
    assert TOKENS["GitHub"] not in str(view)
    assert "Use [redacted GitHub token] to push." in str(view)


def test_the_persons_own_words_are_left_as_they_are(shell):
    view = shell.run_cell_magic("agent", "--preview", f"Is {TOKENS['GitHub']} a token?")
    assert TOKENS["GitHub"] in str(view)
