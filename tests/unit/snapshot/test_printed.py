"""What the AWS CLI printed of a stream.

Recorded output is in tests/golden/aws-cli; `HasMoreShards` and `NextToken` are as in the API
references.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from reshardctl.errors import UsageError
from reshardctl.lineage import Lineage
from reshardctl.snapshot.printed import Printed, lineage_of, without_parents

RECORDED = Path(__file__).parents[2] / "golden" / "aws-cli"
LIST, SUMMARY, DESCRIPTION, SCAN = (
    json.loads((RECORDED / f"{name}.json").read_text())
    for name in ("list", "summary", "describe", "scan")
)


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
BORN = SUMMARY[SUMMED]["StreamCreationTimestamp"]


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


def test_numbers_that_tell_no_time() -> None:
    """As an emulator may count: whose shards they are cannot be told by them."""
    whole = [{**shard, "SequenceNumberRange": {"StartingSequenceNumber": "1"}}
             for shard in LIST["Shards"]
             if "EndingSequenceNumber" not in shard["SequenceNumberRange"]]  # fmt: skip
    assert len(lineage({"Shards": whole}, SUMMARY)) == 3


def test_times_of_version_2() -> None:
    told = changed(SUMMARY, SUMMED, StreamCreationTimestamp="2026-11-28T19:04:14+00:00")
    assert lineage(LIST, told).stream.created == 1795892654


@pytest.mark.parametrize(
    ("bodies", "words"),
    [
        ([LIST], ["0.json does not say when", "add --summary", "describe-stream-summary"]),
        ([SUMMARY], ["no file lists the shards", "list-shards"]),
        ([{**LIST, "NextToken": "t"}, SUMMARY], ["0.json: more shards follow", "--max-items"]),
        ([changed(DESCRIPTION, DESCRIBED, HasMoreShards=True)], ["more shards follow"]),
        ([LIST, LIST, SUMMARY], ["each has the last shards", "one answer"]),
        ([{**LIST, "NextToken": "t"}, LIST, LIST, SUMMARY],
         ["1.json, 2.json: each has the last shards"]),
        ([{"Shards": LIST["Shards"][:-1]}, SUMMARY], ["lists 2", "a page is missing"]),
        ([{"Shards": LIST["Shards"][1:]}, changed(SUMMARY, SUMMED, OpenShardCount=9)],
         ["says 9 open shards and lists 3"]),
        ([DESCRIPTION, changed(SUMMARY, SUMMED, StreamARN="a:b:c:d:e:f")], ["different streams"]),
        ([DESCRIPTION, changed(SUMMARY, SUMMED, StreamCreationTimestamp=5)], ["different streams"]),
        ([LIST, changed(SUMMARY, SUMMED, StreamCreationTimestamp=BORN + 90)],
         ["0.json: shardId-000000000000 began at", "different streams"]),
        ([LIST, changed(SUMMARY, SUMMED, StreamCreationTimestamp=BORN - 90)],
         ["0.json: shardId-000000000000 began at", "different streams"]),
        ([changed(DESCRIPTION, DESCRIBED, StreamCreationTimestamp=None)],
         ["0.json", "StreamCreationTimestamp is missing"]),
        ([LIST, changed(SUMMARY, SUMMED, StreamCreationTimestamp=None)],
         ["1.json", "StreamCreationTimestamp is missing"]),
        ([LIST, changed(SUMMARY, SUMMED, StreamCreationTimestamp="soon")],
         ["StreamDescriptionSummary.StreamCreationTimestamp"]),
        ([DESCRIPTION, changed(SUMMARY, SUMMED, RetentionPeriodHours="24")],
         ["1.json: StreamDescriptionSummary.RetentionPeriodHours"]),
        ([LIST, changed(SUMMARY, SUMMED, StreamARN="orders")], ["StreamARN", "not an ARN"]),
        ([SCAN, SUMMARY], ["0.json: no output of list-shards"]),
        ([{"Shards": [{"ShardId": "x"}]}, SUMMARY], ["0.json: Shards[0]", "makes no sense"]),
        ([["Shards"], SUMMARY], ["0.json: not an object but a list"]),
        ([{"Shards": 5}, SUMMARY], ["0.json: Shards: not a list"]),
        ([changed(DESCRIPTION, DESCRIBED, RetentionPeriodHours=None)],
         ["RetentionPeriodHours is missing", "add --summary"]),
    ],
)
def test_what_is_no_whole_listing_is_refused(bodies: list[Any], words: list[str]) -> None:
    with pytest.raises(UsageError) as caught:
        lineage(*bodies)
    text = f"{caught.value.what}\n{caught.value.next}"
    assert all(word in text for word in words), text


def test_pages_and_a_summary_in_one_file() -> None:
    """As `>>` appends what several commands print; PowerShell saves it as UTF-16."""
    outputs = [*pages(LIST, NextToken="t"), SUMMARY]
    text = "\n".join(json.dumps(body, indent=4) for body in outputs)
    for content in (text.encode(), text.encode("utf-16"), text.encode("utf-8-sig")):
        read = lineage_of([Printed("all.json", content)])
        assert read.digest() == lineage(LIST, SUMMARY).digest()
    with pytest.raises(UsageError, match=r"all.json: line \d+: not JSON"):
        lineage_of([Printed("all.json", f"{text}\nShards:".encode())])
    with pytest.raises(UsageError, match="no text"):
        lineage_of([Printed("all.json", b"{\xff")])


def test_a_parent_that_is_not_listed() -> None:
    """What `--shard-filter Type=AT_LATEST` leaves of the recorded listing: the open shards."""
    whole = lineage(LIST, SUMMARY)
    opened = [shard for shard in LIST["Shards"]
              if "EndingSequenceNumber" not in shard["SequenceNumberRange"]]  # fmt: skip
    part = lineage({"Shards": opened}, SUMMARY)
    closed = max(time for shard in part if (time := part.opened_at(shard)))
    assert without_parents(whole, closed + 60) == ""
    with pytest.raises(UsageError, match=r"lists shardId-.*, which closed 1m before") as err:
        without_parents(part, closed + 60)
    assert "--shard-filter" in err.value.next
    with pytest.raises(UsageError, match="which closed 22h59m"):
        without_parents(part, closed + 23 * 3600 - 10)
    assert "--shard-filter" in without_parents(part, closed + 23 * 3600)
    assert without_parents(part, closed + 49 * 3600) == ""
