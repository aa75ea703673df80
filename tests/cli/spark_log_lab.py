"""A lab whose store is a checkpoint with its connector's log in a DynamoDB table.

The checkpoints are the recorded ones, their logs put into rows as DynamodbMetadataCommitter of
awslabs puts them; DynamoDB is moto.
"""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

from tests.cli.lab import Servers, Wire
from tests.cli.spark_lab import HEAD, SparkLab, spark_lab
from tests.support.lease_server import session

TABLE = "kdsc_us-east-1_st"


@contextmanager
def log_lab(
    shape: str, servers: Servers, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, wire: Wire
) -> Iterator[SparkLab]:
    """The checkpoint of a shape, its log in a table."""
    with spark_lab(HEAD, shape, servers, tmp_path, monkeypatch, wire) as lab:
        client = dynamodb(servers.dynamodb)
        put_in_table(client, lab.root)
        lab.options += f"&log={TABLE}"
        try:
            yield lab
        finally:
            client.delete_table(TableName=TABLE)


def dynamodb(url: str) -> Any:
    return session().client("dynamodb", endpoint_url=url)


def put_in_table(client: Any, root: Path) -> None:
    """Its log goes from files into rows."""
    names = ("metadataKey", "HASH"), ("metadataSortKey", "RANGE")
    client.create_table(
        TableName=TABLE, BillingMode="PAY_PER_REQUEST",
        AttributeDefinitions=[{"AttributeName": n, "AttributeType": "S"} for n, _ in names],
        KeySchema=[{"AttributeName": n, "KeyType": kind} for n, kind in names],
    )
    log = root / "sources" / "0" / "shard-source"
    for entry in sorted(path for path in log.rglob("shardId-*") if path.is_file()):
        client.put_item(TableName=TABLE, Item={
            "metadataKey": {"S": entry.parent.name}, "metadataSortKey": {"S": entry.name},
            "metadataValue": {"S": entry.read_text()},
        })  # fmt: skip
    shutil.rmtree(root / "sources")


def rows(lab: SparkLab) -> list[Any]:
    client = dynamodb(lab.servers.dynamodb)
    found = client.scan(TableName=TABLE)["Items"]
    return sorted(found, key=lambda i: (i["metadataKey"]["S"], i["metadataSortKey"]["S"]))
