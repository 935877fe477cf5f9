"""The pictures of the documentation: each is one that the script takes, small, and shown."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

FOLDER = Path(__file__).parents[1]
IMAGES = FOLDER / "docs" / "images"
if not IMAGES.is_dir():
    pytest.skip("the pictures come with the source tree", allow_module_level=True)

from docs.screenshot_states import STATES, named  # noqa: E402  # only where they are
from docs.screenshots import LARGEST  # noqa: E402  # as above

PAGE = (FOLDER / "docs" / "rendering.md").read_text(encoding="utf-8")
REFERENCE = re.compile(r"!\[([^\]]+)\]\((?:docs/)?images/([\w-]+)\.png\)")


def test_each_state_has_a_picture_and_each_picture_is_of_a_state():
    assert {path.stem for path in IMAGES.glob("*.png")} == {state.name for state in STATES}


def test_the_page_shows_each_state_with_its_caption():
    shown = {name: caption for caption, name in REFERENCE.findall(PAGE)}
    assert shown == {state.name: state.caption for state in STATES}


def test_no_page_shows_a_picture_that_is_not_there():
    for page in [FOLDER / "README.md", *FOLDER.glob("docs/*.md")]:
        names = [name for _, name in REFERENCE.findall(page.read_text(encoding="utf-8"))]
        assert [name for name in names if not (IMAGES / f"{name}.png").is_file()] == []


def test_pictures_are_small():
    assert [p.name for p in IMAGES.glob("*.png") if p.stat().st_size > LARGEST] == []


def test_a_state_that_is_not_there_is_said():
    with pytest.raises(SystemExit, match="there are: readme"):
        named("nothing")
