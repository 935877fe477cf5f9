"""Servers from the package registries, as people use them.

Those from PyPI are installed into an environment of their own, at fixed versions; where there is no
registry that is the reason for a skip. Those from npm are whatever is newest there, so their test
runs only when AGENT_MAGICS_REAL_MCP is set.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from agent_magics.tools.mcp.specs import server_spec
from tests.environments import REPOSITORY, unavailable
from tests.mcpkit import needs_sdk, processes_of, with_servers

pytestmark = [
    needs_sdk,
    pytest.mark.package,
    pytest.mark.skipif(sys.platform != "linux", reason="looks for processes in /proc"),
]
SERVERS = ("mcp-server-time==2026.10.19", "mcp-server-git==2026.10.19")


@pytest.fixture(scope="module")
def environment(tmp_path_factory) -> Path:
    """An environment with the servers, their own SDK, and nothing of ours."""
    folder = tmp_path_factory.mktemp("servers")
    pins = REPOSITORY / "constraints.txt"
    python = folder / "bin" / "python"
    pip = [sys.executable, "-m", "pip", "--python", str(python), "--disable-pip-version-check"]
    # One try and a short wait: without a registry the test is skipped, not stuck.
    install = [*pip, "install", "--quiet", "--retries", "0", "--timeout", "15", *SERVERS]
    for words in (
        [sys.executable, "-m", "venv", "--without-pip", str(folder)],
        [*install, *(["-c", str(pins)] if pins.is_file() else [])],
    ):
        done = subprocess.run(words, capture_output=True, text=True, check=False)
        if done.returncode:
            said = (done.stderr or done.stdout).strip().rpartition("\n")[2]
            unavailable(f"the servers could not be installed: {said}")
    return folder


@pytest.fixture
def repository(tmp_path) -> Path:
    """A repository with one commit."""
    folder = tmp_path / "repository"
    who = ("-c", "user.name=A Person", "-c", "user.email=person@example.org")
    subprocess.run(["git", "init", "-q", str(folder)], check=True)
    words = ["git", *who, "commit", "-q", "--allow-empty", "-m", "feed the cat"]
    subprocess.run(words, check=True, cwd=folder)
    return folder


def asked(environment: Path, folder: Path, name: str, tool: str, **arguments: str):
    """Start a server, list its tools, make one call, end it."""
    spec = server_spec(name, {"command": str(environment / "bin" / f"mcp-server-{name}")}, "user")

    async def work(rig):
        reply = await rig.call(f"mcp__{name}__{tool}", **arguments)
        return rig.servers.state(name).about, set(rig.tools), reply, processes_of(environment)

    about, tools, reply, while_it_ran = with_servers(folder, work, spec)
    assert f"mcp-{name}" in about
    assert reply.ok, reply.text
    assert len(while_it_ran) == 2  # the server and its guard
    assert processes_of(environment) == []
    return tools, reply.text


def test_the_time_server_converts_between_zones(environment, tmp_path):
    words = {"source_timezone": "UTC", "time": "12:00", "target_timezone": "Asia/Tokyo"}
    tools, text = asked(environment, tmp_path, "time", "convert_time", **words)
    assert {"mcp__time__get_current_time", "mcp__time__convert_time"} <= tools
    assert "T21:00:00+09:00" in text
    assert "9.0h" in text


def test_the_git_server_reads_a_commit(environment, tmp_path, repository):
    tools, text = asked(environment, tmp_path, "git", "git_log", repo_path=str(repository))
    assert {"mcp__git__git_status", "mcp__git__git_commit"} <= tools
    assert "feed the cat" in text
    assert "A Person" in text


@pytest.mark.skipif(
    not os.environ.get("AGENT_MAGICS_REAL_MCP"),
    reason="it takes what npm has newest; set AGENT_MAGICS_REAL_MCP=1 to run it",
)
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
