"""A server written with the official SDK: `python mcp_server.py [http PORT]`."""

from __future__ import annotations

import asyncio
import os
import struct
import sys
import zlib

from mcp.server.mcpserver import Context, Image, MCPServer
from mcp_types import AudioContent, EmbeddedResource, ResourceLink, TextResourceContents
from pydantic import BaseModel

server = MCPServer("tester", version="1.5")


def png(edge: int = 2) -> bytes:
    def chunk(kind: bytes, data: bytes) -> bytes:
        return (
            struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))
        )

    head = struct.pack(">IIBBBBB", edge, edge, 8, 2, 0, 0, 0)
    rows = b"".join(b"\0" + b"\xff\0\0" * edge for _ in range(edge))
    parts = chunk(b"IHDR", head) + chunk(b"IDAT", zlib.compress(rows)) + chunk(b"IEND", b"")
    return b"\x89PNG\r\n\x1a\n" + parts


@server.tool(annotations={"readOnlyHint": True, "destructiveHint": False})
def add(a: int, b: int) -> str:
    """Add two numbers."""
    return f"the sum is {a + b}"


@server.tool()
def fail() -> str:
    """Fail."""
    raise ValueError("this was to be expected")


@server.tool()
async def slow(seconds: float, ctx: Context) -> str:
    """Take some time, and say how far it is."""
    await ctx.report_progress(1, 3, "a third is done")
    print("slow: begun", file=sys.stderr, flush=True)
    try:
        await asyncio.sleep(seconds)
    except asyncio.CancelledError:
        print("slow: cancelled", file=sys.stderr, flush=True)
        raise
    return "done"


@server.tool()
def die(status: int = 3) -> str:
    """End the server in the midst of the call."""
    os._exit(status)


@server.tool(structured_output=False)
def giant(megabytes: int) -> str:
    """Answer with very much text."""
    return "x" * (megabytes * 1_000_000)


@server.tool(structured_output=False)
def picture() -> Image:
    """Answer with a picture."""
    return Image(data=png(), format="png")


@server.tool(structured_output=False)
def pieces() -> list:
    """Answer with pieces of several kinds."""
    return [
        AudioContent(type="audio", data="UklGRg==", mime_type="audio/wav"),
        ResourceLink(type="resource_link", name="the log", uri="file:///log.txt"),
        EmbeddedResource(
            type="resource",
            resource=TextResourceContents(
                uri="note://1", text="an embedded note", mime_type="text/plain"
            ),
        ),
    ]


@server.tool()
def measured() -> dict[str, int]:
    """Answer for programs."""
    return {"height": 7}


class Choice(BaseModel):
    colour: str
    count: int = 1


@server.tool()
async def ask(ctx: Context) -> str:
    """Ask the person."""
    answer = await ctx.elicit("Which colour?", Choice)
    return f"{answer.action}: {getattr(answer, 'data', None)}"


@server.tool()
async def grow(ctx: Context) -> str:
    """Have one more tool from now on."""

    @server.tool(name="grown")
    def grown() -> str:
        """New."""
        return "grown"

    await ctx.session.send_tool_list_changed()
    return "there is one more"


@server.tool()
def environment() -> str:
    """Tell the names of the environment's variables, and one value."""
    return " ".join(sorted(os.environ)) + f" TOLD={os.environ.get('TOLD_TOKEN', '')}"


@server.tool()
def write() -> str:
    """Called like a built-in tool."""
    return "written by the server"


@server.tool()
def whisper() -> str:
    """Write a secret beside the messages."""
    print(f"my token is {os.environ.get('TOLD_TOKEN', '')}", file=sys.stderr, flush=True)
    return "whispered"


@server.resource("note://today", mime_type="text/plain")
def today() -> str:
    """What is on today."""
    return "feed the cat"


@server.prompt()
def review(path: str) -> str:
    """Review a file."""
    return f"Please review {path}."


if __name__ == "__main__":
    if sys.argv[1:2] == ["http"]:
        server.run("streamable-http", port=int(sys.argv[2]))
    else:
        server.run("stdio")
