"""Fixtures for tests with a real kernel; a test file names this module in `pytest_plugins`."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from tests.kernelkit import FrontEnd, Kernel


@pytest.fixture(scope="module")
def kernel() -> Iterator[Kernel]:
    """One kernel for the tests of a file."""
    running = Kernel()
    try:
        yield running
    finally:
        running.close()


@pytest.fixture
def page(kernel: Kernel) -> Iterator[FrontEnd]:
    """A notebook page: shows widgets and takes input."""
    with kernel.page() as front_end:
        yield front_end
