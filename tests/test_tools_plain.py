"""Plain text and secrets: cleaning, cutting, redacting."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agent_magics.tools.plain import cut, printable, sendable, size, terminal_text
from agent_magics.tools.redaction import redacted, says_secret, secret_pairs


@pytest.mark.parametrize(
    ("output", "text"),
    [
        ("\x1b[1;31mred\x1b[0m", "red"),
        ("\x1b]8;;http://x\x1b\\link\x1b]8;;\x1b\\", "link"),
        ("\x1b]0;title\x07x", "x"),
        ("\x1b(Bx\x1b=y\x1b7", "xy"),
        ("\x9b31mx", "x"),
        ("\x1bPsixel\x1b\\x", "x"),
        ("a\r\nb\r\n", "a\nb\n"),
        ("10%\r20%\rok", "ok%"),
        ("abc\b\bX", "aX"),
        ("\bx\b\b\by", "y"),
        ("a\rb\bc\n", "c\n"),
        ("a\tb\x00\x07\x0c", "a\tb"),
        ("\x1b[", ""),
        ("\x1b]unfinished", ""),
        ("日本\n", "日本\n"),
    ],
)
def test_terminal_output_becomes_what_a_terminal_shows(output, text):
    assert terminal_text(output) == text


@given(st.text(st.sampled_from("ab\x1b[]0;m\x07\r\n\b\\\x9bPé"), max_size=60))
def test_no_control_character_survives(output):
    assert not set(terminal_text(output)) & set("\x1b\x07\r\b\x9b")


@given(st.text())
def test_every_text_can_be_sent(text):
    assert "\0" not in sendable(text)
    sendable(text).encode("utf-8")


@given(st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\0")))
def test_an_ordinary_text_is_sent_as_it_is(text):
    assert sendable(text) == text


@given(st.text(st.characters(codec="utf-8"), max_size=30))
def test_a_printable_name_is_one_line(name):
    assert len(printable(name).splitlines()) <= 1


@given(st.text(st.sampled_from("ab\n"), max_size=400), st.integers(10, 200))
def test_a_cut_loses_nothing_unsaid(text, budget):
    parts = cut(text, budget)
    if parts is None:
        assert len(text) <= budget
        return
    assert text.startswith(parts.head)
    assert text.endswith(parts.tail)
    assert len(parts.head) + parts.left_out + len(parts.tail) == len(text)
    assert len(parts.head) + len(parts.tail) <= budget
    assert parts.lines == text[len(parts.head) : len(text) - len(parts.tail)].count("\n")


def test_a_cut_keeps_a_fifth_at_the_head_and_whole_lines():
    text = "".join(f"line {n}\n" for n in range(2000))
    parts = cut(text, 1000)
    assert 150 < len(parts.head) <= 200
    assert 750 < len(parts.tail) <= 800
    assert parts.head.endswith("\n")
    assert parts.tail.startswith("line ")
    assert "lines left out" in str(parts)


@pytest.mark.parametrize(
    ("count", "text"),
    [
        (0, "0 bytes"),
        (999, "999 bytes"),
        (1000, "1.0 kB"),
        (2_400_000, "2.4 MB"),
        (5e12, "5000.0 GB"),
    ],
)
def test_sizes_are_for_people(count, text):
    assert size(int(count)) == text


@pytest.mark.parametrize(
    "name",
    [
        *(
            "OPENAI_API_KEY",
            "HF_TOKEN",
            "DB_PASSWORD",
            "AWS_SECRET_ACCESS_KEY",
            "AWS_ACCESS_KEY_ID",
        ),
        *(
            "GH_PAT",
            "APIKEY",
            "MYSQL_PWD",
            "GOOGLE_APPLICATION_CREDENTIALS",
            "db_passwd",
            "API_KEY_2",
        ),
        *("SESSION_COOKIE", "APP_DSN", "AZURE_STORAGE_CONNECTION_STRING", "NPM_AUTH", "MY_JWT"),
        *("SSH_PASSPHRASE", "DB_PASS", "JUPYTER_TOKEN", "OPENAIKEY", "TOKENS", "SECRETS_FILE"),
    ],
)
def test_names_of_secrets_are_known(name):
    assert says_secret(name)


@pytest.mark.parametrize(
    "name",
    [
        *(
            "PATH",
            "HOME",
            "KEYBOARD",
            "TOKENIZERS_PARALLELISM",
            "PWD",
            "OLDPWD",
            "XKB_KEYMAP",
            "PASSED",
        ),
        *("COMPASS", "SSH_AUTH_SOCK", "LANG", "KEYMAP", "PATHEXT", "BYPASS_X"),
    ],
)
def test_other_names_are_left_alone(name):
    assert not says_secret(name)


def test_values_are_replaced_by_the_name_of_their_variable():
    secrets = secret_pairs(
        {"MY_KEY": "abcd1234efgh", "HOME": "/home/abcd1234", "X_TOKEN": "zz99yy88"}
    )
    text = redacted("a abcd1234efgh b zz99yy88 /home/abcd1234", secrets)
    assert text == "a [redacted MY_KEY] b [redacted X_TOKEN] /home/abcd1234"


@pytest.mark.parametrize(
    "value", ["us", "false", "1234567", "password", "changeme", "aaaaaaaaaa", "        "]
)
def test_short_and_common_values_are_left_alone(value):
    assert redacted(f"x {value} y", [f"MY_KEY={value}"]) == f"x {value} y"


def test_one_secret_inside_another_is_hidden_with_it():
    secrets = ["A_KEY=abcd1234", "B_KEY=abcd1234efgh"]
    assert redacted("abcd1234efgh abcd1234", secrets) == "[redacted B_KEY] [redacted A_KEY]"


def test_a_key_of_several_lines_does_not_pass_line_by_line():
    key = "-----BEGIN KEY-----\nMIIEowIBAAKCAQEA75\nqwertzuiop\n-----END KEY-----\n"
    secrets = [f"MY_KEY={key}"]
    assert "MIIE" not in redacted(f"x {key} y", secrets)
    assert "MIIE" not in redacted("MIIEowIBAAKCAQEA75", secrets)


def test_a_bare_value_is_hidden_too():
    assert redacted("x abcd1234efgh== y", ["abcd1234efgh=="]) == "x [redacted] y"
    assert redacted("x a-b=cdefghijkl y", ["a-b=cdefghijkl"]) == "x [redacted] y"
