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
from tests.cli.spark_lab import FOLDERS, QUBOLE, SparkLab, facts, golden_fake, planted, said
from tests.dialects import dialect_of
from tests.support.case import CASES, load

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


def positions(lab: Lab) -> dict[str, tuple]:
    done = lab.cli("export", *lab.where)
    assert done.code == 0, done.err
    return {
        entry["shard"]: (entry["kind"], entry["number"])
        for entry in done.json["positions"] if entry["basis"] == "stored"
    }


def undo(lab: Lab, journal: str) -> None:
    done = lab.cli("undo", journal, "--yes", "--assume-stopped")
    assert done.code in (0, 1), done.err


def test_a_store_is_set_restored_from_a_snapshot_and_undone_twice(store, tmp_path):
    """The last record of a shard skips; the snapshot re-reads; two undos restore every byte."""
    saved, before, there = tmp_path / "before.snapshot", stored(store), positions(store)
    assert store.cli("snapshot", store.stream, store.locator, "-o", saved).code == 0
    shard = next(s for s, (kind, _) in there.items() if kind != "SHARD_END")
    last = str(store.fake.stream(store.stream).shards[int(shard[-12:])].records[-1].number)
    accept = ("--accept", "skip=all,reread=all,disorder", "--created", store.created)
    done = store.fix("--set", f"{shard}={last}", *accept)
    assert done.code in (0, 1), done.err
    assert positions(store)[shard] == ("AFTER_SEQUENCE_NUMBER", last)
    (first,) = store.journals()
    moved = stored(store)
    assert moved != before
    done = store.fix("--positions", saved, *accept)
    assert done.code in (0, 1), done.err
    assert positions(store)[shard] == there[shard]
    again = store.dry("--positions", saved, "--format", "json")
    assert again.json["decision"]["kind"] == "nothing"
    (second,) = set(store.journals()) - {first}
    undo(store, second)
    assert stored(store) == moved
    undo(store, first)
    assert stored(store) == before
