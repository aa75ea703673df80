"""What holds for every test: no real AWS account within reach, and the same examples each run."""

from __future__ import annotations

import gc
import os
from collections.abc import Iterator
from typing import Any
from unittest.mock import patch

import botocore.session
import pytest
from hypothesis import HealthCheck, settings

pytest.register_assert_rewrite("tests.contracts")  # before anything imports its suites

from tests.support.made_up_aws import MADE_UP  # noqa: E402
from tests.support.needs import decide, fail_if_missing  # noqa: E402
from tests.support.own_folders import Watch  # noqa: E402

# No deadline: a slow machine is not a defect. Derandomised: a red test is red for everybody.
settings.register_profile(
    "reshardctl",
    max_examples=50,
    deadline=None,
    derandomize=True,
    database=None,
    print_blob=True,
    suppress_health_check=[HealthCheck.too_slow],
)
settings.load_profile("reshardctl")


@pytest.hookimpl(wrapper=True)
def pytest_collection() -> Iterator[None]:
    """Keep what is collected out of garbage collection: it lives to the end.

    Tens of thousands of tests would be walked again at every full collection, by every test.
    """
    gc.disable()
    try:
        return (yield)
    finally:
        gc.enable()
        gc.freeze()


@pytest.hookimpl(trylast=True)
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Say what is skipped, and put the slow files first, lest one process end on them while the
    other has nothing left."""
    decide(items)
    items.sort(key=lambda item: item.get_closest_marker("slow") is None)


@pytest.hookimpl(tryfirst=True)
def pytest_runtest_setup(item: pytest.Item) -> None:
    fail_if_missing(item)


@pytest.fixture(scope="session")
def _watch(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Watch]:
    """Give tests a home and a state folder of their own, and watch what they write elsewhere.

    The variables stand for the whole session: a test's threads may outlive it, and one that reads
    the environment while the next test changes it ends with a KeyError.
    """
    watch = Watch()
    watch.start(str(tmp_path_factory.getbasetemp()))
    with pytest.MonkeyPatch.context() as patch:
        for name, folder in (("HOME", "home"), ("XDG_STATE_HOME", "state")):
            own = tmp_path_factory.getbasetemp() / folder
            own.mkdir()
            patch.setenv(name, str(own))
        yield watch


@pytest.fixture(scope="session", autouse=True)
def _models_of_aws_once() -> Iterator[None]:
    """Sessions of botocore share what they read of its files: the description of a service takes
    longer to parse than a test."""
    make = botocore.session.create_loader
    read: dict[str | None, dict[Any, Any]] = {}

    def made(path: str | None = None) -> Any:
        loader = make(path)
        loader._cache = read.setdefault(path, {})
        return loader

    with patch("botocore.session.create_loader", made):
        yield


@pytest.fixture(autouse=True)
def _apart(_watch: Watch) -> Iterator[None]:
    """Replace the machine's AWS settings by made-up ones, and fail a test that writes outside the
    folders of tests; the user's own state is not touched, nor by the processes that a test starts.

    One fixture, and the variables are written only where they differ: each test takes part in it.
    """
    aws = {name: os.environ[name] for name in os.environ if name.startswith("AWS_")}
    aws.pop("AWS_CA_BUNDLE", None)
    if aws != MADE_UP:
        for name in aws.keys() - MADE_UP.keys():
            del os.environ[name]
        os.environ.update(MADE_UP)
    _watch.found.clear()
    yield
    assert not _watch.found, f"written outside the folders of tests: {_watch.found}"
