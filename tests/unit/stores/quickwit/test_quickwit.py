"""A file-backed metastore of several indexes as one store, on disk and in a bucket."""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from functools import partial
from pathlib import Path

import pytest

from reshardctl.consumers.quickwit.document import FILE, Document
from reshardctl.errors import UsageError
from reshardctl.model import Create, Image, Step, Update, Write
from reshardctl.model.write_state import WriteResult
from reshardctl.stores.files.blobs import Blobs
from reshardctl.stores.files.local import Local
from reshardctl.stores.quickwit import Indexes
from tests.unit.stores.files.bucket import Prefix, bucket_server

GOLDEN = Path(__file__).parents[3] / "golden" / "quickwit" / "0.9.0"
EVENTS, CLICKS = "logs/kinesis-events", "logs/kinesis-clicks"
ZERO = "shardId-000000000000"


@pytest.fixture(scope="module")
def url() -> Iterator[str]:
    with bucket_server() as found:
        yield found


@pytest.fixture
def root(tmp_path: Path) -> Path:
    return Path(shutil.copytree(GOLDEN / "q6" / "metastore", tmp_path / "indexes"))


@pytest.fixture(params=["disk", "bucket"])
def blobs(request, root, url):
    """The same files, on disk or in a bucket."""
    if request.param == "disk":
        return Local(str(root))
    prefix = Prefix(url, "indexes")
    for path in root.rglob("*.json"):
        key = f"indexes/{path.relative_to(root)}"
        prefix.boto.put_object(Bucket=prefix.name, Key=key, Body=path.read_bytes())
    return prefix.blobs()


def indexes(blobs: Blobs, index: str = "") -> Indexes:
    return Indexes(blobs, partial(Document, FILE), index)


def keys(rows: list[Image]) -> set[str]:
    return {row.key for row in rows if row.key.count("/") < 2}


def moved(row: Image, text: str) -> Step:
    return Step("", (Write(row.key, Update({"position": {"S": text}}), row, "", ("position",)),))


def test_every_kinesis_source_of_every_index(blobs):
    store = indexes(blobs)
    assert keys(store.read()) == {"audit/kinesis-audit", CLICKS, EVENTS}
    assert keys(indexes(blobs, "audit").read()) == {"audit/kinesis-audit"}
    assert "audit:" in store.identity()["indexes"] and "logs:" in store.identity()["indexes"]
    assert indexes(blobs, "logs").identity()["index_uid"].startswith("logs:")


def test_a_write_is_guarded_by_what_was_read_and_repeats_itself_in_peace(blobs):
    store = indexes(blobs)
    key = f"{EVENTS}/{ZERO}"
    row = store.get([key, "audit/kinesis-audit"])[key]
    assert row is not None and row.attributes["position"]["S"].startswith("~")
    assert store.write(moved(row, "7"), "token") is WriteResult.APPLIED
    assert store.get([key])[key] == Image(key, {"position": {"S": "7"}})
    assert store.write(moved(row, "8"), "token") is WriteResult.CONFLICT
    assert store.get([key])[key] == Image(key, {"position": {"S": "7"}})


def test_an_entry_that_is_there_by_now_is_not_overwritten(blobs):
    write = Write(f"{EVENTS}/{ZERO}", Create({"position": {"S": "7"}}), None, "")
    assert indexes(blobs).write(Step("", (write,)), "token") is WriteResult.CONFLICT


def test_one_step_is_of_one_file(blobs):
    store = indexes(blobs)
    rows = [row for row in store.read() if row.key.endswith(ZERO)]
    writes = tuple(w for row in rows for w in moved(row, "7").writes)
    with pytest.raises(UsageError, match="2 indexes"):
        store.write(Step("", writes), "token")


def test_a_file_that_cannot_be_read_is_a_row_that_says_why(root):
    (root / "audit" / "metastore.json").write_bytes(b'{"version": "\xff"}')
    rows = {row.key: row for row in indexes(Local(str(root))).read()}
    assert "not UTF-8" in rows["audit"].attributes["unreadable"]["S"]
    assert "audit/metastore.json" in rows["audit"].attributes["unreadable"]["S"]
    assert EVENTS in rows
    (alone,) = indexes(Local(str(root)), "audit").read()
    assert alone == rows["audit"]


def test_a_metastore_of_another_release_only_is_named_with_the_number_of_its_like(root):
    shutil.copytree(root / "audit", root / "of-this-release-as-well")
    for path in root.glob("*/metastore.json"):
        path.write_text(path.read_text().replace('"version": "0.9"', '"version": "0.6"'))
    with pytest.raises(UsageError, match=r"metastore.json: .*0\.6.* \(and 3 more like it\)"):
        indexes(Local(str(root))).read()


def test_folders_without_an_index_are_passed_by(root):
    (root / "splits").mkdir()
    (root / "splits" / "0.split").write_bytes(b"\x00")
    assert keys(indexes(Local(str(root))).read()) == {"audit/kinesis-audit", CLICKS, EVENTS}


def test_a_metastore_without_an_index_is_one(root):
    for name in ("logs", "audit", "other"):
        shutil.rmtree(root / name)
    with pytest.raises(UsageError, match="no index here has a Kinesis source"):
        indexes(Local(str(root))).read()
    (root / "manifest.json").unlink()
    with pytest.raises(UsageError, match="holds no metastore"):
        indexes(Local(str(root))).read()


def test_modes_stay(root):
    """Quickwit writes 0600 files; whoever reads them else keeps what was set."""
    path = root / "logs" / "metastore.json"
    path.chmod(0o640)
    store = indexes(Local(str(root)))
    row = store.get([f"{EVENTS}/{ZERO}"])[f"{EVENTS}/{ZERO}"]
    assert row is not None
    assert store.write(moved(row, "7"), "token") is WriteResult.APPLIED
    assert path.stat().st_mode & 0o777 == 0o640


def test_an_index_that_is_not_there_is_named_with_those_that_are(blobs):
    with pytest.raises(UsageError, match="there is no index log") as told:
        indexes(blobs, "log").read()
    assert "logs" in told.value.next
