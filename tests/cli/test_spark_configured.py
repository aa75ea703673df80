"""Checkpoints, and the other stores that are no lease tables, by name in reshardctl.toml."""

from __future__ import annotations

import json

import pytest

from tests.cli.spark_lab import HEAD, spark_lab

FILE = """
[defaults]
region = "us-east-1"

[streams.st]

[consumers.job]
stream = "st"
locator = "spark:{root}?release={release}&startingPosition=TRIM_HORIZON"

[consumers.job-s3]
stream = "st"
locator = "spark+s3://my-checkpoints/jobs/orders?release=awslabs-2.0"

[consumers.go]
stream = "st"
locator = "kinsumer://reader?release=snowplow-1.7"

[consumers.search]
stream = "st"
locator = "quickwit+s3://my-metastore/indexes?index=logs"

[consumers.sql]
stream = "st"
locator = "kinesis-consumer+postgres://u@127.0.0.1/db?app=reader&table=consumer"
"""


@pytest.fixture
def lab(servers, tmp_path, monkeypatch, wire):
    with spark_lab(HEAD, "s1", servers, tmp_path, monkeypatch, wire, "") as lab:
        (tmp_path / "reshardctl.toml").write_text(FILE.format(root=lab.root, release=HEAD))
        monkeypatch.chdir(tmp_path)
        yield lab


def test_a_checkpoint_by_name(lab):
    before = lab.files()
    assert lab.cli("inspect", "job").code == 1
    assert lab.cli("fix", "job", "--yes", "--assume-stopped").code == 0
    assert lab.cli("inspect", "job").code == 0
    assert lab.undo().code == 0
    assert lab.files() == before


def test_check_reads_every_locator(lab, wire):
    done = lab.cli("config", "check")
    assert done.code == 0, done.err
    assert wire.calls == []


def test_check_names_what_no_option_is(lab, tmp_path):
    file = tmp_path / "reshardctl.toml"
    file.write_text(file.read_text().replace("release=awslabs-2.0", "initial=LATEST"))
    done = lab.cli("config", "check")
    assert done.code == 2
    assert done.says("initial")


def test_a_policy_has_buckets_and_all_tables_and_nothing_for_sql_or_a_disk(lab):
    done = lab.cli("config", "iam", "--for", "fix", "--account", "123456789012")
    assert done.code == 0, done.err
    named = json.dumps(done.out)
    assert "arn:aws:s3:::my-checkpoints/jobs/orders/*" in named
    assert "arn:aws:s3:::my-metastore/indexes/*" in named
    for table in ("checkpoints", "clients", "metadata"):
        assert f":table/reader_{table}" in named
    assert "table/consumer" not in named and "127.0.0.1" not in named
    assert str(lab.root) not in named


def test_relative_paths_start_at_the_folder_of_the_file(lab, tmp_path, monkeypatch):
    """As ruff's and mypy's do: the same file means the same wherever a command is typed."""
    relative = FILE.replace("{root}", "checkpoint").replace("{release}", HEAD)
    relative = relative.replace('region = "us-east-1"', 'region = "us-east-1"\njournal = "undo/"')
    (tmp_path / "reshardctl.toml").write_text(relative)
    below = tmp_path / "team" / "jobs"
    below.mkdir(parents=True)
    monkeypatch.chdir(below)
    before = lab.files()
    fixed = lab.cli("fix", "job", "--yes", "--assume-stopped")
    assert fixed.code == 0, fixed.err
    assert lab.files() != before and list(below.iterdir()) == []
    (journal,) = (tmp_path / "undo").iterdir()
    assert lab.cli("undo", journal, "--yes", "--assume-stopped").code == 0
    by_file = lab.cli("inspect", "job", "--config", "../../reshardctl.toml")
    assert by_file.code == 1, by_file.err
