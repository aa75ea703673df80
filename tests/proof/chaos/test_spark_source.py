"""Checkpoints of kinesis-lineage in chaos, as rows: kept to the byte, read, and harmed."""

from __future__ import annotations

import math
from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path
from random import Random

import pytest

from reshardctl.testing import serve
from tests.proof.chaos.spark_source import HARMS, SparkSource, _Harm
from tests.proof.chaos.world import World
from tests.proof.reference.spark_files import COMMIT, CONF, put

SHARD = "shardId-000000000000"
LINE = (
    '{"shards": {"shardId-000000000000": {"seq": "SEQ", "end": false},'
    ' "shardId-000000000001": {"seq": "", "end": true}}, "stream": "orders"}'
)


@pytest.fixture
def system(tmp_path: Path) -> Iterator[SparkSource]:
    """Batches 0 and 1 are committed; more of shard 0 is unread."""
    with ExitStack() as stack:
        world = World.new(Random(26))
        server = stack.enter_context(serve(world.fake))
        system = SparkSource(server.url, world, server.url, tmp_path)
        for door in system.doors:
            stack.callback(door.close)
        for batch, number in enumerate(_numbers(world)[:2]):
            line = LINE.replace("SEQ", number)
            put(system.checkpoint / "offsets" / str(batch), f"v1\n{CONF}\n{line}")
            put(system.checkpoint / "commits" / str(batch), COMMIT)
        put(system.checkpoint / "metadata", '{"id":"5"}')
        yield system


def _numbers(world: World) -> list[str]:
    return sorted(number for number, *_ in world.case().records[SHARD])


def test_the_newest_committed_batch_says_how_far_each_shard_was_read(system: SparkSource) -> None:
    rows = system.rows()
    del rows["commits/1"]
    assert system.read(rows) == {
        SHARD: int(_numbers(system.world)[0]), "shardId-000000000001": math.inf,
    }
    foreign = {"bytes": {"S": rows["offsets/0"]["bytes"]["S"].replace('"seq": "4', '"seq": "5')}}
    assert system.read({**rows, "offsets/0": foreign}) == {"shardId-000000000001": math.inf}
    assert system.read({name: row for name, row in rows.items() if "commits" not in name}) == {}
    assert system.read({**rows, "offsets/0": {"bytes": {"S": "v1\n{"}}}) == {}


def test_files_come_back_to_the_byte(system: SparkSource) -> None:
    before = system.rows()
    (system.checkpoint / "commits" / "9").write_bytes(bytes(range(256)))
    (system.checkpoint / "metadata").unlink()
    between = system.rows()
    system.put(before)
    assert system.rows() == before
    system.put(between)
    assert (system.checkpoint / "commits" / "9").read_bytes() == bytes(range(256))
    assert not (system.checkpoint / "metadata").exists()


@pytest.mark.parametrize("way", sorted(HARMS.keys() - {"restored"}))
def test_each_damage_changes_files_and_says_what_it_forges(system: SparkSource, way: str) -> None:
    before = system.rows()
    HARMS[way](_Harm(system.checkpoint, Random(1), system.world))
    assert system.rows() != before
    forged = [shard for shard, _ in system.world.ledger.forged]
    assert len(forged) == (way in ("move_on", "end_open"))


def test_damages_are_of_a_copy_and_a_backup_brings_back_all(system: SparkSource) -> None:
    before = system.rows()
    damaged = [system.harmed(f"{seed}", before, [{}]) for seed in range(100)]
    assert system.rows() == before
    assert {} in [rows for rows, names in damaged if names == ("restored",)]
    assert {name for _, names in damaged for name in names} > {"restored", "move_on"}


@pytest.mark.parametrize(("since", "unsaid"), [(-1, [2]), (0, [0, 2])])
def test_a_query_at_the_tip_passes_over_what_its_first_batch_says(
    system: SparkSource, since: int, unsaid: list[int]
) -> None:
    """The first batch notes the second of three records. since: of those, the last that came before
    the report; with none everything before is passed over."""
    ledger, numbers = system.world.ledger, _numbers(system.world)
    (system.checkpoint / "offsets" / "0").write_bytes(
        (system.checkpoint / "offsets" / "1").read_bytes()
    )
    system.start = "LATEST"
    system.passed_over({SHARD: int(numbers[since])} if since >= 0 else {})
    system.passed_over({SHARD: int(numbers[since])} if since >= 0 else {})
    assert len(ledger.skips) == 2
    said = {each.split()[0] for each in ledger.lost(0) if SHARD in each}
    payloads = [payload for _, payload, _ in sorted(system.world.case().records[SHARD])]
    assert said == {payloads[n] for n in unsaid}
