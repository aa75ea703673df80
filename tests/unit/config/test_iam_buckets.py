"""`config iam` for consumers whose store is a bucket, or no AWS service at all."""

from __future__ import annotations

import pytest

from reshardctl.config.entries import Consumer, Reach, Stream
from reshardctl.config.iam import ENVIRONMENT, policies
from reshardctl.consumers import locator
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
