"""One text that holds many rows, on disk and on S3."""

from __future__ import annotations

import json
import shutil
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import pytest

from reshardctl.consumers.quickwit.document import Document as Quickwit
from reshardctl.errors import AnswerLost, Refused, UsageError
from reshardctl.model import Image, Update, Write, changed
from reshardctl.model.write_state import WriteResult
from reshardctl.stores.files.document import Document
from reshardctl.stores.files.local import Local
from tests.contracts.store_contract import create, delete, step, update
from tests.support.faults import BROKEN_AFTER, Fault, FaultySession, answer
from tests.support.lease_server import session
from tests.unit.stores.files.bucket import Prefix, bucket_server

GOLDEN = Path(__file__).parents[3] / "golden" / "quickwit" / "0.9.0" / "q1"


class Lines:
    """A codec of `key=text` lines; a line with no `=` is somebody else's."""

    def images(self, text: str) -> list[Image]:
        if text.startswith("!"):
            raise UsageError("line 1: not ours", "look at it")
        pairs = [line.split("=", 1) for line in text.splitlines() if "=" in line]
        return [Image(key, {"text": {"S": value}}) for key, value in sorted(pairs)]

    def written(self, text: str, writes: Sequence[Write]) -> str:
        lines: dict[str, str] = {}
        for n, line in enumerate(text.split("\n")):
            lines[line.partition("=")[0] if "=" in line else f"\0{n}"] = line
        for write in writes:
            old = lines.get(write.key)
            before = Image(write.key, {"text": {"S": (old or "=").split("=", 1)[1]}})
            after = changed(before if old else None, write)
            if after is None:
                del lines[write.key]
            else:
                lines[write.key] = f"{write.key}={after.attributes['text']['S']}"
        return "\n".join(lines.values())

    def identity(self, text: str) -> Mapping[str, str]:
        return {"first": text.partition("\n")[0]}


@pytest.fixture(scope="module")
def url() -> Iterator[str]:
    with bucket_server() as found:
        yield found


class Kept:
    """The same file on disk or on S3."""

    def __init__(self, root: Path | None, prefix: Prefix | None) -> None:
        self.root, self.prefix = root, prefix

    def put(self, content: bytes, folder: str = "i") -> None:
        if self.prefix is not None:
            self.prefix.plant(f"{folder}/rows", content)
            return
        assert self.root is not None
        (self.root / folder).mkdir(exist_ok=True)
        (self.root / folder / "rows").write_bytes(content)

    def has(self, folder: str = "i") -> bytes:
        if self.prefix is not None:
            return self.prefix.contents()[self.prefix.key(f"{folder}/rows")]
        assert self.root is not None
        return (self.root / folder / "rows").read_bytes()

    def document(self, boto: Any = None) -> Document:
        blobs = Local(str(self.root)) if self.prefix is None else self.prefix.blobs(boto)
        return Document(blobs, "i/rows", Lines())


@pytest.fixture(params=["local", "s3"])
def kept(request, tmp_path, url) -> Kept:
    return Kept(tmp_path, None) if request.param == "local" else Kept(None, Prefix(url))


def row(key: str, value: str) -> Image:
    return Image(key, {"text": {"S": value}})


def put(before: Image, value: str) -> Write:
    return update(before, Update({"text": {"S": value}}), "text")


@pytest.fixture
def in_bucket(url: str) -> Kept:
    return Kept(None, Prefix(url))


@pytest.fixture
def faulty() -> FaultySession:
    return FaultySession(session())


def saved(kept: Kept, *contents: bytes) -> Fault:
    """Somebody saves the file just before each of our first writes."""
    left = list(contents)

    def fault(call):
        if left:
            kept.put(left.pop(0))
        return call()

    return fault


def test_rows_are_read_whole_and_one_by_one(kept):
    kept.put("head\nb=2\né=x\na=1\n".encode())
    document = kept.document()
    assert document.read() == [row("a", "1"), row("b", "2"), row("é", "x")]
    assert document.get(["é", "no", "a"]) == {"é": row("é", "x"), "no": None, "a": row("a", "1")}


def test_a_step_is_one_new_text(kept):
    kept.put(b"head\na=1\nb=2\ntail")
    writes = (put(row("a", "1"), "9"), delete(row("b", "2"), "text"), create(row("c", "3")))
    assert kept.document().write(step(*writes), "t") is WriteResult.APPLIED
    assert kept.has() == b"head\na=9\ntail\nc=3"


def test_guards_compare_rows_and_not_texts(kept):
    """The store has saved itself in another order since, with the same meaning, and with rows of
    others: our change goes into the text as it is now."""
    kept.put(b"head\na=1\nb=2")
    document = kept.document()
    (a, _) = document.read()
    kept.put(b"other head\n\nb=5\nsomething new\na=1")
    assert document.write(step(put(a, "9")), "t") is WriteResult.APPLIED
    assert kept.has() == b"other head\n\nb=5\nsomething new\na=9"


@pytest.mark.parametrize(("saves", "ended", "left"), [
    ([b"a=1\nb=7"], WriteResult.APPLIED, b"a=9\nb=7"),
    ([b"a=1\nb=%d" % n for n in range(1, 9)], WriteResult.CONFLICT, b"a=1\nb=5"),
], ids=["once", "all the time"])
def test_a_save_between_our_read_and_our_write_is_kept(in_bucket, faulty, saves, ended, left):
    in_bucket.put(b"a=1\nb=2")
    faulty.always["put_object"] = saved(in_bucket, *saves)
    document = in_bucket.document(boto=faulty)
    assert document.write(step(put(row("a", "1"), "9")), "t") is ended
    assert in_bucket.has() == left


def test_lost_answers(in_bucket, faulty):
    in_bucket.put(b"a=1")
    faulty.always["put_object"] = BROKEN_AFTER
    document = in_bucket.document(boto=faulty)
    assert document.write(step(put(row("a", "1"), "2")), "t") is WriteResult.APPLIED

    def theirs(call):
        call()
        in_bucket.put(b"a=7")
        raise answer("InternalError", 500)

    faulty.always["put_object"] = theirs
    with pytest.raises(AnswerLost, match="someone else has written since"):
        document.write(step(put(row("a", "2"), "3")), "t")


@pytest.mark.parametrize(("content", "words", "way_out"), [
    (b"!", r"/i/rows: line 1: not ours", "look at it"), (b"a=\xff", r"/i/rows: not UTF-8", ""),
    (None, r"there is no file .*/i/rows", ""),
], ids=["the codec's word", "no UTF-8", "no file"])
def test_what_cannot_be_read_is_named_by_its_file(kept, content, words, way_out):
    kept.put(content or b"", "i" if content else "other")
    with pytest.raises(UsageError, match=words) as caught:
        kept.document().read()
    assert caught.value.next.startswith(way_out)


def test_only_a_text_that_cannot_be_read_is_restored(kept):
    kept.put(b"!")
    assert kept.document().restore("a=1") is WriteResult.APPLIED
    assert kept.document().restore("a=2") is WriteResult.CONFLICT
    assert kept.has() == b"a=1"


def test_a_text_that_is_saved_while_it_is_restored_stays(in_bucket, faulty):
    in_bucket.put(b"!")
    faulty.always["put_object"] = saved(in_bucket, b"a=7")
    assert in_bucket.document(boto=faulty).restore("a=1") is WriteResult.CONFLICT
    assert in_bucket.has() == b"a=7"


@pytest.mark.parametrize("folder", ["..", "a/../..", "/etc"])
def test_no_folder_leads_out(tmp_path, folder):
    with pytest.raises(UsageError, match="names no file below the root"):
        Document(Local(str(tmp_path)), f"{folder}/rows", Lines())


def test_identity_stays_over_a_save(kept):
    kept.put(b"head\na=1")
    document = kept.document()
    before = document.identity()
    assert document.write(step(put(row("a", "1"), "2")), "t") is WriteResult.APPLIED
    assert document.identity() == before and before["first"] == "head"
    assert "inode" not in before


def test_a_link_is_not_written(tmp_path):
    (tmp_path / "i").mkdir()
    (tmp_path / "i" / "real").write_bytes(b"a=1")
    (tmp_path / "i" / "rows").symlink_to("real")
    document = Kept(tmp_path, None).document()
    with pytest.raises(Refused, match="is a link"):
        document.write(step(put(row("a", "1"), "2")), "t")


# Quickwit's own file


@pytest.fixture
def metastore(tmp_path: Path) -> Path:
    root = tmp_path / "metastore"
    shutil.copytree(GOLDEN / "metastore", root)
    return root


def test_a_real_metastore(metastore):
    """Recorded of Quickwit 0.9.0, November 2026: one position moves, every other byte stays."""
    path = metastore / "events" / "metastore.json"
    before = path.read_text()
    path.chmod(0o600)
    document = Document(Local(str(metastore)), "events/metastore.json", Quickwit())
    stored = json.loads(before)["index"]["checkpoint"]
    ((source, shards),) = [(name, held) for name, held in stored.items() if held]
    shard, position = min(shards.items())
    (image,) = [i for i in document.read() if i.key == f"events/{source}/{shard}"]
    write = update(image, Update({"position": {"S": "42"}}), "position")
    assert document.write(step(write), "t") is WriteResult.APPLIED
    assert path.read_text() == before.replace(f'"{position}"', '"42"', 1)
    assert path.stat().st_mode & 0o777 == 0o600
    assert document.identity()["index_uid"] == json.loads(before)["index"]["index_uid"]
