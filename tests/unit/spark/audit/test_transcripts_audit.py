"""The transcripts of docs/audit.md, on a stream and a sink with the damages that the page names."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import replace
from datetime import UTC, datetime
from importlib import import_module
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from reshardctl.model import shard_id
from reshardctl.testing import FakeKinesis, load_topology, serve
from tests.cli.lab import Item, Servers, Switchboard, Wire, opened
from tests.cli.page_reader import MIDNIGHT, Reader, of
from tests.support.lease_server import lease_server
from tests.whole.docs.transcripts import Transcript

pytestmark = pytest.mark.usefixtures("spark")
CREATED = MIDNIGHT + 86_400 + 6 * 3600 + 51
RECORDS = {0: (400, 10, 3590), 1: (700, 10, 7190), 2: (300, 3610, 7190), 3: (300, 3610, 7190)}
"""Shard → how many records, and when the first and the last arrived, in seconds of the stream."""
UNREAD, DROPPED, STORED_TWICE = 3, range(100, 120), range(200, 203)
"""The shard nobody reads, and the records of 0 and of 1 that a batch lost and a restart doubled."""
BEHIND = 640
"""The record of 1 at which the stored position stands."""


def stream() -> FakeKinesis:
    """Shard 0 was split into 2 and 3 an hour after the stream was made."""
    lives: dict[int, dict[str, Any]] = {
        0: {"range": ["0", "1/2"], "open": 0, "close": 3600},
        1: {"range": ["1/2", "1"], "open": 0},
        2: {"range": ["0", "1/4"], "open": 3601, "parents": [0]},
        3: {"range": ["1/4", "1/2"], "open": 3601, "parents": [0]},
    }
    return load_topology({
        "name": "orders", "created": CREATED, "now": 10_362,
        "shards": [
            {"id": shard, **life, "records": [
                {"t": first + (last - first) * i // (n - 1), "data": f"s{shard}-{i}",
                 "key": f"k{shard}"}
                for n, first, last in [RECORDS[shard]] for i in range(n)
            ]}
            for shard, life in lives.items()
        ],
    })  # fmt: skip


def stored(fake: FakeKinesis) -> list[dict[str, Any]]:
    """What reached the sink, in the columns of our own source."""
    rows = []
    for number in RECORDS:
        for index, record in enumerate(fake.stream("orders").shards[number].records):
            copies = 1 + (number == 1 and index in STORED_TWICE)
            lost = number == UNREAD or (number == 0 and index in DROPPED)
            rows += [
                {"data": record.payload, "partition_key": record.key, "batch": index // 50,
                 "sequence_number": str(record.number), "sub_sequence_number": 0,
                 "shard_id": shard_id(number), "stream": "orders",
                 "approximate_arrival_timestamp": datetime.fromtimestamp(record.arrival, UTC)}
            ] * (0 if lost else copies)
    return rows


def leases(fake: FakeKinesis) -> list[Item]:
    """Of KCL: 0 is at its end, 1 behind the sink, 2 at its last record, 3 has none."""
    shards = fake.stream("orders").shards
    places = {
        0: "SHARD_END", 1: str(shards[1].records[BEHIND].number),
        2: str(shards[2].records[-1].number),
    }
    return [
        {"leaseKey": {"S": shard_id(number)}, "checkpoint": {"S": place},
         "checkpointSubSequenceNumber": {"N": "0"}, "leaseCounter": {"N": "7"},
         "ownerSwitchesSinceCheckpoint": {"N": "0"}, "leaseOwner": {"S": "worker"}}
        for number, place in places.items()
    ]  # fmt: skip


class AuditReader(Reader):
    """Tells each command where the stream is: Spark's workers have the JVM's environment, not that
    of this test. What is printed is compared without it."""

    def type(self, transcript: Transcript) -> None:
        where = f" --endpoint-url kinesis={self.lab.servers.kinesis}"
        self.spoken = re.compile(r"\s+(?:\\\n\s+)?".join(map(re.escape, where.split(" "))))
        if not transcript.command.startswith("echo"):
            transcript = replace(transcript, command=transcript.command + where)
        super().type(transcript)

    def there(self, text: str) -> str:
        return self.spoken.sub("", super().there(text))


@pytest.fixture
def reader(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Reader]:
    import pyarrow as pa
    import pyarrow.parquet as pq

    fake, switchboard = stream(), Switchboard()
    monkeypatch.chdir(tmp_path)
    (tmp_path / "lake" / "orders").mkdir(parents=True)
    pq.write_table(pa.Table.from_pylist(stored(fake)), tmp_path / "lake/orders/part-0.parquet")
    with (
        serve(switchboard) as kinesis, lease_server() as dynamodb,
        opened(Servers(kinesis.url, dynamodb, switchboard), fake, leases(fake),
               tmp_path / "state", monkeypatch, Wire(), "orders-reader") as lab,
    ):  # fmt: skip
        for module in ("against", "audit", "sink"):
            counts = import_module(f"reshardctl.spark.audit.{module}")
            monkeypatch.setattr(counts, "time", SimpleNamespace(time=lab.time))
        yield AuditReader(lab, {"lake/orders": str(tmp_path / "lake/orders")})


def test_the_page(reader: Reader) -> None:
    for transcript in of("audit"):
        reader.type(transcript)
