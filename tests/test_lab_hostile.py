"""Texts that want to be more than text, everywhere a model, a file or a server can put them.

Nothing of them becomes active: live, in a notebook opened again with and without trust, and in an
exported page. Active is: a script that ran, a dialog, a request to another address, an element out
of its place, a style of the page that changed, a control that is not ours.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

import nbformat
import pytest

from tests.conftest import loading
from tests.environments import NEWEST, exported_page
from tests.hostile import HOSTILE
from tests.lab_endpoint import Endpoint, Says
from tests.lab_notebook import Notebook
from tests.labkit import Lab

pytestmark = [pytest.mark.browser, pytest.mark.kernel]

RUN = "window.pwned=1"
BEACON = "http://127.0.0.1:9/beacon"
"""Nothing listens there; that a page asks is enough."""

ACTIVE = (
    f"<script>{RUN}</script>",
    f"<img src=x onerror={RUN}>",
    f"<svg/onload={RUN}>",
    f"<details open ontoggle={RUN}>",
    f'<iframe srcdoc="<script>parent.{RUN}</script>"></iframe>',
    f"<a href='javascript:{RUN}'>link</a> [link](javascript:{RUN}) [l](data:text/html,x)",
    f"![i]({BEACON}) <img src={BEACON}> [![i]({BEACON})]({BEACON})",
    f"<link rel=stylesheet href={BEACON}><style>body{{background:red!important}}</style>",
    '<div style="position:fixed;inset:0;z-index:99999;background:red">over</div>',
    f"<form action={BEACON}><input autofocus onfocus={RUN}><button>go</button></form>",
    '<button data-commandlinker-command="apputils:change-theme" '
    'data-commandlinker-args=\'{"theme":"JupyterLab Dark"}\'>Approve</button>',
    f"<meta http-equiv=refresh content='0;url={BEACON}'><base href={BEACON}>",
    rf"$\href{{javascript:{RUN}}}{{x}}$ $\style{{position:fixed}}{{y}}$ $\unicode{{x3c}}$",
    f"</pre></code></details></div></textarea></title>--><img src=x onerror={RUN}>",
    f"```\n</code></pre><script>{RUN}</script>",
    f'<https://example.org/"onmouseover={RUN}> &lt;script&gt;{RUN}&lt;/script&gt;',
    f"\x1b]8;;javascript:{RUN}\x07link\x1b]8;;\x07 \x1b[8mhidden\x1b[0m \u202eright to left",
)
ALL = "\n\n".join(ACTIVE)
MORE = "\n\n".join(text for _, text in HOSTILE)
NAME = f"<img src=x onerror={RUN}>.txt"
"""Fits a file's name."""

SETUP = f"""\
import pathlib, subprocess
NAME, ALL = {NAME!r}, {ALL!r}
pathlib.Path(NAME).write_text(ALL)
pathlib.Path("AGENTS.md").write_text(ALL)
skill = pathlib.Path("skills/hostile")
skill.mkdir(parents=True)
head = "".join("  " + line + "\\n" for line in ALL.replace(chr(27), "").replace(chr(7), "")
               .replace(chr(0x202e), "").splitlines())
skill.joinpath("SKILL.md").write_text(
    "---\\nname: hostile\\ndescription: |\\n" + head + "---\\n" + ALL)
broken = pathlib.Path("skills") / NAME
broken.mkdir()
broken.joinpath("SKILL.md").write_text("---\\nname: [" + ALL)
for words in ("init -q", "config user.email a@b.c", "config user.name n"):
    subprocess.run(["git", *words.split()], check=True)"""

CALLS = Says(
    ALL,
    (
        ("ls", {"path": "."}),
        ("read", {"path": NAME}),
        ("glob", {"pattern": f"*{NAME}"}),
        ("read", {"path": f"{NAME}.missing"}),
        (f"<img src=x onerror={RUN}>", {"x": ALL}),
        ("ls", f'{{"{RUN}": "<img src=x onerror={RUN}>"'),
        ("write", {"path": f"new-{NAME}", "content": ALL}),
        ("python", {"code": f"print(ALL)\nraise ValueError(ALL)  # {ALL.splitlines()[0]}"}),
        ("run_shell", {"command": f"cat *.txt # {ACTIVE[1]}"}),
    ),
)
CELLS = [
    SETUP,
    "%skills",
    "%skills hostile",
    "%skills " + NAME,
    "%use hostile",
    "%agent",
    "%%agent --preview\n" + ALL,
    "%agent allow python",
    "%agent allow run_shell",
    "%%agent --out result\n" + ALL,
    "result",
    "%agent policy",
    "%use " + NAME,
    "%agent " + NAME,
    "%%agent\nFail.",
    f"%agent model {NAME.replace(' ', '/')}",
    "%agent",
]
DETAILS, USE, PREVIEW, TURN, RESULT, FAILING = 3, 5, 7, 10, 11, 15

UNFOLD = "() => { for (const d of document.querySelectorAll('details')) d.open = true; }"
EFFECTS = """() => {
  const inside = document.querySelectorAll('.jp-OutputArea-output *');
  const found = [];
  if (window.pwned || window.hostile) found.push('a script ran');
  const active = 'script, iframe, object, embed, form, base, meta, link, svg, video, audio, style';
  for (const node of inside) {
    const control = node.matches('button.jupyter-button, .widget-text > input');
    const editor = node.matches('style') && node.innerText.startsWith('.agent-magics-editor ');
    const ours = node.closest('.jupyter-widgets') && (control || editor);
    if (node.matches(active) && !ours && !node.closest('mjx-container'))
      found.push(node.outerHTML.slice(0, 200));
    if (node.matches('button, input') && !ours) found.push(node.outerHTML.slice(0, 200));
    if (node.matches('img')) found.push(node.outerHTML.slice(0, 200));
    const at = getComputedStyle(node).position;
    if (at === 'fixed' || at === 'sticky') found.push(at + node.outerHTML.slice(0, 200));
    for (const one of node.attributes) {
      if (one.name.startsWith('on')) found.push(one.name + node.outerHTML.slice(0, 200));
      if (one.name.startsWith('data-commandlinker')) found.push(node.outerHTML.slice(0, 200));
      const address = ['href', 'src', 'xlink:href'].includes(one.name);
      // Lab itself makes links of what looks like one in plain text.
      const labs = node.closest('[data-mime-type="text/plain"], [data-mime-type*="jupyter.std"]');
      if (address && !labs && !/^(https?:|mailto:|#)/.test(one.value))
        found.push(one.value.slice(0, 200));
    }
  }
  const body = getComputedStyle(document.body).backgroundColor;
  if (body === 'rgb(255, 0, 0)') found.push('the page is red');
  return found;
}"""


def check(page: Notebook) -> None:
    """Nothing of it is active, in any cell, folded or not."""
    for cell in range(len(CELLS) + 1):
        page.reveal(cell)
        page.page.evaluate(UNFOLD)
        assert page.page.evaluate(EFFECTS) == []
    assert page.dialogs == []
    ours = (page.address, "data:", "blob:")
    assert [url for url in page.requests if not url.startswith(ours)] == []
    assert page.page.evaluate("() => document.body.dataset.jpThemeLight") == "true"


@pytest.fixture(scope="module")
def played(lab: Lab, endpoint: Endpoint) -> Iterator[Notebook]:
    """The notebook after a whole hostile conversation, still open."""
    failing = Says(f"broken \x1b[2J\x1b]0;x\x07\u202e {ALL}", status=400)
    endpoint.script("hostile", CALLS, Says(MORE), failing)
    cells = [loading(endpoint.url, "hostile"), *CELLS]
    page = lab.notebook("hostile", cells, f"ipykernel-{NEWEST}", own_page=True)
    for cell in range(USE):
        page.done(cell)
    # A project's skill is shown whole before it is used, whatever stands in it.
    page.run(USE)
    page.armed(USE, "Approve")
    page.screenshot("hostile-trust")
    assert page.page.evaluate(EFFECTS) == []
    page.click(USE, "Approve")
    page.wait_idle(USE)
    for cell in range(USE + 1, TURN):
        page.done(cell)
    page.run(TURN)
    page.armed(TURN, "Approve")
    page.button(TURN, "Approve").scroll_into_view_if_needed()
    page.screenshot("hostile-card")
    assert page.page.evaluate(EFFECTS) == []
    page.click(TURN, "Edit…")
    assert ALL.splitlines()[0] in page.output(TURN).locator("textarea").input_value()
    page.click(TURN, "Back")
    page.click(TURN, "Deny…")
    page.output(TURN).get_by_role("textbox").fill(ACTIVE[1])
    page.click(TURN, "Deny")
    page.wait_idle(TURN)
    for cell in range(TURN + 1, len(cells)):
        page.done(cell)
    yield page
    lab.close(page)


def test_the_check_itself_sees_what_lab_lets_through(lab):
    raw = f"from IPython.display import Markdown\nMarkdown({ALL!r})"
    page = lab.notebook("let-through", [raw], f"ipykernel-{NEWEST}", own_page=True)
    page.done(0)
    page.until(lambda: "a script ran" in page.page.evaluate(EFFECTS), lambda: "an effect")
    page.until(lambda: BEACON in page.requests, lambda: "a request")
    lab.close(page)


def test_nothing_is_active_in_the_running_notebook(played):
    check(played)
    played.reveal(TURN)
    played.screenshot("hostile-live")


def test_the_texts_are_all_there_as_text(played):
    played.reveal(TURN)
    played.page.evaluate(UNFOLD)
    shown = played.text(TURN)
    for text in (NAME, f"{NAME}.missing", f"<img src=x onerror={RUN}>", "ValueError"):
        assert text in shown
    assert f"<img src=x onerror={RUN}>" in played.text(FAILING)


@pytest.mark.parametrize("cell", [DETAILS, PREVIEW], ids=["skill", "preview"])
def test_lists_and_previews_show_each_character_and_set_no_formulas(played, cell):
    shown = played.text(cell)
    for line in ACTIVE[-5].split("$ $"):
        assert line in shown
    assert not re.search("[\x1b\u202e]", shown)


def test_a_result_that_is_looked_at_shows_each_character(played):
    outputs = played.save().cells[RESULT].outputs
    assert not re.search("[\x1b\u202e]", outputs[0].data["text/plain"])


def test_a_failing_endpoint_ends_the_cell_with_its_words_as_text(played):
    assert "ModelError" in played.text(FAILING)
    error = played.save().cells[FAILING].outputs[-1]
    assert error.output_type == "error"
    assert not re.search("[\x1b\x07\u202e]", "".join([error.evalue, *error.traceback]))


def test_nothing_is_active_when_it_is_opened_again(played, lab):
    played.save()
    page = lab.open(played.path, kernel=False, own_page=True)
    check(page)
    page.wait_text(TURN, "<script>")
    lab.close(page)


def test_nothing_is_active_for_somebody_who_does_not_trust_it(played, lab):
    notebook = played.save()
    notebook.cells[1].source += "\n"
    nbformat.write(notebook, played.folder / "foreign.ipynb")
    page = lab.open(f"{played.folder.name}/foreign.ipynb", kernel=False, own_page=True)
    check(page)
    page.wait_text(TURN, "<script>")
    assert not page.trusted(TURN)
    page.screenshot("hostile-untrusted")
    lab.close(page)


def test_nothing_is_active_in_an_exported_page(played, lab, tmp_path):
    played.save()
    made = exported_page(played.file, tmp_path)
    page = lab.browser.new_page()
    requests: list[str] = []
    dialogs: list[str] = []
    page.on("request", lambda request: requests.append(request.url))
    page.on("dialog", lambda dialog: (dialogs.append(dialog.message), dialog.dismiss()))
    page.goto(made.as_uri(), wait_until="domcontentloaded")
    page.evaluate(UNFOLD)
    assert "<script>" in page.evaluate("() => document.body.innerText")
    assert page.evaluate("() => window.pwned || window.hostile || null") is None
    assert dialogs == []
    assert [url for url in requests if "beacon" in url or "evil.invalid" in url] == []
    page.close()


def test_the_file_holds_no_markup_of_theirs(played):
    notebook = played.save()
    for cell in notebook.cells:
        for output in cell.get("outputs", []):
            html = output.get("data", {}).get("text/html", "")
            assert not re.search(r"<(script|img|iframe|form|style|link|meta|base|svg)\b", html)
            assert "text/markdown" not in output.get("data", {})


SHOWS = f"""\
import base64
from agent_magics.marking import tool
from agent_magics.messages import Display
from agent_magics.tool import ToolOutput

ALL = {ALL!r}
BEACON = {BEACON!r}

@tool
def show_it() -> ToolOutput:
    '''Show everything.'''
    svg = "<svg xmlns='http://www.w3.org/2000/svg' width='9' height='9' onload='{RUN}'>"
    svg += f"<script>{RUN}</script><image href='{{BEACON}}'/></svg>"
    bundles = (
        {{"text/html": "<table><tr><td>kept cell</td></tr></table>" + ALL, "text/plain": ALL}},
        {{"text/markdown": ALL, "application/javascript": "{RUN}", "text/plain": "only text"}},
        {{"image/svg+xml": svg}},
        {{"text/html": f"<img src={{BEACON}}>", "text/latex": "$x$"}},
        {{"image/png": '"><script>{RUN}</script>', "application/vnd.vega.v5+json": BEACON}},
    )
    return ToolOutput("shown", tuple(Display("bundle", data=data) for data in bundles))
"""
SHOWING = f"""\
import pathlib
folder = pathlib.Path("skills/shows")
folder.mkdir(parents=True)
folder.joinpath("SKILL.md").write_text("---\\nname: shows\\ndescription: Shows.\\n---\\nShow it.")
folder.joinpath("tools.py").write_text({SHOWS!r})
%config AgentMagics.skill_code = "allow"
%use shows
%agent allow show_it"""


@pytest.fixture(scope="module")
def shown(lab: Lab, endpoint: Endpoint) -> Iterator[Notebook]:
    """A notebook in which a skill's tool has shown all that acts."""
    endpoint.script("shows", Says("", (("show_it", {}),)), Says("It was shown."))
    cells = [loading(endpoint.url, "shows"), SHOWING, "%%agent\nShow it."]
    page = lab.notebook("shows", cells, f"ipykernel-{NEWEST}", own_page=True)
    page.done(0)
    page.done(1)
    page.done(2)
    page.wait_text(2, "It was shown.")
    yield page
    lab.close(page)


ONLY_DRAWINGS = """() => [...document.querySelectorAll('.jp-OutputArea-output img')]
  .filter(node => !node.src.startsWith('data:image/svg+xml;base64,')).length"""


def inert_in(page: Notebook) -> None:
    """Nothing that the tool showed acts; a drawing is a picture."""
    page.reveal(2)
    page.page.evaluate(UNFOLD)
    effects = page.page.evaluate(EFFECTS)
    # The picture and its address, each of which is the only one of its kind.
    ours = ('<img alt="figure" src="data:image/svg', "data:image/svg+xml;base64,")
    assert [effect for effect in effects if not effect.startswith(ours)] == []
    assert page.page.evaluate(ONLY_DRAWINGS) == 0
    assert page.dialogs == []
    known = (page.address, "data:", "blob:")
    assert [url for url in page.requests if not url.startswith(known)] == []


def test_what_a_skills_tool_shows_cannot_act_in_the_running_notebook(shown):
    inert_in(shown)
    for words in ("kept cell", "shown by skill shows", "only text"):
        assert words in shown.text(2)
    shown.screenshot("hostile-tool")


def test_nor_for_somebody_who_does_not_trust_the_file(shown, lab):
    notebook = shown.save()
    notebook.cells[1].source += "\n"
    nbformat.write(notebook, shown.folder / "foreign.ipynb")
    page = lab.open(f"{shown.folder.name}/foreign.ipynb", kernel=False, own_page=True)
    page.wait_text(2, "kept cell")
    inert_in(page)
    lab.close(page)


def test_nor_in_a_page_made_of_it(shown, lab, tmp_path):
    shown.save()
    made = exported_page(shown.file, tmp_path)
    page = lab.browser.new_page()
    requests: list[str] = []
    page.on("request", lambda request: requests.append(request.url))
    page.goto(made.as_uri(), wait_until="domcontentloaded")
    page.evaluate(UNFOLD)
    assert "kept cell" in page.evaluate("() => document.body.innerText")
    assert page.evaluate("() => window.pwned || window.hostile || null") is None
    assert [url for url in requests if "beacon" in url or "evil.invalid" in url] == []
    page.close()
