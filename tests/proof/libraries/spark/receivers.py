"""Applications of Spark Streaming's Kinesis receiver: their lease tables, streams and servers.

Tables and listings are recorded ones (tests/golden/spark-dstreams); the streams are told again so
that they list the same and give the records of the same numbers.
"""

from __future__ import annotations

import json
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import boto3

from reshardctl.testing import FakeKinesis, load_topology, serve
from tests.proof.libraries.spark.over_tls import over_tls
from tests.proof.libraries.spark.session import NO_CBOR
from tests.proof.libraries.spark.shapes import AHEAD_SECONDS, CENTURY_HOURS
from tests.support.lease_server import REGION, lease_server

GOLDEN = Path(__file__).parents[3] / "golden" / "spark-dstreams" / "kinesis-asl-3.3.0"
CREATED = 1795236518
"""Three seconds after the epoch in the first shard's numbers."""
SPLIT, MERGED = "split", "merged"

_REGIONS = """<XML><Regions><Region><Name>{region}</Name><Domain>amazonaws.com</Domain>{hosts}
</Region></Regions></XML>"""
_HOST = """
<Endpoint><ServiceName>{service}</ServiceName><Http>false</Http><Https>true</Https>
<Hostname>{host}</Hostname></Endpoint>"""


def _records(shard: int, *times: float) -> list[dict[str, Any]]:
    return [{"t": t, "data": f"s{shard}-{i}"} for i, t in enumerate(times)]


_PARENT = {"id": 0, "range": ["0", "1"], "parents": [], "open": 0, "close": 3625,
           "records": _records(0, 10, 207, 403, 600, 3624, 3625)}  # fmt: skip
_CHILDREN = [
    {"id": 1, "range": ["0", "1/2"], "parents": [0], "records": _records(1, 3627)},
    {"id": 2, "range": ["1/2", "1"], "parents": [0], "records": _records(2, 3627)},
]
_FED = [{**_CHILDREN[0], "records": _records(1, 3627, 3670)}, _CHILDREN[1]]
_MERGED = {"id": 3, "range": ["0", "1"], "parents": [1, 2], "records": _records(3, 3673)}
SHARDS = {
    SPLIT: [_PARENT, *_CHILDREN],
    MERGED: [_PARENT, *({**child, "close": 3671} for child in _FED), _MERGED],
}
"""What the streams hold; d2 and d4 of the recordings list the same."""


def recorded(name: str) -> dict[str, Any]:
    """One moment: `items` of the lease table, and what had been `delivered`."""
    found: dict[str, Any] = json.loads((GOLDEN / f"{name}.json").read_text())
    return found


def listing(name: str) -> list[dict[str, Any]]:
    """What ListShards answered at that moment."""
    found: list[dict[str, Any]] = json.loads((GOLDEN / f"{name}.shards.json").read_text())["Shards"]
    return found


def streams() -> FakeKinesis:
    """Both streams, which go on from this moment; nothing expires."""
    age = time.time() + AHEAD_SECONDS - CREATED
    told = [
        {"name": name, "created": CREATED, "retention_hours": CENTURY_HOURS, "now": age,
         "shards": shards}
        for name, shards in SHARDS.items()
    ]  # fmt: skip
    return load_topology(told, ticking=True)


@dataclass(frozen=True)
class Servers:
    """Kinesis and DynamoDB at their URLs, and what makes Spark's SDK find the latter."""

    kinesis: str
    dynamodb: str
    regions: Path

    @property
    def configuration(self) -> dict[str, str]:
        """Spark's. A receiver holds a core for as long as it runs."""
        java = (
            f"-Dcom.amazonaws.regions.RegionUtils.fileOverride={self.regions} "
            f"-Dcom.amazonaws.sdk.disableCertChecking=true {NO_CBOR}"
        )
        return {"spark.master": "local[8]", "spark.driver.extraJavaOptions": java}

    def seed(self, table: str, items: list[dict[str, Any]]) -> None:
        """A lease table with these items."""
        client = self._client()
        client.create_table(
            TableName=table,
            BillingMode="PAY_PER_REQUEST",
            KeySchema=[{"AttributeName": "leaseKey", "KeyType": "HASH"}],
            AttributeDefinitions=[{"AttributeName": "leaseKey", "AttributeType": "S"}],
        )
        for item in items:
            client.put_item(TableName=table, Item=item)

    def checkpoints(self, table: str) -> dict[str, str]:
        """The checkpoint of every lease, by shard id."""
        items = self._client().scan(TableName=table, ConsistentRead=True)["Items"]
        return {item["leaseKey"]["S"]: item["checkpoint"]["S"] for item in items}

    def _client(self) -> Any:
        return boto3.client(
            "dynamodb", endpoint_url=self.dynamodb, region_name=REGION,
            aws_access_key_id="testing", aws_secret_access_key="testing",
        )  # fmt: skip


@contextmanager
def servers(fake: FakeKinesis, folder: Path) -> Iterator[Servers]:
    """Both servers, for as long as the block."""
    with serve(fake) as kinesis, lease_server() as url, over_tls(url, folder) as host:
        hosts = "".join(
            _HOST.format(service=service, host=host)
            for service in ("dynamodb", "kinesis", "monitoring")
        )
        regions = folder / "regions.xml"
        regions.write_text(_REGIONS.format(region=REGION, hosts=hosts))
        yield Servers(kinesis.url, url, regions)
