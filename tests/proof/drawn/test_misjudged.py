"""Stores whose numbers were once misjudged: nobody takes them for progress any more.

What Kinesis answers to such texts: FakeKinesis, after kinesalite's tests against AWS; what each
library makes of that: the reference consumers, each written from its library's source.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace

import pytest

from reshardctl.diagnosis.rules import Severity
from reshardctl.model import decode, shard_id
from reshardctl.testing.shards import SequenceNumber
from tests.proof.drawn.damages import Shape
from tests.proof.drawn.drawn_go import ConsumerShape, KinsumerShape
from tests.proof.drawn.drawn_kcl import LeaseShape
from tests.proof.drawn.drawn_quickwit import EntryShape
from tests.proof.drawn.families import FAMILIES
from tests.proof.drawn.states import State
from tests.proof.drawn.trial import bench_of, examine
from tests.support.case import Case
from tests.support.covering import in_turn

LATER = 400 * 86_400
MISJUDGED: dict[str, Callable[[Case, str], str]] = {
    "a leading zero": lambda _, own: "0" + own,
    "its last digit missing": lambda _, own: own[:-1],
    "its last digit doubled": lambda _, own: own + own[-1],
    "a younger stream's": lambda case, own: another(own, case.now, epoch=case.now + LATER),
    "another clock's": lambda case, own: another(own, case.now),
}
"""What once was taken for progress, or for a text that Kinesis takes: how a record's number became
one that no record of the shard can have."""
SHAPES: dict[str, Shape] = {
    "kinsumer": KinsumerShape(), "kinesis-consumer": ConsumerShape(), "quickwit": EntryShape(),
    "kcl": LeaseShape(),
}
JUDGED = (
    "reference-kinesis-consumer", "reference-kinesis-consumer-master", "reference-telegraf",
    "reference-kinsumer-snowplow", "reference-kinsumer-twitch", "reference-quickwit-0.9.0",
    "reference-kcl-3.1.3", "reference-kcl-3.5.1",
)


def another(own: str, time: int, epoch: int = 0) -> str:
    """The same number with a time that lies so far ahead of this moment, and of that epoch."""
    fields = decode(own)
    assert fields is not None and fields.index is not None
    return str(SequenceNumber(epoch or fields.epoch, fields.index, time + LATER, fields.shard))


def misjudged(state: State, text: Callable[[Case, str], str], orphan: bool) -> Iterator[State]:
    """The store as it was left, but for one number, of an open shard and of a closed one; orphan:
    without the rows of that shard's ancestors."""
    shape, case = SHAPES[state.consumer], state.case
    for closed in (False, True):
        for key, shard in shape.shards(state.honest).items():
            own = str((shape.position(state.honest[key]) or {}).get("S", ""))
            fields = decode(own)
            if fields is None or bool(case.topology[fields.shard].end) is not closed:
                continue
            rows = {k: dict(row) for k, row in state.honest.items()}
            shape.place(rows[key], {"S": text(case, own)})
            above = {shard_id(one) for one in ancestors(case, fields.shard)} if orphan else set()
            rows = {k: row for k, row in rows.items() if k.rpartition("/")[2] not in above}
            yield replace(state, rows=rows, forged=frozenset({shard}))
            break


def some(name: str, how: str) -> list[State]:
    """Four stores or more of a family, half of them with orphans."""
    found: list[State] = []
    for seed in range(20):
        whole = FAMILIES[name].state(seed, only=[])
        found += misjudged(whole, MISJUDGED[how], orphan=bool(seed % 2))
        if len(found) >= 4 and seed % 2:
            return found
    raise AssertionError(f"{name} keeps too few numbers: {len(found)}")


def ancestors(case: Case, index: int) -> set[int]:
    parents = set(case.topology[index].parents)
    return parents.union(*(ancestors(case, parent) for parent in parents))


@pytest.mark.parametrize(("name", "how"), in_turn(JUDGED, MISJUDGED, every=4))
def test_stores_that_were_misjudged(name: str, how: str) -> None:
    with FAMILIES[name].judges(1) as judge:
        for state in some(name, how):
            assert examine(state, judge).violations == [], (state.name, state.rows)


@pytest.mark.parametrize(
    "name", ["reference-kinesis-consumer", "reference-telegraf", "reference-quickwit-0.8.2"]
)
def test_a_number_of_another_clock_is_an_error(name: str) -> None:
    for state in some(name, "another clock's"):
        found = [one for one in bench_of(state, state.images).findings() if one.code == "RSH207"]
        assert [one.severity for one in found] == [Severity.ERROR], state.rows
