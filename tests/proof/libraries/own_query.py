"""A query of our own source whose checkpoint and sink lie where Spark's own machine has no disk."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Protocol

from tests.proof.libraries.rebuilding import Operator
from tests.proof.libraries.spark.growing import STREAM, Growing, after, before
from tests.proof.libraries.spark.recorded import of
from tests.proof.libraries.spark.session import Spark
from tests.proof.libraries.test_rebuild_spark import EVERYTHING, OURS, ours

CHECKPOINT, SINK = "checkpoints/orders", "orders"


class FileSystem(Protocol):
    """Where both lie."""

    @property
    def url(self) -> str:
        """What comes before a path."""

    @property
    def configuration(self) -> Mapping[str, str]:
        """Settings of Spark."""

    @property
    def variables(self) -> Mapping[str, str]:
        """The environment of our commands, beside what they have anyway."""

    @property
    def endpoints(self) -> Mapping[str, str]:
        """Of services that our commands call."""

    def lose(self, folder: str) -> None:
        """Deletes a folder with all that is in it."""

    def make(self, folder: str) -> None:
        """Makes it anew, empty, as the user of the query."""

    def names(self, folder: str) -> list[str]:
        """The files in it, by their paths in it."""


def stopped_resharded_and_rebuilt(place: FileSystem, folder: Path, missing: str) -> None:
    """docs/source.md: it is stopped, the stream is split, it is inspected and started again.

    Then its checkpoint is lost, rebuilt from the sink, and nothing is read twice.

    missing: what `rebuild` answers while the directory does not exist.
    """
    checkpoint, sink = f"{place.url}/{CHECKPOINT}", f"{place.url}/{SINK}"
    stream, spark = Growing(folder), Spark("4", dict(place.configuration), packaged=True)
    try:
        with stream.at(before()) as planted:
            first = _rows(spark, ours(planted, "TRIM_HORIZON"), checkpoint, sink)
            assert first == sorted(of(s0=range(4)))
        with stream.at(after()) as planted:
            endpoints = {"kinesis": planted.address, **place.endpoints}
            operator = Operator(folder / "state", endpoints, variables=place.variables)
            looked = operator.run("inspect", f"spark:{checkpoint}", "--stream", STREAM)
            assert (looked.code, looked.document["findings"]) == (0, []), looked.err
            assert _rows(spark, ours(planted, "LATEST"), checkpoint, sink) == EVERYTHING
            audit = operator.run("audit", sink, "--stream", STREAM)
            place.lose(CHECKPOINT)
            lost = f"spark:{checkpoint}?release={OURS}&batch={_newest(place)}"
            refused = operator.rebuild(lost, STREAM, sink)
            assert missing in refused.err
            place.make(CHECKPOINT)
            rebuilt = operator.rebuild(lost, STREAM, sink)
            assert rebuilt.code == 0, rebuilt.err
            assert _rows(spark, ours(planted, "LATEST"), checkpoint, sink) == EVERYTHING
    finally:
        spark.close()
    assert audit.code == 0, audit.err
    assert audit.document["records"] == {"read": 10, "missing": 0, "doubled": 0, "extra": 0}


def _newest(place: FileSystem) -> int:
    """The last batch that the file sink has in its log."""
    names = place.names(f"{SINK}/_spark_metadata")
    return max(int(name.removesuffix(".compact")) for name in names if name)


def _rows(spark: Spark, options: dict[str, str], checkpoint: str, sink: str) -> list[str]:
    """What a reader of the sink sees once the query has nothing more to do."""
    outcome = spark.query(OURS, options, checkpoint, table=sink)
    assert not outcome.died
    return sorted(outcome.rows)
