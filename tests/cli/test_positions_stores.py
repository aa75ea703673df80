"""`fix --set` and `fix --positions SNAPSHOT` on each kind of store, and the undo of both."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest

from tests.cli.kinesis_consumer_lab import positions_lab
from tests.cli.kinsumer_lab import kinsumer_lab
from tests.cli.lab import TRIM_HORIZON, Lab, fake_of
from tests.cli.quickwit_lab import QuickwitLab, quickwit_lab
from tests.cli.restoring import set_restored_and_undone_twice
from tests.cli.spark_lab import QUBOLE, SparkLab, spark_lab
from tests.support.case import CASES, load
from tests.support.dialects import dialect_of

OWNERS = {"OwnerID", "OwnerName", "leaseOwner", "leaseCounter", "checkpointOwner",
          "ownerSwitchesSinceCheckpoint"}  # fmt: skip
"""What no undo gives back: tokens of workers."""
TABLES: dict[str, tuple[Any, str]] = {
    "kinsumer": (kinsumer_lab, "?initial=TRIM_HORIZON&release=snowplow-1.7"),
    "kinesis-consumer": (positions_lab, "?app=app&initial=TRIM_HORIZON&release=0.5"),
}


@pytest.fixture(params=["kcl", *TABLES, "quickwit", "spark"])
def store(
    request, servers, tmp_path, monkeypatch, wire, lab_of, base_of, entered
) -> Iterator[Lab]:
    """A store with a number in shard 0 or 1, of each library."""
    name, basics = request.param, (servers, tmp_path, monkeypatch, wire)
    if name == "kcl":
        yield lab_of("a-both", TRIM_HORIZON)
    elif name in TABLES:
        make, options = TABLES[name]
        case = load(CASES / name / "a.toml")
        lab = base_of(fake_of(case))
        lab.options = options
        yield entered.enter_context(make(lab, dialect_of(name).images(case)))
    elif name == "quickwit":
        yield entered.enter_context(quickwit_lab("0.9.0", "q2", *basics))
    else:
        yield entered.enter_context(spark_lab(QUBOLE, "s1", *basics))


def stored(lab: Lab) -> Any:
    """Everything that is stored, without what no undo restores."""
    if isinstance(lab, SparkLab):
        return lab.files()
    if isinstance(lab, QuickwitLab):
        return lab.everything()
    return {
        key: {name: value for name, value in item.items() if name not in OWNERS}
        for key, item in lab.items().items()
    }


def test_a_store_is_set_restored_from_a_snapshot_and_undone_twice(store, tmp_path):
    set_restored_and_undone_twice(store, lambda: stored(store), tmp_path)
