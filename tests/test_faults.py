"""The rig's fault matrix with the whole product as the contestant; see benchmarks/faults.py."""

from __future__ import annotations

import concurrent.futures

import pytest

from benchmarks.faults import cases, cell
from tests.fake import FakeServer

RIGHT_TO_END = {"429quota", "refusal"}
"""Nothing can be recovered: the account is empty, the model will not answer."""


@pytest.fixture(scope="module")
def verdicts():
    with FakeServer() as server, concurrent.futures.ThreadPoolExecutor(8) as pool:
        todo = [(name, stream) for name in cases(server) for stream in (False, True)]
        futures = {pool.submit(cell, server, *each): each for each in todo}
        return {futures[f]: f.result() for f in concurrent.futures.as_completed(futures)}


def test_every_fault_is_recovered_from_or_ends_with_a_clear_error(verdicts):
    wrong = {
        key: verdict
        for key, verdict in verdicts.items()
        if verdict["verdict"] != ("error" if key[0] in RIGHT_TO_END else "recovers")
    }
    assert wrong == {}


def test_at_least_95_of_100_cells_recover(verdicts):
    struck = [v["verdict"] for (name, _), v in verdicts.items() if name != "none"]
    assert len(struck) == 88
    assert struck.count("recovers") / len(struck) >= 0.95
