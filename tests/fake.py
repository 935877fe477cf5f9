"""The rig's fake server in a thread of the test process, on a free loopback port."""

from __future__ import annotations

import asyncio
import importlib.util
import itertools
import socket
import threading
from functools import cache
from pathlib import Path
from types import ModuleType
from typing import Any

_RUNS = itertools.count()


@cache
def rig() -> ModuleType:
    """The server's module; it lives outside any package, as its authors wrote it."""
    path = Path(__file__).parent / "rig" / "fakeserver.py"
    spec = importlib.util.spec_from_file_location("agent_magics_rig", path)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


class FakeServer:
    """`with FakeServer() as server:` serves until the block ends."""

    def __init__(self) -> None:
        self._rig = rig()
        self._ready = threading.Event()
        self.port = 0
        self._thread = threading.Thread(target=self._serve, daemon=True)

    def __enter__(self) -> FakeServer:
        self._loop = asyncio.new_event_loop()
        self._thread.start()
        assert self._ready.wait(10), "the fake server did not start"
        return self

    def __exit__(self, *_: object) -> None:
        self._loop.call_soon_threadsafe(self._task.cancel)
        self._thread.join(10)

    @property
    def faults(self) -> dict[str, str]:
        """Every fault that the server knows, with its description."""
        return dict(self._rig.FAULTS)

    @property
    def quirks(self) -> dict[str, Any]:
        """The faults of quirks.py."""
        return dict(self._rig.quirks.QUIRKS)

    @property
    def stands(self) -> frozenset[str]:
        """Refusals that are right to stand."""
        return frozenset(self._rig.quirks.STANDS)

    @property
    def connections(self) -> int:
        """How many connections were ever made."""
        return int(self._rig.CONNECTIONS["all"])

    @property
    def open_connections(self) -> int:
        """How many are open now."""
        return int(self._rig.CONNECTIONS["open"])

    @staticmethod
    def unused_port() -> int:
        """A port that nobody listens on."""
        with socket.socket() as probe:
            probe.bind(("127.0.0.1", 0))
            return int(probe.getsockname()[1])

    def scenario(self, **spec: object) -> Scenario:
        """A run of its own; the keys are those of fakeserver.py."""
        run = f"r{next(_RUNS)}"
        pairs = ",".join(f"{key}={value}" for key, value in {"run": run, **spec}.items())
        return Scenario(f"http://127.0.0.1:{self.port}/s/{pairs}/v1", self._rig, run)

    def _serve(self) -> None:
        asyncio.set_event_loop(self._loop)

        def ready(port: int) -> None:
            self.port = port
            self._ready.set()

        self._task = self._loop.create_task(self._rig.main(0, ready))
        try:
            self._loop.run_until_complete(self._task)
        except asyncio.CancelledError:
            pass
        finally:
            for task in asyncio.all_tasks(self._loop):
                task.cancel()
            self._loop.run_until_complete(self._loop.shutdown_asyncgens())
            self._loop.close()


class Scenario:
    """One run: its URL, and what the server saw of it."""

    def __init__(self, url: str, module: ModuleType, run: str) -> None:
        self.url = url
        self._rig = module
        self._name = run

    @property
    def requests(self) -> list[dict[str, Any]]:
        """What the server noted of each request."""
        run = self._rig.RUNS.get(self._name)
        return list(run.reqs) if run else []

    @property
    def bodies(self) -> list[bytes]:
        """The body of each request."""
        run = self._rig.RUNS.get(self._name)
        return list(run.bodies) if run else []

    @property
    def protocol_errors(self) -> list[str]:
        """What a strict server refuses in the histories that it got."""
        run = self._rig.RUNS.get(self._name)
        return [error for entry in (run.proto if run else []) for error in entry["errors"]]
