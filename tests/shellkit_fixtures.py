"""Fixtures with a real IPython shell; a test file names this module in `pytest_plugins`."""

from __future__ import annotations

import os

import pytest
from IPython.core.interactiveshell import InteractiveShell

import agent_magics
from agent_magics.quickstart import sample_repository


@pytest.fixture
def home(tmp_path, monkeypatch):
    """An environment in which nothing of the person who runs the tests can leak in."""
    for name in list(os.environ):
        if name.startswith(("OPENAI_", "AGENT_MAGICS_")):
            monkeypatch.delenv(name)
    monkeypatch.setenv("HOME", str(tmp_path / "home"))
    monkeypatch.setenv("AGENT_MAGICS_CONFIG", str(tmp_path / "home" / "config.yaml"))
    monkeypatch.setenv("AGENT_MAGICS_DATA", str(tmp_path / "data"))
    monkeypatch.setenv("AGENT_MAGICS_LOCAL_SERVERS", "0")
    monkeypatch.chdir(sample_repository(tmp_path))
    (tmp_path / "home").mkdir()
    return tmp_path / "home"


@pytest.fixture
def shell(home):
    shell = InteractiveShell()
    agent_magics.load_ipython_extension(shell)
    yield shell
    agent_magics.unload_ipython_extension(shell)
