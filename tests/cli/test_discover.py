"""`discover`: the tables of an account that hold a stream's positions."""

from __future__ import annotations

import itertools

import pytest

from reshardctl.stores.dynamodb.client import Client
from tests.support.lease_server import LeaseTable, delete_tables

pytestmark = pytest.mark.lab("a-both", "")

_names = itertools.count()


@pytest.fixture(autouse=True, scope="module")
def _empty_account(servers):
    delete_tables(servers.dynamodb)


@pytest.fixture
def table(lab):
    """Makes tables with a key of other programs; they go again."""
    made = []

    def make(*key: tuple[str, str], items=(), ending="", **more) -> str:
        name = f"discover-{next(_names)}{ending}"
        lab.table.boto.create_table(
            TableName=name,
            KeySchema=[{"AttributeName": n, "KeyType": k} for k, n in key],
            AttributeDefinitions=[{"AttributeName": n, "AttributeType": "S"} for _, n in key],
            **{"BillingMode": "PAY_PER_REQUEST", **more},
        )
        made.append(name)
        for item in items:
            lab.table.boto.put_item(TableName=name, Item=item)
        return name

    yield make
    for name in made:
        lab.table.boto.delete_table(TableName=name)


def found(lab) -> dict:
    result = lab.cli("discover", "orders", "--format", "json")
    assert result.code == result.json["exit"]["code"]
    return result.json


def named(lab) -> dict[str, dict]:
    return {one["table"]: one for one in found(lab)["tables"]}


def test_the_table_is_found_with_its_locator(lab):
    one = named(lab)[lab.table.name]
    assert one["locator"] == f"kcl://{lab.table.name}" and one["confidence"] == "strong"
    assert lab.cli("inspect", one["locator"], "--stream", "orders").code == 1


def test_the_command_to_paste(lab):
    text = lab.cli("discover", "orders").out
    assert f"reshardctl inspect kcl://{lab.table.name} --stream orders" in text
    assert lab.wire.writes == []


def test_other_tables_are_told_apart(lab, table):
    sessions = table(("HASH", "id"), items=[{"id": {"S": "x"}}])
    number = str(lab.fake.stream("orders").shards[1].records[0].number)
    kinsumer = table(("HASH", "Shard"), items=[
        {"Shard": {"S": "shardId-000000000001"}, "SequenceNumber": {"S": number}},
    ], ending="_checkpoints")
    renamed = table(("HASH", "Shard"))
    harlow = table(("HASH", "namespace"), ("RANGE", "shard_id"), items=[
        {"namespace": {"S": "app-orders"}, "shard_id": {"S": "shardId-000000000001"},
         "sequence_number": {"S": number}},
    ])
    clicks = table(("HASH", "leaseKey"), items=[
        {"leaseKey": {"S": "shardId-000000000099"}, "checkpoint": {"S": "LATEST"}},
    ])
    tables = named(lab)
    assert sessions not in tables and clicks not in tables
    assert {tables[one]["library"]: tables[one]["locator"] for one in (kinsumer, harlow)} == {
        "kinsumer": f"kinsumer://{kinsumer.removesuffix('_checkpoints')}",
        "kinesis-consumer": f"kinesis-consumer+ddb://{harlow}",
    }
    others = found(lab)["other_streams"]  # the server keeps tables of other tests
    assert clicks in others and not {sessions, kinsumer, harlow} & set(others)
    text = lab.cli("discover", "orders").out
    assert f"reshardctl inspect kinsumer://{kinsumer.removesuffix('_checkpoints')} " in text
    assert tables.get(renamed, {}).get("locator") is None


def test_a_table_that_may_not_be_read_is_named(lab, table):
    """Not fatal: the others are looked at all the same."""
    table(("HASH", "leaseKey"))
    lab.wire.fail("Scan", "AccessDeniedException", times=1)
    whole = found(lab)
    (denied,) = whole["unread"]
    assert "no permission for dynamodb:Scan" in denied["why"]
    assert whole["looked"] >= 2
    lab.wire.faults.clear()
    lab.wire.fail("DescribeTable", "AccessDeniedException")
    result = lab.cli("discover", "orders")
    assert result.code == 3 and "Could not be read" in result.out


def test_no_permission_to_list(lab):
    lab.wire.fail("ListTables", "AccessDeniedException")
    result = lab.cli("discover", "orders")
    assert result.code == 3 and result.says("dynamodb:ListTables", "allow it")


@pytest.fixture
def alone(lab, monkeypatch):
    """An account with the lab's table only: the server keeps tables of other tests."""
    real = Client.read

    def own(self, operation, action, where, **arguments):
        answer = real(self, operation, action, where, **arguments)
        if operation == "list_tables":
            answer["TableNames"] = [n for n in answer["TableNames"] if n == lab.table.name]
        return answer

    monkeypatch.setattr(Client, "read", own)


@pytest.mark.usefixtures("alone")
def test_nothing_found_is_not_ok(lab):
    """No consumer matched: could not tell."""
    for key in lab.items():
        lab.table.boto.delete_item(TableName=lab.table.name, Key={"leaseKey": {"S": key}})
    result = lab.cli("discover", "orders")
    assert result.code == 3 and "No table holds positions of this stream." in result.out


def test_every_page_of_tables_is_read(lab, monkeypatch):
    """ListTables gives at most 100 names a page, and the last of them to go on from."""
    others = [LeaseTable(lab.servers.dynamodb) for _ in range(3)]
    real = Client.read

    def one_a_page(self, operation, action, where, **arguments):
        more = {"Limit": 1} if operation == "list_tables" else {}
        return real(self, operation, action, where, **arguments, **more)

    monkeypatch.setattr(Client, "read", one_a_page)
    whole = found(lab)
    assert whole["looked"] >= 4 and lab.table.name in {t["table"] for t in whole["tables"]}
    for other in others:
        other.boto.delete_table(TableName=other.name)


def test_a_sample_takes_at_most_half_of_the_capacity(lab, table, monkeypatch):
    """Ten units a second: five are ours, and eight leases to a unit."""
    rows = [{"leaseKey": {"S": f"shardId-{n:012}"}} for n in range(60)]
    units = {"ReadCapacityUnits": 4, "WriteCapacityUnits": 4}
    small = table(("HASH", "leaseKey"), items=rows, BillingMode="PROVISIONED",
                  ProvisionedThroughput=units)  # fmt: skip
    asked = {}
    real = Client.read

    def watched(self, operation, action, where, **arguments):
        if operation == "scan":
            asked[self.table] = arguments["Limit"]
        return real(self, operation, action, where, **arguments)

    monkeypatch.setattr(Client, "read", watched)
    lab.cli("discover", "orders")
    assert asked == {**asked, small: 16, lab.table.name: 50}


def test_an_unknown_stream(lab):
    result = lab.cli("discover", "no-such-stream")
    assert result.code == 2 and result.says("no stream no-such-stream")


def test_sixty_columns(lab, monkeypatch):
    monkeypatch.setattr("reshardctl.console.output.PIPED_WIDTH", 60)
    text = lab.cli("discover", "orders").out
    prose = [line for line in text.splitlines() if "reshardctl inspect" not in line]
    assert max(map(len, prose)) <= 60
