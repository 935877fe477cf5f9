"""Servers from the package registries, as people use them.

Needs downloads, so it runs only when AGENT_MAGICS_REAL_MCP is set; `npm` is used where it is there.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import venv
from pathlib import Path

import pytest

from agent_magics.tools.mcp.specs import server_spec
from tests.mcpkit import needs_sdk, with_servers

pytestmark = [
    needs_sdk,
    pytest.mark.skipif(
        not os.environ.get("AGENT_MAGICS_REAL_MCP"),
        reason="it downloads servers; set AGENT_MAGICS_REAL_MCP=1 to run it",
    ),
]


@pytest.fixture(scope="module")
def python_servers(tmp_path_factory) -> Path:
    folder = tmp_path_factory.mktemp("venv")
    venv.create(folder, with_pip=True)
    places = folder / ("Scripts" if sys.platform == "win32" else "bin")
    words = [str(places / "pip"), "install", "-q", "mcp-server-time", "mcp-server-git"]
    subprocess.run(words, check=True)
    return places


def test_servers_written_with_the_python_sdk(python_servers, tmp_path):
    subprocess.run(["git", "init", "-q", str(tmp_path)], check=True)
    specs = [
        server_spec(name, {"command": str(python_servers / f"mcp-server-{name}")}, "user")
        for name in ("time", "git")
    ]

    async def work(rig):
        now = await rig.call("mcp__time__get_current_time", timezone="Europe/Berlin")
        return now, await rig.call("mcp__git__git_status", repo_path=str(tmp_path))

    now, status = with_servers(tmp_path, work, *specs)
    assert "Europe/Berlin" in now.text
    assert status.ok


@pytest.mark.skipif(shutil.which("npm") is None, reason="npm is not there")
def test_servers_written_with_the_typescript_sdk(tmp_path):
    arguments = {"everything": [], "filesystem": [str(tmp_path)]}
    names = [f"@modelcontextprotocol/server-{name}" for name in arguments]
    subprocess.run(["npm", "install", "--silent", *names], check=True, cwd=tmp_path)
    places = tmp_path / "node_modules" / ".bin"
    specs = []
    for name, words in arguments.items():
        entry = {"command": str(places / f"mcp-server-{name}"), "args": words}
        specs.append(server_spec(name, entry, "user"))

    async def work(rig):
        echo = await rig.call("mcp__everything__echo", message="hello")
        listing = await rig.call("mcp__filesystem__list_directory", path=str(tmp_path))
        outside = await rig.call("mcp__filesystem__list_directory", path="/")
        resources = await rig.call("mcp_read_resource", server="everything")
        return echo, listing, outside, resources

    echo, listing, outside, resources = with_servers(tmp_path, work, *specs)
    assert "hello" in echo.text
    assert "node_modules" in listing.text
    assert not outside.ok
    assert "demo://" in resources.text
