"""Checkpoints and sinks on HDFS, the servers being the published ones
(tests/support/servers/hdfs.py).

The query's files belong to `spark`, and an administrator of the cluster repairs them.
"""

from __future__ import annotations

import shutil
from collections.abc import Iterator, Mapping
from pathlib import Path

import pytest

from reshardctl.testing import serve
from tests.cli.spark_lab import FOLDERS, GOLDEN, HEAD, QUBOLE, golden_fake, said
from tests.proof.libraries.own_query import stopped_resharded_and_rebuilt
from tests.proof.libraries.rebuilding import Operator
from tests.support.on_hdfs import READER, system
from tests.support.servers.hdfs import SUPERUSER, Hdfs, Status
from tests.unit.spark.settings import INTERPRETED

__all__ = ["system"]
pytestmark = [pytest.mark.interop, pytest.mark.needs("spark-4", "hdfs")]
ORDERS = "/checkpoints/orders"


@pytest.fixture(autouse=True)
def emptied(system: Hdfs) -> Iterator[None]:
    yield
    for folder in ("/checkpoints", "/orders"):
        system.delete(folder)


class Cluster:
    """The file system as a query of `READER` and as an administrator see it; see `FileSystem`."""

    endpoints: Mapping[str, str] = {}

    def __init__(self, system: Hdfs) -> None:
        self._system = system
        self.url = system.url
        self.configuration = {"spark.sql.shuffle.partitions": "2", **INTERPRETED}
        submitted = [w for pair in INTERPRETED.items() for w in ("--conf", "=".join(pair))]
        self.variables = {
            "HADOOP_USER_NAME": SUPERUSER, "HADOOP_CONF_DIR": str(system.conf),
            "PYSPARK_SUBMIT_ARGS": " ".join([*submitted, "pyspark-shell"]),
        }  # fmt: skip

    def lose(self, folder: str) -> None:
        self._system.delete(f"/{folder}")

    def make(self, folder: str) -> None:
        self._system.make(f"/{folder}", READER, "750")

    def names(self, folder: str) -> list[str]:
        return self._system.names(f"/{folder}")


def statuses(system: Hdfs) -> dict[str, Status]:
    """Of each file of the checkpoint, and of the folder that it lies in."""
    names = system.names(ORDERS)
    paths = {path for name in names for path in (name, name.rpartition("/")[0])}
    return {path: system.status(f"{ORDERS}/{path}".rstrip("/")) for path in paths}


@pytest.mark.parametrize(("release", "shape"), [(QUBOLE, "s3"), (HEAD, "s1x")])
def test_fixed_as_on_disk_and_undone(
    system: Hdfs, tmp_path: Path, release: str, shape: str
) -> None:
    """As on a local disk, which other tests prove; and every file stays the reader's."""
    golden = GOLDEN / FOLDERS[release] / shape
    system.make(ORDERS, READER, "750")
    system.plant(golden, ORDERS, READER, "640")
    before, owned = system.files(ORDERS), statuses(system)
    disk = tmp_path / "disk"
    shutil.copytree(golden, disk)
    options = said(FOLDERS[release], shape, release)
    words = ("--stream", "st", "--region", "us-east-1", "--assume-stopped", "--yes")
    with serve(golden_fake(FOLDERS[release], shape)) as server:
        operator = Operator(
            tmp_path / "state", {"kinesis": server.url}, variables=Cluster(system).variables
        )
        assert operator.run("fix", f"spark:{disk}{options}", *words).code == 0
        done = operator.run("fix", f"spark:hdfs://{ORDERS}{options}", *words)
        assert done.code == 0, done.err
        mended, kept = system.files(ORDERS), statuses(system)
        looked = operator.run("inspect", f"spark:hdfs:{ORDERS}{options}", *words[:4])
        undone = operator.run("undo", done.document["journal"], "--assume-stopped", "--yes")
    assert mended != before
    assert mended == {
        str(path.relative_to(disk)): path.read_bytes()
        for path in disk.rglob("*") if path.is_file() and path.suffix != ".crc"
    }  # fmt: skip
    assert set(kept.values()) == set(owned.values())
    assert looked.code == 0, looked.out
    assert undone.code == 0, undone.err
    assert (system.files(ORDERS), statuses(system)) == (before, owned)


def test_a_query_of_our_source_with_its_checkpoint_and_its_sink_there(
    system: Hdfs, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("HADOOP_USER_NAME", READER)
    missing = f"as the user of the query: hadoop fs -mkdir -p {system.url}{ORDERS}"
    stopped_resharded_and_rebuilt(Cluster(system), tmp_path, missing)
