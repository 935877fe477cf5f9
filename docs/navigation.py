"""What `conf.py` changes in the pages' text, so that they read well on a code-hosting site too.

Pure functions on Markdown text. The lists of `index.md` are the site's navigation: a page is put
into it with one line. Knows nothing of Sphinx.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

REPOSITORY = "https://github.com/agent-magics/agent_magics"
FENCE = re.compile(r"^(?:`{3,}|~{3,})", re.MULTILINE)
ENTRY = re.compile(r"^- \[(?P<title>[^\]]+)\]\((?P<page>[\w./-]+)\.md\)")
INCLUDE = re.compile(r"^<!-- include: (?P<file>[\w./-]+) -->$", re.MULTILINE)
RELATIVE = re.compile(r"\]\((?![a-z]+:|#)(?P<path>[^)\s]+)\)")
OUTSIDE = re.compile(r"\]\(\.\./(?P<path>[^)\s]+)\)")


@dataclass(frozen=True, slots=True)
class Chapter:
    """One heading of the navigation.

    Args:
        title: As it stands in `index.md`.
        pages: Titles and names of pages without `.md`, in order.
    """

    title: str
    pages: tuple[tuple[str, str], ...]


def chapters(index: str) -> tuple[Chapter, ...]:
    """The navigation: each second-level heading of the index with the pages listed below it."""
    found: list[Chapter] = []
    for part in re.split(r"^## ", index, flags=re.MULTILINE)[1:]:
        title, _, body = part.partition("\n")
        entries = (ENTRY.match(line) for line in body.splitlines())
        pages = tuple((entry["title"], entry["page"]) for entry in entries if entry)
        if pages:
            found.append(Chapter(title.strip(), pages))
    return tuple(found)


def with_navigation(index: str) -> str:
    """The index with a hidden table of contents for each of its chapters."""
    trees = (
        "\n```{toctree}\n:hidden:\n:caption: "
        + chapter.title
        + "\n\n"
        + "".join(f"{title} <{page}>\n" for title, page in chapter.pages)
        + "```\n"
        for chapter in chapters(index)
    )
    return index + "".join(trees)


def with_includes(text: str, folder: Path) -> str:
    """The page with the files in it that `<!-- include: FILE -->` names, without their headings.

    Args:
        text: A page.
        folder: What the files' names are relative to.
    """

    def included(match: re.Match[str]) -> str:
        whole = (folder / match["file"]).read_text(encoding="utf-8")
        body = re.sub(r"\A# .*\n", "", whole)
        return RELATIVE.sub(lambda link: f"]({_from_docs(link['path'])})", body)

    return INCLUDE.sub(included, text)


def _from_docs(path: str) -> str:
    """A path that is relative to the repository, relative to its folder `docs`."""
    return path.removeprefix("docs/") if path.startswith("docs/") else f"../{path}"


def with_repository_links(text: str) -> str:
    """The page with links to files beside `docs/` as links to the repository."""
    return "".join(
        piece if code else OUTSIDE.sub(rf"]({REPOSITORY}/blob/main/\g<path>)", piece)
        for piece, code in _pieces(text)
    )


def _pieces(text: str) -> Iterator[tuple[str, bool]]:
    """The text in order, and of each piece whether it is fenced code."""
    code, piece = False, ""
    for line in text.splitlines(keepends=True):
        if FENCE.match(line) is None:
            piece += line
        elif code:
            yield piece + line, True
            code, piece = False, ""
        else:
            yield piece, False
            code, piece = True, line
    yield piece, code
