"""DynamoDB Local 2.6.1 on this machine, and lease tables in it."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable
from queue import Empty, Queue
from typing import Any

import boto3
from botocore.config import Config

from tests.proof.libraries.kcl.built import TARGET, dynamodb_command
from tests.proof.libraries.kcl.process import LineProcess

START_SECONDS = 60
INDEX = {
    "IndexName": "LeaseOwnerToLeaseKeyIndex",
    "KeySchema": [
        {"AttributeName": "leaseOwner", "KeyType": "HASH"},
        {"AttributeName": "leaseKey", "KeyType": "RANGE"},
    ],
    "Projection": {"ProjectionType": "KEYS_ONLY"},
}


class DynamoDb:
    """One server in memory; ``client`` is boto3's."""

    def __init__(self) -> None:
        ports: Queue[int] = Queue()
        log = TARGET / f"dynamodb-{os.getpid()}.log"
        self._process = LineProcess(dynamodb_command(), log, _ready(ports))
        try:
            self.address = f"http://127.0.0.1:{ports.get(timeout=START_SECONDS)}"
        except Empty:
            self._process.close()
            raise RuntimeError(f"DynamoDB Local did not start; see {log}") from None
        self.client = boto3.client(
            "dynamodb",
            endpoint_url=self.address,
            region_name="us-east-1",
            aws_access_key_id="testing",
            aws_secret_access_key="testing",
            config=Config(retries={"mode": "standard", "max_attempts": 5}, max_pool_connections=32),
        )

    def close(self) -> None:
        self._process.close()

    def seed(self, table: str, items: list[dict[str, Any]], *, indexed: bool) -> None:
        """Create a lease table with these items (DynamoDB JSON).

        Release 3 adds an index to a table without one and waits for it; ``indexed`` gives the
        table that index at once, as on any table that release 3 has used before (KCL 3.5.1
        DynamoDBLeaseRefresher).
        """
        attributes = ["leaseKey", "leaseOwner"] if indexed else ["leaseKey"]
        self.client.create_table(
            TableName=table,
            BillingMode="PAY_PER_REQUEST",
            KeySchema=[{"AttributeName": "leaseKey", "KeyType": "HASH"}],
            AttributeDefinitions=[
                {"AttributeName": name, "AttributeType": "S"} for name in attributes
            ],
            **({"GlobalSecondaryIndexes": [INDEX]} if indexed else {}),
        )
        for item in items:
            self.client.put_item(TableName=table, Item=item)

    def seed_side_table(self, table: str, key: str, items: Iterable[dict[str, Any]]) -> None:
        """Create a side table of KCL 3.0 to 3.4 with these items."""
        self.client.create_table(
            TableName=table,
            BillingMode="PAY_PER_REQUEST",
            KeySchema=[{"AttributeName": key, "KeyType": "HASH"}],
            AttributeDefinitions=[{"AttributeName": key, "AttributeType": "S"}],
        )
        for item in items:
            self.client.put_item(TableName=table, Item=item)

    def items(self, table: str) -> list[dict[str, Any]]:
        """Everything in a lease table, by its key."""
        return sorted(self._scan(table), key=lambda item: item["leaseKey"]["S"])

    def items_if_any(self, table: str) -> list[dict[str, Any]]:
        """Everything in a table, in no order; nothing where there is no such table."""
        try:
            return self._scan(table)
        except self.client.exceptions.ResourceNotFoundException:
            return []

    def _scan(self, table: str) -> list[dict[str, Any]]:
        pages = self.client.get_paginator("scan").paginate(TableName=table, ConsistentRead=True)
        return [item for page in pages for item in page["Items"]]


def _ready(ports: Queue[int]) -> Callable[[str], None]:
    """Hears ``READY <port>``."""

    def hear(line: str) -> None:
        word, _, rest = line.partition(" ")
        if word == "READY":
            ports.put(int(rest))

    return hear
