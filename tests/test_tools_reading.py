"""`read`: pages, encodings, notebooks, and what is no text."""

from __future__ import annotations

import json
import os
import socket
from contextlib import suppress
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from agent_magics.errors import ToolError
from agent_magics.tools.documents import MAX_WHOLE, decoded
from tests.test_tools_kit import Kit, powerless


@pytest.fixture
def kit(tmp_path: Path) -> Kit:
    return Kit(tmp_path)


def test_lines_are_numbered_and_the_numbers_aligned(kit):
    kit.file("a.txt", "".join(f"line {n}\n" for n in range(1, 12)))
    lines = kit.text("read", path="a.txt").split("\n")
    assert lines[0] == " 1|line 1"
    assert lines[-1] == "11|line 11"


def test_a_page_ends_at_its_limit_and_says_the_exact_next_line(kit):
    kit.file("a.txt", "".join(f"{n}\n" for n in range(1, 5001)))
    first = kit.text("read", path="a.txt").split("\n")
    assert len(first) == 2001
    assert first[-1] == "[lines 1-2000 of 5000; go on with offset=2001]"
    second = kit.text("read", path="a.txt", offset=2001, limit=3).split("\n")
    assert second == ["2001|2001", "2002|2002", "2003|2003", second[-1]]
    assert "go on with offset=2004" in second[-1]
    last = kit.text("read", path="a.txt", offset=4999)
    assert last == "4999|4999\n5000|5000"


def test_a_page_ends_at_fifty_kilobytes_with_a_whole_line(kit):
    kit.file("a.txt", ("x" * 999 + "\n") * 100)
    lines = kit.text("read", path="a.txt").split("\n")
    assert len(lines) == 51
    assert lines[-1] == "[lines 1-50 of 100; go on with offset=51]"
    assert all(len(line) == len("50|") + 999 for line in lines[:-1])


def test_every_line_is_read_once_when_the_hints_are_followed(kit):
    lines = [f"{n} " + "x" * (n * 37 % 3000) for n in range(400)]
    kit.file("a.txt", "\n".join(lines))
    seen: list[str] = []
    offset: int | None = 1
    while offset is not None:
        *page, note = kit.text("read", path="a.txt", offset=offset).split("\n")
        seen += [line.split("|", 1)[1] for line in page]
        offset = int(note.split("offset=")[1].rstrip("]")) if "offset=" in note else None
    assert seen == lines
    assert note == "[no line end after the last line]"


def test_a_line_longer_than_a_page_is_cut_with_a_mark_and_the_next_one_follows(kit):
    kit.file("a.js", "y" * 60_000 + "\nnext\n")
    text = kit.text("read", path="a.js")
    assert "this line has 60,000 characters" in text
    assert "go on with offset=2" in text
    assert kit.text("read", path="a.js", offset=2) == "2|next"


def test_the_end_of_the_file_is_said(kit):
    kit.file("empty", "")
    kit.file("a.txt", "a\nb")
    assert kit.text("read", path="empty") == "(the file is empty)"
    assert "no line end after the last line" in kit.text("read", path="a.txt")
    assert "It has 2 lines." in kit.refusal("read", path="a.txt", offset=3)


@pytest.mark.parametrize(
    ("data", "shown", "note"),
    [
        ("grün\n".encode(), "1|grün", None),
        (b"\xef\xbb\xbfa\n", "1|a", None),
        ("grün\n".encode("utf-16"), "1|grün", "utf-16-le"),
        ("grün\n".encode("utf-32"), "1|grün", "utf-32-le"),
        ("caf\xe9\n".encode("latin-1"), "1|café", "not UTF-8, read as cp1252"),
        (b"\x93q\x94 \x81\n", "1|\x93q\x94 \x81", "latin-1"),
        ("ü ö \n".encode() + b"\xff\n", "1|ü ö \n2|\ufffd", "not valid UTF-8 everywhere"),
        (b"a\r\nb\r\n", "1|a\n2|b", "lines end with CRLF"),
        (b"a\r\nb\n", "1|a\n2|b", "some lines end with CRLF"),
    ],
)
def test_every_text_is_read_and_an_unusual_encoding_is_said(kit, data, shown, note):
    kit.file("a.txt", data)
    text = kit.text("read", path="a.txt")
    assert text.startswith(shown)
    assert note is None or note in text


@pytest.mark.parametrize(
    ("data", "kind"),
    [
        *((b"\x89PNG\r\n\x1a\n\0", "a PNG image"), (b"PAR1\0\0", "a Parquet file")),
        *(
            (b"a\0b", "binary data"),
            (b"\x7fELF\0", "a program"),
            (b"\xff\xfea\0b\0", "binary data"),
        ),
    ],
)
def test_what_is_no_text_is_refused_by_its_content(kit, data, kind):
    kit.file("a.txt", data if kind != "binary data" else data + b"\0")
    message = kit.refusal("read", path="a.txt")
    assert kind in message
    assert "python or run_shell" in message


def test_folders_and_special_files_are_refused_without_hanging(kit):
    os.mkfifo(kit.root / "fifo")
    with socket.socket(socket.AF_UNIX) as unix:
        here = Path.cwd()
        os.chdir(kit.root)
        try:
            unix.bind("socket")
        finally:
            os.chdir(here)
    (kit.root / "zero").symlink_to("/dev/zero")
    assert "ls lists it" in kit.refusal("read", path=".")
    assert "FIFO" in kit.refusal("read", path="fifo")
    assert "socket" in kit.refusal("read", path="socket")
    assert "device" in kit.refusal("read", path="zero")


@pytest.mark.parametrize(
    "path", ["/proc/self/environ", "/proc/1/cmdline", "/sys/kernel/uevent_seqnum"]
)
def test_the_kernels_own_files_are_not_read_even_if_allowed(kit, path):
    if not Path(path).exists():
        pytest.skip(f"no {path} here")
    assert "not an ordinary file" in kit.refusal("read", path=path)


def test_a_missing_file_is_answered_with_near_names(kit):
    kit.file("src/app/settings.py")
    kit.file("src/readme.md")
    (kit.root / "dead").symlink_to("gone")
    (kit.root / "loop").symlink_to("loop")
    assert "Did you mean src/readme.md?" in kit.refusal("read", path="src/README.md")
    assert "src/app/settings.py" in kit.refusal("read", path="settings.py")
    assert "Did you mean src" in kit.refusal("read", path="srk/app/other.py")
    assert "ls and glob show" in kit.refusal("read", path="nothing/like/this")
    assert "gone does not exist" in kit.refusal("read", path="dead")
    assert "link that leads nowhere" in kit.refusal("read", path="loop")


@pytest.mark.parametrize(
    ("name", "written"),
    [
        ("Screenshot at 9.41.00\u202fAM.txt", "Screenshot at 9.41.00 AM.txt"),
        ("it\u2019s.txt", "it's.txt"),
        ("cafe\u0301.txt", "caf\xe9.txt"),
        ("caf\xe9.txt", "cafe\u0301.txt"),
    ],
)
def test_a_name_that_looks_the_same_is_the_one_that_is_meant(kit, name, written):
    kit.file(name, "x\n")
    assert kit.text("read", path=written) == "1|x"


def test_no_name_that_looks_the_same_leads_to_a_secret_or_out_of_the_workspace(kit, tmp_path):
    kit.root = tmp_path / "work"
    kit.file(".env", "SECRET")
    kit.file("a\u202fb.txt", "one")
    kit.file("a\xa0b.txt", "two")
    (tmp_path / "it\u2019s.txt").write_text("outside")
    (kit.root / "x\u202fy").symlink_to("../it\u2019s.txt")
    for path in ("\uff0eenv", "../it's.txt", "x y"):
        assert "does not exist" in kit.refusal("read", path=path)
    # Two that look alike: neither is guessed.
    assert "Did you mean" in kit.refusal("read", path="a b.txt")


def test_near_names_never_tell_what_is_outside_or_protected(kit, tmp_path):
    kit.root = tmp_path / "work"
    kit.file("a.txt")
    kit.file(".env", "X=1")
    (tmp_path / "private.txt").write_text("x")
    assert "private" not in kit.refusal("read", path="../privat.txt").replace("privat.txt", "")
    assert "Did you mean" not in kit.refusal("read", path="env")


def test_a_file_that_may_not_be_read_is_an_error_in_words():
    with powerless() as root:
        kit = Kit(root)
        kit.file("a.txt", "x").chmod(0)
        assert kit.refusal("read", path="a.txt") == "a.txt: Permission denied."


# -- large files ----------------------------------------------------------------------------------


def test_a_large_file_is_paged_without_being_loaded_and_cannot_be_edited(kit):
    line = "lïne {} " + "x" * 989 + "\n"
    kit.file("a.txt", "".join(line.format(n) for n in range(1, 12_001)))
    page = kit.text("read", path="a.txt", offset=11_500, limit=2).split("\n")
    assert page[0].startswith("11500|lïne 11500 x")
    assert page[1].startswith("11501|lïne 11501 x")
    assert "edit cannot change it" in page[2]
    assert page[3] == "[lines 11500-11501; go on with offset=11502]"
    assert len(kit.text("read", path="a.txt").split("\n")) == 52
    assert "larger than 10.0 MB" in kit.refusal("edit", path="a.txt", old="lïne 7\n", new="x")
    assert "after the end" in kit.refusal("read", path="a.txt", offset=50_000)


def test_an_endless_line_in_a_large_file_is_cut_and_passed_over(kit):
    kit.file("a.txt", "x" * (MAX_WHOLE + 5) + "\nsecond\r\n")
    assert "at least 1,000,000 characters" in kit.text("read", path="a.txt")
    assert kit.text("read", path="a.txt", offset=2).startswith("2|second\n")


@pytest.mark.parametrize(
    ("data", "answer"),
    [
        ("caf\xe9\n".encode("latin-1") * 2_100_000, "1|café\n"),
        (("x\n" * 2_600_000).encode("utf-16"), "iconv"),
        (b"\xef\xbb\xbf" + b"first\n" * 1_700_000, "1|first\n"),
        (b"\0\1" * 5_100_000, "more than 10.0 MB"),
    ],
)
def test_large_files_in_other_encodings_are_read_or_refused_with_a_way(kit, data, answer):
    kit.file("a.txt", data)
    if answer.startswith("1|"):
        assert kit.text("read", path="a.txt", limit=1).startswith(answer)
    else:
        assert answer in kit.refusal("read", path="a.txt")


# -- notebooks ------------------------------------------------------------------------------------


def notebook(*cells: dict[str, object], **more: object) -> str:
    return json.dumps(
        {"nbformat": 4, "nbformat_minor": 5, "metadata": {}, "cells": list(cells), **more}
    )


def code(source: object, *outputs: object, **more: object) -> dict[str, object]:
    cell = {"cell_type": "code", "id": "c1", "metadata": {}, "execution_count": 3}
    return {**cell, "source": source, "outputs": list(outputs), **more}


def test_a_notebook_is_shown_as_its_cells_with_outputs_summed_up(kit):
    image = {"output_type": "display_data", "metadata": {}}
    image["data"] = {"image/png": "iVBORw0K" * 1000, "text/plain": ["<Figure>"]}
    stream = {"output_type": "stream", "name": "stdout", "text": ["a\n", "b\n"]}
    error = {"output_type": "error", "ename": "ValueError", "evalue": "no"}
    error["traceback"] = ["\x1b[31mTraceback\x1b[0m", "ValueError: no"]
    text = notebook(
        {"cell_type": "markdown", "id": "m1", "metadata": {}, "source": ["# T\n", "text"]},
        code("x = 1\nx", stream, image, error),
        metadata={"kernelspec": {"name": "python3", "display_name": "Python"}},
    )
    kit.file("a.ipynb", text)
    shown = kit.text("read", path="a.ipynb")
    assert shown.split("\n") == [
        *("Notebook with 2 cells (1 of them code), kernel python3", "=== cell 1 markdown id=m1"),
        *("# T", "text"),
        *("=== cell 2 code [3] id=c1", "x = 1", "x"),
        *("--- output of cell 2 (stdout)", "a", "b"),
        *("--- output of cell 2 [image/png, 6.0 kB]", "<Figure>"),
        *("--- output of cell 2 (error ValueError: no)", "Traceback", "ValueError: no"),
        "[shown as cells; raw=true shows the file's own text]",
    ]
    assert kit.text("read", path="a.ipynb", raw=True).startswith('1|{"nbformat"')


def test_long_outputs_of_a_notebook_are_cut(kit):
    stream = {"output_type": "stream", "name": "stdout", "text": "x\n" * 10_000}
    kit.file("a.ipynb", notebook(code("1", stream)))
    shown = kit.text("read", path="a.ipynb")
    assert len(shown) < 3000
    assert "left out" in shown


def test_a_long_notebook_is_paged_by_its_shown_lines(kit):
    kit.file("a.ipynb", notebook(*[code(f"x{n}") for n in range(1500)]))
    shown = kit.text("read", path="a.ipynb")
    assert "[lines 1-2000 of 3001; go on with offset=2001]" in shown
    assert "x1499" in kit.text("read", path="a.ipynb", offset=2001)


@pytest.mark.parametrize(
    "text", ["{broken", "[]", '"x"', "3", "null", "{}", '{"cells": 3}', "", "[" * 9999]
)
def test_what_is_no_notebook_can_still_be_read_as_text(kit, text):
    kit.file("a.ipynb", text)
    assert "raw=true" in kit.refusal("read", path="a.ipynb")
    kit.text("read", path="a.ipynb", raw=True)


def test_a_notebook_that_breaks_the_format_a_little_is_shown_with_a_note(kit):
    kit.file("a.ipynb", notebook(code("x = 1"), nbformat_minor=4))
    shown = kit.text("read", path="a.ipynb")
    assert "breaks the notebook format" in shown
    assert "x = 1" in shown


def test_the_ids_that_are_shown_are_those_of_the_file(kit, recwarn):
    bare = code("x")
    del bare["id"]
    kit.file("a.ipynb", notebook(code("y"), code("z"), bare))
    shown = kit.text("read", path="a.ipynb")
    assert "=== cell 2 code [3] id=c1" in shown
    assert "=== cell 3 code [3]\n" in shown
    assert not recwarn.list


def test_notebooks_of_the_old_format_are_shown(kit):
    cell = {"cell_type": "code", "input": ["y = 2"], "language": "python", "outputs": []}
    old = {"nbformat": 3, "nbformat_minor": 0, "metadata": {}, "worksheets": [{"cells": [cell]}]}
    kit.file("a.ipynb", json.dumps(old))
    assert "y = 2" in kit.text("read", path="a.ipynb")


_JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=5),
    lambda inner: (
        st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=5), inner, max_size=3)
    ),
    max_leaves=8,
)


@settings(max_examples=60, deadline=None)
@given(source=_JSON, outputs=_JSON, cell=_JSON)
def test_no_notebook_however_odd_breaks_the_tool(tmp_path_factory, source, outputs, cell):
    kit = Kit(tmp_path_factory.mktemp("odd"))
    for text in (
        notebook({"cell_type": "code", "source": source, "outputs": outputs, "metadata": cell}),
        notebook(code("x", {"output_type": "display_data", "data": cell})),
        json.dumps({"cells": [cell, outputs], "nbformat": 4}),
    ):
        kit.file("a.ipynb", text)
        with suppress(ToolError):
            kit.text("read", path="a.ipynb")


# -- bytes to text and back -----------------------------------------------------------------------


@given(st.binary(max_size=200) | st.text(max_size=50).map(lambda t: t.encode("utf-16")))
def test_whatever_is_read_as_text_is_written_back_byte_for_byte(data):
    document = decoded(data)
    assert document is None or document.encoded(document.text) == data


def test_reading_is_remembered_only_when_it_worked(kit):
    path = kit.file("a.ipynb", "{broken")
    kit.refusal("read", path="a.ipynb")
    assert not kit.workspace.was_read(path)
    kit.text("read", path="a.ipynb", raw=True)
    assert kit.workspace.was_read(path)
