"""The tables that the real KCL and kinsumer make are those that `config tables` prints."""

from __future__ import annotations

import time
from collections.abc import Iterator, Mapping
from typing import Any

import pytest

from reshardctl.consumers.locator import parse
from reshardctl.consumers.tables import NewTable, attributes, index_json, key_json
from reshardctl.model.tables import key_of
from tests.proof.libraries.go.library import Library as GoLibrary
from tests.proof.libraries.kcl.built import RELEASES
from tests.proof.libraries.kcl.dynamodb import DynamoDb
from tests.proof.libraries.kcl.library import Library
from tests.proof.libraries.kcl.stream import ServedStream
from tests.support.case import CASES, load
from tests.support.needs import needs

pytestmark = pytest.mark.interop
PATIENCE_SECONDS = 90
OFTEN = ("2.7.2", "3.1.3", "3.5.1")
"""One for each kind of tables that is still made; the older ones take part in the longer tier."""


@pytest.fixture(scope="module")
@needs("real-kcl")
def dynamodb() -> Iterator[DynamoDb]:
    server = DynamoDb()
    yield server
    server.close()


@pytest.mark.parametrize("release", [
    pytest.param(release, marks=[] if release in OFTEN else [pytest.mark.long])
    for release in RELEASES
])
def test_the_tables_of_a_new_application(dynamodb: DynamoDb, release: str) -> None:
    app = f"made-by-{release}"
    wanted = wanted_by(f"kcl://{app}?release={release}")
    with ServedStream(load(CASES / "kcl" / "a-both.toml")) as stream:
        library = Library(release)
        try:
            library.start(app, {
                "kinesis": stream.address, "dynamodb": dynamodb.address, "stream": stream.name,
                "table": app, "worker": "w1", "initial": "TRIM_HORIZON",
            })  # fmt: skip
            wait_for(dynamodb, app, wanted)
        finally:
            library.stop(app)
            library.close()


@needs("real-kinsumer")
def test_the_tables_of_kinsumer(dynamodb: DynamoDb) -> None:
    """CreateRequiredTables of snowplow-devops/kinsumer v1.7.0."""
    app = "made-by-kinsumer"
    with ServedStream(load(CASES / "kcl" / "a-both.toml")) as stream:
        library = GoLibrary("kinsumer")
        try:
            run, _ = library.start({
                "kinesis": stream.address, "dynamodb": dynamodb.address, "stream": stream.name,
                "app": app, "create": "yes",
            })  # fmt: skip
            wait_for(dynamodb, app, wanted_by(f"kinsumer://{app}?release=snowplow-1.7"))
            library.stop(run)
        finally:
            library.close()


def wanted_by(text: str) -> dict[str, Mapping[str, Any]]:
    locator = parse(text)
    new = locator.spec.new_tables(locator.target, locator.options).tables
    return {table.shape.name: wanted_of(table) for table in new if table.needed}


def wait_for(dynamodb: DynamoDb, app: str, wanted: Mapping[str, Any]) -> None:
    ends = time.monotonic() + PATIENCE_SECONDS
    while (found := made(dynamodb, app)) != wanted and time.monotonic() < ends:
        time.sleep(1)
    time.sleep(3)  # nothing is made later
    assert made(dynamodb, app) == found == wanted


def made(dynamodb: DynamoDb, app: str) -> dict[str, Mapping[str, Any]]:
    client = dynamodb.client
    names = [name for name in client.list_tables()["TableNames"] if name.startswith(app)]
    return {name: made_of(client.describe_table(TableName=name)["Table"]) for name in names}


def made_of(table: Mapping[str, Any]) -> Mapping[str, Any]:
    indexes = table.get("GlobalSecondaryIndexes", [])
    units = table["ProvisionedThroughput"]
    provisioned = "BillingModeSummary" not in table
    return {
        "key": table["KeySchema"],
        "attributes": sorted(a["AttributeName"] for a in table["AttributeDefinitions"]),
        "types": {a["AttributeType"] for a in table["AttributeDefinitions"]},
        "indexes": [(i["IndexName"], i["KeySchema"], i["Projection"]) for i in indexes],
        "active": all(index["IndexStatus"] == "ACTIVE" for index in indexes),
        "units": (units["ReadCapacityUnits"], units["WriteCapacityUnits"]) if provisioned else None,
        "protected": table.get("DeletionProtectionEnabled", False),
        "stream": table.get("StreamSpecification"),
    }


def wanted_of(table: NewTable) -> Mapping[str, Any]:
    indexes = [index_json(index, None) for index in table.indexes]
    units = table.capacity and (table.capacity.read, table.capacity.write)
    return {
        "key": key_json(key_of(table.shape)), "attributes": sorted(attributes(table)),
        "types": {"S"}, "units": units, "protected": False, "stream": None, "active": True,
        "indexes": [(i["IndexName"], i["KeySchema"], i["Projection"]) for i in indexes],
    }
