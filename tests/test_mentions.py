"""`@name` in a prompt."""

from __future__ import annotations

import pytest

from agent_magics.context import sent_text
from agent_magics.magics.mentions import MOST, attachments, mentioned
from agent_magics.messages import Attachment, User
from agent_magics.providers.profiles import Profile
from agent_magics.providers.wire import wire_message
from agent_magics.records.encoding import decoded, encoded


@pytest.mark.parametrize(
    ("prompt", "names"),
    [
        ("What is in @df?", ("df",)),
        ("@df.col and @df['x'] and (@other), @größe.", ("df", "other", "größe")),
        ("@a\n@b\n", ("a", "b")),
        ("write to ann@example.org, see a@b", ()),
        ("`@df` and ``@x ` y`` but @z", ("z",)),
        ("```python\n@decorator\ndef f(): ...\n```\n@df", ("df",)),
        ("~~~\n@x\n```\n@y\n~~~\n@df", ("df",)),
        ("```\n@unclosed", ()),
        ("@property\ndef f(self): ...", ()),
        ("@app.route('/')\n@cached\nasync def f(): ...\nnow @df", ("df",)),
        ("npm i @scope/package, user@host, @@x, https://x/@y, pkg @1.2", ()),
        ("an unpaired ` and then @df", ("df",)),
        ("", ()),
        ("mail first.last@x.org and @first.last@x.org", ()),
    ],
)
def test_a_mention_is_a_name_behind_an_at_sign_in_prose(prompt, names):
    assert mentioned(prompt) == names


def test_descriptions_are_attached_and_unknown_names_are_said():
    found = attachments("@frame, @fram and @n", {"frame": [1, 2], "n": 3}, str)
    assert [part.title for part in found.attached] == ["@frame", "@n"]
    assert found.attached[1].text == '<variable name="n" type="int">\n3\n</variable>'
    assert found.lines == ("@fram: no variable of that name. Did you mean frame?",)
    assert attachments("no mention", {"n": 3}, str) == attachments("", {}, str)


def test_secrets_do_not_leave_through_a_mention():
    names = {"api_key": "shortone", "text": "a longsecretvalue b"}
    found = attachments("@api_key @text", names, lambda text: text.replace("longsecret", "***"))
    assert "shortone" not in str(found.attached)
    assert "longsecret" not in str(found.attached)


def test_only_so_many_are_attached():
    names = {f"n{i}": i for i in range(MOST + 5)}
    found = attachments(" ".join(f"@{name}" for name in names), names, str)
    assert len(found.attached) == MOST
    assert found.lines[-1] == f"Only the first {MOST} variables are attached."


def test_the_prompt_stays_byte_for_byte_and_the_rest_stands_before_it():
    said = User("What is @df?  \n", attachments=(Attachment("@df", "<variable>…</variable>"),))
    assert said.text == "What is @df?  \n"
    assert sent_text(said).endswith("</variable>\n</attached>\n\nWhat is @df?  \n")
    assert wire_message(said, "m", Profile())["content"] == sent_text(said)
    assert decoded(encoded(said)) == said
    assert wire_message(User("x"), "m", Profile())["content"] == "x"
