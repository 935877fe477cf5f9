"""The saved notebook is the record: what stands in the file, in its page, and when it is opened."""

from __future__ import annotations

import json
import sys
from collections.abc import Iterator
from pathlib import Path

import nbformat
import pytest

from tests.conftest import loading
from tests.environments import NEWEST, SOURCES, exported_page
from tests.lab_endpoint import Endpoint, Says
from tests.labkit import Lab

pytestmark = [pytest.mark.browser, pytest.mark.kernel]

ANSWER = """\
## What I did

| call | result |
|---|---|
| `write` | one file |

```python
print("done")
```

The sum is $x^2 + 1$."""
ASKS = Says(
    "I write, compute and clean up.",
    (
        ("write", {"path": "notes/first.txt", "content": "one\ntwo\n"}),
        ("python", {"code": "answer = 6 * 7"}),
        ("run_shell", {"command": "echo gone > elsewhere.txt"}),
        ("read", {"path": "missing.txt"}),
    ),
)
DENIED, EDITED = "not here, please", "answer = 40 + 2"


class Saved:
    """One conversation with every kind of decision, saved."""

    def __init__(self, lab: Lab, endpoint: Endpoint) -> None:
        self.lab = lab
        endpoint.script("saved", ASKS, Says(ANSWER))
        cells = [loading(endpoint.url, "saved"), "%%agent\nDo it."]
        page = lab.notebook("saved", cells, f"ipykernel-{NEWEST}")
        page.done(0)
        page.run(1)
        page.click(1, "Approve")
        page.output(1).get_by_text("answer = 6 * 7").first.wait_for()
        page.click(1, "Edit…")
        page.output(1).locator("textarea").fill(json.dumps({"code": EDITED}))
        page.click(1, "Run edited")
        page.output(1).get_by_text("elsewhere.txt").first.wait_for()
        page.click(1, "Deny…")
        page.output(1).get_by_role("textbox").fill(DENIED)
        page.click(1, "Deny")
        page.wait_idle(1)
        page.wait_text(1, "What I did")
        page.screenshot("record-live")
        self.live = page.text(1)
        self.notebook = page.save()
        self.file = page.file
        self.path = page.path
        outputs = self.notebook.cells[1].outputs
        self.outputs = [one for one in outputs if one.output_type == "display_data"]
        self.strays = [one for one in outputs if one.output_type != "display_data"]
        lab.close(page)


@pytest.fixture(scope="module")
def saved(lab: Lab, endpoint: Endpoint) -> Iterator[Saved]:
    return Saved(lab, endpoint)


def test_the_file_is_a_valid_notebook_without_a_trace_of_widgets(saved):
    nbformat.validate(saved.notebook)
    assert "widget-view" not in nbformat.writes(saved.notebook)
    assert "widgets" not in saved.notebook.metadata
    assert {kind for output in saved.outputs for kind in output.data} == {"text/html", "text/plain"}


def test_nothing_but_the_turn_stands_below_the_cell(saved):
    assert saved.strays == []


def test_the_text_of_every_output_reads_as_a_record_by_itself(saved):
    text = "\n".join(output.data["text/plain"] for output in saved.outputs)
    for part in (
        "I write, compute and clean up.",
        "approved",
        "+one",
        "approved, edited",
        EDITED,
        "echo gone > elsewhere.txt",
        DENIED,
        "missing.txt",
        ANSWER,
        "saved",
    ):
        assert part in text, part
    assert all(output.data["text/plain"].strip() for output in saved.outputs)
    assert "<" not in text.replace("<details>", "")


def test_every_output_says_in_its_metadata_what_it_records(saved):
    records = [output.metadata["agent_magics"] for output in saved.outputs]
    assert all(record["version"] == 1 for record in records)
    calls = [record for record in records if record["kind"] == "call"]
    assert [call["tool"] for call in calls] == ["write", "python", "run_shell", "read"]
    assert [call["outcome"] for call in calls] == ["done", "done", "refused", "failed"]
    assert json.loads(calls[1]["answer"]["edited"]) == {"code": EDITED}
    assert calls[2]["answer"]["reason"] == DENIED


def test_the_file_names_no_folder_of_this_machine(saved):
    text = nbformat.writes(saved.notebook)
    for private in (saved.lab.root, saved.lab.home, SOURCES, Path.home(), Path(sys.prefix)):
        assert f"{private}/" not in text


def test_a_page_made_of_it_holds_the_whole_record(saved, tmp_path):
    html = exported_page(saved.file, tmp_path).read_text(encoding="utf-8")
    page = saved.lab.browser.new_page()
    page.set_content(html, wait_until="domcontentloaded")
    text = page.evaluate(
        "() => { for (const d of document.querySelectorAll('details')) d.open = true;"
        " return document.body.innerText; }"
    )
    page.screenshot(path=str(tmp_path / "page.png"))
    page.close()
    for part in ("What I did", "one file", "+one", "approved, edited", EDITED, DENIED):
        assert part in text, part
    assert "Loading widget" not in text


def test_it_reads_the_same_when_it_is_opened_again(saved):
    page = saved.lab.open(saved.path, kernel=False)
    page.wait_text(1, "What I did")
    assert page.text(1) == saved.live
    page.screenshot("record-reopened")
    saved.lab.close(page)


def test_it_reads_the_same_to_somebody_who_does_not_trust_it(saved):
    foreign = saved.file.parent / "foreign.ipynb"
    notebook = nbformat.read(saved.file, as_version=4)
    # Another content has another signature, and this Lab has signed the first only.
    notebook.cells[1].source += "\n"
    nbformat.write(notebook, foreign)
    page = saved.lab.open(f"{saved.file.parent.name}/foreign.ipynb", kernel=False)
    page.wait_text(1, "What I did")
    assert not page.trusted(1)
    assert page.text(1) == saved.live
    page.screenshot("record-untrusted")
    saved.lab.close(page)
