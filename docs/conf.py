"""Sphinx's configuration of the documentation site: MyST pages, the theme furo, nothing remote.

Build it with `python -m sphinx -W --keep-going docs OUTPUT`.
"""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from sphinx.application import Sphinx

HERE = Path(__file__).parent
sys.path.insert(0, str(HERE.parent))

from agent_magics import __version__  # noqa: E402  # the tree that this file lies in
from docs.cells import CellLexer  # noqa: E402  # likewise
from docs.navigation import (  # noqa: E402  # likewise
    REPOSITORY,
    with_includes,
    with_navigation,
    with_repository_links,
)

project = "agent_magics"
author = "The agent_magics developers"
copyright = author  # noqa: A001  # Sphinx reads this name
version = release = __version__

extensions = ["myst_parser"]
source_suffix = {".md": "markdown"}
exclude_patterns = ["_build", "**/__pycache__", "generating", "examples"]
myst_heading_anchors = 4
highlight_language = "text"

html_theme = "furo"
html_title = f"agent_magics {__version__}"
html_copy_source = False
html_show_sourcelink = False
html_last_updated_fmt = None
html_static_path = ["_static"]
html_css_files = ["site.css"]
html_theme_options = {
    "source_repository": f"{REPOSITORY}/",
    "source_branch": "main",
    "source_directory": "docs/",
}


def read(_app: Sphinx, page: str, source: list[str]) -> None:
    """Change a page's text before it is parsed."""
    text = with_includes(source[0], HERE)
    source[0] = with_repository_links(with_navigation(text) if page == "index" else text)


def setup(app: Sphinx) -> None:
    """Called by Sphinx."""
    # Cells are fenced as Python, which code-hosting sites know; here magics are understood, too.
    app.add_lexer("python", CellLexer)
    app.connect("source-read", read)
