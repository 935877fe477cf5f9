"""The example package: built, installed into an environment of its own, used in a kernel."""

from __future__ import annotations

import subprocess
import sys
import sysconfig
import venv
from pathlib import Path

import pytest

from tests.environments import REPOSITORY, SOURCES, own_variables
from tests.kernelkit import FrontEnd, Kernel

pytestmark = [pytest.mark.kernel, pytest.mark.package]
EXAMPLE = REPOSITORY / "docs" / "examples" / "agent-magics-example"


def run(*command: object, **options: object) -> str:
    words = [str(word) for word in command]
    done = subprocess.run(words, capture_output=True, text=True, check=False, **options)  # type: ignore[call-overload]
    assert done.returncode == 0, f"{words}\n{done.stdout}\n{done.stderr}"
    return str(done.stdout)


@pytest.fixture(scope="module")
def python(tmp_path_factory) -> Path:
    """An environment with the wheel, which borrows everything else from this one."""
    folder = tmp_path_factory.mktemp("example")
    run(sys.executable, "-m", "hatchling", "build", "-t", "wheel", "-d", folder, cwd=EXAMPLE)
    (wheel,) = folder.glob("*.whl")
    venv.create(folder / "venv", with_pip=False)
    python = folder / "venv" / "bin" / "python"
    words = ("--quiet", "--disable-pip-version-check", "--no-deps", "--no-index")
    run(sys.executable, "-m", "pip", "--python", python, "install", *words, wheel)
    (site,) = (folder / "venv").glob("lib/*/site-packages")
    (site / "borrowed.pth").write_text(sysconfig.get_path("purelib") + "\n", encoding="utf-8")
    return python


@pytest.fixture(scope="module")
def page(python, tmp_path_factory):
    home = tmp_path_factory.mktemp("home")
    kernel = Kernel(python=str(python))
    page = FrontEnd(kernel, widgets=False)
    variables = {
        name: value
        for name, value in own_variables(home).items()
        if name.startswith(("AGENT_MAGICS_", "HOME"))
    }
    variables["AGENT_MAGICS_DATA"] = str(home / "data")
    try:
        page.do(f"import os, sys; os.environ.update({variables!r}); os.chdir({str(home)!r})")
        page.do("open('a.txt', 'w').write('one two three')")
        assert page.do("%load_ext agent_magics").error == ""
        yield page
    finally:
        page.close()
        kernel.close()


def test_the_examples_own_tests_pass_where_it_is_installed(python):
    words = ("-m", "pytest", "-q", "-p", "no:cacheprovider", "-c", "/dev/null", EXAMPLE / "tests")
    variables = {**own_variables(python.parent / "home"), "PYTHONPATH": str(SOURCES)}
    assert "3 passed" in run(python, *words, env=variables, cwd=python.parent)


def test_a_kernel_finds_all_four_kinds_and_imports_none_by_itself(page):
    assert page.do("'agent_magics_example' in sys.modules").result == "False"
    table = page.do("print(get_ipython().run_line_magic('agent', 'plugins'))").text
    for kind in ("tools", "providers", "frontends", "skills"):
        assert f"{kind}" in table
    assert table.count("agent-magics-example 1.0") == 4
    assert page.do("'agent_magics_example' in sys.modules").result == "False"


def test_tool_model_front_end_and_skill_work_together_in_a_cell(page):
    assert page.do("%agent model example:shout").text.startswith(
        "Model: example:shout at plug-in agent-magics-example 1.0"
    )
    page.do("%config AgentMagics.frontend = 'example'")
    assert "Loaded skill word-count" in page.do("%use word-count").text
    cell = page.run("%%agent --out result\nHow long is a.txt?")
    asked = page.answer("y")
    page.finish(cell)
    assert asked.startswith("count_words")
    assert "(plug-in agent-magics-example 1.0)" in asked
    assert "answer: A.TXT HAS 3 WORDS." in cell.text
    assert page.do("result.calls[0].decision, result.calls[0].by").result == "('approved', 'typed')"


def test_a_no_is_a_no_and_an_unknown_model_says_what_there_is(page):
    cell = page.run("%%agent --new --out result\nHow long is a.txt?")
    page.answer("n")
    page.finish(cell)
    assert page.do("result.calls[0].outcome").result == "'refused'"
    cell = page.do("%%agent --new --model example:whisper\nHi.")
    assert "There is no model 'whisper'; there is: shout." in cell.error + "".join(
        str(output) for output in cell.outputs
    )
