"""`config iam` for consumers whose store is a bucket, several tables, or no AWS service at all."""

from __future__ import annotations

import pytest

from reshardctl.config.entries import Consumer, Reach, Stream
from reshardctl.config.iam import ENVIRONMENT, policies
from reshardctl.consumers import locator
from reshardctl.stores.dynamodb.client import ACTIONS
from tests.whole.test_iam import policies as documented

REACH = Reach(region="eu-west-1")
STREAM = Stream("orders", "orders", REACH, None, "reshardctl.toml:1")


def entry_of(text: str) -> Consumer:
    return Consumer(
        "c", STREAM, locator.parse(text), "lossless", "", "", REACH, "reshardctl.toml:2", {}
    )


def statements(text: str, group: str) -> list[dict]:
    (found,) = policies([entry_of(text)], group, "123456789012").items()
    assert found[0] == ENVIRONMENT
    return found[1]["Statement"][1:]


@pytest.mark.parametrize(("group", "page"), [
    ("inspect", "s3-inspect"), ("probe", "s3-inspect"), ("fix", "s3-fix"),
])  # fmt: skip
@pytest.mark.parametrize("prefix", ["jobs/orders", "jobs/orders/", "jobs/orders#x"])
def test_a_bucket_has_the_policy_of_the_page(group, page, prefix):
    found = statements(f"quickwit+s3://my-checkpoints/{prefix}?index=i", group)
    assert found == documented()[page]["Statement"]


def test_a_whole_bucket():
    (_, objects) = statements("quickwit+s3://my-checkpoints?index=i", "fix")
    assert objects["Resource"] == "arn:aws:s3:::my-checkpoints/*"


def test_a_disk_needs_no_policy():
    assert statements("quickwit+file:///var/lib/quickwit?index=i", "fix") == []


@pytest.mark.parametrize(("group", "actions"), [
    ("inspect", ["dynamodb:DescribeTable", "dynamodb:Scan"]),
    ("fix", documented()["spark-log"]["Statement"][0]["Action"]),
])  # fmt: skip
@pytest.mark.parametrize("locator", ["spark:/checkpoints/orders", "spark+s3://my-checkpoints/o"])
def test_a_log_in_a_table_has_the_policy_of_the_page(locator, group, actions):
    """kinesis.dynamodb.tableName of awslabs' connector, named by log=."""
    *files, table = statements(f"{locator}?log=orders-log", group)
    where = "arn:aws:dynamodb:eu-west-1:123456789012:table/orders-log"
    assert table == {"Effect": "Allow", "Action": actions, "Resource": where}
    assert bool(files) == locator.startswith("spark+s3:")


def test_a_look_at_tables_needs_all_of_them_and_no_stream():
    """The statement is the first one: `statements` leaves that of the stream out."""
    assert statements("kinsumer://reader", "tables") == []
    found = policies([entry_of("kcl://orders-reader?release=3.1")], "tables", "123456789012")
    assert found[ENVIRONMENT]["Statement"] == documented()["tables"]["Statement"]
    assert policies([entry_of("spark:/x")], "tables", "123456789012") == {}


@pytest.mark.parametrize("group", ["inspect", "probe", "fix"])
def test_kinsumer_needs_all_three_tables(group):
    """CreateRequiredTables of kinsumer: NAME_checkpoints, NAME_clients, NAME_metadata."""
    (table,) = statements("kinsumer://reader?release=twitch", group)
    where = "arn:aws:dynamodb:eu-west-1:123456789012:table/reader_"
    assert table["Resource"] == [where + name for name in ("checkpoints", "clients", "metadata")]
    assert tuple(table["Action"]) == ACTIONS["fix" if group == "fix" else "inspect"]
