"""Sources that break the promise, each in one way: a soak that passes them is worth nothing.

Spark unpickles the data source in workers of its own, by the name of this module; so what is
broken is broken by importing it, as the environment variable says.
"""

from __future__ import annotations

import os
from collections.abc import Collection, Mapping
from typing import TYPE_CHECKING

from reshardctl.kinesis.fast import Begin
from reshardctl.lineage import Lineage
from reshardctl.model import ShardId
from reshardctl.spark.source import planning
from reshardctl.spark.source.datasource import KinesisLineage
from reshardctl.spark.source.offset import Offset, OffsetPosition
from tests.proof.libraries.spark.soak.scenes import HOW

if TYPE_CHECKING:
    from pyspark.sql import SparkSession


class Broken(KinesisLineage):
    """The source, pickled under the name of this module."""


def register(spark: SparkSession) -> None:
    """Register the broken source under its usual name."""
    spark.dataSource.register(Broken)


def _hasty(
    lineage: Lineage,
    places: Mapping[ShardId, OffsetPosition],
    known: Collection[ShardId] | None = None,
) -> list[ShardId]:
    """Every shard at once, children with their parents."""
    return [shard for shard in lineage if shard not in places and (not known or shard in known)]


def _forgetful(
    _lineage: Lineage, places: Mapping[ShardId, OffsetPosition]
) -> dict[ShardId, OffsetPosition]:
    """No mark of a finished shard, unless it is the last one."""
    unfinished = {shard: position for shard, position in places.items() if not position.end}
    return unfinished or dict(places)


def _late(
    _planner: object, first: Offset, shard: ShardId, position: OffsetPosition, anew: bool
) -> Begin | None:
    """A shard that is new is read from behind its first record, as after a start at LATEST."""
    begin = _BEGIN(_planner, first, shard, position, anew)  # type: ignore[arg-type]
    if begin == Begin("TRIM_HORIZON") and position.seq and not first.initial:
        return Begin("AT_SEQUENCE_NUMBER", position.seq)
    return begin


_BEGIN = planning.Planner._begin
match os.environ.get(HOW):
    case "hasty":
        planning.entrants = _hasty  # type: ignore[attr-defined]
    case "forgetful":
        planning.kept = _forgetful  # type: ignore[attr-defined, assignment]
    case "late":
        planning.Planner._begin = _late  # type: ignore[assignment, method-assign]
    case _:
        pass
