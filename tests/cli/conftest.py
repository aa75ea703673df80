"""The servers of all command line tests, and a lab for each of them."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import ExitStack
from functools import cache
from pathlib import Path

import pytest

from reshardctl.stores.dynamodb.reading import Table
from reshardctl.testing import FakeKinesis
from tests.cli.lab import TRIM_HORIZON, Lab, Servers, Switchboard, Wire, fake_of, opened
from tests.support.case import CASES, Case, load
from tests.support.kinesis_server import kinesis_server
from tests.support.lease_server import REGION, lease_server
from tests.support.servers import Running
from tests.support.servers.mariadb import mariadb
from tests.support.servers.postgresql import postgresql
from tests.support.servers.redisserver import redis_server
from tests.support.side_tables import side_tables


@pytest.fixture(scope="session")
def servers() -> Iterator[Servers]:
    switchboard = Switchboard()
    with kinesis_server(switchboard) as kinesis, lease_server() as dynamodb:
        yield Servers(kinesis, dynamodb, switchboard)


DATABASES = {"redis": redis_server, "postgres": postgresql, "mysql": mariadb}


@pytest.fixture(scope="session")
def database() -> Iterator[Callable[[str], Running]]:
    """A server by its kind, from the first test on that asks for it: to start one takes seconds.
    Each test has a table, a database or a number of its own in it."""
    with ExitStack() as stack:
        yield cache(lambda kind: stack.enter_context(DATABASES[kind]()))


@pytest.fixture
def wire() -> Wire:
    return Wire()


@pytest.fixture
def entered() -> Iterator[ExitStack]:
    """What a test enters, and leaves at its end."""
    with ExitStack() as stack:
        yield stack


@pytest.fixture
def base_of(
    entered: ExitStack, servers: Servers, tmp_path: Path, monkeypatch: pytest.MonkeyPatch,
    wire: Wire,
) -> Callable[[FakeKinesis], Lab]:
    """A lab of a stream, with an empty lease table: the basis of a lab of another store."""

    def make(fake: FakeKinesis) -> Lab:
        state = tmp_path / "state"
        return entered.enter_context(opened(servers, fake, [], state, monkeypatch, wire))

    return make


LabOf = Callable[..., Lab]


@pytest.fixture
def lab_of(
    servers: Servers, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, wire: Wire
) -> Iterator[LabOf]:
    """A lab of a case, by the case or by its file's name."""
    with ExitStack() as stack:

        def make(
            case: Case | str, options: str = "", items: list | None = None, name: str = "",
            region: str = REGION,
        ) -> Lab:
            if isinstance(case, str):
                folder = "kcl" if (CASES / "kcl" / f"{case}.toml").exists() else "kcl-tables"
                case = load(CASES / folder / f"{case}.toml")
            rows = case.items() if items is None else items
            lab = stack.enter_context(opened(
                servers, fake_of(case), rows, tmp_path / "state", monkeypatch, wire, name, region
            ))
            stack.enter_context(side_tables(lab.table.boto, lab.table.name, case))
            lab.options = options
            return lab

        yield make


@pytest.fixture
def lab(lab_of: LabOf, request: pytest.FixtureRequest) -> Lab:
    """The lab of the case that the module's mark `lab` names, with these options.

    Without a mark: shard 0 has ended, its children 2 and 3 have no lease, and shard 1 goes on.
    """
    mark = request.node.get_closest_marker("lab")
    if mark is None:
        return lab_of("a-both", TRIM_HORIZON)
    return lab_of(*mark.args)


@pytest.fixture
def in_tmp_path(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Works in a folder of the test's own, where `reshardctl.toml` is looked for."""
    monkeypatch.chdir(tmp_path)


@pytest.fixture
def restored(monkeypatch: pytest.MonkeyPatch) -> None:
    """Tables were restored from a backup, so that their age tells nothing of their rows."""
    monkeypatch.setattr(Table, "made_at", lambda _self: None)
