"""An MCP server in a real kernel: its log, its questions, an interrupt, and the kernel's end."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import nbformat
import pytest
import yaml
from nbclient import NotebookClient
from nbformat.v4 import new_code_cell, new_notebook

from tests.environments import own_variables
from tests.lab_endpoint import Endpoint, Says
from tests.mcpkit import HERE, needs_sdk

pytestmark = [pytest.mark.kernel, needs_sdk]


def executed(folder: Path, cells: list[str], *says: Says) -> str:
    """What a notebook with one server shows, when nobody watches it run."""
    home = folder / "home"
    variables = own_variables(home) | {"AGENT_MAGICS_DATA": str(folder / "data")}
    config = Path(variables["AGENT_MAGICS_CONFIG"])
    config.parent.mkdir(parents=True)
    # The folder is a mark by which its processes are found.
    server = {"command": sys.executable, "args": [str(HERE / "mcp_server.py"), str(folder)]}
    rules = {"allow": ["mcp__tester__*"]}
    config.write_text(yaml.safe_dump({"mcp_servers": {"tester": server}, "policy": rules}))
    notebook = new_notebook(cells=[new_code_cell(c) for c in ("%load_ext agent_magics", *cells)])
    with Endpoint() as endpoint:
        endpoint.script("m", *says)
        asked = {"OPENAI_BASE_URL": endpoint.url, "OPENAI_API_KEY": "none"}
        environment = variables | asked | {"AGENT_MAGICS_MODEL": "m"}
        where = {"metadata": {"path": str(folder)}}
        NotebookClient(notebook, timeout=120, resources=where).execute(env=environment)
    nbformat.validate(notebook)
    outputs = [output for cell in notebook.cells for output in cell.outputs]
    return "\n".join(o.get("text") or o.get("data", {}).get("text/plain", "") for o in outputs)


def test_a_server_works_in_a_kernel_and_ends_with_it(tmp_path):
    shown = executed(
        tmp_path,
        ["%%agent\nAdd, ask, and whisper.", "%agent mcp", "%agent mcp log tester"],
        Says("", (("mcp__tester__add", {"a": 40, "b": 2}),)),
        Says("", (("mcp__tester__ask", {}),)),
        Says("", (("mcp__tester__whisper", {}),)),
        Says("That was all."),
    )
    assert "the sum is 42" in shown
    assert "cancel: None" in shown  # nobody could be asked
    assert "my token is" in shown  # its stderr is in its log
    assert "running (tester 1.5" in shown
    listed = subprocess.run(["ps", "-eo", "args"], capture_output=True, text=True, check=True)
    assert not [line for line in listed.stdout.splitlines() if f"mcp_server.py {tmp_path}" in line]
    log = (tmp_path / "data" / "mcp" / "tester.log").read_text(encoding="utf-8")
    assert "stopped: closed" in log or "ended" in log
