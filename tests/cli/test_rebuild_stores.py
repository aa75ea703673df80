"""`reshardctl rebuild` for kinesis-consumer on a real Redis, PostgreSQL and MariaDB whose positions
are gone: emptied, or the table dropped. What the sink holds is given, Spark does not run here."""

from __future__ import annotations

from types import SimpleNamespace

import pytest

from reshardctl.exit import Exit
from tests.cli.test_position_stores import made, running  # noqa: F401 - fixtures
from tests.proof.reference.kinesis_consumer import run
from tests.support.case import CASES, load
from tests.support.case_stream import shard_name
from tests.support.sinks.random import facts, missing

CASE = load(CASES / "kinesis-consumer" / "a.toml")


@pytest.fixture
def held(monkeypatch):
    """All but the last record of every shard."""
    found = {
        shard: frozenset(payload for _, payload, _ in records[:-1])
        for shard, records in CASE.records.items()
    }
    monkeypatch.setattr(
        "reshardctl.commands.count_sink.count", lambda *_: SimpleNamespace(facts=facts(CASE, found))
    )
    monkeypatch.setattr("reshardctl.commands.count_sink.check_installed", lambda _sink: None)
    return found


def rebuild(lab, *more):
    return lab.cli(
        "rebuild", lab.locator, "--stream", "orders", "--from", "s3a://lake/orders", "--yes",
        "--assume-stopped", "--accept", "reread=all,disorder", *more,
    )


def delivered(lab):
    rows = {key.rpartition("/")[2]: number for key, number in lab.numbers().items()}
    return run(lab.fake, "orders", rows, "TRIM_HORIZON", "0.5.0", lambda: None).delivered


@pytest.mark.long
def test_positions_that_are_gone_come_back_and_go_again(made, held, running):  # noqa: F811
    lab = made(CASE)
    if running[0] == "redis":
        lab.handle.flushdb()
    else:
        lab.sql(f"DROP TABLE {lab.table_name}")
        refused = rebuild(lab)
        assert refused.code == Exit.REFUSED
        assert refused.says(f"there is no table {lab.table_name}", "make it first: CREATE TABLE")
        lab.sql(refused.err[refused.err.index("CREATE TABLE"):].strip())
    done = rebuild(lab)
    assert done.code == Exit.OK, done.err
    stored = lab.numbers()
    assert stored
    came = delivered(lab)
    for shard, unread in missing(CASE, held).items():
        assert unread <= set(came.get(shard, ())), shard
    assert lab.undo().code in (Exit.OK, Exit.FINDINGS)
    assert not lab.numbers()
    assert shard_name(0) in held
