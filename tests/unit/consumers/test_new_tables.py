"""The tables that libraries make, beside those of the real KCL, and what is wrong with a table."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from msgspec.structs import replace

from reshardctl.consumers.locator import parse
from reshardctl.consumers.spec import Missing
from reshardctl.consumers.tables import attributes, index_json, key_json, remarks
from reshardctl.errors import NoStore, UsageError
from reshardctl.model.tables import Capacity, SeenIndex, SeenTable, key_of

GOLDEN = Path(__file__).parents[2] / "golden" / "kcl"
MADE = sorted(
    path for path in GOLDEN.glob("*/*/table.json")
    if "The whole table was written by KCL." in (path.parent / "README.md").read_text("utf-8")
)
"""In other runs the program that recorded them made the table, for leases to begin with."""


def own(text: str):
    locator = parse(text)
    return locator.spec.new_tables(locator.target, locator.options)


def test_there_are_runs_of_each_release():
    assert {path.parts[-3] for path in MADE} == {"1.13.3", "1.15.3", "2.7.2", "3.1.3", "3.5.1"}


@pytest.mark.parametrize("path", MADE, ids=lambda path: "-".join(path.parts[-3:-1]))
def test_the_lease_table_is_that_which_the_real_kcl_made(path):
    """The table's description after a run of the release; tests/golden/README.md."""
    table = own(f"kcl://app?release={path.parts[-3]}").tables[0]
    assert json.loads(path.read_text(encoding="utf-8")) == {
        "TableName": "app", "KeySchema": key_json(key_of(table.shape)),
        "AttributeDefinitions": [
            {"AttributeName": name, "AttributeType": "S"} for name in attributes(table)
        ],
        "GlobalSecondaryIndexes": [index_json(index, None) for index in table.indexes],
        "BillingMode": "PROVISIONED" if table.capacity else "PAY_PER_REQUEST",
    }  # fmt: skip


TEN = Capacity(10, 10)
INDEX = "LeaseOwnerToLeaseKeyIndex"


@pytest.mark.parametrize(("locator", "wanted"), [
    ("kcl://app?release=1.0", [("app", TEN, [], True)]),
    ("kcl://app?release=1.15", [("app", TEN, [], True)]),
    ("kcl://app?release=2.2", [("app", TEN, [], True)]),
    ("kcl://app?release=2.3.4", [("app", TEN, [], True)]),
    ("kcl://app?release=2.3", [("app", None, [], True)]),  # 2.3.10; #854 is of 2.3.7
    ("kcl://app?release=2.7.3", [("app", None, [], True)]),
    ("kcl://app?release=3.0", [
        ("app", None, [INDEX], True), ("app-CoordinatorState", None, [], True),
        ("app-WorkerMetricStats", None, [], True),
    ]),
    ("kcl://app?release=3.5", [
        ("app", None, [INDEX], True), ("app-CoordinatorState", None, [], False),
        ("app-WorkerMetricStats", None, [], False),
    ]),
    ("kinsumer://app", [
        (f"app_{name}", TEN, [], True) for name in ("checkpoints", "clients", "metadata")
    ]),
    ("kinesis-consumer+ddb://app", [("app", None, [], True)]),
    ("spark:/x?log=app", [("app", None, [], True)]),
    ("spark:/x", []),
    ("quickwit+file:///x", []),
])  # fmt: skip
def test_a_release_and_its_tables(locator, wanted):
    found = [(t.shape.name, t.capacity, [i.name for i in t.indexes], t.needed)
             for t in own(locator).tables]  # fmt: skip
    assert found == wanted


@pytest.mark.parametrize(("locator", "ttl"), [
    ("kinesis-consumer+ddb://app?release=0.5", ""), ("kinesis-consumer+ddb://app?group=g", "ttl"),
    ("kinesis-consumer+ddb://app?release=group-0.5", "ttl"),
    ("kinesis-consumer+ddb://app?release=telegraf-1.36", ""),
])  # fmt: skip
def test_a_group_wants_rows_of_its_workers_deleted(locator, ttl):
    """README of harlow/kinesis-consumer v0.5.0, "Consumer Groups"."""
    assert own(locator).tables[0].ttl == ttl


def test_without_its_release_kcl_is_not_guessed():
    assert "release=" in own("kcl://app").unsettled
    assert not own("kcl://app?release=3").unsettled
    with pytest.raises(UsageError, match="newer"):
        own("kcl://app?release=9.0")


@pytest.mark.parametrize(("locator", "says"), [
    ("kinesis-consumer+mysql://h/db?app=a&table=t", "make it first: CREATE TABLE t ("),
    ("kinesis-consumer+postgres://h/db?app=a&table=T-1", 'make it first: CREATE TABLE "T-1" ('),
    ("spark+s3://lake", "restore it"), ("spark:~/jobs", "restore it"),
    ("spark+s3://lake/jobs", "--key jobs/"), ("spark:/jobs", "mkdir -p /jobs"),
])  # fmt: skip
def test_how_a_store_that_is_gone_is_made(locator, says):
    named = parse(locator)
    error = NoStore("gone", "restore it", named.options.get("table", ""))
    missing = Missing(locator, named.medium, named.target, (), error)
    assert says in named.spec.create_store(missing)


@pytest.mark.parametrize("gone", ["app_checkpoints", "app_clients", "app_metadata"])
def test_of_several_tables_the_one_that_is_gone_is_made(gone):
    named = parse("kinsumer://app")
    tables = own("kinsumer://app").tables
    error = NoStore("gone", "restore it", gone)
    missing = Missing("kinsumer://app", named.medium, named.target, tables, error)
    assert f"--table-name {gone} " in named.spec.create_store(missing)


NEW = own("kcl://app?release=3.5")
SEEN = SeenTable(
    "app", "eu-west-1", (("HASH", "leaseKey", "S"),), "ACTIVE", 100, None,
    (SeenIndex(INDEX, (("HASH", "leaseOwner", "S"), ("RANGE", "leaseKey", "S")), "ACTIVE",
               "KEYS_ONLY"),),
    recovery=True, protected=True,
)  # fmt: skip
THE_INDEX = SEEN.indexes[0]


def changed(**changes) -> SeenTable:
    return replace(SEEN, **changes)


def indexed(**changes) -> SeenTable:
    return replace(SEEN, indexes=(replace(THE_INDEX, **changes),))


@pytest.mark.parametrize(("seen", "wrong", "what", "command"), [
    (changed(key=(("HASH", "LeaseKey", "S"),)), True, "key is HASH LeaseKey (S)", ""),
    (changed(key=(("HASH", "leaseKey", "N"),)), True, "key is HASH leaseKey (N)", ""),
    (changed(key=(("HASH", "leaseKey", "S"), ("RANGE", "x", "S"))), True, "RANGE x (S)", ""),
    (changed(status="DELETING"), True, "DELETING", ""),
    (changed(indexes=()), True, f"no index {INDEX}", '"Create"'),
    (indexed(status="CREATING"), True, "is CREATING", ""),
    (indexed(projection="INCLUDE"), True, "projects INCLUDE", ""),
    (indexed(key=(("HASH", "leaseOwner", "S"),)), True, "has the key HASH leaseOwner (S)", ""),
    # 100 leases, each renewed every 10 s / 3: 30 writes a second.
    (changed(capacity=Capacity(10, 29)), True, "100 rows 30 write units", "PAY_PER_REQUEST"),
    (changed(capacity=Capacity(10, 30)), False, "checkpoints come on top", ""),
    (changed(capacity=Capacity(10, 40), indexes=(replace(THE_INDEX, capacity=TEN),)), False,
     "10 write units and the table 40", ""),
    (changed(ttl="expires", expiring=("a", "b")), True, "2 rows have it", "Enabled=false"),
    (changed(ttl="expires"), False, "no row has", ""),
    (changed(recovery=False), False, "recovery is off", ""),
    (changed(protected=False), False, "protection is off", ""),
    (changed(stream="NEW_IMAGE"), False, "stream (NEW_IMAGE)", ""),
    (changed(replicas=("us-east-1",)), False, "us-east-1", ""),
])  # fmt: skip
def test_what_is_said_of_a_table(seen, wrong, what, command):
    said = remarks(NEW.tables[0], seen, NEW.writes)
    (one, *more) = [remark for remark in said if what in remark.what]
    assert not more and one.wrong is wrong, said
    assert command in one.next and bool(command) is bool(one.next)
    assert any(remark.wrong for remark in said) is wrong


@pytest.mark.parametrize("seen", [
    SEEN, changed(status="UPDATING"), indexed(projection="ALL"), changed(recovery=None, ttl=None),
])  # fmt: skip
def test_nothing_is_said_of_a_table_as_kcl_makes_it(seen):
    assert remarks(NEW.tables[0], seen, NEW.writes) == []


def test_the_failover_time_that_was_given_counts():
    new = own("kcl://app?release=3.5&failover=30s")
    (said,) = remarks(new.tables[0], changed(capacity=TEN), new.writes)
    assert not said.wrong and "failover=30s" in said.what and "10 write units" in said.what


def test_a_kinsumer_may_be_throttled():
    """At most, as a quiet shard is not saved: no error."""
    new = own("kinsumer://app")
    seen = SeenTable("app_checkpoints", "eu-west-1", (("HASH", "Shard", "S"),), "ACTIVE", 11, TEN,
                     recovery=True, protected=True)  # fmt: skip
    (said,) = remarks(new.tables[0], seen, new.writes)
    assert not said.wrong and "may be throttled" in said.what and said.next


@pytest.mark.parametrize(("keys", "wrong"), [
    (["a-orders/WORKER#w1"], False), (["a-orders/WORKER#w1", "a-orders/shardId-000"], True),
])  # fmt: skip
def test_a_group_lets_rows_of_workers_alone_expire(keys, wrong):
    (new,) = own("kinesis-consumer+ddb://app?group=g").tables
    seen = SeenTable("app", "eu-west-1", key_of(new.shape), "ACTIVE", 2, None, ttl="ttl",
                     expiring=tuple(keys), recovery=True, protected=True)  # fmt: skip
    said = remarks(new, seen, None)
    assert [remark.wrong for remark in said] == ([True] if wrong else [])
    (off,) = remarks(new, replace(seen, ttl="", expiring=()), None)
    assert not off.wrong and "time to live is off" in off.what
