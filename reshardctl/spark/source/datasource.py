"""The data source that PySpark registers, by the name `kinesis-lineage`."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from pyspark.sql.datasource import DataSource

from reshardctl.errors import UsageError
from reshardctl.spark.source.rows import SCHEMA
from reshardctl.spark.source.telling import telling

if TYPE_CHECKING:
    from pyspark.sql.datasource import DataSourceReader, DataSourceStreamReader
    from pyspark.sql.types import StructType

NAME = "kinesis-lineage"


class KinesisLineage(DataSource):  # type: ignore[misc]
    """Kinesis, parents before children."""

    options: Mapping[str, str]

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
        from reshardctl.spark.source.options import BATCH

        if {name.lower() for name in self.options} & {name.lower() for name in BATCH}:
            from reshardctl.spark.source.batch import pinned

            self.options = pinned(self.options)
        return SCHEMA

    @telling
    def reader(self, schema: StructType) -> DataSourceReader:
        """The reader of a batch between two frontiers."""
        from reshardctl.spark.source.batch import LineageBatchReader

        self._fixed(schema)
        return LineageBatchReader(self.options)

    @telling
    def streamReader(  # noqa: N802
        self, schema: StructType
    ) -> DataSourceStreamReader:
        """The reader of a streaming query."""
        from reshardctl.spark.source.stream import LineageStreamReader

        self._fixed(schema)
        return LineageStreamReader(self.options)

    def _fixed(self, schema: Any) -> None:
        from pyspark.sql.types import StructType

        expected = [column.split()[0] for column in SCHEMA.split(", ")]
        if isinstance(schema, StructType) and schema.names != expected:
            raise UsageError(
                f"the columns of {NAME} are fixed: {', '.join(expected)}",
                "leave .schema(...) out, and select the columns wanted"
            )
