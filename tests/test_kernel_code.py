"""Code that the agent runs in the user's kernel: what comes back, and what it leaves alone."""

from __future__ import annotations

import json

import pytest

from tests.kernelkit import FrontEnd

pytest_plugins = ("tests.kernelkit_fixtures",)
pytestmark = pytest.mark.kernel


def run(page: FrontEnd, code: str, **options) -> dict:
    """Run code as the agent does; gives the parts of its CodeOutput."""
    cell = page.do(
        f"%%stage\nout = await p.kernel.run_code({code!r})\n"
        "return json.dumps([out.ok, out.stdout, out.value, out.error, "
        "[dict(d.data) for d in out.displays]])",
        **options,
    )
    assert cell.error == "", cell.text
    names = ("ok", "stdout", "value", "error", "displays")
    result = dict(zip(names, json.loads(eval(cell.result)), strict=True))
    result["cell"] = cell
    return result


def test_both_streams_come_in_their_order_and_the_last_value_as_text(page):
    out = run(
        page,
        "import sys\nprint('one')\nprint('two', file=sys.stderr)\nprint('three')\n{'a': 1}",
    )
    assert out["stdout"] == "one\ntwo\nthree\n"
    assert out["value"] == "{'a': 1}"
    assert (out["ok"], out["error"], out["displays"]) == (True, "", [])


def test_nothing_of_it_shows_in_the_cell(page):
    out = run(page, "print('x'); display('y'); 1/0")
    assert [o["type"] for o in out["cell"].outputs] == ["execute_result"]


def test_what_child_processes_print_is_kept_too_and_in_its_place(page):
    out = run(
        page,
        "import os, subprocess\nprint('one')\nsubprocess.run(['echo', 'two'])\nprint('three')\n"
        "os.system('echo four >&2')\nos.write(1, b'caf\\xc3\\xa9 \\xff\\n')\nprint('six')",
    )
    assert out["stdout"] == "one\ntwo\nthree\nfour\ncaf\u00e9 \ufffd\nsix\n"
    assert page.do("import os; os.system('echo own')").error == ""
    page.wait(lambda: any("own" in cell.text for cell in page.cells.values()), "the user's own")


def test_names_are_the_users_own(page):
    page.do("given = 20")
    assert run(page, "made = given + 1; made * 2")["value"] == "42"
    assert page.do("made").result == "21"


def test_the_users_history_and_results_stay_as_they_are(page):
    page.do("'the last result'")
    before = page.do("_, len(In), sorted(Out), list(get_ipython().history_manager.input_hist_raw)")
    names = page.do("sorted(globals())")
    run(page, "1 + 1\n'other'")
    after = page.do("_, len(In), sorted(Out), list(get_ipython().history_manager.input_hist_raw)")
    assert eval(before.result)[0] == "the last result"
    # Only the cells that the user ran: this test's own.
    assert eval(after.result)[1] == eval(before.result)[1] + 3
    assert not any(line == "'other'" for line in eval(after.result)[3])
    assert "'other'" not in page.do("list(Out.values())").result
    grown = set(eval(page.do("sorted(globals())").result)) - set(eval(names.result))
    assert all(name.startswith("_") for name in grown)


def test_the_notes_of_ipython_about_outputs_stay_as_they_are(page):
    page.do("%%stage\nawait p.kernel.run_code('print(\"of the agent\")')")
    kept = page.do("str(getattr(get_ipython().history_manager, 'outputs', ''))").result
    assert "of the agent" not in kept


def test_await_works_although_the_kernels_loop_is_running(page):
    out = run(page, "import asyncio\nawait asyncio.sleep(0.01)\nawait asyncio.sleep(0, 'slept')")
    assert (out["ok"], out["value"]) == (True, "'slept'")


def test_what_one_call_makes_can_be_awaited_in_the_next(page):
    run(page, "import asyncio\nqueue = asyncio.Queue()")
    run(
        page,
        "import asyncio\nasync def make(): return asyncio.ensure_future(queue.get())\n"
        "waiting = await make()",
    )
    assert run(page, "await queue.put(7)\nawait waiting")["value"] == "7"


def test_the_kernels_own_loop_goes_on_after_awaited_code(page):
    run(page, "import asyncio\nawait asyncio.sleep(0)")
    assert page.do("import asyncio\nawait asyncio.sleep(0, 'fine')").result == "'fine'"


def test_what_is_displayed_comes_as_bundles_and_pictures_as_base64(page):
    out = run(
        page,
        "from IPython.display import HTML, Image, display\n"
        "display(HTML('<b>x</b>'))\n"
        "display(Image(data=b'\\x89PNG\\r\\n\\x1a\\n' + bytes(40), format='png'))",
    )
    html, image = out["displays"]
    assert html["text/html"] == "<b>x</b>"
    assert image["image/png"].startswith("iVBORw0KGgo")


def test_an_updated_display_is_one_display_with_its_last_state(page):
    out = run(page, "h = display('first', display_id=True)\nh.update('second')")
    assert [d["text/plain"] for d in out["displays"]] == ["'second'"]


def test_cleared_output_is_gone(page):
    out = run(
        page, "from IPython.display import clear_output\ndisplay(1)\nclear_output()\ndisplay(2)"
    )
    assert [d["text/plain"] for d in out["displays"]] == ["2"]


def test_a_rich_value_is_a_text_for_the_model_and_a_display_for_the_person(page):
    out = run(
        page,
        "class Frame:\n"
        "    def __repr__(self): return 'a frame'\n"
        "    def _repr_html_(self): return '<table></table>'\n"
        "Frame()",
    )
    assert out["value"] == "a frame"
    assert out["displays"] == [{"text/plain": "a frame", "text/html": "<table></table>"}]


def test_hooks_that_draw_at_the_end_of_a_cell_draw_into_the_output(page):
    """As the figures of matplotlib do."""
    page.do(
        "def draw():\n    if pending: display(pending.pop())\n"
        "pending = []\nget_ipython().events.register('post_execute', draw)"
    )
    out = run(page, "pending.append('a figure')")
    page.do("get_ipython().events.unregister('post_execute', draw)")
    assert [d["text/plain"] for d in out["displays"]] == ["'a figure'"]


def test_an_error_is_short_and_shows_the_users_own_line(page):
    out = run(page, "def f(n):\n    return 1 / n\n\nf(0)")
    assert not out["ok"]
    lines = out["error"].splitlines()
    assert lines[0] == "Traceback (most recent call last):"
    assert lines[1] == "  Cell, line 4"
    assert lines[2] == "    f(0)"
    assert "  Cell, line 2, in f" in lines
    assert lines[-1] == "ZeroDivisionError: division by zero"
    assert "site-packages" not in out["error"]
    assert "\x1b" not in out["error"]


def test_an_error_in_awaited_code_is_as_short(page):
    out = run(page, "import asyncio\nawait asyncio.sleep(0)\nraise ValueError('late')")
    assert out["error"].splitlines()[1:] == [
        "  Cell, line 3",
        "    raise ValueError('late')",
        "ValueError: late",
    ]


def test_an_error_within_an_error_shows_both(page):
    out = run(page, "try:\n    {}['k']\nexcept KeyError as e:\n    raise ValueError('odd') from e")
    assert "KeyError: 'k'" in out["error"]
    assert out["error"].rstrip().endswith("ValueError: odd")


def test_a_deep_traceback_is_cut_in_the_middle(page):
    out = run(page, "def f(n): return f(n + 1) if n < 100 else [][1]\nf(0)")
    assert "frames left out" in out["error"]
    assert out["error"].count("\n") < 60


def test_code_that_cannot_be_read_says_where(page):
    out = run(page, "x = 1\nif x\n    y = 2")
    assert not out["ok"]
    assert "line 2" in out["error"]
    assert "SyntaxError" in out["error"]
    assert run(page, "def f():\nreturn 1")["error"].splitlines()[-1].startswith("IndentationError")


def test_magics_work_and_their_complaints_come_back(page):
    assert "hello" in run(page, "!echo hello")["stdout"]
    out = run(page, "%no_such_magic")
    assert not out["ok"]
    assert "no_such_magic" in out["error"]


def test_an_exit_ends_nothing(page):
    for code in ("import sys; sys.exit(3)", "exit()", "quit", "raise SystemExit"):
        out = run(page, code)
        assert not out["ok"], code
        assert "SystemExit" in out["error"], code
        assert out["stdout"] == "", code
    assert page.do("1 + 1").result == "2"
    assert page.do("get_ipython().exit_now").result == "False"


def test_input_is_refused_with_a_way_out_and_no_box_opens(page):
    for code in ("input('name? ')", "import getpass; getpass.getpass()"):
        out = run(page, code)
        assert "Put the value into the code" in out["error"]
        assert "capture.py" not in out["error"]
    assert run(page, "import sys; sys.stdin.read()")["value"] == "''"
    assert page.inputs == []
    cell = page.run("input('mine? ')")
    page.answer("yes")
    assert page.finish(cell).result == "'yes'"


def test_a_debugger_in_the_code_ends_by_itself(page):
    assert "BdbQuit" in run(page, "import pdb; pdb.set_trace()\n1")["error"]


def test_endless_printing_is_kept_from_both_ends(page):
    out = run(page, "for n in range(150_000): print('line', n)")
    assert len(out["stdout"]) < 1_100_000
    assert out["stdout"].startswith("line 0\nline 1\n")
    assert out["stdout"].endswith("line 149999\n")
    assert "left out" in out["stdout"]


def test_a_progress_bar_comes_as_its_last_state(page):
    out = run(
        page, "for n in range(100): print(f'\\r{n}%', end='')\nprint('\\r100%')\nprint('done')"
    )
    assert out["stdout"] == "100%\ndone\n"


def test_code_cannot_start_another_agent_cell_in_its_own(page):
    out = run(page, "get_ipython().run_cell_magic('stage', '', 'return 1')")
    assert "already running" in out["error"]
    assert "Traceback" not in out["error"]
    cell = page.do("%%stage\nreturn await p.on_main(lambda: stage.run(None))")
    assert cell.error == "AgentMagicsError"


def test_functions_run_on_the_main_thread(page):
    cell = page.do(
        "%%stage\nimport threading\n"
        "return await p.kernel.on_main(lambda: threading.current_thread().name)"
    )
    assert cell.result == "'MainThread'"


def test_code_that_replaces_the_streams_does_not_keep_them(page):
    run(
        page,
        "import sys, io; sys.stdout = io.StringIO(); builtins = __import__('builtins'); "
        "builtins.input = None",
    )
    assert page.do("print('here')").text == "here\n"
    assert page.do("import builtins; builtins.input is None").result == "False"


def test_an_empty_cell_gives_nothing(page):
    out = run(page, "  \n")
    assert (out["ok"], out["stdout"], out["value"], out["error"]) == (True, "", "", "")


def test_code_of_two_cells_at_once_leaves_the_streams_as_they_were(page):
    subshell = page.new_subshell()
    if not subshell:
        pytest.skip("this ipykernel has no subshells")
    page.do("go = up = False")
    waits = "import time\nup = True\nprint('main')\nwhile not go: time.sleep(0.01)"
    main = page.run(
        f"%%stage\nshell.user_ns['of_main'] = (await p.kernel.run_code({waits!r})).stdout"
    )
    side = page.run(
        "%%stage\n"
        "while not shell.user_ns['up']: await asyncio.sleep(0.01)\n"
        "out = asyncio.ensure_future(p.kernel.run_code('print(\"side\")'))\n"
        "await asyncio.sleep(0.1)\nshell.user_ns['go'] = True\n"
        "shell.user_ns['of_side'] = (await out).stdout",
        subshell=subshell,
    )
    page.finish(main)
    page.finish(side)
    assert page.do("of_main, of_side").result == "('main\\n', 'side\\n')"
    assert page.do("print('here')").text == "here\n"
