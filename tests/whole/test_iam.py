"""docs/iam.md shows the very actions that the code names."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest

from reshardctl.consumers.registry import CONSUMERS
from reshardctl.journal.s3 import ACTIONS as BUCKET
from reshardctl.journal.s3 import PRUNING
from reshardctl.kinesis.target import ACTIONS as STREAM
from reshardctl.stores.dynamodb.client import ACTIONS as TABLE
from reshardctl.stores.files.s3 import ACTIONS as FILES

PAGE = Path(__file__).parents[2] / "docs" / "iam.md"
Statement = tuple[tuple[str, ...], str | list[str]]
"""Actions, and the resources that they are allowed on."""
ORDERS, ANY_STREAM, LEASES, LOG, ANY_TABLE = (
    f"arn:aws:{service}:eu-west-1:123456789012:{resource}" for service, resource in (
        ("kinesis", "stream/orders"), ("kinesis", "stream/*"), ("dynamodb", "table/orders-reader"),
        ("dynamodb", "table/orders-log"), ("dynamodb", "table/*"),
    )
)  # fmt: skip
SIDES = [side.name for side in CONSUMERS["kcl"].side_tables(LEASES)]
"""The names that KCL 3.1.3 gives to its other tables, unless it is configured otherwise."""
# ListStreams and ListTables take no resource (Service Authorization Reference, Amazon Kinesis Data
# Streams and Amazon DynamoDB); s3:ListBucket is a permission on the bucket, the others are on
# objects ("Actions defined by Amazon S3").
OTHER_STREAMS: tuple[Statement, ...] = (
    (("kinesis:GetShardIterator",), ANY_STREAM), (STREAM["name"], "*"),
)  # fmt: skip


def on_table(stream: str, table: str) -> list[Statement]:
    return [(STREAM[stream], ORDERS), (TABLE[table], LEASES), (TABLE["beside"], SIDES)]


def on_bucket(actions: tuple[str, ...], bucket: str, prefix: str) -> list[Statement]:
    objects = tuple(action for action in actions if action != "s3:ListBucket")
    arn = f"arn:aws:s3:::{bucket}"
    return [(("s3:ListBucket",), arn), (objects, f"{arn}/{prefix}/*")]


WANTED: dict[str, list[Statement]] = {
    "inspect": on_table("inspect", "inspect"), "probe": on_table("probe", "inspect"),
    "name": [*reversed(OTHER_STREAMS)],
    "fix": on_table("inspect", "fix"),
    "s3-inspect": on_bucket(FILES["inspect"], "my-checkpoints", "jobs/orders"),
    "s3-fix": on_bucket(FILES["fix"], "my-checkpoints", "jobs/orders"),
    "spark-log": [(TABLE["log"], LOG)],
    "journal": on_bucket(BUCKET, "my-bucket", "reshardctl"),
    "journal-prune": on_bucket(PRUNING, "my-bucket", "reshardctl"),
    "discover": [
        (STREAM["inspect"], ORDERS), *OTHER_STREAMS, (("dynamodb:ListTables",), "*"),
        (TABLE["inspect"], ANY_TABLE),
    ],
    "tables": [(TABLE["tables"], [LEASES, *SIDES])],
    # tests/cli/lab.py holds every call on the command line to the page; these two are Spark's.
    # That the source calls just these: tests/unit/spark/source/test_stream.py.
    "audit": [(STREAM["probe"], ORDERS), *on_bucket(("s3:GetObject",), "lake", "orders")],
    "source": [(STREAM["probe"], ORDERS)],
}  # fmt: skip


def policies() -> dict[str, dict]:
    """The policies of the page, by their headings."""
    parts = re.split(r"^## ([\w-]+)$", PAGE.read_text(encoding="utf-8"), flags=re.MULTILINE)[1:]
    blocks = {name: re.findall(r"```json\n(.*?)```", text, re.DOTALL)
              for name, text in zip(parts[::2], parts[1::2], strict=True)}  # fmt: skip
    return {name: json.loads(found[0]) for name, found in blocks.items() if found}


def documented(group: str) -> set[str]:
    """The actions that a policy of the page allows."""
    return {a for statement in policies()[group]["Statement"] for a in statement["Action"]}


def test_one_policy_a_group():
    assert list(policies()) == list(WANTED)


@pytest.mark.parametrize("group", WANTED)
def test_the_page_and_the_code_agree(group):
    assert policies()[group]["Statement"] == [
        {"Effect": "Allow", "Action": list(actions), "Resource": resource}
        for actions, resource in WANTED[group]
    ]


def test_what_some_groups_have_is_a_part_of_what_others_have():
    """Nothing in a log of Spark's is ever updated in place; a search reads every table there is."""
    assert set(TABLE["log"]) == set(TABLE["fix"]) - {"dynamodb:UpdateItem"}
    assert set(TABLE["inspect"]) <= set(TABLE["log"])
    assert set(TABLE["discover"]) == {"dynamodb:ListTables", *TABLE["inspect"]}
    assert "kinesis:GetShardIterator" in STREAM["inspect"]
    writes = {"s3:DeleteObject", "s3:PutObject"}
    assert writes <= set(FILES["fix"]) and not writes & set(FILES["inspect"])


def test_only_fix_may_change_anything():
    reading = re.compile(r":(Describe|List|Get|Scan|BatchGet)")
    for group in ("inspect", "probe"):
        assert all(reading.search(action) for action in documented(group))
    assert not any(a.startswith("kinesis:") and not reading.search(a) for a in documented("fix"))
