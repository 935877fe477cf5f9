"""Fixtures that are expensive: one JupyterLab with one browser, one endpoint, for the whole run."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from typing import Any

import pytest

from tests.environments import kernel_environment
from tests.lab_endpoint import Endpoint, Says
from tests.lab_notebook import ARTIFACTS, Notebook
from tests.labkit import Lab


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Browser tests come last, and get a second try; the tests of one file stay together.

    Last, since Playwright leaves an event loop running on this thread. A second try, since a
    kernel's start is a known race and a loaded machine can starve a browser; what is really broken
    fails twice. Together, since a file's tests share a kernel where the run has several workers.
    """
    items.sort(key=lambda item: item.get_closest_marker("browser") is not None)
    for item in items:
        group = item.path.stem
        if item.get_closest_marker("browser") is not None:
            item.add_marker(pytest.mark.flaky(reruns=1))
            group += ", browser"
        item.add_marker(pytest.mark.xdist_group(group))


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(item: pytest.Item) -> Iterator[None]:
    """Let fixtures see how a test ended."""
    report = yield
    setattr(item, f"{report.when}_failed", report.failed)
    return report


@pytest.fixture(scope="session", autouse=True)
def no_session_lands_in_the_data_of_the_person(
    tmp_path_factory: pytest.TempPathFactory,
) -> Iterator[None]:
    """What the tests' kernels save goes away with the run."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("AGENT_MAGICS_DATA", str(tmp_path_factory.mktemp("data")))
        yield


@pytest.fixture(scope="session")
def endpoint() -> Iterator[Endpoint]:
    """A model that says what the test wrote down."""
    with Endpoint() as running:
        yield running


@pytest.fixture(scope="session")
def lab(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Lab]:
    """The one JupyterLab with its browser; the pictures it leaves are those of this run."""
    for old in ARTIFACTS.glob("*.png"):
        old.unlink(missing_ok=True)  # another worker may have been faster
    with Lab(tmp_path_factory.mktemp("lab")) as running:
        yield running


@pytest.fixture
def model(request: pytest.FixtureRequest) -> str:
    """A name for this test alone: of its model, its folder and its pictures."""
    name = re.sub(r"[^\w.-]+", "-", request.node.name.removeprefix("test_"))
    return name if len(name) <= 80 else f"{name[:60]}-{name[-19:]}"


@pytest.fixture
def notebook(
    lab: Lab, model: str, request: pytest.FixtureRequest
) -> Iterator[Callable[..., Notebook]]:
    """Opens notebooks, each with a kernel of its own, and closes them after the test.

    A test that failed leaves a picture of each of them among the artefacts.
    """
    opened: list[Notebook] = []

    def make(cells: Sequence[Any], version: str, **options: bool) -> Notebook:
        kernel_environment(version)
        name = f"{model}-{len(opened)}"
        opened.append(lab.notebook(name, cells, f"ipykernel-{version}", **options))
        return opened[-1]

    yield make
    failed = getattr(request.node, "call_failed", False)
    for number, page in enumerate(opened):
        if failed:
            page.screenshot(f"failed-{model}-{number}")
        lab.close(page, clean=not failed)


@pytest.fixture
def talk(
    notebook: Callable[..., Notebook], endpoint: Endpoint, model: str
) -> Callable[..., Notebook]:
    """Opens a notebook whose cell 0 has loaded the extension and named this test's model."""

    def start(
        version: str, answers: Sequence[Says], cells: Sequence[Any], **options: bool
    ) -> Notebook:
        endpoint.script(model, *answers)
        page = notebook([loading(endpoint.url, model), *cells], version, **options)
        page.done(0)
        assert f"Model: {model}" in page.text(0), page.text(0)
        return page

    return start


def loading(url: str, model: str) -> str:
    """The cell that loads the extension and connects it to an endpoint."""
    lines = (
        "%load_ext agent_magics",
        f"%config AgentMagics.base_url = {url!r}",
        f"%agent model {model}",
    )
    return "\n".join(lines)
