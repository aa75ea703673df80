"""From where a watched consumer's standing shards are read, and from where they are not."""

from __future__ import annotations

import pytest
from msgspec.structs import replace

from reshardctl.consumers.locator import parse
from reshardctl.diagnosis.evidence import Movement, Snapshot, Watched
from reshardctl.model import START, Probe, ShardId, shard_id
from reshardctl.report.forecast import places_to_watch
from tests.support.judging import images_of, lineage_of
from tests.unit.render.samples import CASES

STILL = Movement("w1", renewed=True, moved=False)
A, B = shard_id(0), shard_id(1)


def snapshot(name: str, moves: dict[ShardId, Movement], options: str = "") -> Snapshot:
    case = CASES[name]
    lineage = lineage_of(case.shards, case.stream["created"], case.retention_hours)
    return Snapshot(
        parse(f"kcl://app?{options or 'initial=TRIM_HORIZON'}"), lineage,
        tuple(images_of(case.items())), {}, float(case.now), watched=Watched(0, 60, "", moves),
    )


@pytest.mark.parametrize(("one", "read"), [
    (STILL, True), (replace(STILL, moved=True), False), (replace(STILL, finished=True), False),
    (replace(STILL, renewed=False), True),
])  # fmt: skip
def test_only_what_stands_still_is_read(one: Movement, read: bool) -> None:
    places = dict(places_to_watch(snapshot("healthy-roots", {A: STILL, B: one})))
    assert (B in places) is read
    number = CASES["healthy-roots"].number_of("s0-1")
    assert places[A].text == number, "from its position on"


def test_nothing_twice() -> None:
    taken = snapshot("healthy-roots", {A: STILL, B: STILL})
    (_, at), _ = places_to_watch(taken)
    again = replace(taken, probes={A: Probe(at, True), B: Probe(START, True)})
    assert [shard for shard, _ in places_to_watch(again)] == [B], "A was read from there already"


def test_no_place_at_the_tip_and_none_that_is_gone() -> None:
    moves = {A: STILL, B: STILL, shard_id(77): STILL}
    assert places_to_watch(snapshot("healthy-latest-roots", moves, "initial=LATEST")) == []


def test_nothing_where_nobody_runs_or_nobody_watched() -> None:
    silent = snapshot("healthy-roots", {A: replace(STILL, renewed=False)})
    assert places_to_watch(silent) == []
    assert places_to_watch(replace(silent, watched=None)) == []
