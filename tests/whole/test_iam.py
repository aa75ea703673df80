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
WANTED = {
    "inspect": (STREAM["inspect"], TABLE["inspect"]),
    "probe": (STREAM["probe"], TABLE["inspect"]),
    "fix": (STREAM["inspect"], TABLE["fix"]),
}
ON_S3 = {"s3-inspect": "inspect", "s3-fix": "fix"}
"""Policy → verb group, where a store is a bucket."""
SOURCE = "source"
TABLES = "tables"
SEARCH = "discover"
"""It looks at every table there is."""


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
    assert list(policies()) == ["inspect", "probe", "name", "fix", *ON_S3, "spark-log",
                                "journal", "journal-prune", SEARCH, TABLES, "audit", SOURCE]


def test_to_name_another_stream_is_optional_and_reads_no_record():
    """ListStreams takes no resource (Service Authorization Reference, Amazon Kinesis)."""
    every, streams = policies()["name"]["Statement"]
    assert (tuple(every["Action"]), every["Resource"]) == (STREAM["name"], "*")
    assert streams["Action"] == ["kinesis:GetShardIterator"]
    assert streams["Action"][0] in STREAM["inspect"]


def test_the_source_of_spark_reads_and_nothing_else():
    """That it calls just these: tests/unit/spark/source/test_stream.py."""
    (stream,) = policies()[SOURCE]["Statement"]
    assert tuple(stream["Action"]) == STREAM["probe"]
    assert stream["Resource"].startswith("arn:aws:kinesis:")


def test_the_search_lists_all_tables_and_reads_them():
    """ListTables and ListStreams take no resource (Service Authorization Reference, Amazon DynamoDB
    and Amazon Kinesis Data Streams)."""
    stream, others, streams, every, tables = policies()[SEARCH]["Statement"]
    assert tuple(stream["Action"]) == STREAM["inspect"] and "*" not in stream["Resource"]
    assert others["Action"] == ["kinesis:GetShardIterator"]
    assert others["Resource"].endswith(":stream/*")
    assert (tuple(streams["Action"]), streams["Resource"]) == (STREAM["name"], "*")
    assert tuple(sorted(every["Action"] + tables["Action"])) == TABLE[SEARCH]
    assert (every["Action"], every["Resource"]) == (["dynamodb:ListTables"], "*")
    assert tables["Resource"].endswith(":table/*")


@pytest.mark.parametrize("group", WANTED)
def test_the_page_and_the_code_agree(group):
    stream, table, beside = policies()[group]["Statement"]
    assert (tuple(stream["Action"]), tuple(table["Action"])) == WANTED[group]
    assert stream["Resource"].startswith("arn:aws:kinesis:")
    assert table["Resource"].startswith("arn:aws:dynamodb:")
    assert {stream["Effect"], table["Effect"], beside["Effect"]} == {"Allow"}


def test_a_look_at_tables_is_a_read_of_each_of_them():
    (tables,) = policies()[TABLES]["Statement"]
    assert tuple(tables["Action"]) == TABLE[TABLES] and len(tables["Resource"]) == 3


@pytest.mark.parametrize("group", WANTED)
def test_side_tables_are_named_after_the_table_and_only_read(group):
    """The names that KCL 3.1.3 gives them, unless it is configured otherwise."""
    _, table, beside = policies()[group]["Statement"]
    assert tuple(beside["Action"]) == TABLE["beside"]
    names = [side.name for side in CONSUMERS["kcl"].side_tables(table["Resource"])]
    assert beside["Resource"] == names


@pytest.mark.parametrize("policy", ON_S3)
def test_a_store_on_s3_needs_a_bucket_and_what_is_below_its_prefix(policy):
    bucket, objects = policies()[policy]["Statement"]
    assert sorted(bucket["Action"] + objects["Action"]) == list(FILES[ON_S3[policy]])
    assert objects["Resource"] == f"{bucket['Resource']}/jobs/orders/*"
    assert bucket["Action"] == ["s3:ListBucket"]
    writes = {"s3:DeleteObject", "s3:PutObject"}
    assert writes & set(objects["Action"]) == (writes if policy == "s3-fix" else set())


def test_a_log_in_a_table_is_read_deleted_from_and_put_back():
    """Nothing in it is ever updated in place."""
    (table,) = policies()["spark-log"]["Statement"]
    assert set(table["Action"]) == set(TABLE["fix"]) - {"dynamodb:UpdateItem"}
    assert tuple(table["Action"]) == TABLE["log"]
    assert set(TABLE["inspect"]) <= set(table["Action"])


def test_a_journal_on_s3_needs_a_bucket_and_what_is_below_its_prefix():
    """S3: s3:ListBucket is a permission on the bucket, the others are on objects (Service
    Authorization Reference, "Actions defined by Amazon S3")."""
    bucket, objects = policies()["journal"]["Statement"]
    assert sorted(bucket["Action"] + objects["Action"]) == list(BUCKET)
    assert objects["Resource"] == f"{bucket['Resource']}/reshardctl/*"
    assert bucket["Action"] == ["s3:ListBucket"]


def test_old_journals_on_s3_are_read_and_deleted_and_none_is_written():
    bucket, objects = policies()["journal-prune"]["Statement"]
    assert sorted(bucket["Action"] + objects["Action"]) == list(PRUNING)
    assert objects["Resource"] == policies()["journal"]["Statement"][1]["Resource"]


def test_an_audit_reads_the_stream_as_a_probe_does_and_writes_nothing():
    """tests/cli/lab.py holds every call on the command line to the page; this one is Spark's."""
    stream, bucket, objects = policies()["audit"]["Statement"]
    assert tuple(stream["Action"]) == STREAM["probe"] and "*" not in stream["Resource"]
    assert (bucket["Action"], objects["Action"]) == (["s3:ListBucket"], ["s3:GetObject"])
    assert objects["Resource"] == f"{bucket['Resource']}/orders/*"


def test_nothing_is_allowed_by_a_star():
    """But objects that are yet to be made, below a prefix of one bucket."""
    for name in (*WANTED, *ON_S3, "journal", "journal-prune"):
        text = json.dumps(policies()[name])
        for prefix in ("reshardctl", "jobs/orders") if name not in WANTED else ():
            text = text.replace(f'/{prefix}/*"', '"')
        assert "*" not in text


def test_only_fix_may_change_anything():
    reading = re.compile(r":(Describe|List|Get|Scan|BatchGet)")
    for group in ("inspect", "probe"):
        assert all(reading.search(action) for action in documented(group))
    assert not any(a.startswith("kinesis:") and not reading.search(a) for a in documented("fix"))
