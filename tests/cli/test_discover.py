"""`discover`: the tables of an account that hold a stream's positions."""

from __future__ import annotations

import itertools
import shlex
from pathlib import Path

import pytest

from reshardctl.stores.dynamodb.client import Client
from reshardctl.testing.topology import stream_of
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


def test_the_command_to_paste(lab, monkeypatch):
    text = lab.cli("discover", "orders").out
    assert f"reshardctl inspect kcl://{lab.table.name} --stream orders" in text
    assert lab.wire.writes == []
    monkeypatch.setattr("reshardctl.console.output.PIPED_WIDTH", 60)
    narrow = lab.cli("discover", "orders").out.splitlines()
    assert max(len(line) for line in narrow if "reshardctl inspect" not in line) <= 60


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
        "kinesis-consumer": f"kinesis-consumer+ddb://{harlow}?app=app",
    }
    others = found(lab)["other_streams"]  # the server keeps tables of other tests
    assert clicks in others and not {sessions, kinsumer, harlow} & set(others)
    text = lab.cli("discover", "orders").out
    name = kinsumer.removesuffix("_checkpoints")
    assert f"inspect kinsumer://{name} " not in text  # its other two tables are missing
    assert f"there is no table {name}_clients and no table {name}_metadata" in (
        " ".join(text.split())
    )
    (unnamed,) = [one for one in found(lab)["others"] if one["table"] == renamed]
    assert (unnamed["locator"], unnamed["command"]) == (None, None)


def numbers(lab, name: str, position: int = 0) -> list[str]:
    """A number of each shard of a stream."""
    shards = lab.fake.stream(name).shards.values()
    return [str(shard.records[position].number) for shard in shards if shard.records]


@pytest.fixture
def clicks(lab):
    """Another stream of the account, younger than `orders`, with two shards."""
    orders = lab.fake.stream("orders")
    stream = stream_of({
        "name": "clicks", "created": orders.created + 120,
        "shards": [{"id": i, "range": [f"{i}/2", f"{i + 1}/2"], "open": 0,
                    "records": {"n": 3, "from": 10, "to": 60}} for i in range(2)],
    })  # fmt: skip
    return lab.fake.add_stream(stream)


def lease(shard: int, checkpoint: str) -> dict:
    return {"leaseKey": {"S": f"shardId-{shard:012d}"}, "checkpoint": {"S": checkpoint}}


@pytest.mark.usefixtures("clicks")
def test_the_table_of_a_younger_stream_is_not_this_streams(lab, table):
    """Its numbers lie between the first and the last of the shards here; Kinesis refuses them."""
    theirs = table(("HASH", "leaseKey"), items=map(lease, (0, 1), numbers(lab, "clicks")))
    whole = found(lab)
    assert theirs not in {one["table"] for one in whole["tables"]}
    (one,) = [one for one in whole["others"] if one["table"] == theirs]
    assert (one["streams"], one["evidence"]["elsewhere"]) == ({"clicks": 2}, 2)
    text = " ".join(lab.cli("discover", "orders").out.split())
    assert (
        f"kcl://{theirs}: 2 of 2 sequence numbers are not this stream's; 2 fit stream clicks "
    ) in text
    assert f"inspect kcl://{theirs}" not in text
    own = {one["table"]: one for one in lab.cli("discover", "clicks", "--format",
                                                "json").json["tables"]}
    assert own[theirs]["confidence"] == "strong"


def test_streams_of_one_second_are_not_told_apart(lab):
    """Nothing in a number of a first shard differs between them."""
    orders = lab.fake.stream("orders")
    lab.fake.add_stream(stream_of({
        "name": "twin", "created": orders.created,
        "shards": [{"id": 0, "range": ["0/1", "1/1"], "open": 0}],
    }))
    one = named(lab)[lab.table.name]
    assert one["confidence"] == "possible"
    assert one["why"].endswith(
        "numbers of stream twin, created in the same second, look the same: it may be of either"
    )
    lab.wire.fail("ListStreams", "AccessDeniedException")
    assert named(lab)[lab.table.name]["confidence"] == "strong"


@pytest.mark.usefixtures("clicks")
def test_a_table_with_rows_of_two_streams_names_both(lab, table):
    mixed = table(("HASH", "leaseKey"), items=[
        lease(1, numbers(lab, "orders")[1]), lease(0, numbers(lab, "clicks")[0]),
    ])
    one = named(lab)[mixed]
    assert (one["confidence"], one["streams"]) == ("strong", {"clicks": 1})
    other = {each["table"]: each for each in lab.cli("discover", "clicks", "--format",
                                                     "json").json["tables"]}[mixed]
    assert (other["confidence"], other["streams"]) == ("strong", {"orders": 1})
    text = lab.cli("discover", "orders").out
    head = next(line for line in text.splitlines() if mixed in line)
    assert head.split("   ")[1:] == ["strong", "shared with another stream"]


def test_a_stream_that_was_resharded_is_known_by_its_shards(lab, table):
    """No number has the second of its creation: the streams are listed."""
    created = lab.fake.stream("orders").created
    lab.fake.add_stream(stream_of({
        "name": "clicks", "created": created - 4000, "shards": [
            {"id": 0, "range": ["0", "1"], "open": 0, "close": 4050},
            {"id": 1, "range": ["0", "1/2"], "open": 4050, "parents": [0],
             "records": {"n": 2, "from": 4100, "to": 4110}},
            {"id": 2, "range": ["1/2", "1"], "open": 4050, "parents": [0]},
        ],
    }))  # fmt: skip
    theirs = table(("HASH", "leaseKey"), items=[lease(1, numbers(lab, "clicks")[0])])
    (one,) = [one for one in found(lab)["others"] if one["table"] == theirs]
    assert one["streams"] == {"clicks": 1}


@pytest.mark.usefixtures("clicks")
def test_without_permission_to_ask_nothing_is_proven(lab, table):
    """Neither this stream's nor another's, and the reason is said."""
    number = int(numbers(lab, "clicks")[1]) + (5 << 148)  # an epoch that no listing knows
    theirs = table(("HASH", "leaseKey"), items=[lease(1, str(number))])
    lab.wire.fail("GetShardIterator", "AccessDeniedException")
    whole = found(lab)
    (one,) = [one for one in whole["tables"] if one["table"] == theirs]
    assert (one["confidence"], one["evidence"]["unproven"]) == ("possible", 1)
    assert "is not verified" in one["why"]
    assert any("kinesis:GetShardIterator" in note for note in whole["notes"])


@pytest.mark.usefixtures("clicks")
@pytest.mark.parametrize(("failing", "streams", "note"), [
    (("GetShardIterator", "InternalFailure", 500), {"clicks": 1},
     "not every number is verified: GetShardIterator"),
    (("GetShardIterator", "AccessDeniedException"), {"clicks": 1}, "kinesis:GetShardIterator"),
    (("ListStreams", "AccessDeniedException"), {}, "kinesis:ListStreams"),
], ids=["no answer", "may not ask", "may not list"])
def test_another_streams_table_is_known_by_the_second_of_its_creation(
    lab, table, failing, streams, note
):
    theirs = table(("HASH", "leaseKey"), items=[lease(1, numbers(lab, "clicks")[1])])
    lab.wire.fail(*failing)
    whole = found(lab)
    assert lab.table.name in {one["table"] for one in whole["tables"]}
    (one,) = [one for one in whole["others"] if one["table"] == theirs]
    assert (one["holds"], one["streams"]) == ("others", streams)
    assert any(note in each for each in whole["notes"])


def test_no_more_than_five_numbers_of_a_table_are_asked_about(lab, table):
    """Each with an epoch of its own, as of a shard that moved again and again."""
    number = int(numbers(lab, "orders")[1])
    table(("HASH", "leaseKey"), items=[
        lease(n, str(number + ((n + 1) << 148) + (9 << 36))) for n in range(9)
    ])
    before = len(lab.wire.calls)
    lab.cli("discover", "orders")
    asked = [call for _, call in lab.wire.calls[before:] if call == "GetShardIterator"]
    assert len(asked) == 5


def test_the_table_of_a_stream_that_was_made_again_is_named(lab, table):
    """And the one that was emptied: they are what these incidents leave behind."""
    shift = (86400 << 148) + (86400 << 36)
    old = table(("HASH", "leaseKey"), items=[
        lease(n, str(int(number) - shift)) for n, number in enumerate(numbers(lab, "orders"))
    ])
    emptied = table(("HASH", "leaseKey"))
    holds = {one["table"]: one["holds"] for one in found(lab)["others"]}
    assert (holds[old], holds[emptied]) == ("earlier", "empty")
    text = " ".join(lab.cli("discover", "orders").out.split())
    assert f"kcl://{old}: " in text and "an earlier stream's of this name, or another's" in text
    assert f"kcl://{emptied}: the table is empty" in text
    assert f"reshardctl inspect kcl://{old} --stream orders" in text


def test_every_printed_command_runs(lab, table):
    """Two applications in one table of kinesis-consumer, each with its own command."""
    key = (("HASH", "namespace"), ("RANGE", "shard_id"))
    row = {"shard_id": {"S": "shardId-000000000001"},
           "sequence_number": {"S": numbers(lab, "orders")[1]}}  # fmt: skip
    table(*key, items=[
        {"namespace": {"S": f"{app}-orders"}, **row} for app in ("default", "a b&c", "x-y", "")
    ])
    result = lab.cli("discover", "orders")
    joined = result.out.replace("\\\n", " ")
    commands = [shlex.split(line) for line in joined.splitlines() if "reshardctl inspect" in line]
    assert len(commands) == 4
    for words in commands:
        judged = lab.cli(*words[1:])
        assert judged.code in (0, 1), (words, judged.err)
    text = " ".join(result.out.split())
    assert "no command can read: 'kinesis-consumer+ddb://" in text  # of the one without a name


@pytest.fixture
def far(lab):
    """A stream of eu-west-1, of another account."""
    return lab.fake.add_stream(stream_of({
        "name": "far", "created": lab.fake.stream("orders").created, "region": "eu-west-1",
        "account": "210987654321",
        "shards": [{"id": 0, "range": ["0", "1"], "open": 0,
                    "records": {"n": 3, "from": 10, "to": 60}}],
    }))  # fmt: skip


def far_lease(far) -> dict:
    return {
        **lease(0, str(far.shards[0].records[1].number)), "leaseCounter": {"N": "3"},
        "ownerSwitchesSinceCheckpoint": {"N": "0"}, "checkpointSubSequenceNumber": {"N": "0"},
    }


def test_stream_and_table_in_two_regions(lab, table, far):
    """The ARN names the stream's region; tables are looked for there and in the one that is set."""
    theirs = table(("HASH", "leaseKey"), items=[far_lease(far)])
    result = lab.cli("discover", far.arn, "--format", "json")
    assert (result.code, result.json["regions"]) == (0, ["us-east-1", "eu-west-1"])
    (one,) = [one for one in result.json["tables"] if one["table"] == theirs]
    assert (one["region"], one["confidence"]) == ("us-east-1", "strong")
    assert one["command"].endswith(f"--stream {far.arn} --table-region us-east-1")
    assert lab.cli(*shlex.split(one["command"])[1:]).code == 0
    there = lab.cli("discover", far.arn, "--table-region", "eu-west-1")
    assert there.code == 6 and "another region or account: --table-region" in there.out


@pytest.mark.usefixtures("in_tmp_path")
@pytest.mark.parametrize("name", ["all", "reader"])
def test_a_name_in_the_configuration_means_its_stream(lab, table, far, name):
    theirs = table(("HASH", "leaseKey"), items=[far_lease(far)])
    beside = table(("HASH", "leaseKey"), items=[far_lease(far)])
    Path("reshardctl.toml").write_text(
        f'[streams.all]\nstream = "{far.arn}"\n[consumers.reader]\nstream = "all"\n'
        f'locator = "kcl://{theirs}?initial=LATEST&release=2.7"\nregion = "us-east-1"\n'
    )
    result = lab.cli("discover", name, "--format", "json")
    commands = {one["table"]: one["command"] for one in result.json["tables"]}
    assert commands[theirs] == "reshardctl inspect reader"
    for command in (commands[theirs], commands[beside]):
        assert lab.cli(*shlex.split(command)[1:]).code == 0, command
    assert lab.cli("discover", "orders", "--format", "json").json["stream"]["name"] == "orders"


@pytest.mark.usefixtures("in_tmp_path")
def test_the_twin_of_a_configured_table_is_not_called_by_its_name(lab, table, far):
    """The consumer's table is in us-east-1; one of the same name is where the stream is."""
    theirs = table(("HASH", "leaseKey"), items=[far_lease(far)])
    twins = LeaseTable(lab.servers.dynamodb, name=theirs, region="eu-west-1").boto
    twins.put_item(TableName=theirs, Item=far_lease(far))
    Path("reshardctl.toml").write_text(
        f'[streams.all]\nstream = "{far.arn}"\n[consumers.reader]\nstream = "all"\n'
        f'locator = "kcl://{theirs}"\nregion = "us-east-1"\n'
    )
    whole = lab.cli("discover", "all", "--format", "json").json
    twins.delete_table(TableName=theirs)
    commands = {one["region"]: one["command"] for one in whole["tables"] if one["table"] == theirs}
    assert commands["us-east-1"] == "reshardctl inspect reader"
    assert commands["eu-west-1"].startswith(f"reshardctl inspect kcl://{theirs} --stream arn:")


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
    """No consumer matched, and all was read."""
    for key in lab.items():
        lab.table.boto.delete_item(TableName=lab.table.name, Key={"leaseKey": {"S": key}})
    result = lab.cli("discover", "orders")
    assert result.code == 6
    assert "All could be read. No table is known to hold positions of this stream." in result.out
    assert f"kcl://{lab.table.name}: the table is empty\n" in result.out


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
