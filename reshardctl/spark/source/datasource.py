"""The data source that PySpark registers, by the name `kinesis-lineage`, and its streaming reader.

The reader is called alike by PySpark 4.0 and 4.1 and by 4.2 and later. One instance lives with the
query in the driver's planner process; another is pickled for the executors, which only `read`. So
nothing is connected before the first call.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from pyspark.sql.datasource import DataSource, DataSourceStreamReader, InputPartition

from reshardctl.errors import ReshardError, UsageError
from reshardctl.kinesis import Kinesis
from reshardctl.kinesis.fast import FastReader
from reshardctl.spark.records import SCHEMA
from reshardctl.spark.source import MOST
from reshardctl.spark.source.latest import Afresh
from reshardctl.spark.source.options import stream_options, telling, told
from reshardctl.spark.source.pieces import Piece, pieces, read_piece
from reshardctl.spark.source.planning import Planner, Raw

if TYPE_CHECKING:
    import pyarrow as pa
    from pyspark.sql.datasource import DataSourceReader, DataSourceStreamReader
    from pyspark.sql.types import StructType


NAME = "kinesis-lineage"


class KinesisLineage(DataSource):  # type: ignore[misc]
    """Kinesis, parents before children."""

    options: Mapping[str, str]
    tasks = MOST
    """Most tasks of a batch, unless option shardsPerTask says otherwise."""

    @classmethod
    def name(cls) -> str:
        """The format's name."""
        return NAME

    @telling
    def schema(self) -> str:
        """The columns, which cannot be chosen.

        PySpark asks once for a frame and keeps this object with it. So this is where the frontiers
        of a batch, given as options, are fixed: each use of the frame would plan them anew.
        """
        from reshardctl.spark.source.options import FIXED

        if {name.lower() for name in self.options} & {name.lower() for name in FIXED}:
            from reshardctl.spark.source.batch import pinned

            self.options = pinned(self.options)
        return SCHEMA

    @telling
    def reader(self, schema: StructType) -> DataSourceReader:
        """The reader of a batch between two frontiers."""
        from reshardctl.spark.source.batch import LineageBatchReader

        self._fixed(schema)
        return LineageBatchReader(self.options, self.tasks)

    @telling
    def streamReader(  # noqa: N802
        self, schema: StructType
    ) -> DataSourceStreamReader:
        """The reader of a streaming query."""
        self._fixed(schema)
        return LineageStreamReader(self.options, self.tasks)

    def _fixed(self, schema: Any) -> None:
        from pyspark.sql.types import StructType

        expected = [column.split()[0] for column in SCHEMA.split(", ")]
        if isinstance(schema, StructType) and schema.names != expected:
            raise UsageError(
                f"the columns of {NAME} are fixed: {', '.join(expected)}",
                "leave .schema(...) out, and select the columns wanted"
            )


def with_tasks(most: int) -> type[KinesisLineage]:
    """The source with another number of tasks.

    PySpark pickles a class by its value where its module has another one of its name, so the number
    reaches every process.
    """
    return type(KinesisLineage.__name__, (KinesisLineage,), {"tasks": most})


try:
    from pyspark.sql.streaming.datasource import (
        ReadAllAvailable,
        ReadMaxRows,
        SupportsTriggerAvailableNow,
    )
except ImportError:  # 4.0 and 4.1: one batch a run of AvailableNow

    class SupportsTriggerAvailableNow:  # type: ignore[no-redef]
        """Replaces what PySpark has from 4.2 on."""


class LineageStreamReader(DataSourceStreamReader, SupportsTriggerAvailableNow):  # type: ignore[misc]
    """Passes PySpark's calls to a `Planner`, and pieces to the executors."""

    @telling
    def __init__(self, options: Mapping[str, str], tasks: int = MOST) -> None:
        self._options, self._tasks = stream_options(options), tasks
        self._planner: Planner | None = None

    @telling
    def initialOffset(self) -> Raw:  # noqa: N802
        """The offset before the first batch."""
        return self._plans().initial()

    # 4.2 and later distinguish the two ways to call it by whether there are parameters.
    @telling
    def latestOffset(self, start: Raw | None = None, limit: Any = None) -> Raw:  # noqa: N802
        """Where the next batch ends; `start` if there is nothing to read."""
        most = self._options.most if limit is None else getattr(limit, "max_rows", None)
        return self._plans().latest(start, most)

    def getDefaultReadLimit(self) -> Any:  # noqa: N802
        """The option maxRecordsPerTrigger."""
        most = self._options.most
        return ReadAllAvailable() if most is None else ReadMaxRows(most)

    @telling
    def prepareForTriggerAvailableNow(self) -> None:  # noqa: N802
        """Batches end from now on where the stream ends at this moment."""
        self._plans().pin()

    def reportLatestOffset(self) -> Raw | None:  # noqa: N802
        """Milliseconds behind, a shard, when the newest batch was planned."""
        return self._plans().progress.report()

    @telling
    def partitions(self, start: Raw, end: Raw) -> Sequence[InputPartition]:
        """The tasks of the batch between two offsets."""
        common = self._options.common
        return pieces(
            common.reach,
            common.stream,
            self._plans().stretches(start, end),
            shards_per_task=common.shards_per_task,
            tasks=self._tasks,
            unpack=common.unpack,
            strict=self._options.fail_on_loss,
        )

    def read(self, partition: InputPartition) -> Iterator[pa.RecordBatch]:
        """The rows of a task."""
        assert isinstance(partition, Piece)
        try:
            yield from read_piece(partition)
        except ReshardError as error:
            raise told(error) from None

    @telling
    def commit(self, end: Raw) -> None:
        """Keeps nothing: the checkpoint has it."""
        self._plans().committed(end)

    def stop(self) -> None:
        """Nothing to close."""

    def _plans(self) -> Planner:
        if self._planner is None:
            common = self._options.common
            lists, reads = Afresh(self._lists), FastReader(common.reach, common.stream)
            self._planner = Planner(self._options, lists, reads)
        return self._planner

    def _lists(self) -> Kinesis:
        reach = self._options.common.reach
        return Kinesis(reach.session(), endpoint_url=reach.endpoint_url, region=reach.region)
