"""Stores of several DynamoDB tables and of composite keys: whose row it is, and one step over all.

The tables are kinsumer's (HASH `Shard`, HASH `Key`) and kinesis-consumer's (HASH `namespace`,
RANGE `shard_id`), as their sources create or document them.
"""

from __future__ import annotations

import pytest

from reshardctl.errors import CannotTell, Refused, UsageError
from reshardctl.model import Create, Image, TableShape, Update, Write
from reshardctl.model.write_state import WriteResult
from reshardctl.stores.dynamodb import DynamoDb
from tests.contracts.store_contract import create, delete, step, update
from tests.support.faults import DENIED, TIMEOUT_AFTER, FaultySession
from tests.support.lease_server import session
from tests.support.several_tables import SeveralTables, composite, fixed, two_tables

RESERVED = {"Shard", "Key", "Name", "namespace", "shard_id", "Owner", "sequence_number"}


def shard(key: str, **attributes: dict[str, str]) -> Image:
    return Image(f"checkpoints/{key}", {"Shard": {"S": key}, **attributes})


def mark(key: str, **attributes: dict[str, str]) -> Image:
    return Image(f"metadata/{key}", {"Key": {"S": key}, **attributes})


def place(namespace: str, key: str, number: str = "1") -> Image:
    """The key of the image is written here as the documentation of TableShape says it."""
    return Image(
        f"{namespace.replace('%', '%25').replace('/', '%2F')}/{key}",
        {"namespace": {"S": namespace}, "sequence_number": {"S": number}, "shard_id": {"S": key}},
    )


def put(store: SeveralTables, table: int, *images: Image) -> None:
    for image in images:
        store.boto.put_item(TableName=store.shapes[table].name, Item=dict(image.attributes))


@pytest.fixture
def two(server: str) -> SeveralTables:
    return SeveralTables(server, two_tables)


@pytest.fixture
def faulty() -> FaultySession:
    return FaultySession(session())


ROW, CACHE = shard("a", Name={"S": "w"}), mark("ShardCache", Owner={"S": "w"})
BOTH = step(
    update(ROW, Update({"Name": {"S": "x"}}), "Name"), delete(CACHE, "Owner"),
    create(mark("Leader", Name={"S": "us"})),
)


@pytest.fixture
def begun(two: SeveralTables) -> SeveralTables:
    put(two, 0, ROW)
    put(two, 1, CACHE)
    return two


def test_each_table_gives_its_rows_under_its_prefix(two: SeveralTables) -> None:
    put(two, 0, shard("a"))
    put(two, 1, mark("a"))
    assert two.bare().read() == [shard("a"), mark("a")]
    keys = ["metadata/a", "checkpoints/b", "checkpoints/a"]
    assert list(two.bare().get(keys).items()) == [
        ("metadata/a", mark("a")), ("checkpoints/b", None), ("checkpoints/a", shard("a")),
    ]


def test_a_step_over_both_tables_is_one_transaction(begun, faulty):
    assert begun.bare(faulty).write(BOTH, "t1") is WriteResult.APPLIED
    ((name, given),) = faulty.calls
    assert name == "transact_write_items"
    tables = [next(iter(entry.values()))["TableName"] for entry in given["TransactItems"]]
    assert tables == [begun.shapes[0].name, begun.shapes[1].name, begun.shapes[1].name]
    assert begun.bare().read() == [shard("a", Name={"S": "x"}), mark("Leader", Name={"S": "us"})]


def test_a_row_that_moved_in_one_table_stops_the_other(begun: SeveralTables) -> None:
    put(begun, 1, mark("ShardCache", Owner={"S": "someone"}))
    assert begun.bare().write(BOTH, "t1") is WriteResult.CONFLICT
    assert begun.bare().read() == [ROW, mark("ShardCache", Owner={"S": "someone"})]


def test_a_lost_answer_is_looked_up_in_both_tables(begun, faulty):
    faulty.faults = {0: TIMEOUT_AFTER}
    assert begun.bare(faulty).write(BOTH, "t1") is WriteResult.APPLIED
    asked = {t for name, given in faulty.calls if name == "batch_get_item"
             for t in given["RequestItems"]}
    assert asked == {shape.name for shape in begun.shapes}
    assert [name for name, _ in faulty.calls].count("transact_write_items") == 1


def test_a_denied_step_names_both_tables(two: SeveralTables, faulty: FaultySession) -> None:
    faulty.always["transact_write_items"] = DENIED
    with pytest.raises(Refused) as caught:
        two.bare(faulty).write(BOTH, "t1")
    for shape in two.shapes:
        assert shape.name in caught.value.what
        assert f'table/{shape.name}"' in caught.value.next


def test_no_name_of_a_key_stands_in_an_expression(begun, faulty, server):
    """DynamoDB refuses `Shard`, `Key` and `Name` unaliased (seen on DynamoDB Local 2.5.2)."""
    begun.bare(faulty).write(BOTH, "t1")
    one = SeveralTables(server, fixed)
    one.bare(faulty).read()
    expressions = [
        text for _, given in faulty.calls
        for entry in [given, *(next(iter(e.values())) for e in given.get("TransactItems", ()))]
        for kind, text in entry.items() if kind.endswith("Expression")
    ]
    assert len(expressions) == 5
    words = {word.strip("(),") for text in expressions for word in text.split()}
    assert not words & RESERVED
    assert {w[0] for w in words if w not in {
        "SET", "AND", "=", *(w for w in words if w.startswith("attribute_"))
    }} <= {"#", ":"}


def test_identity_is_that_of_all_tables(two: SeveralTables) -> None:
    found = two.bare().identity()
    arns = [
        two.boto.describe_table(TableName=shape.name)["Table"]["TableArn"] for shape in two.shapes
    ]
    assert [found["arn"], found[f"{two.shapes[1].name}.arn"]] == arns
    assert found[f"{two.shapes[1].name}.created"].endswith("Z")


def test_a_missing_table_is_named(two: SeveralTables) -> None:
    two.boto.delete_table(TableName=two.shapes[1].name)
    for call in (two.bare().identity, two.bare().read):
        with pytest.raises(UsageError, match=f"there is no table {two.shapes[1].name} in"):
            call()


def test_a_table_with_another_key_is_named(server: str) -> None:
    def wrong(name: str) -> list[TableShape]:
        return [TableShape(name, hash="namespace", range="shard_id", holds="positions")]

    store = SeveralTables(server, wrong)
    name = store.shapes[0].name
    asked = [TableShape(name, hash="namespace", holds="positions")]
    medium = DynamoDb(
        session(), asked, endpoint_url=server, clock=store.clock.read, sleep=store.clock.sleep
    )
    with pytest.raises(
        UsageError,
        match=rf"table {name} in .* holds no positions: its key is HASH namespace \(S\), RANGE "
        r"shard_id \(S\), and that of a table of positions is HASH namespace \(S\)$",
    ):
        medium.read()


def test_a_slash_in_a_hash_value_is_told_from_the_one_behind_it(server: str) -> None:
    store = SeveralTables(server, composite)
    rows = sorted(
        (place("a", "b/c"), place("a/b", "c"), place("a%2Fb", "c")), key=lambda image: image.key
    )
    put(store, 0, *rows)
    medium = store.bare()
    assert medium.read() == rows
    assert [medium.get([image.key])[image.key] for image in rows] == rows
    gone = step(*(delete(image, "namespace") for image in rows))
    assert medium.write(gone, "t1") is WriteResult.APPLIED
    assert medium.read() == []


def test_a_fixed_hash_value_is_asked_for_alone(server: str, faulty: FaultySession) -> None:
    store = SeveralTables(server, fixed)
    ours, theirs = place("app-a/b%2F", "shard"), place("other-st", "shard")
    put(store, 0, ours, theirs)
    medium = store.bare(faulty)
    assert medium.read() == [ours]
    assert "scan" not in [name for name, _ in faulty.calls]
    with pytest.raises(ValueError, match="no row of table"):
        medium.get([theirs.key])
    with pytest.raises(ValueError, match="no row of table"):
        medium.write(step(delete(theirs)), "t1")
    assert store.boto.scan(TableName=store.shapes[0].name)["Count"] == 2


def test_a_fixed_hash_value_is_read_page_by_page(server: str, faulty: FaultySession) -> None:
    store = SeveralTables(server, fixed)
    put(store, 0, *(place("app-a/b%2F", f"k{n}", "9" * 150_000) for n in range(10)))
    assert len(store.bare(faulty).read()) == 10
    assert [name for name, _ in faulty.calls].count("query") > 1
    faulty.always["query"] = DENIED
    with pytest.raises(CannotTell, match="no permission for dynamodb:Query"):
        store.bare(faulty).read()


@pytest.mark.parametrize("change", [
    Update({"shard_id": {"S": "x"}}), Update({}, ("namespace",)),
    Create({"shard_id": {"S": "another"}}),
])
def test_no_part_of_a_key_is_written_over(server: str, change: Update | Create) -> None:
    store = SeveralTables(server, composite)
    before = None if isinstance(change, Create) else place("a", "b")
    with pytest.raises(ValueError, match="key"):
        store.bare().write(step(Write("a/b", change, before, "a test")), "t1")


def test_a_row_of_no_table_is_no_write(two: SeveralTables) -> None:
    with pytest.raises(ValueError, match="elsewhere/a: no row of"):
        two.bare().write(step(create(Image("elsewhere/a", {}))), "t1")


def test_tables_whose_keys_could_be_taken_for_each_other_are_no_store(two: SeveralTables) -> None:
    for prefixes in (("", "x/"), ("x/", "x/y/"), ("x/", "x/")):
        tables = [TableShape(f"t{n}", prefix) for n, prefix in enumerate(prefixes)]
        with pytest.raises(ValueError, match="keys in common"):
            DynamoDb(
                session(), tables, endpoint_url=two.url,
                clock=two.clock.read, sleep=two.clock.sleep,
            )
    with pytest.raises(ValueError, match="hash value alone"):
        TableShape("t", fixed="x")
