"""Our reader, and the command over HTTP, against emulators of Kinesis by others.

What they themselves do otherwise than AWS is in tests/proof/libraries/test_second_opinion.py.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Iterator
from fractions import Fraction
from pathlib import Path
from typing import Any

import boto3
import pytest

from reshardctl.errors import CannotTell, UsageError
from reshardctl.kinesis import Kinesis
from reshardctl.model import DONE, START, TIP, ShardId, at_number
from tests.proof.libraries.second_opinion.emulator import ACCOUNT, REGION
from tests.proof.libraries.second_opinion.scene import HALF, QUARTER
from tests.proof.libraries.second_opinion.service import Service, client
from tests.proof.libraries.second_opinion.shapes import Raw, shard_id
from tests.support.lease_server import LeaseTable, lease_server

pytestmark = pytest.mark.interop

LIMIT = 120.0
"""Seconds after which a command is taken to hang."""

PAGES = {"kinesis-local": 100, "ferrokinesis": 1000}
"""Shards in a page of ListShards: the most of kinesis-local, and what the reader asks for."""


@pytest.fixture
def kinesis(emulator_url: str) -> Kinesis:
    """It does not pause between reads: the emulators have no limit on them."""
    return Kinesis(boto3.Session(), endpoint_url=emulator_url, sleep=lambda _seconds: None)


def resharded(theirs: Service, shards: int = 3) -> str:
    """A stream after a split of its first shard and a merge of the next two."""
    name = theirs.stream(shards)
    theirs.split(name, 0, Fraction(1, 2 * shards))
    theirs.merge(name, 1, 2)
    return name


def plain(shard: Raw) -> tuple[object, ...]:
    """A shard of boto3's own answer, without any code of ours."""
    keys, bounds = shard["HashKeyRange"], shard["SequenceNumberRange"]
    return (
        shard["ShardId"], shard.get("ParentShardId"), shard.get("AdjacentParentShardId"),
        int(keys["StartingHashKey"]), int(keys["EndingHashKey"]),
        bounds["StartingSequenceNumber"], bounds.get("EndingSequenceNumber"),
    )  # fmt: skip


@pytest.mark.only(
    lambda emulator, way: (emulator, way) != ("ferrokinesis", "arn"),
    "ferrokinesis knows no StreamARN",
)
@pytest.mark.parametrize("way", ["name", "arn"])
def test_lineage_is_what_the_answers_say(
    emulator: str, way: str, theirs: Service, emulator_url: str
) -> None:
    """Of 253 shards kinesis-local gives 100 a page, and takes a NextToken only alone."""
    shards = 250
    name = resharded(theirs, shards)
    raw = theirs.shards(name)
    assert len(raw) == shards + 3
    requests: list[dict[str, Any]] = []
    listed: list[int] = []
    boto = client(emulator_url)
    boto.meta.events.register(
        "before-call.kinesis.ListShards",
        lambda params, **_: requests.append(json.loads(params["body"])),
    )
    stream = name if way == "name" else theirs.summary(name)["StreamARN"]
    for kinesis in (
        Kinesis.of_client(boto, progress=listed.append),
        Kinesis(boto3.Session(), endpoint_url=emulator_url),
    ):
        lineage = kinesis.lineage(stream)
        found = [lineage[shard] for shard in lineage]
        assert [plain(shard) for shard in raw] == [
            (s.id, s.parent, s.adjacent, s.hash_start, s.hash_end, s.start, s.end) for s in found
        ]
        assert lineage.breaches() == []
        assert list(lineage.open_shards()) == [s["ShardId"] for s in raw if plain(s)[-1] is None]
        assert lineage.children(ShardId(shard_id(0))) == (shard_id(shards), shard_id(shards + 1))
        assert lineage.parents(ShardId(shard_id(shards + 2))) == (shard_id(1), shard_id(2))
    most = PAGES[emulator]
    pages = -(-len(raw) // most)
    named = "StreamName" if way == "name" else "StreamARN"
    assert [set(one) for one in requests] == [
        {named, "MaxResults"}, *[{"NextToken"}] * (pages - 1)
    ]  # fmt: skip
    assert listed == [min(most * page, len(raw)) for page in range(1, pages + 1)]


def test_summary_is_what_the_answer_says(theirs: Service, kinesis: Kinesis) -> None:
    name = resharded(theirs)
    raw, found = theirs.summary(name), kinesis.summary(name)
    assert (found.arn, found.name, found.status) == (raw["StreamARN"], name, "ACTIVE")
    assert found.created == raw["StreamCreationTimestamp"].timestamp()
    assert (found.retention, found.mode) == (86400, "PROVISIONED")
    assert found.open_shards == raw["OpenShardCount"] == 3
    assert (found.account, found.region) == (ACCOUNT, REGION)


def test_a_stream_that_is_not_there(kinesis: Kinesis) -> None:
    with pytest.raises(UsageError, match="there is no stream nowhere in us-east-1"):
        kinesis.lineage("nowhere")


def test_probes_see_what_is_there(emulator: str, theirs: Service, kinesis: Kinesis) -> None:
    """A closed shard, its empty child, and an open one; the answers of GetRecords say what is.

    That more is unread they say by MillisBehindLatest, which ferrokinesis leaves at zero.
    """
    name = theirs.stream(2)
    closed = [put["SequenceNumber"] for put in theirs.put(name, Fraction(0), "a", "b", "c")]
    opened = [put["SequenceNumber"] for put in theirs.put(name, HALF, "d", "e")]
    theirs.split(name, 0, QUARTER)
    first = theirs.read(name, 0)[0]["Records"][0]["ApproximateArrivalTimestamp"].timestamp()

    def probe(shard: int, since: Any, limit: int = 10) -> tuple[object, ...]:
        found = kinesis.probe(name, ShardId(shard_id(shard)), since, limit_records=limit)
        return found.drained, found.first, found.count, found.more

    assert probe(0, START) == (False, closed[0], 3, False)
    assert probe(0, START, limit=2) == (False, closed[0], 2, emulator != "ferrokinesis")
    assert probe(0, at_number(closed[0])) == (False, closed[1], 2, False)
    assert probe(0, at_number(closed[2])) == (True, None, 0, False)
    assert probe(0, DONE) == probe(2, START) == probe(1, TIP) == (True, None, 0, False)
    assert probe(1, at_number(opened[0])) == (False, opened[1], 1, False)
    assert kinesis.head(name, ShardId(shard_id(0))) == first
    assert kinesis.head(name, ShardId(shard_id(2))) is None


def test_a_refused_number_is_never_taken_for_drained(
    emulator: str, theirs: Service, kinesis: Kinesis
) -> None:
    """kinesis-local says ResourceNotFoundException where AWS says InvalidArgumentException."""
    name = theirs.stream(2)
    theirs.put(name, Fraction(0), "a")
    (foreign,) = theirs.put(name, HALF, "b")
    theirs.split(name, 0, QUARTER)
    end = theirs.shards(name)[0]["SequenceNumberRange"]["EndingSequenceNumber"]
    refused = {
        "kinesis-local": ([foreign["SequenceNumber"], end],
                          f"shard {shard_id(0)} of stream {name} is gone"),
        "ferrokinesis": ([foreign["SequenceNumber"]],
                         "InvalidArgumentException: Invalid StartingSequenceNumber"),
    }  # fmt: skip
    numbers, said = refused[emulator]
    for number in numbers:
        with pytest.raises(CannotTell, match=said):
            kinesis.probe(name, ShardId(shard_id(0)), at_number(number))


@pytest.fixture(scope="module")
def dynamodb() -> Iterator[str]:
    with lease_server() as address:
        yield address


def lease(shard: int, checkpoint: str, parents: tuple[int, ...] = ()) -> Raw:
    """A row as KCL 3.5.1 writes it (DynamoDBLeaseSerializer), nobody holding it."""
    row: Raw = {
        "leaseKey": {"S": shard_id(shard)},
        "leaseCounter": {"N": "3"},
        "ownerSwitchesSinceCheckpoint": {"N": "0"},
        "checkpoint": {"S": checkpoint},
        "checkpointSubSequenceNumber": {"N": "0"},
    }
    return row | ({"parentShardId": {"SS": [shard_id(one) for one in parents]}} if parents else {})


def command(kinesis: str, dynamodb: str, state: Path, *words: str) -> tuple[int, Raw]:
    """The installed command's exit code and JSON, against these two servers alone."""
    kept = {n: v for n, v in os.environ.items() if not n.startswith("PYTHON")}
    env = {
        **kept,
        "AWS_ENDPOINT_URL_KINESIS": kinesis,
        "AWS_ENDPOINT_URL_DYNAMODB": dynamodb,
        "RESHARDCTL_STATE_DIR": str(state),
        "NO_PROXY": "127.0.0.1",
    }
    run = subprocess.run(
        [Path(sys.executable).with_name("reshardctl"), *words, "--format", "json"],
        env=env, cwd=state, stdin=subprocess.DEVNULL, capture_output=True, text=True,
        timeout=LIMIT, check=False,
    )  # fmt: skip
    assert run.stdout, run.stderr
    return run.returncode, json.loads(run.stdout)


@pytest.mark.only(
    lambda emulator: emulator != "ferrokinesis",
    "ferrokinesis knows no StreamARN, by which the command reads records",
)
def test_the_command_finds_and_mends_children_that_were_never_started(
    theirs: Service, emulator_url: str, dynamodb: str, tmp_path: Path
) -> None:
    """State a of the runs on KCL 1.15.3, 2.7.2 and 3.5.1, November 2026: the parent has ended, and
    neither child has a lease; no release starts them by itself."""
    name = theirs.stream(2)
    theirs.put(name, Fraction(0), "a", "b")
    (at, *_) = theirs.put(name, HALF, "c", "d")
    theirs.split(name, 0, QUARTER)
    theirs.put(name, Fraction(0), "e")
    theirs.put(name, Fraction(3, 8), "f")
    table = LeaseTable(dynamodb)
    for row in (lease(0, "SHARD_END"), lease(1, at["SequenceNumber"])):
        table.boto.put_item(TableName=table.name, Item=row)
    known = "initial=TRIM_HORIZON&release=3.5.1"  # older releases start the children themselves
    where = [f"kcl://{table.name}?{known}", "--stream", name]

    def inspect(*more: str) -> tuple[int, dict[str, list[str]]]:
        code, report = command(emulator_url, dynamodb, tmp_path, "inspect", *where, *more)
        found = [one for one in report["findings"] if one["severity"] != "info"]
        return code, {one["code"]: one["shards"] for one in found}

    stalled = {"RSH203": [shard_id(2), shard_id(3)]}
    assert inspect() == (1, stalled)
    assert inspect("--probe") == (1, stalled)
    code, _ = command(emulator_url, dynamodb, tmp_path, "fix", *where, "--yes", "--assume-stopped")
    assert code == 0
    positions = {item["leaseKey"]["S"]: item["checkpoint"]["S"] for item in table.items()}
    assert positions == {
        shard_id(0): "SHARD_END", shard_id(1): at["SequenceNumber"],
        shard_id(2): "TRIM_HORIZON", shard_id(3): "TRIM_HORIZON",
    }  # fmt: skip
    assert inspect() == (0, {})
