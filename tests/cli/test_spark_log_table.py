"""awslabs' log in its DynamoDB table, from end to end: `log=TABLE` on a checkpoint without one."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from tests.cli.spark_lab import SparkLab
from tests.cli.spark_log_lab import TABLE, log_lab, rows


@pytest.fixture
def lab(servers: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, wire: Any, request: Any):
    """The checkpoint of the parameter's shape, its log in a table."""
    with log_lab(request.param, servers, tmp_path, monkeypatch, wire) as lab:
        yield lab


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


@pytest.mark.parametrize("lab", ["s1"], indirect=True)
def test_a_log_table_that_is_missing_is_to_be_made(lab: SparkLab) -> None:
    """The directory is there; DynamodbMetadataCommitter.createMetadataTableIfNotExists tells the
    keys."""
    lab.options = lab.options.replace(TABLE, "kdsc_other")
    found = lab.fix("--bootstrap")
    assert found.code == 4 and found.says("create-table", "kdsc_other", "metadataSortKey")
    assert "mkdir" not in found.err
