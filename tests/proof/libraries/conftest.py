"""The laboratory that all KCL tests of a session share, the Spark session of a module, and the
emulators of Kinesis that give a second opinion."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING

import pytest

from tests.proof.libraries.kcl import executed
from tests.support.made_up_aws import MADE_UP
from tests.support.needs import needs

if TYPE_CHECKING:
    from tests.proof.libraries.kcl.laboratory import Laboratory, Start
    from tests.proof.libraries.second_opinion.service import Service
    from tests.proof.libraries.spark.session import Spark


@pytest.fixture(scope="session", autouse=True)
def _no_real_aws_between_tests() -> Iterator[None]:
    """The starts of a session go on beside its tests: no variable that a client reads may come and
    go with each of them."""
    with pytest.MonkeyPatch.context() as patch:
        for name, value in MADE_UP.items():
            patch.setenv(name, value)
        yield


@pytest.fixture(scope="session")
@needs("real-kcl")
def laboratory(request: pytest.FixtureRequest) -> Iterator[Laboratory]:
    """Begins every selected run at once; each test then looks at the outcome of its own."""
    from tests.proof.libraries.kcl.laboratory import Laboratory

    executed.begin()
    laboratory = Laboratory()
    try:
        laboratory.begin(_selected(request.session))
        yield laboratory
    finally:
        laboratory.close()


def _selected(session: pytest.Session) -> dict[str, Start]:
    """The starts by id: of every selected test that has a ``planned`` parameter."""
    calls = [getattr(item, "callspec", None) for item in session.items]
    found = [call.params["planned"] for call in calls if call and "planned" in call.params]
    return {planned.id: planned.start() for planned in found}


@pytest.fixture(scope="module")
@needs("spark-3.5")
def spark_3_5() -> Iterator[Spark]:
    """PySpark 3.5 with the connectors on its class path; one JVM at a time."""
    yield from _spark("3.5")


@pytest.fixture(scope="module")
@needs("spark-4")
def spark_4() -> Iterator[Spark]:
    """The newest PySpark 4."""
    yield from _spark("4")


@pytest.fixture(scope="module")
@needs("spark-4.0", "spark-4")
def packaged() -> Iterator[Callable[[str], Spark]]:
    """A session of a release with our own package beside it; one JVM at a time."""
    from tests.proof.libraries.spark.session import Spark

    running: dict[str, Spark] = {}

    def session(release: str) -> Spark:
        if release not in running:
            while running:
                running.popitem()[1].close()
            running[release] = Spark(release, packaged=True)
        return running[release]

    try:
        yield session
    finally:
        while running:
            running.popitem()[1].close()


def _spark(release: str) -> Iterator[Spark]:
    from tests.proof.libraries.spark.session import Spark

    session = Spark(release)
    try:
        yield session
    finally:
        session.close()


@pytest.fixture(
    scope="module",
    params=[
        pytest.param(name, marks=pytest.mark.needs(name))
        for name in ("kinesis-local", "ferrokinesis")
    ],
)
def emulator(request: pytest.FixtureRequest) -> str:
    """The name of an emulator of Kinesis; a test runs on each that is there."""
    return str(request.param)


@pytest.fixture(scope="module")
def emulator_url(emulator: str, tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """Where it listens."""
    from tests.proof.libraries.ferrokinesis.server import ferrokinesis
    from tests.proof.libraries.kinesis_local.server import kinesis_local

    serve = {"kinesis-local": kinesis_local, "ferrokinesis": ferrokinesis}[emulator]
    with serve(tmp_path_factory.mktemp(emulator) / "log") as address:
        yield address


@pytest.fixture(scope="module")
def theirs(emulator_url: str) -> Service:
    """What is asked there."""
    from tests.proof.libraries.second_opinion.service import Service, client

    return Service(client(emulator_url))
