"""A saved session as one page that needs nothing else: no script, no address, no kernel.

Owns the page around the blocks. What the user's own code displayed is shown as far as it cannot
act: pictures as pictures, everything else as text.
"""

from __future__ import annotations

import base64
from html import escape

from agent_magics.frontends import theme
from agent_magics.frontends.blocks import Block
from agent_magics.magics.replaying import blocks_of
from agent_magics.plain import visible
from agent_magics.records.stored import Stored, StoredTurn

PICTURES = ("image/png", "image/jpeg", "image/gif")
SVG = "image/svg+xml"

STYLE = """
:root { color-scheme: light dark; --jp-code-font-family: ui-monospace, Menlo, Consolas, monospace; }
body { max-width: 56em; margin: 2em auto; padding: 0 1em; line-height: 1.5;
  font-family: system-ui, sans-serif; overflow-wrap: break-word; }
section { margin-top: 2em; border-top: 1px solid #8885; }
pre { overflow: auto; } img { max-width: 100%; } table { border-collapse: collapse; }
th, td { border: 1px solid #8885; padding: .2em .6em; }
.prompt { border-left: 4px solid #4a86e8; padding: .4em .8em; background: #8881; }
.facts { opacity: .7; }
.highlight .c { color: #6e7781; } .highlight .k, .highlight .nt { color: #b5379f; }
.highlight .s { color: #1a7f37; } .highlight .m { color: #9a5700; }
.highlight .nf, .highlight .nc, .highlight .nd, .highlight .nb, .highlight .na { color: #3a72d8; }
.highlight .gh, .highlight .gu { font-weight: bold; }
.highlight .gd { color: #d1242f; } .highlight .gi { color: #1a7f37; }
"""
"""Colours that read on light and dark ground."""

POLICY = "default-src 'none'; style-src 'unsafe-inline'; img-src data:"
"""What the page may do: show itself. A second wall behind the escaping."""


def page_text(stored: Stored, title: str, facts: str) -> str:
    """The page.

    Args:
        stored: The session.
        title: Its head line.
        facts: The line below it.
    """
    name = escape(visible(title))
    sections = "\n".join(_section(turn) for turn in stored.turns)
    return (
        '<!DOCTYPE html>\n<html lang="en">\n<head>\n<meta charset="utf-8">\n'
        f'<meta http-equiv="Content-Security-Policy" content="{POLICY}">\n'
        '<meta name="viewport" content="width=device-width, initial-scale=1">\n'
        f"<title>{name}</title>\n<style>{STYLE}</style>\n</head>\n<body>\n<h1>{name}</h1>\n"
        f'<p class="facts">{theme.text_html(facts)}</p>\n{sections}\n</body>\n</html>\n'
    )


def _section(turn: StoredTurn) -> str:
    prompt = theme.prose(turn.began.prompt.text.strip("\n"))
    shown = "\n".join(_block(block) for block in blocks_of(turn))
    return f'<section>\n<div class="prompt">{prompt}</div>\n{shown}\n</section>'


def _block(block: Block) -> str:
    if block.bundle is None:
        return block.html
    for kind in PICTURES:
        data = block.bundle.get(kind)
        if isinstance(data, str):
            return _picture(kind, "".join(data.split()))
    drawing = block.bundle.get(SVG)
    if isinstance(drawing, str):
        # As a picture nothing in it can run.
        return _picture(SVG, base64.b64encode(drawing.encode(errors="replace")).decode())
    text = block.bundle.get("text/plain", block.text)
    return theme.text_box(text if isinstance(text, str) else block.text, "output")


def _picture(kind: str, data: str) -> str:
    return f'<p><img alt="figure" src="data:{kind};base64,{escape(data)}"></p>'
