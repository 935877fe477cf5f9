"""Notebooks that nobody watches: nbclient, `jupyter execute`, nbconvert, and our own command.

A call that asks is refused at once, or allowed by an option of the run; nothing ever waits.
"""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

import nbformat
import pytest
from nbformat.v4 import new_code_cell, new_notebook

from agent_magics.quickstart.run import source_notebook
from tests.conftest import loading
from tests.environments import KERNELS, SOURCES, kernel_environment, kernel_spec, own_variables
from tests.lab_endpoint import Says

pytestmark = pytest.mark.kernel
each_kernel = pytest.mark.parametrize("version", KERNELS)

ASK = "%%agent --out result\nCompute the answer."
SHOW = "print([(c.name, c.decision, c.by, c.outcome) for c in result.calls])"
SETS = Says("I compute it.", (("python", {"code": "answer = 6 * 7"}),))
DONE = Says("The turn is over.")


@pytest.fixture
def quickstart() -> nbformat.NotebookNode:
    return nbformat.read(source_notebook(), as_version=4)


def executed(notebook, version, folder: Path, **variables: str):
    """The notebook as nbclient leaves it."""
    from jupyter_client.kernelspec import KernelSpecManager
    from jupyter_client.manager import AsyncKernelManager
    from nbclient import NotebookClient

    kernel_environment(version)
    name = kernel_spec(folder / "jupyter", version)
    specs = KernelSpecManager(kernel_dirs=[str(folder / "jupyter" / "kernels")])
    work = folder / "work"
    work.mkdir()
    NotebookClient(
        notebook,
        km=AsyncKernelManager(kernel_name=name, kernel_spec_manager=specs),
        timeout=60,
        store_widget_state=True,
        resources={"metadata": {"path": str(work)}},
    ).execute(env=own_variables(folder / "home") | {"TMPDIR": str(work)} | variables)
    nbformat.validate(notebook)
    return notebook


def printed(notebook, cell: str) -> str:
    """What the cell with this id shows, as plain text."""
    outputs = next(c for c in notebook.cells if c.id == cell).outputs
    return "\n".join(o.get("text") or o.get("data", {}).get("text/plain", "") for o in outputs)


def command(words: list[str], folder: Path, **variables: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-m", *words],
        cwd=folder,
        env=own_variables(folder / "home") | variables,
        capture_output=True,
        text=True,
        check=False,
        timeout=300,
    )


@each_kernel
def test_calls_that_ask_are_refused_at_once_where_nobody_can_answer(quickstart, version, tmp_path):
    done = executed(quickstart, version, tmp_path)
    assert re.search(r"git_diff +refused +by nobody +refused", printed(done, "data"))
    assert "I could not read the changes" in printed(done, "review")
    assert "The change was not made" in printed(done, "fix")
    assert "%agent allow git_diff" in printed(done, "review")
    assert "('Eve'" in printed(done, "check"), "the file was changed all the same"


@each_kernel
def test_calls_that_the_run_allows_by_name_are_made_inside_its_folder(
    quickstart, version, tmp_path
):
    done = executed(
        quickstart,
        version,
        tmp_path,
        AGENT_MAGICS_APPROVE="git_diff report_findings edit",
        AGENT_MAGICS_APPROVE_IN=str(tmp_path),
    )
    assert re.search(r"git_diff +approved +by option +done", printed(done, "data"))
    assert "Loaded skill explore (built-in: ls, glob, read)" in printed(done, "use-explore")
    loaded = "Loaded skill code-review (bundled: git_diff, report_findings; built-in: read, glob)"
    assert loaded in printed(done, "use-review")
    assert re.search(r"report_findings +approved +by option +done", printed(done, "data"))
    assert "4 findings: 2 high, 2 low" in printed(done, "review")
    assert "3 findings: 1 high, 2 low" in printed(done, "data")
    assert "split_bill` loses cents" in printed(done, "review")
    assert "[('Cleo'" in printed(done, "check")


def test_an_option_allows_nothing_outside_the_folder_it_names(quickstart, tmp_path):
    elsewhere = tmp_path / "elsewhere"
    elsewhere.mkdir()
    done = executed(
        quickstart,
        "newest",
        tmp_path,
        AGENT_MAGICS_APPROVE="git_diff report_findings edit",
        AGENT_MAGICS_APPROVE_IN=str(elsewhere),
    )
    assert re.search(r"git_diff +refused", printed(done, "data"))


def test_an_option_without_a_folder_allows_nothing(quickstart, tmp_path):
    done = executed(
        quickstart, "newest", tmp_path, AGENT_MAGICS_APPROVE="git_diff report_findings edit"
    )
    assert re.search(r"git_diff +refused", printed(done, "data"))


def test_the_executed_notebook_can_be_shared(quickstart, tmp_path):
    done = executed(
        quickstart,
        "newest",
        tmp_path,
        AGENT_MAGICS_APPROVE="git_diff report_findings edit",
        AGENT_MAGICS_APPROVE_IN=str(tmp_path),
    )
    text = nbformat.writes(done)
    assert [p for p in (tmp_path, SOURCES, Path.home()) if f"{p}/" in text] == []
    assert "widget-view" not in text
    assert "widgets" not in done.metadata


def test_no_question_waits_for_its_time_out_where_nobody_can_answer(endpoint, model, tmp_path):
    endpoint.script(model, SETS, DONE)
    sources = [loading(endpoint.url, model), ASK, SHOW]
    notebook = new_notebook(cells=[new_code_cell(source) for source in sources])
    executed(notebook, "newest", tmp_path)
    assert "('python', 'refused', 'nobody', 'refused')" in notebook.cells[2].outputs[0].text
    assert "nobody can answer here" in endpoint.told(model)[0]


def test_jupyter_execute_ends_well_with_refusals_in_the_record(quickstart, tmp_path):
    path = tmp_path / "quickstart.ipynb"
    nbformat.write(quickstart, path)
    done = command(["jupyter", "execute", "--inplace", path.name], tmp_path)
    assert done.returncode == 0, done.stderr
    assert "I could not read the changes" in printed(nbformat.read(path, 4), "review")


def test_a_turn_that_fails_ends_jupyter_execute_with_an_error(endpoint, model, tmp_path):
    endpoint.script(model, Says("no such key", status=401))
    sources = [loading(endpoint.url, model), ASK, "open('went-on', 'w').close()"]
    notebook = new_notebook(cells=[new_code_cell(source) for source in sources])
    nbformat.write(notebook, tmp_path / "failing.ipynb")
    done = command(["jupyter", "execute", "failing.ipynb"], tmp_path)
    assert done.returncode != 0
    assert "no such key" in done.stderr
    assert not (tmp_path / "went-on").exists()


def test_nbconvert_runs_the_notebook_into_a_page_that_holds_the_record(quickstart, tmp_path):
    nbformat.write(quickstart, tmp_path / "quickstart.ipynb")
    done = command(
        ["nbconvert", "--to", "html", "--execute", "quickstart.ipynb"],
        tmp_path,
        AGENT_MAGICS_APPROVE="git_diff report_findings edit",
        AGENT_MAGICS_APPROVE_IN="/",
    )
    assert done.returncode == 0, done.stderr
    page = (tmp_path / "quickstart.html").read_text(encoding="utf-8")
    assert "approved by option" in page
    assert "most_common(count)" in page


RUNNERS = {
    "jupyter execute": ["jupyter", "execute", "run.ipynb"],
    "nbconvert": ["nbconvert", "--to", "notebook", "--execute", "--inplace", "run.ipynb"],
    "papermill": ["papermill", "--kernel", "python3", "run.ipynb", "done.ipynb"],
}
each_runner = pytest.mark.parametrize("runner", RUNNERS)
REPORT, STRICT = "%agent report", "%agent report --strict"


def run(runner: str, sources: list[str], folder: Path, *more: str, **variables: str):
    cells = [new_code_cell(source) for source in sources]
    if sources[0].startswith("TOPIC"):
        cells[0].metadata["tags"] = ["parameters"]
    notebook = new_notebook(cells=cells)
    notebook.metadata["kernelspec"] = {
        "name": "python3",
        "display_name": "Python 3",
        "language": "python",
    }
    nbformat.write(notebook, folder / "run.ipynb")
    return command([*RUNNERS[runner], *more], folder, **variables)


@each_runner
@pytest.mark.parametrize(
    ("allowed", "last", "fails"),
    [("", REPORT, False), ("", STRICT, True), ("python", STRICT, False)],
    ids=["refused", "refused, strict", "allowed, strict"],
)
def test_the_status_of_a_run_is_not_0_where_a_strict_report_found_something(
    runner, allowed, last, fails, endpoint, model, tmp_path
):
    endpoint.forget(model)
    endpoint.script(model, SETS, DONE)
    variables = {"AGENT_MAGICS_APPROVE": allowed, "AGENT_MAGICS_APPROVE_IN": str(tmp_path)}
    done = run(runner, [loading(endpoint.url, model), ASK, last], tmp_path, **variables)
    assert (done.returncode != 0) is fails, done.stderr[-3000:]
    if fails:
        assert "1 call was refused" in done.stderr
        assert "python answer = 6 * 7: nobody could answer" in done.stderr


@each_runner
def test_a_policy_from_the_configuration_file_decides_in_a_run(runner, endpoint, model, tmp_path):
    config = tmp_path / "home" / "agent_magics" / "config.yaml"
    config.parent.mkdir(parents=True)
    config.write_text("policy: {allow: [python]}\n", encoding="utf-8")
    endpoint.forget(model)
    endpoint.script(model, SETS, DONE)
    done = run(runner, [loading(endpoint.url, model), ASK, STRICT], tmp_path)
    assert done.returncode == 0, done.stderr[-3000:]


def test_papermill_gives_parameters_to_settings_and_to_prompts(endpoint, model, tmp_path):
    endpoint.script(model, Says("About oolong."))
    sources = [
        "TOPIC = 'tea'\nMODEL = 'none'",
        f"%load_ext agent_magics\n%config AgentMagics.base_url = {endpoint.url!r}",
        "%config AgentMagics.model = MODEL",
        "%%agent --mode plan --out result\nWrite about @TOPIC.",
        "assert result.text == 'About oolong.'",
        STRICT,
    ]
    words = ["-p", "TOPIC", "oolong", "-p", "MODEL", model]
    done = run("papermill", sources, tmp_path, *words)
    assert done.returncode == 0, done.stderr[-3000:]
    prompt = endpoint.requests(model)[-1]["messages"][-1]["content"]
    assert "oolong" in prompt
    notebook = nbformat.read(tmp_path / "done.ipynb", as_version=4)
    nbformat.validate(notebook)
    shown = [
        output.data["text/plain"]
        for cell in notebook.cells
        for output in cell.get("outputs", [])
        if "agent_magics" in output.get("metadata", {})
    ]
    assert "Sent with the prompt: @TOPIC" in shown[0]
    assert "About oolong." in shown
    assert model in shown[-1]


def test_the_quickstart_command_prints_the_conversation_and_says_what_it_refused(tmp_path):
    done = command(["agent_magics", "quickstart"], tmp_path)
    assert done.returncode == 0, done.stderr
    for part in (
        ">>> %use code-review",
        "Loaded skill code-review (bundled: git_diff, report_findings; built-in: read, glob)",
        "corner-shop",
        "Scripted demonstration",
        "Approved beforehand and run: none",
        "-m jupyterlab",
        "--lab",
    ):
        assert part in done.stdout
    refused = re.search("Refused, since nobody could be asked: (.*)", done.stdout)
    assert refused is not None
    assert "git_diff" in refused[1]
    assert "edit shop/report.py" in refused[1]


def test_the_quickstart_command_runs_what_its_options_name_and_writes_both_files(tmp_path):
    tools = ("git_diff", "report_findings", "edit")
    words = ["agent_magics", "quickstart", *(w for t in tools for w in ("--approve", t))]
    done = command([*words, "--output", "out"], tmp_path)
    assert done.returncode == 0, done.stderr
    ran = re.search("Approved beforehand and run: (.*)", done.stdout)
    assert ran is not None
    assert "git_diff" in ran[1]
    assert "edit shop/report.py" in ran[1]
    assert "Refused, since nobody could be asked: none" in done.stdout
    notebook = nbformat.read(tmp_path / "out" / "quickstart.ipynb", as_version=4)
    nbformat.validate(notebook)
    assert "[('Cleo'" in printed(notebook, "check")
    page = (tmp_path / "out" / "quickstart.html").read_text(encoding="utf-8")
    assert "loses cents" in page
    assert not re.search(r"""<(script|link|img|iframe)[^>]+(src|href)=["']?https?:""", page)


def test_the_quickstart_command_leaves_nothing_in_the_temporary_folder(tmp_path):
    temporary = tmp_path / "temporary"
    temporary.mkdir()
    done = command(["agent_magics", "quickstart"], tmp_path, TMPDIR=str(temporary))
    assert done.returncode == 0, done.stderr
    assert list(temporary.iterdir()) == []


def test_the_quickstart_command_explains_words_that_are_off(tmp_path):
    assert command(["agent_magics", "quickstrat"], tmp_path).returncode == 2
    assert "quickstart" in command(["agent_magics", "--help"], tmp_path).stdout
