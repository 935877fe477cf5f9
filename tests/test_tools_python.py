"""`python`: code for the user's kernel."""

from __future__ import annotations

import base64
import struct
import zlib

import pytest

from agent_magics.errors import ToolError
from agent_magics.messages import Display
from agent_magics.namespace.changes import changes, moment
from agent_magics.ports import CodeOutput
from agent_magics.tools.checking import check
from agent_magics.tools.figures import MOST_FIGURES, TEXT
from agent_magics.tools.live_python import BUDGET
from tests.test_tools_kit import FakeKernel, Kit


def kit(tmp_path, **output: object) -> Kit:
    return Kit(tmp_path, kernel=FakeKernel(CodeOutput(**{"ok": True, **output})))


def test_the_code_reaches_the_kernel_as_it_is(tmp_path):
    used = kit(tmp_path)
    code = "%%time\nx = '{y} $z'\n"
    used.text("python", code=code)
    assert used.kernel.codes == [code]


@pytest.mark.parametrize(
    ("output", "text"),
    [
        ({}, "(no output)"),
        ({"stdout": "a\n", "value": "3"}, "a\n3"),
        ({"stdout": "\x1b[1ma\x1b[0m\n1%\r2%\n"}, "a\n2%"),
        ({"ok": False, "stdout": "a\n", "error": "ValueError: no"}, "a\nValueError: no"),
        ({"value": "  1\n  2"}, "  1\n  2"),
    ],
)
def test_output_value_and_error_are_one_text(tmp_path, output, text):
    result = kit(tmp_path, **output).run("python", code="x")
    assert (result.text, result.ok) == (text, output.get("ok", True))
    assert result.display == ()


def test_figures_are_passed_on_beside_the_text(tmp_path):
    figure = Display("bundle", data={"image/png": "AAAA", "text/plain": "<Figure>"})
    result = kit(tmp_path, value="1", displays=(figure,)).run("python", code="plot()")
    assert result.text == "1\n[an image that cannot be read, shown to the user]"
    assert result.display == (Display("text", result.text), figure)


def test_a_long_result_keeps_its_head_and_tail_and_the_whole_can_be_read(tmp_path):
    used = kit(tmp_path, stdout="".join(f"{n}\n" for n in range(20_000)))
    text = used.text("python", code="x")
    assert text.startswith("0\n")
    assert len(text) < BUDGET + 500
    path = text.rsplit("read ", 1)[1].removesuffix("]")
    assert not used.outside("read", path=path)
    assert used.text("read", path=path, offset=10_000, limit=1).startswith("10000|9999\n")


def test_a_cut_never_leaves_half_of_a_secret(tmp_path):
    secret = "sk-verysecretvalue123"
    for shift in range(len(secret)):
        filler = "x" * (BUDGET // 5 - shift)
        text = kit(tmp_path, stdout=filler + secret + "y" * BUDGET).text("python", code="x")
        assert "verysecret" not in text
        assert "sk-v" not in text


@pytest.mark.parametrize(
    "code",
    [
        "x = ",
        "def f(:\n  pass",
        "return 1",
        "x = 1\n  y = 2",
        "'abc",
        "\0",
        "",
        " \n",
    ],
)
def test_nobody_is_asked_about_code_that_cannot_run(tmp_path, code):
    used = kit(tmp_path)
    with pytest.raises(ToolError):
        used.tool("python").preview({"code": code})
    used.refusal("python", code=code)
    assert used.kernel.codes == []


def test_a_syntax_error_names_its_line(tmp_path):
    message = kit(tmp_path).refusal("python", code="x = 1\ny = (2,\n")
    assert message.startswith("SyntaxError in line 2")


@pytest.mark.parametrize(
    "code",
    [
        *(
            "x = 1",
            "await f()",
            "async with a as b:\n    pass",
            "%matplotlib inline\nx",
            "!ls *.py",
        ),
        *(
            "%%bash\necho (",
            "df?",
            "files = !ls",
            "    x = 1\n    y = 2",
            "'\\d'",
            "print(f'{x!r}')",
        ),
        "if x:\n    %timeit y\n",
    ],
)
def test_everything_that_a_cell_takes_is_taken(tmp_path, code, recwarn):
    used = kit(tmp_path)
    assert used.preview("python", code=code)[-1] == Display("code", code, "python")
    used.text("python", code=code)
    assert not recwarn.list


@pytest.mark.parametrize(
    "code", ["(" * 5000 + ")" * 5000, "-" * 100_000 + "1", "a" + ".b" * 100_000]
)
def test_code_that_is_nested_too_deeply_is_refused_in_few_words(tmp_path, code):
    assert len(kit(tmp_path).refusal("python", code=code)) < 400


def test_always_is_for_this_session_and_the_description_is_honest(tmp_path):
    tool = kit(tmp_path).tool("python")
    labels = [scope.label for scope in tool.scopes({"code": "x"})]
    assert labels == ["python, this cell", "python, this session"]
    assert "live notebook kernel" in tool.description
    assert "not sandboxed" in tool.description


def png(width: int, height: int) -> str:
    """A real picture in base64."""
    rows = zlib.compress(b"".join(b"\0" + b"\xff\0\0" * width for _ in range(height)))
    head = struct.pack(">IIBBBBB", width, height, 8, 2, 0, 0, 0)
    parts = ((b"IHDR", head), (b"IDAT", rows), (b"IEND", b""))
    chunks = (
        struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))
        for kind, data in parts
    )
    return base64.b64encode(b"\x89PNG\r\n\x1a\n" + b"".join(chunks)).decode()


def figure(data: str) -> Display:
    return Display("bundle", data={"image/png": data, "text/plain": "<Figure size 2x2>"})


def test_a_figure_is_sent_as_an_image_and_so_many_only(tmp_path):
    data = png(3, 2)
    figures = tuple(figure(data) for _ in range(MOST_FIGURES + 1))
    result = kit(tmp_path, displays=figures).run("python", code="plot()")
    assert [image.data for image in result.images] == [data] * MOST_FIGURES
    first = "[figure 1, shown to the user and sent as an image: image/png, 3×2 pixels"
    assert result.text.startswith(first)
    assert f"at most {MOST_FIGURES} are sent" in result.text
    assert result.display[1:] == figures


def test_what_is_displayed_is_told_as_text_within_a_budget(tmp_path):
    html = "<table></table>"
    frame = Display("bundle", data={"text/plain": "a  b\n1  2", "text/html": html})
    address = Display("bundle", data={"text/plain": "<x.HTML object>", "text/html": html})
    long = Display("bundle", data={"text/plain": "row\n" * 10_000})
    text = kit(tmp_path, displays=(frame, address, long)).text("python", code="x")
    assert text.startswith("[shown to the user: text/html]\na  b\n1  2\n[shown")
    assert "object" not in text
    assert len(text) < 2 * TEXT
    once = kit(tmp_path, value="a  b\n1  2", displays=(frame,)).text("python", code="x")
    assert once.count("a  b") == 1


def test_changes_to_names_end_the_result_and_are_shown_and_recorded(tmp_path):
    found, _ = changes(moment({"a": 1}), {"b": [1]})
    result = kit(tmp_path, stdout="x\n", changes=found).run("python", code="x")
    line = "new: b (list 1 item); deleted: a (int)"
    assert result.text == f"x\n[names {line}]"
    text, names = result.display
    assert text == Display("text", "x")
    assert (names.kind, names.text) == ("names", line)


def test_a_time_limit_goes_to_the_kernel_and_what_came_of_it_is_said(tmp_path):
    used = kit(tmp_path, ok=False, stdout="1\n", error="KeyboardInterrupt", out_of_time=True)
    result = used.run("python", code="x", timeout=2.5)
    assert used.kernel.seconds == [2.5]
    assert result.text.startswith("Interrupted at the time limit of 2.5 s. It stopped there.\n1\n")
    assert not result.ok
    for wrong in (0, -1, 100_000):
        assert check(used.tool("python").parameters, {"code": "x", "timeout": wrong})


def test_the_card_says_that_nothing_confines_the_code(tmp_path):
    shown = kit(tmp_path).preview("python", code="x")
    assert "not in a sandbox" in shown[0].text
