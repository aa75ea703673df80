"""What a run left in a table of positions, as the records that its rows stand at."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from reshardctl.testing import FakeKinesis


def rows_left(client: Any, table: str, fake: FakeKinesis, stream: str) -> dict[str, str]:
    """The payload of the record with the stored number, by shard id.

    A row whose number no record has is not named. client: boto3's of DynamoDB.
    """
    payloads = dict(_payloads(fake, stream))
    rows = client.scan(TableName=table, ConsistentRead=True)["Items"]
    stored = {
        row["shard_id"]["S"]: row.get("sequence_number", {}).get("S", "")
        for row in rows if row["namespace"]["S"] == f"app-{stream}"
    }
    return {shard: payloads[number] for shard, number in stored.items() if number in payloads}


def _payloads(fake: FakeKinesis, stream: str) -> Iterator[tuple[str, str]]:
    """Number and payload of every record that is still there; all of a shard fit one answer."""
    kinesis = fake.client()
    for shard in kinesis.list_shards(StreamName=stream)["Shards"]:
        iterator = kinesis.get_shard_iterator(
            StreamName=stream, ShardId=shard["ShardId"], ShardIteratorType="TRIM_HORIZON"
        )["ShardIterator"]
        for record in kinesis.get_records(ShardIterator=iterator)["Records"]:
            yield record["SequenceNumber"], record["Data"].decode()
