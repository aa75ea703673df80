"""`fix --set` and `fix --positions SNAPSHOT` on each kind of store, and the undo of both."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import ExitStack
from typing import Any

import pytest

from tests.cli.kinesis_consumer_lab import positions_lab
from tests.cli.kinsumer_lab import kinsumer_lab
from tests.cli.lab import Lab, fake_of, opened
from tests.cli.quickwit_lab import QuickwitLab
from tests.cli.quickwit_lab import golden_fake as quickwit_fake
from tests.cli.quickwit_lab import planted as quickwit_planted
from tests.cli.restoring import set_restored_and_undone_twice
from tests.cli.spark_lab import FOLDERS, QUBOLE, SparkLab, facts, golden_fake, planted, said
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
def store(request, servers, tmp_path, monkeypatch, wire, lab_of) -> Iterator[Lab]:
    """A store with a number in shard 0 or 1, of each library."""
    name, state = request.param, tmp_path / "state"
    with ExitStack() as stack:

        def on(fake: Any) -> Lab:
            return stack.enter_context(opened(servers, fake, [], state, monkeypatch, wire))

        if name == "kcl":
            yield lab_of("a-both", "?initial=TRIM_HORIZON&release=3.5.1")
        elif name in TABLES:
            make, options = TABLES[name]
            case = load(CASES / name / "a.toml")
            lab = on(fake_of(case))
            lab.options = options
            yield stack.enter_context(make(lab, dialect_of(name).images(case)))
        elif name == "quickwit":
            lab = on(quickwit_fake("q2"))
            root = quickwit_planted(tmp_path / "indexes", "0.9.0", "q2")
            yield QuickwitLab(
                lab.servers, lab.fake, lab.table, lab.state, lab.wire, "events", "?release=0.9.0",
                root=root,
            )
        else:
            folder = FOLDERS[QUBOLE]
            lab = on(golden_fake(folder, "s1"))
            root = planted(tmp_path / "checkpoint", folder, "s1")
            yield SparkLab(
                lab.servers, lab.fake, lab.table, lab.state, lab.wire,
                facts(folder, "s1")["stream"], said(folder, "s1", QUBOLE), root=root,
            )


def stored(lab: Lab) -> Any:
    """Everything that is stored, without what no undo restores."""
    if isinstance(lab, SparkLab):
        return lab.files()
    if isinstance(lab, QuickwitLab):
        return lab.texts()
    return {
        key: {name: value for name, value in item.items() if name not in OWNERS}
        for key, item in lab.items().items()
    }


def test_a_store_is_set_restored_from_a_snapshot_and_undone_twice(store, tmp_path):
    set_restored_and_undone_twice(store, lambda: stored(store), tmp_path)
