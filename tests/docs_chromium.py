"""Opens every page of a built site in Chromium, wide and narrow, and prints what is wrong, as JSON.

A program of its own: Playwright's loop would stay on the thread of the tests.
"""

from __future__ import annotations

import json
import sys
from pathlib import Path

from playwright.sync_api import Page, Request, sync_playwright

SIZES = ((1280, 900), (390, 844))
"""A desktop and a telephone, in CSS pixels."""
TOO_WIDE = "document.documentElement.scrollWidth > document.documentElement.clientWidth"


def problems(site: Path, chromium: str) -> list[str]:
    """Requests that leave the folder, errors of scripts, pages that scroll sideways."""
    found: list[str] = []
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=chromium, args=["--no-sandbox"])
        for width, height in SIZES:
            page = browser.new_page(viewport={"width": width, "height": height})
            _listen(page, found)
            for path in sorted(site.rglob("*.html")):
                page.goto(path.as_uri())
                if page.evaluate(TOO_WIDE):
                    found.append(f"{path.name} scrolls sideways at {width} pixels")
        browser.close()
    return found


def _listen(page: Page, found: list[str]) -> None:
    def request(sent: Request) -> None:
        if not sent.url.startswith(("file:", "data:")):
            found.append(f"{page.url} loads {sent.url}")

    page.on("request", request)
    page.on("requestfailed", lambda sent: found.append(f"{page.url} lacks {sent.url}"))
    page.on("pageerror", lambda error: found.append(f"{page.url}: {error}"))


if __name__ == "__main__":
    print(json.dumps(problems(Path(sys.argv[1]), sys.argv[2])))
