"""Makes the pictures of the documentation: JupyterLab in Chromium against a scripted endpoint.

    python -m docs.screenshots [FOLDER] [--only NAME]…

Run it from the source tree, with the extra `test` and Chromium installed. It writes one PNG for
each state of `docs/screenshot_states.py` into FOLDER (docs/images). Nothing outside this machine is
asked, no model answers, and no picture holds a time, an address or a folder of this machine.
"""

from __future__ import annotations

import argparse
import io
import socket
import sys
import tempfile
from pathlib import Path
from typing import Any

from docs.screenshot_states import STATES, State, named
from tests.environments import NEWEST
from tests.lab_endpoint import Endpoint
from tests.lab_notebook import CURRENT, Notebook
from tests.labkit import Lab

IMAGES = Path(__file__).parent / "images"
LARGEST = 120_000
"""Bytes of one picture."""
WIDTH, HEIGHT = 960, 2000
NARROW = 386
"""Lab's own bars take 66 pixels of it: the notebook gets 320."""
MODEL = "demo-model"
COLOURS = 255
"""Of a picture's palette: text and a few tints need no more."""
SETTLED = 400
"""Milliseconds for the page to draw what has just come."""

EXAMPLE = "models.example.org/v1"
RENAMED = """([old, name]) => {
  const nodes = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
  const shorter = [[old, name], [old.split('/')[0], name.split('/')[0]]];
  while (nodes.nextNode())
    for (const [from, to] of shorter)
      if (nodes.currentNode.data.includes(from))
        nodes.currentNode.data = nodes.currentNode.data.replaceAll(from, to);
}"""
"""Errors name the endpoint; it is another one in each run."""

SETUP = """\
import os
from agent_magics.quickstart import sample_repository
os.chdir(sample_repository('.'))
%load_ext agent_magics
%config AgentMagics.base_url = {url!r}
%config AgentMagics.times = False
%config AgentMagics.save_sessions = False
%agent model {model}
{more}"""


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("folder", nargs="?", type=Path, default=IMAGES)
    parser.add_argument("--only", action="append", default=[], metavar="NAME")
    options = parser.parse_args()
    wanted = [named(name) for name in options.only] or STATES
    options.folder.mkdir(parents=True, exist_ok=True)
    with (
        tempfile.TemporaryDirectory() as private,
        Endpoint() as endpoint,
        Lab(Path(private)) as lab,
    ):
        for state in wanted:
            path = options.folder / f"{state.name}.png"
            path.write_bytes(picture := taken(state, lab, endpoint))
            print(f"{path.name:24} {len(picture) / 1000:6.1f} kB", flush=True)


def taken(state: State, lab: Lab, endpoint: Endpoint) -> bytes:
    """The picture of a state, as the bytes of a PNG.

    Args:
        state: What to bring about.
        lab: A running one.
        endpoint: Answers as the state says.
    """
    model = MODEL
    endpoint.forget(model)
    endpoint.script(model, *state.says)
    setup = SETUP.format(url=endpoint.url, model=model, more=state.setup)
    page = lab.notebook(state.name, [setup, *state.cells], f"ipykernel-{NEWEST}")
    try:
        dressed(page.page, state)
        page.done(0)
        if "Error" in (said := page.text(0)):
            raise SystemExit(f"{state.name}: {said}")
        for cell in range(1, len(state.cells)):
            page.done(cell)
        page.run(len(state.cells))
        state.drive(page, len(state.cells))
        picture = drawn(page, state, endpoint.url.removeprefix("http://"))
    finally:
        undressed(page.page, state)
        endpoint.release(model)
        lab.close(page, clean=True)
    return picture


def dressed(page: Any, state: State) -> None:
    """Give the page the look of a state."""
    page.set_viewport_size({"width": NARROW if state.look == "narrow" else WIDTH, "height": HEIGHT})
    # Lab keeps its file browser open or closed from one notebook to the next.
    if page.locator("#jp-left-stack").is_visible():
        page.evaluate("() => window.jupyterapp.commands.execute('application:toggle-left-area')")
    if state.look == "contrast":
        page.emulate_media(forced_colors="active", contrast="more")
    if state.look == "dark":
        theme(page, "JupyterLab Dark")


def undressed(page: Any, state: State) -> None:
    page.emulate_media(forced_colors="none", contrast="no-preference")
    if state.look == "dark":
        theme(page, "JupyterLab Light")


def theme(page: Any, name: str) -> None:
    page.evaluate(
        "theme => window.jupyterapp.commands.execute('apputils:change-theme', {theme})", name
    )
    light = "true" if "Light" in name else "false"
    page.wait_for_function(f"() => document.body.dataset.jpThemeLight === '{light}'")


def drawn(page: Notebook, state: State, address: str) -> bytes:
    """The cells of a state as they are on screen, with another address for the endpoint's."""
    first, last = state.first, len(state.cells)
    page.page.evaluate(RENAMED, [address, EXAMPLE])
    private(page, first, last)
    for number in state.unfolded:
        page.output(last).locator("details").nth(number).evaluate("fold => { fold.open = true; }")
    # The cell that is active carries a frame and a toolbar, which are Lab's.
    page.page.evaluate(f"() => {{ {CURRENT}.content.activeCellIndex = 0; }}")
    page.page.mouse.move(0, 0)
    page.page.wait_for_timeout(SETTLED)
    page.cell(first).evaluate("cell => cell.scrollIntoView({block: 'start'})")
    page.page.wait_for_timeout(SETTLED)
    top, bottom = (page.cell(number).bounding_box() for number in (first, last))
    height = min(bottom["y"] + bottom["height"], HEIGHT) - top["y"]
    clip = {"x": top["x"], "y": max(top["y"], 0), "width": top["width"], "height": height}
    return smaller(page.page.screenshot(clip=clip))


def private(page: Notebook, first: int, last: int) -> None:
    """Refuse a picture that would show this machine."""
    words = (str(page.root), str(Path.home()), socket.gethostname(), "127.0.0.1", sys.prefix)
    shown = "\n".join(page.text(cell) for cell in range(first, last + 1))
    found = [word for word in words if len(word) > 1 and word in shown]
    if found:
        raise SystemExit(f"{page.path}: the picture would show {found}")


def smaller(png: bytes) -> bytes:
    """The picture with a palette."""
    from PIL import Image

    image = Image.open(io.BytesIO(png)).convert("RGB")
    out = io.BytesIO()
    image.quantize(COLOURS, dither=Image.Dither.NONE).save(out, "PNG", optimize=True)
    return out.getvalue()


if __name__ == "__main__":
    main()
