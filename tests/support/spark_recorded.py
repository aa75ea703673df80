"""Checkpoints recorded from the real connectors, as a plan's case, and what a forecast delivers."""

from __future__ import annotations

import base64
import json
from pathlib import Path
from typing import Any

from reshardctl.consumers.spark.consumer import Spark
from reshardctl.lineage import Lineage
from reshardctl.model import Cut, Image, Rank, ShardId, Stream, WillRead, decode
from reshardctl.planning.effects import StreamState
from reshardctl.planning.plan import Case, Judged, judge, processed_frontier

GOLDEN = Path(__file__).parents[1] / "golden" / "spark"
QUBOLE, V1, HEAD = "qubole-1.2.0_spark-3.0", "awslabs-1.4.2", "awslabs-head-0f4c005"
FOLDERS = {QUBOLE: QUBOLE, V1: "awslabs-1.4.2-sdk", HEAD: HEAD}
DIES = "dies"


class Recorded:
    """One golden checkpoint with its listing, its records and its query's options."""

    def __init__(self, shape: str, release: str, folder: str, **said: str) -> None:
        root = GOLDEN / folder
        self.facts = json.loads((root / f"{shape}.json").read_text())
        (stream,) = self.facts["streams"]
        self.stream = Stream(
            f"arn:aws:kinesis:us-east-1:123456789012:stream/{stream['name']}", stream["name"],
            stream["created"], stream["retention_hours"] * 3600, "ACTIVE",
        )
        pages = json.loads((root / f"{shape}.shards.json").read_text())
        self.lineage = Lineage.from_pages(self.stream, [pages["Shards"]])
        self.images = images(root / shape)
        start = self.facts["options"]["startingPosition"]
        fails = "true" if release == QUBOLE else "false"
        self.options = {
            "release": release, "startingPosition": start, "failOnDataLoss": fails,
            "sink": "other",
        } | said
        self.times = {
            (shard["id"], index): stream["created"] + record["t"]
            for shard in stream["shards"] for index, record in enumerate(shard["records"])
        }

    def case(self, rows: list[Image] | None = None) -> Case:
        consumer = Spark()
        kept = self.images if rows is None else rows
        parsed = consumer.parse(kept, self.stream)
        now = max(self.times.values()) + 60
        return Case(
            consumer, StreamState(self.lineage, now), kept,
            consumer.candidates(parsed, self.options),
        )


def images(root: Path) -> list[Image]:
    """Every file as a medium shows it."""
    found: dict[str, dict[str, Any]] = {}
    for path in sorted(p for p in root.rglob("*") if p.is_file()):
        key, body = path.relative_to(root), path.read_bytes()
        if path.name.endswith(".crc"):
            name = path.name.removeprefix(".").removesuffix(".crc")
            owner = found.setdefault((key.parent / name).as_posix(), {})
            owner["crc"] = {"B": base64.b64encode(body).decode()}
        else:
            owner = found.setdefault(key.as_posix(), {})
            owner |= {"text": {"S": body.decode()}, "size": {"N": str(len(body))}}
    folders = {f"{p.relative_to(root).as_posix()}/" for p in root.rglob("*") if p.is_dir()}
    rows = {**found, **{folder: {} for folder in folders}}
    return [Image(key, rows[key]) for key in sorted(rows)]


def judged(case: Case) -> Judged:
    """What the first candidate's next start does, against what is processed."""
    processed = processed_frontier(case)
    return judge(case, case.policy.frontier(case.state.lineage, processed), processed)[0]


def delivered(recorded: Recorded, case: Case) -> dict[int, list[int]] | str:
    """The records that the forecast lets come, by shard: their indices in the recording."""
    simulation = judged(case).simulation
    if simulation.crash is not None:
        return DIES
    came: dict[int, list[int]] = {}
    for (shard, index), time in recorded.times.items():
        fate = simulation.fates.get(ShardId(f"shardId-{shard:012d}"))
        if f"shardId-{shard:012d}" not in recorded.lineage or not isinstance(fate, WillRead):
            continue
        assert fate.at.exact
        if behind(fate.at.lo, index, time) and not behind(fate.until, index, time):
            came.setdefault(shard, []).append(index)
    return came


def behind(cut: Cut, index: int, time: float) -> bool:
    """Whether a record lies behind the cut. Its number counts from 1 in its shard."""
    if cut.rank is not Rank.INSIDE:
        return cut.rank is Rank.START
    if cut.by_time:
        assert cut.time is not None
        return time >= cut.time
    decoded, at = decode(cut.processed), decode(cut.processed + 1)
    if decoded is None:
        assert at is not None and at.index is not None
        return index + 1 >= at.index
    assert decoded.index is not None
    return index + 1 > decoded.index
