"""A batch: the records between two frontiers, as a DataFrame.

Its ends are numbers, or ends of closed shards, from the moment the frame is made: computed twice,
it has the same rows, as long as none have expired.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

from pyspark.sql.datasource import DataSourceReader, InputPartition

from reshardctl.errors import ReshardError, UsageError
from reshardctl.kinesis import Kinesis
from reshardctl.kinesis.fast import Begin, FastReader, Reach
from reshardctl.lineage import Lineage
from reshardctl.model import ShardId
from reshardctl.spark.source import MOST
from reshardctl.spark.source.intervals import intervals_in, stretches_of
from reshardctl.spark.source.lines import (
    TIP,
    Stretch,
    ending_line,
    spelled,
    starting_line,
    stretches,
)
from reshardctl.spark.source.moments import ends_found, starts_found
from reshardctl.spark.source.options import (
    BATCH,
    LINES,
    TRIM_HORIZON,
    Options,
    common_options,
    fails_on_loss,
    telling,
    told,
)
from reshardctl.spark.source.pieces import Piece, pieces, read_piece
from reshardctl.spark.tips import Tips

if TYPE_CHECKING:
    import pyarrow as pa

AT_ONCE = 16
"""Shards that are asked for their tips at the same time."""


class LineageBatchReader(DataSourceReader):  # type: ignore[misc]
    """Hands pieces to the executors."""

    @telling
    def __init__(self, options: Mapping[str, str], tasks: int = MOST) -> None:
        self._given, self._tasks = dict(options), tasks
        self._options = common_options(self._given, BATCH)

    @telling
    def partitions(self) -> Sequence[InputPartition]:
        """The tasks."""
        between = _between(self._given, self._options)[1]
        strict = fails_on_loss(self._given)
        return planned(self._options, between, strict=strict, tasks=self._tasks)

    def read(self, partition: InputPartition) -> Iterator[pa.RecordBatch]:
        """The rows of a task; PySpark makes an empty batch if there is none."""
        if not isinstance(partition, Piece):
            return
        try:
            yield from read_piece(partition)
        except ReshardError as error:
            raise told(error) from None


def planned(
    options: Options, between: list[Stretch], *, strict: bool = True, tasks: int = MOST
) -> list[Piece]:
    """The tasks that read these stretches."""
    return pieces(
        options.reach, options.stream, between, shards_per_task=options.shards_per_task,
        tasks=tasks, unpack=options.unpack, strict=strict,
    )  # fmt: skip


def pinned(options: Mapping[str, str]) -> dict[str, str]:
    """The options with fixed frontiers; lists the shards and finds their tips."""
    given = {name.lower(): value for name, value in options.items()}
    if "intervals" in given:
        given["intervals"] = intervals_in(given["intervals"])
    lineage, between = _between(given, common_options(given, BATCH))
    if "intervals" in given:
        return given
    return given | {name.lower(): line for name, line in spelled(lineage, between).items()}


def read_between(
    spark: Any,
    reach: Reach,
    stream: str,
    begin: Mapping[str, Any] | str = TRIM_HORIZON,
    end: Mapping[str, Any] | str = TIP,
    *,
    intervals: Path | str | None = None,
    unpack: bool = True,
    shards_per_task: int | None = None,
) -> Any:
    """The records between two frontiers as a DataFrame; its columns are `rows.SCHEMA`.

    Args:
        spark: The session.
        reach: How the stream is reached.
        stream: Its name or ARN.
        begin: Like option startingLine (see `lines`), or what its JSON would hold.
        end: Like option endingLine, likewise.
        intervals: Instead of both, the file that `--skipped` saved, or its text.
        unpack: Whether aggregated records become rows of their own.
        shards_per_task: Shards that one task reads, `None` for as few as the cores allow.

    Raises:
        UsageError: A frontier makes no sense.
        CannotTell: It names a shard that is not listed, or the stream cannot be read.
    """
    from reshardctl.spark.source import register

    register(spark)
    options = pinned({
        ("streamARN" if stream.startswith("arn:") else "streamName"): stream,
        **_spelled_reach(reach),
        **({
            "startingLine": begin if isinstance(begin, str) else json.dumps(dict(begin)),
            "endingLine": end if isinstance(end, str) else json.dumps(dict(end)),
        } if intervals is None else {"intervals": str(intervals)}),
        "unpackAggregates": str(unpack).lower(),
        **({} if shards_per_task is None else {"shardsPerTask": str(shards_per_task)}),
    })
    return spark.read.format("kinesis-lineage").options(**options).load()


def _spelled_reach(reach: Reach) -> dict[str, str]:
    options = {
        "region": reach.region, "endpointUrl": reach.endpoint_url, "roleArn": reach.role_arn,
        "roleSessionName": reach.role_session_name, "roleExternalId": reach.role_external_id,
    }  # fmt: skip
    return {name: value for name, value in options.items() if value is not None}


def _between(given: Mapping[str, str], options: Options) -> tuple[Lineage, list[Stretch]]:
    given = {name.lower(): value for name, value in given.items()}
    lines = [name for name in LINES if name.lower() in given]
    if "intervals" not in given and "failondataloss" in given:
        raise UsageError("failOnDataLoss belongs to intervals and to a stream", "leave it out")
    if "intervals" in given and lines:
        raise UsageError(f"intervals and {lines[0]} exclude each other", "leave one of them out")
    starting = starting_line(given.get("startingline", TRIM_HORIZON))
    ending = ending_line(given.get("endingline", TIP))
    reach = options.reach
    lists = Kinesis(reach.session(), endpoint_url=reach.endpoint_url, region=reach.region)
    lineage = lists.lineage(options.stream)
    if "intervals" in given:
        strict = fails_on_loss(given)
        saved = given["intervals"]
        return lineage, stretches_of(saved, lineage, unpack=options.unpack, strict=strict)
    if ending is not None:  # then a time to begin at may lie after the end
        places = partial(lists.places, options.stream)
        ending = ends_found(lineage, ending, places)
        starting = starts_found(lineage, starting, places)
    tips = Tips(FastReader(reach, options.stream))

    def newest(places: Mapping[ShardId, Begin]) -> dict[ShardId, str | None]:
        with ThreadPoolExecutor(AT_ONCE) as pool:
            tips_found = pool.map(lambda shard: tips.behind(shard, places[shard]).number, places)
            return dict(zip(places, tips_found, strict=True))

    return lineage, stretches(lineage, starting, ending, newest)
