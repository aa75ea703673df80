"""A checkpoint directory that was deleted, written anew from what the sink holds, on real Spark.

A query of our own source, and one of Qubole's, writes whole rows into a Parquet file sink; its
checkpoint is deleted while the stream is split; the directory is rebuilt and the query started on
the same sink. Then the sink has every record, and none twice.
"""

from __future__ import annotations

import shutil
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.proof.libraries.rebuilding import Operator
from tests.proof.libraries.spark.connector import FORMAT as QUBOLE
from tests.proof.libraries.spark.connector import RELEASE as QUBOLE_RELEASE
from tests.proof.libraries.spark.connector import options as qubole_options
from tests.proof.libraries.spark.growing import STREAM, Growing, after, before
from tests.proof.libraries.spark.recorded import of
from tests.proof.libraries.spark.session import Outcome, Spark
from tests.proof.libraries.spark.shapes import Planted

pytestmark = pytest.mark.interop

OURS = "kinesis-lineage"
EVERYTHING = sorted(of(s0=range(6), s1=range(2), s2=range(2)))


def ours(planted: Planted, start: str) -> dict[str, str]:
    return {
        "endpointUrl": planted.address, "streamName": STREAM, "region": "us-east-1",
        "startingPosition": start,
    }


def newest(sink: Path) -> int:
    """The last batch that the file sink has in its log."""
    names = [p.name for p in (sink / "_spark_metadata").iterdir()]
    return max(int(n.removesuffix(".compact")) for n in names if n[0].isdigit())


def lost(checkpoint: Path) -> None:
    shutil.rmtree(checkpoint)
    checkpoint.mkdir()


def rebuilt(folder: Path, planted: Planted, locator: str, sink: Path, *words: str) -> None:
    operator = Operator(folder / "state", {"kinesis": planted.address})
    said = operator.rebuild(locator, STREAM, sink, *words)
    print(said.out[:3000], said.err)
    assert said.code == 0, said.err


@pytest.mark.parametrize("against", ["--against-stream", "--alone"])
def test_our_own_source(packaged: Callable[[str], Spark], tmp_path: Path, against: str) -> None:
    """With the stream, and with the file sink's own log alone: it says which batches are whole."""
    spark, checkpoint, sink = packaged("4"), tmp_path / "checkpoint", tmp_path / "sink"
    stream = Growing(checkpoint)

    def start(planted: Planted, position: str) -> Outcome:
        outcome = spark.query(OURS, ours(planted, position), checkpoint, table=str(sink))
        print(outcome)
        assert not outcome.died
        return outcome

    with stream.at(before()) as planted:
        assert sorted(start(planted, "TRIM_HORIZON").rows) == sorted(of(s0=range(4)))
    lost(checkpoint)
    with stream.at(after()) as planted:
        place = f"spark:{checkpoint}?release={OURS}&batch={newest(sink)}"
        rebuilt(tmp_path, planted, place, sink, against)
        outcome = start(planted, "LATEST")
    assert sorted(outcome.rows) == EVERYTHING


def test_qubole_s(spark_3_5: Spark, tmp_path: Path) -> None:
    checkpoint, sink = tmp_path / "checkpoint", tmp_path / "sink"
    stream = Growing(checkpoint)

    def start(planted: Planted, position: str) -> Outcome:
        said = {**qubole_options(planted), "startingPosition": position}
        outcome = spark_3_5.query(QUBOLE, said, checkpoint, table=str(sink))
        print(outcome)
        assert not outcome.died
        return outcome

    with stream.at(before()) as planted:
        assert sorted(start(planted, "TRIM_HORIZON").rows) == sorted(of(s0=range(4)))
    lost(checkpoint)
    with stream.at(after()) as planted:
        place = f"spark:{checkpoint}?release={QUBOLE_RELEASE}&batch={newest(sink)}"
        rebuilt(tmp_path, planted, place, sink)
        outcome = start(planted, "LATEST")
    assert sorted(outcome.rows) == EVERYTHING
