"""What people pasted into public threads, as it stands there: tests/golden/threads.

The threads' stored texts end within kinesalite's third shard and after the sixth lease.
"""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from reshardctl.consumers.kcl.spec import KCL
from reshardctl.errors import UsageError
from reshardctl.model import TableShape, decode, index_of
from reshardctl.snapshot.printed import Printed, lineage_of
from reshardctl.snapshot.printed_rows import rows_of_table

THREADS = Path(__file__).parents[2] / "golden" / "threads"
SUMMARY = {"StreamDescriptionSummary": {
    "StreamName": "test-stream", "StreamARN": "arn:aws:kinesis:us-east-1:1:stream/test-stream",
    "StreamStatus": "ACTIVE", "RetentionPeriodHours": 24, "StreamCreationTimestamp": 1467099770,
}}  # fmt: skip


def pasted(name: str) -> Printed:
    return Printed(name, (THREADS / name).read_bytes())


def refusal(*files: Printed) -> str:
    with pytest.raises(UsageError) as caught:
        lineage_of(files)
    return f"{caught.value.what}\n{caught.value.next}"


def test_leases_as_the_console_exported_them() -> None:
    """https://github.com/spring-attic/spring-integration-aws/issues/64 (April 2017): sample data of
    the KCL, of six shards of one stream on four workers."""
    rows = rows_of_table([pasted("spring-integration-aws-64.csv")], TableShape("app"), KCL)
    assert len(rows) == 6
    assert len({row.attributes["leaseOwner"]["S"] for row in rows}) == 4
    for row in rows:
        number = decode(row.attributes["checkpoint"]["S"])
        assert number is not None and number.shard == index_of(row.key)
    (lease,) = [row.attributes for row in rows if row.key == "shardId-000000000109"]
    assert lease == {
        "checkpoint": {"S": "49571904859951697672938815047093113543517771024281110226"},
        "checkpointSubSequenceNumber": {"N": "0"}, "leaseCounter": {"N": "71393"},
        "leaseKey": {"S": "shardId-000000000109"}, "leaseOwner": {"S": "10.38.86.80"},
        "ownerSwitchesSinceCheckpoint": {"N": "0"},
        "parentShardId": {"SS": ["shardId-000000000084"]},
    }  # fmt: skip


def test_a_split_of_which_the_second_child_is_cut_off() -> None:
    """https://github.com/mhart/kinesalite/issues/33 (June 2016): the split at 17014118346000…
    closed shard 0 and made 1 and 2; the description has no ARN and no creation time."""
    assert "StreamARN is missing" in refusal(pasted("kinesalite-33.json"))
    said = refusal(pasted("kinesalite-33.json"), Printed("s", json.dumps(SUMMARY).encode()))
    hole = "170141183460000000000000000000000000000–340282366920938463463374607431768211455"
    assert f"no open shard has the hash keys {hole}" in said and "a page is missing" in said


def test_a_shard_of_an_emulator_that_kcl_took_for_closed() -> None:
    """https://github.com/getmoto/moto/issues/1405 (December 2017): 'Because there is both a
    EndingSequenceNumber and StartingSequenceNumber, KCL infers that the this shard id closed.'"""
    assert "moto-1405.json: StreamDescription.Shards[0]: the shard makes no sense" in refusal(
        pasted("moto-1405.json")
    )
    text = (THREADS / "moto-1405.json").read_text()
    for wrong, right in ((": 0", ': "0"'), ("211456", "211455"), (":ingress", ":stream/ingress")):
        text = text.replace(wrong, right)  # as AWS spells them
    listed = Printed("moto", text.encode())
    assert "StreamCreationTimestamp is missing\nadd --summary FILE" in refusal(listed)
    told = {**SUMMARY["StreamDescriptionSummary"], **json.loads(text)["StreamDescription"],
            "StreamCreationTimestamp": 1513700000, "RetentionPeriodHours": 24}  # fmt: skip
    summary = json.dumps({"StreamDescriptionSummary": told})
    assert "closed-without-children" in refusal(listed, Printed("s", summary.encode()))
