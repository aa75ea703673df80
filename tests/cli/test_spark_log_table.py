"""awslabs' log in its DynamoDB table, from end to end: `log=TABLE` on a checkpoint without one.

The checkpoints are the recorded ones, their logs put into rows as DynamodbMetadataCommitter of
awslabs puts them; DynamoDB is moto.
"""

from __future__ import annotations

import shutil
from pathlib import Path
from typing import Any

import pytest
from botocore.session import Session

from tests.cli.spark_lab import (
    HEAD,
    SparkLab,
    spark_lab,
)

TABLE = "kdsc_us-east-1_st"


@pytest.fixture
def lab(servers: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, wire: Any, request: Any):
    """The checkpoint of the parameter's shape, its log in a table."""
    with spark_lab(HEAD, request.param, servers, tmp_path, monkeypatch, wire) as lab:
        client = dynamodb(servers.dynamodb)
        put_in_table(client, lab.root)
        lab.options += f"&log={TABLE}"
        yield lab
        client.delete_table(TableName=TABLE)


def dynamodb(url: str) -> Any:
    return Session().create_client(
        "dynamodb", endpoint_url=url, region_name="us-east-1",
        aws_access_key_id="x", aws_secret_access_key="x",
    )


def put_in_table(client: Any, root: Path) -> None:
    """Its log goes from files into rows."""
    names = ("metadataKey", "HASH"), ("metadataSortKey", "RANGE")
    client.create_table(
        TableName=TABLE, BillingMode="PAY_PER_REQUEST",
        AttributeDefinitions=[{"AttributeName": n, "AttributeType": "S"} for n, _ in names],
        KeySchema=[{"AttributeName": n, "KeyType": kind} for n, kind in names],
    )
    log = root / "sources" / "0" / "shard-source"
    for entry in sorted(path for path in log.rglob("shardId-*") if path.is_file()):
        client.put_item(TableName=TABLE, Item={
            "metadataKey": {"S": entry.parent.name}, "metadataSortKey": {"S": entry.name},
            "metadataValue": {"S": entry.read_text()},
        })  # fmt: skip
    shutil.rmtree(root / "sources")


def rows(lab: SparkLab) -> list[Any]:
    client = dynamodb(lab.servers.dynamodb)
    found = client.scan(TableName=TABLE)["Items"]
    return sorted(found, key=lambda i: (i["metadataKey"]["S"], i["metadataSortKey"]["S"]))


@pytest.mark.parametrize("lab", ["s1"], indirect=True)
def test_a_loss_is_found_mended_and_taken_back(lab: SparkLab) -> None:
    """s1 on 0f4c005: six records of a closed parent lost (run); a batch is appended."""
    before, logged, newest = lab.files(), rows(lab), lab.newest()
    assert "RSH202" in lab.inspect("--format", "json").codes
    assert lab.fix("--created", lab.created).code in (0, 1)
    assert lab.newest() == newest + 1
    assert "shardId-000000000000" in lab.line(newest + 1)
    assert rows(lab) == logged
    assert lab.undo().code == 0
    assert lab.files() == before


@pytest.mark.parametrize("lab", ["s1x"], indirect=True)
def test_the_rows_of_a_planned_batch_are_deleted_and_put_back(lab: SparkLab) -> None:
    """s1x: its newest batch ran without a commit: edited in place, its log wiped (R13, run)."""
    before, logged, newest = lab.files(), rows(lab), str(lab.newest())
    assert [r for r in logged if r["metadataKey"]["S"] == newest]
    assert lab.fix("--created", lab.created).code in (0, 1)
    assert [r for r in logged if r["metadataKey"]["S"] != newest] == rows(lab)
    assert lab.files() != before
    assert lab.undo().code == 0
    assert (lab.files(), rows(lab)) == (before, logged)


@pytest.mark.parametrize("lab", ["s1"], indirect=True)
def test_without_the_option_it_is_named(lab: SparkLab) -> None:
    lab.options = lab.options.replace(f"&log={TABLE}", "")
    assert lab.inspect().says("DynamoDB", "log=TABLE")
