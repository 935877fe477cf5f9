"""What a cell is to somebody who sees little of it: by keyboard, aloud, narrow, in contrast."""

from __future__ import annotations

import re
from collections.abc import Iterator

import pytest

from docs.screenshot_states import named
from docs.screenshots import LARGEST, taken
from tests.conftest import loading
from tests.environments import NEWEST
from tests.lab_endpoint import Endpoint, Says
from tests.lab_notebook import Notebook
from tests.labkit import Lab

pytestmark = [pytest.mark.browser, pytest.mark.kernel]

NAME = "a-file-with-a-name-that-is-much-longer-than-any-window-of-a-telephone-is-wide.txt"
CALLS = Says(
    "I write and look.",
    (
        (
            "todo",
            {"plan": [{"step": "Write", "state": "done"}, {"step": "Look", "state": "active"}]},
        ),
        ("ls", {"path": "."}),
        ("read", {"path": "missing.txt"}),
        ("write", {"path": NAME, "content": "one\n" * 40}),
    ),
    reasoning="First I write.",
)


@pytest.fixture(scope="module")
def asking(lab: Lab, endpoint: Endpoint) -> Iterator[Notebook]:
    """A cell with a plan, calls that ran and failed, reasoning, and an open card."""
    endpoint.script("reading", CALLS, Says("All done."))
    cells = [loading(endpoint.url, "reading"), "%%agent\nDo it."]
    page = lab.notebook("reading", cells, f"ipykernel-{NEWEST}", own_page=True)
    page.done(0)
    page.page.evaluate("() => window.jupyterapp.commands.execute('application:toggle-left-area')")
    page.run(1)
    page.armed(1, "Approve")
    yield page
    lab.close(page)


def spoken(page: Notebook) -> str:
    """The cell's output as the accessibility tree has it."""
    return str(page.output(1).aria_snapshot())


def test_every_sign_has_a_word_and_every_control_a_name(asking):
    told = spoken(asking)
    for part in (
        'img "done"',
        'img "failed"',
        'img "waiting for your answer"',
        'img "active"',
        'group "Approval"',
        "listitem",
        'button "Approve"',
        'button "Edit…"',
        'button "Deny…"',
    ):
        assert part in told, told
    assert "button:" not in told


def test_the_card_is_reached_and_answered_in_the_order_in_which_it_is_read(asking):
    asking.page.evaluate(
        "() => document.querySelector('.agent-magics-card .jupyter-button').focus()"
    )
    names = []
    for _ in range(5):
        names.append(asking.page.evaluate("() => document.activeElement.innerText"))
        asking.page.keyboard.press("Tab")
    choices = ["Approve", "Always", "Always", "Edit…", "Deny…"]
    assert [re.split("[: ]", name)[0] for name in names] == choices


def test_the_focus_is_seen(asking):
    button = asking.button(1, "Approve")
    asking.page.keyboard.press("Tab")  # what is focused by keyboard is marked, not what is clicked
    button.focus()
    style = button.evaluate(
        "node => ['outlineStyle', 'outlineWidth'].map(n => getComputedStyle(node)[n]).join(' ')"
    )
    assert style == "solid 2px"


def test_nothing_moves(asking):
    moving = asking.output(1).evaluate(
        "area => [...area.querySelectorAll('*')].filter(node => {"
        " const s = getComputedStyle(node);"
        " return s.animationName !== 'none'; }).map(node => node.outerHTML.slice(0, 200))"
    )
    assert moving == []


def test_in_a_window_of_320_pixels_nothing_is_cut_off_and_no_button_hides_its_words(asking):
    asking.page.set_viewport_size({"width": 386, "height": 1500})
    try:
        asking.page.wait_for_timeout(300)
        wide = asking.output(1).evaluate(
            "area => [...area.querySelectorAll('.jp-OutputArea-output *')].filter(node => {"
            " const box = node.getBoundingClientRect();"
            " const all = node.closest('.jp-OutputArea-output').getBoundingClientRect();"
            " return box.width > 0 && box.right > all.right + 1;"
            "}).map(node => node.outerHTML.slice(0, 200))"
        )
        assert wide == []
        cut = asking.output(1).evaluate(
            "area => [...area.querySelectorAll('button')].filter(node =>"
            " node.scrollWidth > node.clientWidth + 1 || node.scrollHeight > node.clientHeight + 1)"
            ".map(node => node.innerText)"
        )
        assert cut == []
    finally:
        asking.page.set_viewport_size({"width": 1250, "height": 900})


def test_buttons_have_edges_in_high_contrast(asking):
    asking.page.emulate_media(forced_colors="active")
    try:
        width = asking.button(1, "Deny…").evaluate("node => getComputedStyle(node).borderTopWidth")
        assert width == "1px"
    finally:
        asking.page.emulate_media(forced_colors="none")


def test_what_scrolls_is_reached_by_keyboard_and_has_a_name(asking):
    asking.click(1, "Approve")
    asking.wait_idle(1)
    asking.page.evaluate(
        "() => { for (const d of document.querySelectorAll('details')) d.open = true; }"
    )
    assert 'group "changes"' in spoken(asking)
    asking.screenshot("reading")


def test_a_picture_of_the_documentation_can_be_taken_again(lab, endpoint):
    picture = taken(named("plan"), lab, endpoint)
    assert picture.startswith(b"\x89PNG")
    assert 3_000 < len(picture) <= LARGEST
