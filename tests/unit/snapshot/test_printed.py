"""What the AWS CLI printed, read as a stream and as rows.

Recorded output is in tests/golden/aws-cli; lines of an export are as the DynamoDB Developer Guide
shows them ("DynamoDB table export output format"); `HasMoreShards`, `NextToken`,
`LastEvaluatedKey`, `Count` and `ScannedCount` are as in the API references.
"""

from __future__ import annotations

import gzip
import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest

from reshardctl.consumers.kcl.spec import KCL
from reshardctl.errors import UsageError
from reshardctl.lineage import Lineage
from reshardctl.model import Image, TableShape
from reshardctl.snapshot.printed import Printed, lineage_of
from reshardctl.snapshot.printed_rows import rows_of_table
from tests.support.golden_tables import GOLDEN, items_of
from tests.support.judging import images_of as expected_images

RECORDED = Path(__file__).parents[2] / "golden" / "aws-cli"
LIST, SUMMARY, DESCRIPTION, SCAN = (
    json.loads((RECORDED / f"{name}.json").read_text())
    for name in ("list", "summary", "describe", "scan")
)
LEASES = TableShape("orders-reader")


def images_of(files: Sequence[Printed], shape: TableShape) -> list[Image]:
    return rows_of_table(files, shape, KCL.types)


def file(body: Any, name: str = "a.json") -> Printed:
    return Printed(name, json.dumps(body, indent=4).encode())


def lineage(*bodies: Any) -> Lineage:
    return lineage_of([file(body, f"{n}.json") for n, body in enumerate(bodies)])


def pages(answer: dict[str, Any], **more: Any) -> list[dict[str, Any]]:
    """The listing in two pages: `more` is what the first says of the second."""
    return [{"Shards": answer["Shards"][:3], **more}, {"Shards": answer["Shards"][3:]}]


def changed(body: dict[str, Any], outer: str, **more: Any) -> dict[str, Any]:
    inner = {**body[outer], **more}
    return {outer: {name: value for name, value in inner.items() if value is not None}}


SUMMED, DESCRIBED = "StreamDescriptionSummary", "StreamDescription"


def test_a_listing_with_its_summary() -> None:
    read = lineage(LIST, SUMMARY)
    stream = read.stream
    assert (stream.name, stream.region, stream.status) == ("orders", "us-east-1", "ACTIVE")
    assert (stream.created, stream.retention, stream.open_shards) == (1795892654.0, 48 * 3600, 3)
    by_hand = [(raw["ShardId"], raw.get("ParentShardId")) for raw in LIST["Shards"]]
    assert [(shard, read[shard].parent) for shard in read] == by_hand


@pytest.mark.parametrize(
    "bodies",
    [
        [SUMMARY, LIST], [DESCRIPTION], [DESCRIPTION, SUMMARY],
        [changed(DESCRIPTION, DESCRIBED, StreamCreationTimestamp=None, StreamARN=None), SUMMARY],
        [*pages(LIST, NextToken="t"), SUMMARY], [*reversed(pages(LIST, NextToken="t")), SUMMARY],
    ],
    ids=["summary first", "description", "with summary", "an old description", "pages",
         "pages, last first"],
)  # fmt: skip
def test_other_files_say_the_same(bodies: list[Any]) -> None:
    read, expected = lineage(*bodies), lineage(LIST, SUMMARY)
    assert (read.digest(), read.stream) == (expected.digest(), expected.stream)


def test_times_of_version_2() -> None:
    told = {**SUMMARY["StreamDescriptionSummary"]}
    told["StreamCreationTimestamp"] = "2026-11-28T19:04:14+00:00"
    assert lineage(LIST, {"StreamDescriptionSummary": told}).stream.created == 1795892654


@pytest.mark.parametrize(
    ("bodies", "words"),
    [
        ([LIST], ["0.json does not say when", "add --summary", "describe-stream-summary"]),
        ([SUMMARY], ["no file lists the shards", "list-shards"]),
        ([{**LIST, "NextToken": "t"}, SUMMARY], ["0.json: more shards follow", "--max-items"]),
        ([changed(DESCRIPTION, DESCRIBED, HasMoreShards=True)], ["more shards follow"]),
        ([LIST, LIST, SUMMARY], ["each has the last shards", "one answer"]),
        ([{"Shards": LIST["Shards"][:-1]}, SUMMARY], ["lists 2", "a page is missing"]),
        ([{"Shards": LIST["Shards"][1:]}, changed(SUMMARY, SUMMED, OpenShardCount=9)],
         ["says 9 open shards and lists 3"]),
        ([DESCRIPTION, changed(SUMMARY, SUMMED, StreamARN="a:b:c:d:e:f")], ["different streams"]),
        ([DESCRIPTION, changed(SUMMARY, SUMMED, StreamCreationTimestamp=5)], ["different streams"]),
        ([changed(DESCRIPTION, DESCRIBED, StreamCreationTimestamp=None)],
         ["0.json", "StreamCreationTimestamp is missing"]),
        ([LIST, changed(SUMMARY, SUMMED, StreamCreationTimestamp=None)],
         ["1.json", "StreamCreationTimestamp is missing"]),
        ([LIST, changed(SUMMARY, SUMMED, StreamCreationTimestamp="soon")],
         ["StreamDescriptionSummary.StreamCreationTimestamp"]),
        ([LIST, changed(SUMMARY, SUMMED, RetentionPeriodHours="24")], ["RetentionPeriodHours"]),
        ([LIST, changed(SUMMARY, SUMMED, StreamARN="orders")], ["StreamARN", "not an ARN"]),
        ([SCAN, SUMMARY], ["0.json: no output of list-shards"]),
        ([{"Shards": [{"ShardId": "x"}]}, SUMMARY], ["0.json: Shards[0]", "makes no sense"]),
        ([["Shards"], SUMMARY], ["0.json: not an object but a list"]),
        ([{"Shards": 5}, SUMMARY], ["0.json: Shards: not a list"]),
    ],
)
def test_what_is_no_whole_listing_is_refused(bodies: list[Any], words: list[str]) -> None:
    with pytest.raises(UsageError) as caught:
        lineage(*bodies)
    text = f"{caught.value.what}\n{caught.value.next}"
    assert all(word in text for word in words), text


FOLDERS = sorted(path.parent for path in GOLDEN.glob("*/*/leases.json"))


@pytest.mark.parametrize("folder", FOLDERS, ids=lambda f: f"{f.parent.name}/{f.name}")
def test_a_scan_gives_the_rows_that_the_store_gives(folder: Path) -> None:
    """Against the tests' own reading of the recorded tables of real KCLs."""
    items = items_of(folder)
    counts = {"Count": len(items), "ScannedCount": len(items)}
    read = images_of([file({"Items": items, **counts})], LEASES)
    assert sorted(read, key=lambda image: image.key) == sorted(
        expected_images(items), key=lambda image: image.key
    )


def test_every_form_gives_the_same_rows() -> None:
    items = SCAN["Items"]
    recorded = Printed("scan.json", (RECORDED / "scan.json").read_bytes())
    whole = images_of([recorded], LEASES)
    assert len(whole) == len(items) == 7
    lines = [json.dumps(item).encode() for item in items]
    export = "\n".join(json.dumps({"Item": item}) for item in items).encode()
    counts = {"Count": 4, "ScannedCount": 4}
    first = {"Items": items[:4], **counts, "LastEvaluatedKey": {"leaseKey": {"S": "x"}}}
    both = [first, {"Items": items[4:]}]
    forms = {
        "export": [Printed("a", export)],
        "gzipped": [Printed("a.gz", gzip.compress(export))],
        "two files of an export": [
            Printed("a", export[: export.index(b"\n") + 1]),
            Printed("b", export[export.index(b"\n") :]),
        ],
        "bare items, a line each": [Printed("a", b"\n".join(lines))],
        "pages": [file(page) for page in both],
        "pages, a line each": [Printed("a", "\n".join(map(json.dumps, both)).encode())],
    }
    for form, files in forms.items():
        assert images_of(files, LEASES) == whole, form


def test_what_a_global_table_adds_is_no_part_of_a_row() -> None:
    item = {"leaseKey": {"S": "k"}, "aws:rep:updatetime": {"N": "1"}}
    (row,) = images_of([file({"Item": item})], LEASES)
    assert set(row.attributes) == {"leaseKey"}


@pytest.mark.parametrize(
    ("content", "words"),
    [
        (json.dumps({**SCAN, "NextToken": "t"}), ["more rows follow", "--max-items"]),
        (json.dumps({**SCAN, "LastEvaluatedKey": {}, "Count": 3}), ["a filter left rows out"]),
        (json.dumps({"Items": [{"id": {"S": "x"}}]}), ["Items[0]", "its key leaseKey is missing"]),
        (json.dumps({"Items": [{"leaseKey": {"N": "1"}}]}), ["Items[0]", "is no string"]),
        (json.dumps({"Items": [{"leaseKey": "x"}]}), ["Items[0]", "leaseKey"]),
        (json.dumps(LIST), ["Shards"]),
        ("", ["the file is empty"]),
        ('{"Item": {"leaseKey": {"S": "a"}}}\n{"Item": ', ["line 2"]),
        ('{"Items": [', ["line 1", "not JSON"]),
        ("[1]", ["not an object"]),
        ("[" * 100_000, ["nested too deep"]),
        (json.dumps({"Items": SCAN["Items"] * 2}), ["row Leader stands twice"]),
        ("\x1f\x8bxx", ["not JSON"]),
    ],
)
def test_what_are_no_rows_is_refused(content: str, words: list[str]) -> None:
    with pytest.raises(UsageError) as caught:
        images_of([Printed("scan.json", content.encode())], LEASES)
    text = f"{caught.value.what}\n{caught.value.next}"
    assert "scan.json" in text and all(word in text for word in words), text


def test_an_archive_that_unpacks_to_too_much_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("reshardctl.snapshot.printed_rows.LARGEST", 1000)
    monkeypatch.setattr("reshardctl.stores.given_file.LARGEST", 1000)
    with pytest.raises(UsageError, match="larger than 1,000 bytes"):
        images_of([Printed("a.gz", gzip.compress(b" " * 2000))], LEASES)


def test_rows_of_another_application_are_left_out() -> None:
    """A scan has them; the store's own reader queries by the application's name."""
    shape = TableShape("positions", hash="namespace", range="shard_id", fixed="app")
    items = [{"namespace": {"S": name}, "shard_id": {"S": "s"}} for name in ("app", "other")]
    (row,) = images_of([file({"Items": items})], shape)
    assert row.key == "app/s"


def test_an_archive_that_is_cut_off_is_refused() -> None:
    cut = gzip.compress(json.dumps(SCAN).encode())[:-20]
    with pytest.raises(UsageError, match="cannot be unpacked"):
        images_of([Printed("a.gz", cut)], LEASES)
