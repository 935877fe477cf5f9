"""`edit` on random files of every encoding: no byte outside the place that was meant.

The expectation is made from the lines that were chosen, not with the tool's own search. To try
more: `python -c "from tests.test_edit_property import tried; print(tried('/tmp/x', 10**6, 1))"`.
"""

from __future__ import annotations

import random
from collections import Counter
from pathlib import Path

from agent_magics.errors import ToolError
from agent_magics.tools.changes import edited_file
from agent_magics.tools.documents import Document, decoded
from agent_magics.tools.workspace import Workspace
from tests.test_tools_kit import Kit

COUNT, SEED = 10_000, 2026
ENCODINGS = ("utf-8", "utf-8", "utf-8-sig", "utf-16", "latin-1", "cp1252")
WORDS = (
    *("if x:", "return x", "x = 1", "x = 2", "def f():", "# é ü", "print('a')", "", "", "pass"),
    *("say “hi”", "a – b", "it’s", "a,  b", "\t\tx", "1|a", "{", "}", "…", "日本", "\u00a0x"),
)


def a_line(chance: random.Random) -> str:
    trailing = chance.choice(("", "", "", " ", "\t"))
    return " " * chance.choice((0, 0, 2, 4, 8)) + chance.choice(WORDS) + trailing


def a_file(chance: random.Random) -> tuple[list[str], str]:
    """Lines with their ends, and an encoding that has all of their characters."""
    ends = chance.choice((("\n",), ("\n",), ("\r\n",), ("\n", "\r\n")))
    lines = [a_line(chance) + chance.choice(ends) for _ in range(chance.randrange(1, 25))]
    if chance.random() < 0.3:
        lines[-1] = lines[-1].rstrip("\r\n")
    encoding = chance.choice(ENCODINGS)
    try:
        "".join(lines).encode(encoding)
    except UnicodeEncodeError:
        encoding = "utf-8"
    return lines, encoding


def bent(lines: list[str], chance: random.Random) -> str:
    """What a model makes of lines that it has read; mostly what is there."""
    text = "".join(lines)
    plain = [line.rstrip("\r\n") for line in lines]
    tail = "\n" if text.endswith("\n") else ""
    return chance.choice(
        (
            text,
            text,
            text.replace("\r\n", "\n"),
            "\n".join(line.rstrip() for line in plain) + tail,
            "\n".join(f"    {line}" if line.strip() else line for line in plain) + tail,
            text.translate(str.maketrans("“”–’\u00a0", '""-\' ')),
        )
    )


def one(workspace: Workspace, path: Path, chance: random.Random) -> str:
    """One file and one edit; says how it went."""
    lines, encoding = a_file(chance)
    data = "".join(lines).encode(encoding)
    first = chance.randrange(len(lines))
    last = chance.randrange(first, min(first + 4, len(lines)))
    old = bent(lines[first : last + 1], chance)
    new = "\n".join(a_line(chance) for _ in range(chance.randrange(4)))
    document = decoded(data)
    if document is None or document.text != "".join(lines):
        return "another text"  # a legacy encoding that was taken for another one
    path.unlink(missing_ok=True)  # some file systems flush a file that is cut and written again
    path.write_bytes(data)
    workspace.note(path, data)
    before = document.encoded("".join(lines[:first]))
    behind = data[len(document.encoded("".join(lines[: last + 1]))) :]
    arguments = {"path": path.name, "old": old, "new": new}
    exactly_one = document.text.count(old) == 1 and document.text.find(old) == len(
        "".join(lines[:first])
    )
    try:
        after = edited_file(workspace, arguments).after
    except ToolError as error:
        refusal = str(error)
    else:
        refusal = ""
    if refusal:
        allowed = not exactly_one or not old.strip("\r\n") or old == new
        assert allowed or "U+" in refusal or "line numbers" in refusal, (lines, old, refusal)
        assert path.read_bytes() == data
        return "refused"
    if exactly_one:
        beside = lines[first] if lines[first].endswith("\n") else "".join(lines[:first])
        ended = new.replace("\n", "\r\n") if beside.endswith("\r\n") else new
        middle = document.encoded(ended).removeprefix(document.mark)
        start = len("".join(lines[:first]))
        head = document.encoded(document.text[:start])
        rest = data[len(document.encoded(document.text[: start + len(old)])) :]
        assert after == head + middle + rest, (lines, old, new)
        return "exact"
    places = [
        at for at in range(len(lines)) if after.startswith(document.encoded("".join(lines[:at])))
    ]
    # The place may be another one than was chosen, if only that one is like it; still it is lines.
    assert places
    assert any(after.endswith(ending(document, lines, at)) for at in range(len(lines) + 1))
    kept = after.startswith(before) and after.endswith(behind)
    return "lenient, there" if kept else "lenient, elsewhere"


def ending(document: Document, lines: list[str], at: int) -> bytes:
    return document.encoded("".join(lines[at:])).removeprefix(document.mark)


def tried(folder: str | Path, count: int, seed: int) -> Counter[str]:
    """So many random files and edits, and how they went."""
    chance = random.Random(seed)
    root = Path(folder).resolve()
    root.mkdir(exist_ok=True)
    workspace = Workspace(lambda: root)
    return Counter(one(workspace, root / "file", chance) for _ in range(count))


def test_no_byte_outside_the_place_changes_in_ten_thousand_random_files(tmp_path):
    went = tried(tmp_path, COUNT, SEED)
    # Enough of each kind for the others not to hide anything.
    assert went["exact"] > COUNT // 4
    assert went["lenient, there"] > COUNT // 20
    assert went["lenient, elsewhere"] < COUNT // 30
    assert went["another text"] < COUNT // 20


def test_several_edits_of_one_call_change_their_places_alone_or_nothing(tmp_path):
    chance = random.Random(SEED)
    kit = Kit(tmp_path)
    for _ in range(100):
        lines = [f"line {number} {chance.random()}\r\n" for number in range(30)]
        path = kit.file("a.txt", "".join(lines))
        kit.text("read", path="a.txt")
        chosen = chance.sample(range(30), 5)
        edits = [{"old": lines[n].rstrip("\r\n"), "new": f"<{n}>"} for n in chosen]
        bad = chance.random() < 0.3
        if bad:
            edits.insert(chance.randrange(6), {"old": "nowhere at all", "new": "x"})
            kit.refusal("edit", path="a.txt", edits=edits)
        else:
            kit.text("edit", path="a.txt", edits=edits)
            for number in chosen:
                lines[number] = f"<{number}>\r\n"
        assert path.read_bytes() == "".join(lines).encode()
