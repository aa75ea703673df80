"""Hadoop file systems, on PySpark's own JVM where PySpark is installed; file:// stands for all."""

from __future__ import annotations

import builtins
import importlib.util
from pathlib import Path
from typing import Any

import pytest

from reshardctl.errors import CannotTell, Refused, UsageError
from reshardctl.model import Image
from reshardctl.model.write_state import WriteResult
from reshardctl.spark.hadoop import Hadoop
from reshardctl.stores.files.tree import Tree
from tests.contracts.store_contract import SampleRows, StoreContract
from tests.unit.stores.files.trees import change, creation, everything, held, plant, removal

real = pytest.mark.skipif(
    importlib.util.find_spec("pyspark") is None, reason="needs PySpark, an extra"
)


def text(image: Image) -> str:
    return str(image.attributes["text"]["S"])


def test_without_pyspark_the_extra_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    real_import = builtins.__import__

    def absent(name: str, *rest: Any, **named: Any) -> Any:
        if name.startswith("pyspark"):
            raise ImportError(name)
        return real_import(name, *rest, **named)

    monkeypatch.setattr(builtins, "__import__", absent)
    with pytest.raises(UsageError, match="need PySpark") as caught:
        Hadoop("hdfs://namenode/x").list("")
    assert caught.value.next == "pip install '.[spark]'   # in a checkout of reshardctl"


@pytest.mark.parametrize("scheme", ["s3a", "s3", "s3n", "oss", "cosn"])
def test_nothing_is_written_where_a_rename_is_a_copy(scheme: str) -> None:
    with pytest.raises(Refused, match="no atomic rename") as caught:
        Hadoop(f"{scheme}://bucket/x")._may_write("offsets/7")
    assert caught.value.next.startswith("copy the checkpoint")


class Directory:
    """The files as they lie on disk, without Hadoop's own checksums."""

    def __init__(self, root: Path) -> None:
        self.root = root

    def medium(self) -> Tree:
        return Tree(Hadoop(f"file://{self.root}"), everything)

    def plant(self, image: Image) -> None:
        self.pull(image.key)
        (self.root / image.key).write_text(text(image))

    def pull(self, key: str) -> None:
        for name in (key, f".{key}.crc"):
            (self.root / name).unlink(missing_ok=True)


@real
class TestHadoop(StoreContract):
    samples = SampleRows(
        lambda key, number: Image(key, {"text": {"S": f"version {number}"}}),
        lambda key: Image(key, {"text": {"S": "x" * 150_000}}),
        "text", {}, ("path",), frozenset({"size", "modified", "stored_with"}),
    )

    @pytest.fixture
    def store(self, tmp_path: Path) -> Directory:
        return Directory(tmp_path)

    def test_of_two_writers_one_wins(self, store: Any) -> None:
        """Not promised: only a comparison guards a replacement here."""

    def test_of_two_makers_one_wins(self, store: Any) -> None:
        """Not promised of file://, whose rename looks first (RawLocalFs); HDFS holds its lock."""


@real
def test_folders_come_and_go_with_their_files(tmp_path: Path) -> None:
    plant(tmp_path, "offsets/7", b"v1")
    medium = Tree(Hadoop(f"file://{tmp_path}"), everything)
    assert [i.key for i in medium.read()] == ["offsets/", "offsets/7"]
    made = creation("sources/0/shard-source/8/s", text={"S": "é"})
    assert medium.write(made, "t") is WriteResult.APPLIED
    image = medium.get(["sources/0/shard-source/8/s"])["sources/0/shard-source/8/s"]
    assert image is not None and text(image) == "é"
    assert medium.write(removal(image, ("text",)), "t") is WriteResult.APPLIED
    assert [i.key for i in medium.read()] == ["offsets/", "offsets/7"]
    assert not list(tmp_path.rglob("*.tmp*"))


@real
def test_a_file_keeps_its_mode_replaced_and_deleted_and_put_back(tmp_path: Path) -> None:
    plant(tmp_path, "d/a", b"a")
    plant(tmp_path, "d/f", b"x")
    (tmp_path / "d/f").chmod(0o604)
    medium = Tree(Hadoop(f"file://{tmp_path}"), everything)
    seen = held(medium, "d/f")
    assert medium.write(change(seen, text={"S": "y"}, guard=("text",)), "t") is WriteResult.APPLIED
    assert (tmp_path / "d/f").stat().st_mode & 0o777 == 0o604
    seen = held(medium, "d/f")
    assert medium.write(removal(seen, ("text",)), "t") is WriteResult.APPLIED
    assert medium.write(creation("d/f", **seen.attributes), "t") is WriteResult.APPLIED
    assert (tmp_path / "d/f").stat().st_mode & 0o777 == 0o604


@real
def test_a_file_that_moved_stays(tmp_path: Path) -> None:
    plant(tmp_path, "f", b"x")
    medium = Tree(Hadoop(f"file://{tmp_path}"), everything)
    seen = medium.get(["f"])["f"]
    assert seen is not None
    plant(tmp_path, "f", b"y")
    for step in (change(seen, text={"S": "z"}, guard=("text",)), removal(seen, ("text",))):
        assert medium.write(step, "t") is WriteResult.CONFLICT
    assert (tmp_path / "f").read_bytes() == b"y"


@real
def test_no_directory(tmp_path: Path) -> None:
    for path in (tmp_path / "no", tmp_path / "file"):
        (tmp_path / "file").write_bytes(b"")
        with pytest.raises(UsageError, match="there is no directory"):
            Hadoop(f"file://{path}").list("")


@real
def test_a_scheme_without_its_connector() -> None:
    for url in ("nope://x/y", "abfss://a@b.dfs.core.windows.net/x"):
        with pytest.raises(UsageError, match="cannot read") as caught:
            Hadoop(url).list("")
        assert caught.value.next.startswith("put its connector into spark.jars.packages")


@real
def test_a_server_that_is_not_there() -> None:
    with pytest.raises(CannotTell, match="ConnectException"):
        Hadoop("hdfs://127.0.0.1:1/x").list("")
