"""Recorded lease tables as cases of the planner: one stream's or several streams', side tables."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

from msgspec.structs import replace

from reshardctl.consumers.registry import CONSUMERS
from reshardctl.diagnosis.rules import Finding, Severity, View, findings, merged
from reshardctl.lineage import Lineage
from reshardctl.model import Image, Stream, canonical, time_of
from reshardctl.planning.effects import StreamState
from reshardctl.planning.plan import Case, judge, processed_frontier
from reshardctl.planning.policy import EVERYTHING, LOSSLESS, Accept
from tests.support.judging import images_of, shard_of

GOLDEN = Path(__file__).parents[1] / "golden" / "kcl"
Item = dict[str, Any]
SIDE = {"app-CoordinatorState": "key", "app-WorkerMetricStats": "wid"}


def read(path: Path) -> Any:
    return json.loads(path.read_text(encoding="utf-8"))


def items_of(folder: Path) -> list[Item]:
    """Every row of the lease table."""
    found: list[Item] = read(folder / "leases.json")["Items"]
    return found


def side_images(folder: Path) -> list[Image]:
    """The rows of the side tables, as the medium reads them along."""
    return [
        Image(f"{table}/{item[key]['S']}", canonical(item))
        for table, key in SIDE.items() if (folder / f"{table}.json").exists()
        for item in read(folder / f"{table}.json")["Items"]
    ]


def lineage_of(folder: Path, stream: str | None) -> Lineage:
    """The stream of that name; `None`: the only one, which is called orders."""
    shards = read(folder / (f"shards-{stream}.json" if stream else "shards.json"))["Shards"]
    starts = [time_of(s["SequenceNumberRange"]["StartingSequenceNumber"]) for s in shards]
    created = min(start for start in starts if start is not None) + 3
    arn = f"arn:aws:kinesis:us-east-1:000000000000:stream/{stream or 'orders'}"
    facts = Stream(arn, stream or "orders", created, 86400, "ACTIVE")
    return Lineage(facts, [shard_of(s) for s in shards])


def golden_case(
    folder: Path, stream: str | None, options: dict[str, str],
    change: Callable[[list[Item]], list[Item]] = list,
) -> Case:
    """The recorded table, after a change to its rows, an hour after it was recorded."""
    lineage = lineage_of(folder, stream)
    rows = [*images_of(change(items_of(folder))), *side_images(folder)]
    images = sorted(rows, key=lambda image: image.key)
    kcl = CONSUMERS["kcl"]
    candidates = kcl.candidates(kcl.parse(images, lineage.stream), options)
    state = StreamState(lineage, lineage.stream.created + 5400)
    return Case(kcl, state, images, candidates, accept=Accept(reread=EVERYTHING))


def with_rows(case: Case, images: list[Image]) -> Case:
    """The same with other rows."""
    return replace(case, images=images)


def found_in(case: Case) -> list[Finding]:
    """All findings, as a report lists them."""
    lineage = case.state.lineage
    processed = processed_frontier(case)
    anomalies = case.consumer.anomalies(lineage, case.checkpoint())
    return merged(
        {
            str(j.candidate.options): findings(
                View(case.state, processed, j.simulation, j.effects, anomalies, False)
            )
            for j in judge(case, LOSSLESS.frontier(lineage, processed), processed)
        }
    )


def above_info(case: Case) -> set[str]:
    return {f.code for f in found_in(case) if f.severity > Severity.INFO}
