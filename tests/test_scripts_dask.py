"""`agent_magics.map` on a real Dask cluster of this machine."""

from __future__ import annotations

import os
import signal
import threading

import pytest

import agent_magics
from tests.lab_endpoint import PATIENCE, Says
from tests.mapkit import echo, input_of

pytest.importorskip("distributed")
pytest_plugins = ["tests.mapkit_fixtures"]

ITEMS = 200


@pytest.fixture
def client(program):
    """A client of a cluster with two workers, each a process; they inherit the environment."""
    from distributed import Client, LocalCluster

    with (
        LocalCluster(n_workers=2, threads_per_worker=2, dashboard_address=None) as cluster,
        Client(cluster) as client,
    ):
        yield client


def test_two_hundred_items_outlive_a_worker_that_is_killed_in_the_midst(client, endpoint, model):
    pids = sorted(client.run(os.getpid).values())
    assert len(set(pids)) == 2
    killed = threading.Event()
    lock = threading.Lock()
    asked: dict[str, int] = {}

    def answer(request):
        said = echo(request)
        with lock:
            asked[said.text] = asked.get(said.text, 0) + 1
            if len(asked) >= ITEMS // 4 and not killed.is_set():
                killed.set()
                os.kill(pids[0], signal.SIGKILL)
        return said

    endpoint.answering(model, answer)
    result = agent_magics.map(
        "Review it.", [f"file {i}" for i in range(ITEMS)], executor=client.get_executor()
    )
    assert killed.is_set()
    assert result.texts == [f"echo file {i}" for i in range(ITEMS)]
    assert not result.failed
    assert len(asked) == ITEMS
    assert pids[0] not in client.run(os.getpid).values()


def test_a_function_of_the_program_travels_and_equal_inputs_are_asked_one_by_one(
    client, endpoint, model
):
    def count(word: str) -> int:
        """Count a word."""
        return len(word)

    def answer(request):
        told = [m["content"] for m in request["messages"] if m["role"] == "tool"]
        return Says(f"{told[0]} letters") if told else Says("", (("count", {"word": "tea"}),))

    endpoint.answering(model, answer)
    result = agent_magics.map(
        "Count.", ["same"] * 5, executor=client.get_executor(), tools=[count],
        policy=["allow count"],
    )  # fmt: skip
    assert result.texts == ["3 letters"] * 5
    assert len(endpoint.requests(model)) == 10


def test_an_item_whose_workers_die_is_reported_and_the_others_are_done(client, endpoint, model):
    client.cluster.scheduler.allowed_failures = 0

    def die() -> str:
        """End the worker."""
        os.kill(os.getpid(), signal.SIGKILL)
        return ""

    def answer(request):
        return Says("", (("die", {}),)) if input_of(request) == "poison" else echo(request)

    endpoint.answering(model, answer)
    options = {"executor": client.get_executor(), "tools": [die], "policy": ["allow die"]}
    (item,) = agent_magics.map("Say.", ["poison"], **options)
    assert (item.status, "KilledWorker" in item.error) == ("failed", True)
    assert agent_magics.map("Say.", ["a", "b"], **options).texts == ["echo a", "echo b"]


def test_an_interrupt_leaves_the_cluster_usable(client, endpoint, model):
    held = threading.Event()
    release = threading.Event()

    def answer(request):
        held.set()
        assert release.wait(PATIENCE)
        return echo(request)

    def press():
        assert held.wait(PATIENCE)
        os.kill(os.getpid(), signal.SIGINT)

    endpoint.answering(model, answer)
    threading.Thread(target=press, daemon=True).start()
    executor = client.get_executor()
    with pytest.raises(KeyboardInterrupt) as caught:
        agent_magics.map("Say.", range(50), executor=executor)
    assert {item.status for item in caught.value.result} == {"not run"}
    release.set()
    assert agent_magics.map("Say.", [1], executor=executor).texts == ["echo 1"]
