"""Every configuration that docs/models.md shows is read by the real reader, without a problem."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from agent_magics.extension.config import read_configuration
from agent_magics.magics.commands import COMMANDS
from agent_magics.providers.servers import SERVERS, server_at

DOCS = Path(__file__).parents[1] / "docs"
PAGE = (DOCS / "models.md").read_text(encoding="utf-8")
WHOLE = (DOCS / "configuration.md").read_text(encoding="utf-8")
OTHER = WHOLE.partition("## Endpoints and prices")[2].partition("\n## ")[0]
BLOCKS = re.findall(r"^```yaml\n(.*?)^```", PAGE + OTHER, re.DOTALL | re.MULTILINE)


@pytest.mark.parametrize("block", BLOCKS, ids=range(len(BLOCKS)))
def test_a_configuration_of_the_page_is_taken_as_it_stands(tmp_path, block):
    path = tmp_path / "config.yaml"
    path.write_text(block, encoding="utf-8")
    config = read_configuration(path, tmp_path / "nowhere")
    assert config.problems == ()
    assert config.endpoints or config.prices


def test_the_page_has_the_lines_of_each_kind_of_server(tmp_path):
    found = set()
    for block in BLOCKS:
        path = tmp_path / "config.yaml"
        path.write_text(block, encoding="utf-8")
        config = read_configuration(path, tmp_path / "nowhere")
        found |= {server_at(endpoint.base_url).name for endpoint in config.endpoints}
    assert {server.name for server in SERVERS} - {"cerebras", "zai"} <= found


def test_each_server_that_needs_help_with_tools_has_its_line():
    for server in SERVERS:
        if server.calls:
            assert f"| {server.title} |" in PAGE


def test_the_commands_of_the_page_exist():
    names = {command.name for command in COMMANDS}
    assert set(re.findall(r"%agent (\w+)", PAGE)) <= names
