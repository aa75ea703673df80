"""Damaged rows in DynamoDB: lease tables of KCL, kinsumer's tables, kinesis-consumer, Telegraf."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from functools import partial
from pathlib import Path
from random import Random
from typing import Any

import pytest

from reshardctl.model import table_of
from tests.cli.damaged.judging import Damaged, judge, positions
from tests.cli.damaged.row_damages import Row, Rows, damaged_rows
from tests.cli.damaged.seeds import seeded
from tests.cli.kinesis_consumer_lab import positions_lab
from tests.cli.kinsumer_lab import kinsumer_lab
from tests.cli.lab import Lab, Servers, Wire, fake_of, opened
from tests.dialects import kinesis_consumer, kinsumer
from tests.support.case import CASES, load
from tests.support.side_tables import side_tables

pytestmark = pytest.mark.timeout(300)

NOT_UNDONE = {
    "kcl": {"leaseCounter", "leaseOwner", "checkpointOwner"}, "kcl-tables": {
        "leaseCounter", "leaseOwner", "checkpointOwner",
    },
    "kinsumer": {"OwnerID", "OwnerName"}, "kinesis-consumer": set(),
}  # fmt: skip
"""A lower counter, an owner who may be long gone."""
APART = {
    "kcl": {"leaseKey"}, "kcl-tables": {"leaseKey"}, "kinsumer": {"Shard", "ID", "Key"},
    "kinesis-consumer": {"namespace", "shard_id"},
}  # fmt: skip
TRIM = "initial=TRIM_HORIZON&release="
STATES = [
    ("kcl", "a-both", f"?{TRIM}1.15.3"), ("kcl", "a-both", f"?{TRIM}3.5.1"),
    ("kcl", "healthy-second-generation", f"?{TRIM}2.7.2"), ("kcl", "c-pending", f"?{TRIM}3.5.1"),
    ("kcl-tables", "multi-children-lost", f"?{TRIM}3.5.1"),
    ("kcl-tables", "side-upgrading", f"?{TRIM}3.5.1"),
    ("kinsumer", "a", f"?{TRIM}twitch"), ("kinsumer", "a", f"?{TRIM}snowplow-1.7"),
    ("kinesis-consumer", "a", f"?app=app&{TRIM}0.5"),
    ("kinesis-consumer", "b5", f"?app=app&{TRIM}telegraf-1.39"),
]


@contextmanager
def store_of(
    state: tuple[str, str, str], servers: Servers, tmp_path: Path, monkeypatch: Any
) -> Iterator[Lab]:
    """A lab of a case of the library, on tables of its own."""
    library, name, options = state
    case = load(CASES / library / f"{name}.toml")
    items = case.items() if library in ("kcl", "kcl-tables") else []
    with ExitStack() as stack:
        lab = stack.enter_context(opened(
            servers, fake_of(case), items, tmp_path / "state", monkeypatch, Wire()
        ))
        lab.options = options
        if items:
            stack.enter_context(side_tables(lab.table.boto, lab.table.name, case))
            yield lab
        elif library == "kinsumer":
            yield stack.enter_context(kinsumer_lab(lab, kinsumer.images(case)))
        else:
            yield stack.enter_context(positions_lab(lab, kinesis_consumer.images(case)))


def put(lab: Any, key: str, row: Row) -> None:
    if hasattr(lab, "shapes"):
        table = table_of(lab.shapes, key).name
    else:
        table = getattr(lab, "name", lab.table.name)
    lab.table.boto.put_item(TableName=table, Item=row)


def kept_of(lab: Lab, library: str) -> Rows:
    """The rows without what no undo gives back."""
    left = NOT_UNDONE[library]
    return {
        key: {name: value for name, value in row.items() if name not in left}
        for key, row in lab.items().items()
    }


def changes(before: Rows, after: Rows) -> str:
    return "; ".join(
        f"{key} {name} {str(after[key].get(name))[:60]}"
        for key in after for name in after[key].keys() | before[key].keys()
        if after[key].get(name) != before[key].get(name)
    )[:300]


@pytest.mark.parametrize(("state", "seeds"), seeded(STATES))
def test_damaged_rows(servers, tmp_path, monkeypatch, state, seeds):
    library = state[0]
    for seed in seeds:
        with store_of(state, servers, tmp_path / str(seed), monkeypatch) as lab:
            stood, rows = positions(lab), lab.items()
            way, key, after = damaged_rows(
                Random(f"rows {state} {seed}"), rows, frozenset(APART[library])
            )
            for changed in after:
                if after[changed] != rows[changed]:
                    put(lab, changed, after[changed])
            what = f"seed {seed}: {way}: {changes(rows, after)}"
            named = (key, key.rpartition("/")[2], "'0' is not listed", "multi-stream")
            judge(Damaged(lab, what, lab.items, partial(kept_of, lab, library), named, stood))


@pytest.mark.parametrize("seed", range(4))
def test_a_damaged_table_of_a_dynamodb_stream_is_refused_all_the_same(lab, seed):
    """The adapter's own keys, as `keys.no_lease_table` tells them; nothing else is looked at."""
    rows = {
        f"shardId-0000000141457657362{number}-f55eea83": {**row, "leaseKey": {
            "S": f"shardId-0000000141457657362{number}-f55eea83",
        }}
        for number, row in enumerate(lab.items().values())
    }  # fmt: skip
    for key in lab.items():
        lab.table.pull(key)
    _, _, after = damaged_rows(Random(f"streams {seed}"), rows, frozenset({"leaseKey"}))
    for key, row in after.items():
        put(lab, key, row)
    for words in (["inspect"], ["status"], ["export"], ["fix", "--dry-run"], ["explain", "0"]):
        ended = lab.cli(*words, *lab.where)
        assert ended.code == 2, ended.err
        assert ended.says("DynamoDB Streams Kinesis Adapter", "kcl://TABLE")
    assert lab.wire.writes == []
