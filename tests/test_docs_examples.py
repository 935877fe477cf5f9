"""Every fenced example of the README and of docs/ runs, in the order of its page.

What a page needs to be run stands in `SCENES`, one line for a page; most need nothing. A block that
cannot run says why, right above it.
"""

from __future__ import annotations

import os
import sys
import tempfile
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import nbformat
import pytest
from IPython.core.interactiveshell import InteractiveShell
from traitlets.config import Config

import agent_magics
from agent_magics.extension.config import USER_KEYS, read_configuration
from agent_magics.quickstart import sample_repository
from tests.docskit import LANGUAGES, PAGES, READ, ROOT, RUN, SHELL, Block, blocks, in_shell, written
from tests.lab_endpoint import Endpoint, Says

if not PAGES:
    pytest.skip("the pages come with the source tree", allow_module_level=True)

Answer = Callable[[dict[str, Any]], Says]


@dataclass(frozen=True, slots=True)
class Scene:
    """What a page's examples need.

    Args:
        answer: The model; None: the scripted demonstration.
        approve: Tools that the reader says yes to.
        files: What lies in the folder besides.
        sample: Begin in the sample repository, else in an empty folder.
        first: Write the files of the page before anything else.
        earlier: Cells of a kernel that has ended.
        before: Cells that the page takes for granted.
        after: Cells that hold afterwards.
        says: What must have been shown at the end.
    """

    answer: Answer | None = None
    approve: tuple[str, ...] = ()
    files: dict[str, str] = field(default_factory=dict)
    sample: bool = True
    first: bool = False
    earlier: tuple[str, ...] = ()
    before: tuple[str, ...] = ()
    after: tuple[str, ...] = ()
    says: tuple[str, ...] = ()


def prompt_of(request: dict[str, Any]) -> str:
    """The newest word of the person in a request."""
    return str(next(m for m in reversed(request["messages"]) if m["role"] == "user")["content"])


def calling(**calls: tuple[str, dict[str, Any]]) -> Answer:
    """A model that makes the call whose word stands in the prompt, then says what came of it."""

    def answer(request: dict[str, Any]) -> Says:
        prompt = prompt_of(request)
        told = [str(m["content"]) for m in request["messages"] if m["role"] == "tool"]
        call = next((call for word, call in calls.items() if word in prompt), None)
        if call is not None and not told:
            return Says("", (call,))
        return Says(f"Answer to {prompt.splitlines()[-1]} {' '.join(told)}")

    return answer


def notebook(*cells: str) -> str:
    """A notebook's file."""
    made = nbformat.v4.new_notebook(cells=[nbformat.v4.new_code_cell(cell) for cell in cells])
    made.metadata["kernelspec"] = {"name": "python3", "display_name": "Python 3"}
    return nbformat.writes(made)


REVIEW = ("git_diff", "report_findings")
REVIEWED = (
    "%load_ext agent_magics",
    "%use code-review",
    "%%agent\nReview my uncommitted changes.",
    "%agent report",
)
REPLAYED = (
    "%load_ext agent_magics",
    "%agent model replay:look.jsonl",
    "%%agent\nWhat is in the folder shop?",
)
SCENES: dict[str, Scene] = {
    "README.md": Scene(approve=REVIEW, says=("4 findings",)),
    "docs/code-review.md": Scene(
        approve=REVIEW,
        files={"review.ipynb": notebook()},
        says=("4 findings", "shop/prices.py:16"),
        after=("assert len(review.findings) == 4",),
    ),
    "docs/configuration.md": Scene(files={"review.ipynb": notebook(*REVIEWED)}),
    "docs/first-skill.md": Scene(
        sample=False,
        approve=("column_facts",),
        answer=calling(data=("column_facts", {"file": "plants.csv"})),
        says=(
            "Loaded skill data-card (bundled: column_facts; built-in: ls, glob, read)",
            "4 rows\nname: 0 missing, 3 distinct\nheight_cm: 1 missing, 3 distinct",
            "0 errors, 0 warnings",
            "Answer to Write the data card of plants.csv. 4 rows",
        ),
    ),
    "docs/headless.md": Scene(
        files={"review.ipynb": notebook(*REVIEWED)},
        answer=calling(),
        after=("assert 'the last release' in result.conversation[0].attachments[0].text",),
    ),
    "docs/index.md": Scene(approve=REVIEW, says=("4 findings",)),
    "docs/kernel.md": Scene(before=("df, orders = [1], [1, 2]",), says=("@df",), answer=calling()),
    "docs/notebooks.md": Scene(before=("1 / 0",), answer=calling(), says=("the cell that failed",)),
    "docs/replay.md": Scene(
        first=True,
        before=("%agent model replay:look.jsonl",),
        files={"review.ipynb": notebook(*REPLAYED)},
        after=(
            "assert [d.lines() for d in turn.replay.differences] == "
            "[(' __init__.py', '+new.py', ' orders.py')]",
            "assert result.text == 'A bookkeeping package.'",
            "import json\nfrom pathlib import Path\n"
            "assert json.loads(Path('wire.jsonl').read_text())['agent_magics_requests'] == 1",
        ),
        says=("This session is recorded in review.jsonl: 2 answers", "1 difference from the rec"),
    ),
    "docs/scripts.md": Scene(
        sample=False,
        answer=calling(
            NOTES=("write", {"path": "NOTES.md", "content": "pip install it\n"}),
            teas=("price_of", {"item": "tea"}),
        ),
        after=(
            "assert Path('NOTES.md').read_text(encoding='utf-8') == 'pip install it\\n'",
            "assert all(item.saved for item in agent_magics.map(\n"
            "    'Is this review positive, negative or neutral? One word.', reviews,\n"
            "    save='answers.jsonl'))",
        ),
        says=("3 of 3 items done",),
    ),
    "docs/sessions.md": Scene(
        earlier=("%%agent\nWhat is this project, and how do its parts fit together?",),
        # What an IPython profile calls its configuration.
        before=("from traitlets.config import Config\nc = Config()",),
        after=("assert c.AgentMagics.save_sessions is False",),
        says=("Resumed",),
    ),
    "docs/tour.md": Scene(
        sample=False,
        approve=(*REVIEW, "edit"),
        says=("corner-shop", "4 findings", "Undone:", "shop/report.py changed back"),
        after=("assert len(review.findings) == 4",),
    ),
    "docs/skills.md": Scene(
        first=True,
        files={"sales.csv": "item,price\ntea,3\nmilk,\nbread,2\n"},
        before=("%skills --trust csv-facts",),
        says=(
            "Loaded skill csv-facts (bundled: count_rows, missing_values",
            "0 errors, 0 warnings",
        ),
    ),
}


def new_shell() -> InteractiveShell:
    """IPython without its history file, which would outlive the folder that it lies in."""
    return InteractiveShell(config=Config({"HistoryManager": {"enabled": False}}))


@pytest.fixture
def home(tmp_path, monkeypatch):
    """An environment in which nothing of the person who runs the tests can leak in."""
    for name in list(os.environ):
        if name.startswith(("OPENAI_", "AGENT_MAGICS_")):
            monkeypatch.delenv(name)
    folder = tmp_path / "home"
    folder.mkdir()
    monkeypatch.setenv("HOME", str(folder))
    monkeypatch.setenv("IPYTHONDIR", str(folder / "ipython"))
    monkeypatch.setenv("AGENT_MAGICS_CONFIG", str(folder / "config.yaml"))
    monkeypatch.setenv("AGENT_MAGICS_DATA", str(tmp_path / "data"))
    monkeypatch.setenv("AGENT_MAGICS_LOCAL_SERVERS", "0")
    # An example that installs something is not run; one that is not marked so must not change us.
    monkeypatch.setenv("PIP_NO_INDEX", "1")
    # `!git diff` has a terminal, and would wait in a pager for somebody to press a key.
    monkeypatch.setenv("GIT_PAGER", "cat")
    monkeypatch.setattr(sys, "path", list(sys.path))
    return folder


@pytest.fixture
def opened(home, tmp_path, monkeypatch, endpoint: Endpoint, model: str):
    """Opens a shell as a page's reader would have it, the extension loaded."""
    shells: list[InteractiveShell] = []

    def open_shell(scene: Scene) -> InteractiveShell:
        folder = sample_repository(tmp_path) if scene.sample else tmp_path / "work"
        folder.mkdir(exist_ok=True)
        monkeypatch.chdir(folder)
        for name, text in scene.files.items():
            Path(name).parent.mkdir(parents=True, exist_ok=True)
            Path(name).write_text(text, encoding="utf-8")
        if scene.answer is not None:
            endpoint.answering(model, scene.answer)
            monkeypatch.setenv("OPENAI_BASE_URL", endpoint.url)
            monkeypatch.setenv("AGENT_MAGICS_MODEL", model)
        monkeypatch.setenv("AGENT_MAGICS_APPROVE", " ".join(scene.approve))
        monkeypatch.setenv("AGENT_MAGICS_APPROVE_IN", str(tmp_path))
        # Where a page makes a sample repository of its own.
        monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
        if scene.earlier:
            before = new_shell()
            agent_magics.load_ipython_extension(before)
            for cell in scene.earlier:
                assert before.run_cell(cell).success
            agent_magics.unload_ipython_extension(before)
        shell = new_shell()
        shells.append(shell)
        agent_magics.load_ipython_extension(shell)
        return shell

    yield open_shell
    for shell in shells:
        agent_magics.unload_ipython_extension(shell)
    sys.modules.pop("tools", None)


def run_block(block: Block, shell: InteractiveShell) -> None:
    """Do what a reader would do with it."""
    if block.file:
        written(block)
    if block.why or (block.file and block.language in RUN):
        return
    if block.language in RUN:
        result = shell.run_cell(block.text, store_history=True)
        ended = "" if result.success else type(result.error_in_exec).__name__
        assert ended == block.raises, f"{block} ended with {result.error_in_exec!r}\n{block.text}"
    elif block.language in SHELL:
        done = in_shell(block.text)
        assert done.returncode == 0, f"{block} ends with {done.returncode}\n{done.stderr}"
        print(done.stdout)
    elif block.language in READ:
        value = READ[block.language](block.text)
        assert list(value), f"{block} holds nothing"


EXAMPLES = {path.relative_to(ROOT).as_posix(): blocks(path) for path in PAGES}
RUNNING = {
    name: found
    for name, found in EXAMPLES.items()
    if any(block.language in (*RUN, *SHELL, *READ) for block in found)
}


@pytest.mark.parametrize("name", RUNNING)
def test_the_examples_of_a_page_run_in_their_order(name, opened, capsys):
    scene = SCENES.get(name, Scene())
    shell = opened(scene)
    if scene.first:
        for block in RUNNING[name]:
            if block.file:
                written(block)
    for cell in scene.before:
        shell.run_cell(cell, store_history=True)
    for block in RUNNING[name]:
        run_block(block, shell)
    for cell in scene.after:
        assert shell.run_cell(cell).success, cell
    said = capsys.readouterr().out
    assert [words for words in scene.says if words not in said] == [], said


def test_every_fenced_block_says_what_it_is():
    """What has no known language would neither run nor be known not to."""
    every = [block for found in EXAMPLES.values() for block in found]
    assert [str(block) for block in every if block.language not in LANGUAGES] == []


def test_there_are_no_blocks_by_indentation_since_those_would_not_run():
    from markdown_it import MarkdownIt

    for path in PAGES:
        tokens = MarkdownIt().parse(path.read_text(encoding="utf-8"))
        assert [t.content for t in tokens if t.type == "code_block"] == [], path.name


def test_a_block_that_does_not_run_says_why_in_words():
    every = [block for found in EXAMPLES.values() for block in found if block.why]
    assert [str(block) for block in every if len(block.why.split()) < 3] == []


def test_every_scene_is_of_a_page_that_is_there():
    assert [name for name in SCENES if name not in EXAMPLES] == []


@pytest.mark.parametrize(
    "block",
    [
        block
        for found in EXAMPLES.values()
        for block in found
        if block.language == "yaml"
        and not block.why
        and any(block.text.startswith(f"{key}:") or f"\n{key}:" in block.text for key in USER_KEYS)
    ],
    ids=str,
)
def test_what_is_shown_of_a_configuration_file_is_taken_as_it_stands(block, tmp_path):
    file = tmp_path / "config.yaml"
    file.write_text(block.text, encoding="utf-8")
    assert read_configuration(file, tmp_path).problems == ()
