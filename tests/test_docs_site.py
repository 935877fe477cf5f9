"""The documentation as a site: it builds without a warning and loads nothing from elsewhere.

Its links lead somewhere, here and on a code-hosting site.
"""

from __future__ import annotations

import html.parser
import itertools
import json
import re
import shutil
import subprocess
import sys
from dataclasses import dataclass, field
from pathlib import Path
from urllib.parse import unquote, urlsplit

import pytest
from markdown_it import MarkdownIt

from tests.docskit import DOCS, OF_THE_SITE, PAGES, ROOT
from tests.environments import unavailable

if not PAGES:
    pytest.skip("the pages come with the source tree", allow_module_level=True)

from docs.navigation import chapters, with_includes, with_navigation, with_repository_links

INDEX = (DOCS / "index.md").read_text(encoding="utf-8")
READ_TOO = (ROOT / "ARCHITECTURE.md", ROOT / "CHANGELOG.md")


@pytest.fixture(scope="session")
def site(tmp_path_factory) -> Path:
    """The built pages."""
    output = tmp_path_factory.mktemp("site")
    # -W: a warning is an error; -n: so is a reference to nothing; -E: nothing of earlier builds.
    words = ["-W", "-n", "-E", "-q", "--keep-going", "-d", tmp_path_factory.mktemp("trees")]
    done = subprocess.run(
        [str(w) for w in (sys.executable, "-m", "sphinx", *words, DOCS, output)],
        capture_output=True,
        text=True,
        encoding="utf-8",
        check=False,
        cwd=ROOT,
    )
    if "No module named" in done.stderr:
        unavailable(f"the site is built with the extra docs: {done.stderr.strip()}")
    assert done.returncode == 0, done.stderr
    return output


def test_every_page_is_built_without_a_warning_and_is_in_the_navigation(site):
    home = (site / "index.html").read_text(encoding="utf-8")
    for path in OF_THE_SITE:
        name = path.relative_to(DOCS).with_suffix(".html").as_posix()
        assert (site / name).is_file(), name
        assert name == "index.html" or f'href="{name}"' in home, f"{name} is in no navigation"


@dataclass
class Loads(html.parser.HTMLParser):
    """What a page loads by itself, as opposed to what it links to."""

    found: list[str] = field(default_factory=list)

    def __post_init__(self) -> None:
        super().__init__()

    def handle_starttag(self, tag: str, attributes: list[tuple[str, str | None]]) -> None:
        named = dict(attributes)
        self.found += [
            named[key] or "" for key in ("src", "srcset", "poster", "data") if key in named
        ]
        if tag == "link" and "href" in named:
            self.found.append(named["href"] or "")
        self.found += re.findall(r"url\(([^)]*)\)", named.get("style") or "")


def test_no_page_loads_anything_from_elsewhere(site):
    remote = re.compile(r"^\s*['\"]?(?:[a-z]+:)?//", re.IGNORECASE)
    for page in site.rglob("*.html"):
        loads = Loads()
        loads.feed(page.read_text(encoding="utf-8"))
        assert [what for what in loads.found if remote.match(what)] == [], page.name
    for sheet in site.rglob("*.css"):
        text = re.sub(r"/\*.*?\*/", "", sheet.read_text(encoding="utf-8"), flags=re.DOTALL)
        found = re.findall(r"(?:url\(|@import)\s*([^);]+)", text)
        assert [what for what in found if remote.match(what)] == [], sheet.name


def test_what_a_page_loads_is_there(site):
    for page in site.rglob("*.html"):
        loads = Loads()
        loads.feed(page.read_text(encoding="utf-8"))
        for what in loads.found:
            path = unquote(urlsplit(what).path)
            if path and not what.startswith("data:"):
                assert (page.parent / path).exists(), f"{page.name}: {what}"


@pytest.mark.browser
def test_in_a_browser_no_page_loads_anything_scrolls_sideways_or_fails(site):
    chromium = shutil.which("chromium")
    if chromium is None:
        unavailable("chromium is not on PATH")
    done = subprocess.run(
        [sys.executable, "-m", "tests.docs_chromium", str(site), chromium],
        capture_output=True,
        text=True,
        encoding="utf-8",
        check=True,
        cwd=ROOT,
    )
    assert json.loads(done.stdout) == []


def slugs(text: str) -> set[str]:
    """The anchors of a page's headings, as code-hosting sites and MyST make them."""
    found: dict[str, int] = {}
    result = set()
    tokens = MarkdownIt("commonmark").enable("table").parse(text)
    for opening, inline in itertools.pairwise(tokens):
        if opening.type != "heading_open":
            continue
        words = "".join(child.content for child in inline.children or ())
        slug = re.sub(r"[^\w\- ]", "", words.lower()).replace(" ", "-")
        count = found.get(slug, 0)
        found[slug] = count + 1
        result.add(f"{slug}-{count}" if count else slug)
    return result


def links(text: str) -> list[str]:
    """Where the links and pictures of a page lead."""
    found = []
    for token in MarkdownIt("commonmark").enable("table").parse(text):
        for child in token.children or ():
            target = child.attrs.get("href", child.attrs.get("src"))
            if target is not None:
                found.append(str(target))
    return found


@pytest.mark.parametrize("path", [*PAGES, *READ_TOO], ids=lambda path: path.name)
def test_links_lead_to_files_and_headings_that_are_there(path):
    for target in links(path.read_text(encoding="utf-8")):
        parts = urlsplit(target)
        if parts.scheme or parts.netloc:
            continue
        there = (path.parent / unquote(parts.path)).resolve() if parts.path else path
        assert there.exists(), target
        assert there.is_relative_to(ROOT), target
        if parts.fragment and there.suffix == ".md":
            assert parts.fragment in slugs(there.read_text(encoding="utf-8")), target


def test_each_page_has_one_heading_of_the_first_level():
    for path in PAGES:
        tokens = MarkdownIt().parse(path.read_text(encoding="utf-8"))
        assert [t.tag for t in tokens if t.type == "heading_open"].count("h1") == 1, path.name


def test_a_page_is_put_into_the_navigation_by_one_line():
    text = "# Home\n\n## Use\n\n- [One](one.md): the first\n"
    more = text + "- [Two](sub/two.md): the second\n"
    assert [chapter.pages for chapter in chapters(more)] == [(("One", "one"), ("Two", "sub/two"))]
    assert with_navigation(more).endswith(
        "\n```{toctree}\n:hidden:\n:caption: Use\n\nOne <one>\nTwo <sub/two>\n```\n"
    )


def test_the_index_lists_each_page_once():
    listed = [page for chapter in chapters(INDEX) for _, page in chapter.pages]
    there = {path.relative_to(DOCS).with_suffix("").as_posix() for path in OF_THE_SITE}
    assert there - {"index"} - set(listed) == set(), "give each a line in docs/index.md"
    assert sorted(listed) == sorted(there - {"index"})


def test_links_to_files_beside_the_pages_lead_to_the_repository_but_not_those_in_code(tmp_path):
    text = "[it](../README.md#x)\n\n```markdown\n[it](../README.md)\n```\n\n[more](../a/b.py)\n"
    changed = with_repository_links(text)
    assert "/blob/main/README.md#x)" in changed
    assert "/blob/main/a/b.py)" in changed
    assert "```markdown\n[it](../README.md)\n```" in changed


def test_a_page_takes_another_file_in_without_its_heading(tmp_path):
    words = "# Map\n\n## Part\n\n[a](docs/a.md) [b](b.py) [c](https://c.org) [d](#part)\n"
    (tmp_path / "map.md").write_text(words, encoding="utf-8")
    assert with_includes("# Here\n\n<!-- include: map.md -->\n", tmp_path) == (
        "# Here\n\n\n## Part\n\n[a](a.md) [b](../b.py) [c](https://c.org) [d](#part)\n\n"
    )
