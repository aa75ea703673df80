"""The contract suite, on directories, on S3, and on texts that hold rows."""

from __future__ import annotations

import base64
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from reshardctl.model import Image
from reshardctl.stores.files.document import Document
from reshardctl.stores.files.local import Local
from reshardctl.stores.files.tree import Tree
from tests.contracts.store_contract import SampleRows, StoreContract
from tests.unit.stores.files.bucket import Prefix, bucket_server
from tests.unit.stores.files.test_document import Lines
from tests.unit.stores.files.trees import everything


def _row(key: str, number: int) -> Image:
    return Image(key, {"text": {"S": f"version {number}"}})


def _large(key: str) -> Image:
    return Image(key, {"text": {"S": "x" * 150_000}})


def samples_of(*identity: str, crc: bool = False, seen: bool = True) -> SampleRows:
    return SampleRows(
        _row, _large, "text", {"crc": {"B": "Y3JjAA=="}} if crc else {}, identity,
        frozenset({"size", "modified", "stored_with", "crc_stored_with"} if seen else ()),
    )


def text(image: Image) -> bytes:
    return str(image.attributes["text"]["S"]).encode()


@pytest.fixture(scope="module")
def url() -> Iterator[str]:
    with bucket_server() as found:
        yield found


class Directory:
    def __init__(self, root: Path) -> None:
        self.root = root

    def medium(self) -> Tree:
        return Tree(Local(str(self.root)), everything)

    def plant(self, image: Image) -> None:
        self.pull(image.key)
        (self.root / image.key).write_bytes(text(image))
        if crc := image.attributes.get("crc"):
            (self.root / f".{image.key}.crc").write_bytes(base64.b64decode(crc["B"]))

    def pull(self, key: str) -> None:
        for name in (key, f".{key}.crc"):
            (self.root / name).unlink(missing_ok=True)


class Bucket:
    def __init__(self, url: str) -> None:
        self.prefix = Prefix(url)
        self.prefix.plant("", b"")  # a folder's own object: an empty folder exists

    def medium(self) -> Tree:
        return self.prefix.tree()

    def plant(self, image: Image) -> None:
        self.prefix.plant(image.key, text(image))

    def pull(self, key: str) -> None:
        self.prefix.pull(key)


class Text:
    """Rows in one text; `save` and `saved` keep it."""

    def __init__(self, blobs: Any, save: Any, saved: Any) -> None:
        self.blobs, self.save, self.saved = blobs, save, saved
        self.save(b"head")

    def medium(self) -> Document:
        return Document(self.blobs(), "i/rows", Lines())

    def plant(self, image: Image) -> None:
        self.pull(image.key)
        self.save(self.saved() + f"\n{image.key}=".encode() + text(image))

    def pull(self, key: str) -> None:
        lines = self.saved().decode().split("\n")
        self.save("\n".join(x for x in lines if not x.startswith(f"{key}=")).encode())


class TestDirectory(StoreContract):
    samples = samples_of("path", "inode", crc=True)

    @pytest.fixture
    def store(self, tmp_path: Path) -> Directory:
        return Directory(tmp_path)


class TestBucket(StoreContract):
    samples = samples_of("arn")

    @pytest.fixture
    def store(self, url: str) -> Bucket:
        return Bucket(url)


class TestText(StoreContract):
    samples = samples_of("path", "file", "first", seen=False)

    @pytest.fixture
    def store(self, tmp_path: Path) -> Text:
        path = tmp_path / "i" / "rows"
        path.parent.mkdir()
        return Text(lambda: Local(str(tmp_path)), path.write_bytes, path.read_bytes)


class TestTextInABucket(StoreContract):
    samples = samples_of("arn", "file", "first", seen=False)

    @pytest.fixture
    def store(self, url: str) -> Text:
        prefix = Prefix(url)

        def saved() -> bytes:
            return prefix.contents()[prefix.key("i/rows")]

        return Text(prefix.blobs, lambda content: prefix.plant("i/rows", content), saved)
