"""`export`: positions as JSON and CSV. The rows planted here are what it has to say."""

from __future__ import annotations

import csv
import io
import json
import stat
from importlib.resources import files
from pathlib import Path

import pytest
from jsonschema import Draft202012Validator

from reshardctl.model.times import parse_instant
from tests.cli.lab import TRIM_HORIZON, Lab, mode_of_new_files

SCHEMA = json.loads(files("reshardctl.snapshot").joinpath("positions.schema.json").read_text())
COLUMNS = ["shard", "kind", "number", "sub_number", "time", "basis", "stored"]


def exported(lab: Lab, *more: str | Path) -> dict:
    done = lab.cli("export", *lab.where, *more)
    assert done.code == 0, done.err
    assert lab.wire.writes == []
    document = json.loads(done.out)
    Draft202012Validator(SCHEMA).validate(document)
    return document


def by_index(document: dict) -> dict[int, dict]:
    return {int(entry["shard"][-12:]): entry for entry in document["positions"]}


def test_every_shard_is_there_with_what_its_row_says(lab):
    number = lab.items()["shardId-000000000001"]["checkpoint"]["S"]
    document = exported(lab)
    entries = by_index(document)
    assert document["stream"]["created"] == lab.created
    assert document["consumer"] == lab.locator
    assert list(entries) == [0, 1, 2, 3]
    assert (entries[0]["kind"], entries[0]["number"]) == ("SHARD_END", None)
    assert entries[1] | {"time": None} == {
        "shard": "shardId-000000000001", "kind": "AFTER_SEQUENCE_NUMBER", "number": number,
        "sub_number": 0, "time": None, "basis": "stored", "stored": number,
    }
    assert {entries[n]["stored"] for n in (2, 3)} == {None}
    assert {entries[n]["basis"] for n in (2, 3)} == {"inferred"}


@pytest.mark.parametrize(("text", "kind"), [
    ("TRIM_HORIZON", "TRIM_HORIZON"), ("LATEST", "LATEST"), ("SHARD_END", "SHARD_END"),
    ("AT_TIMESTAMP", "AT_TIMESTAMP"), ("nonsense", None), ("49", None),
])  # fmt: skip
def test_a_word_is_exported_as_it_is_stored(lab, text, kind):
    lab.alter("shardId-000000000001", checkpoint={"S": text})
    entry = by_index(exported(lab))[1]
    assert (entry["kind"], entry["stored"], entry["number"]) == (kind, text, None)


def test_a_number_has_the_time_that_is_in_it_and_a_column_for_its_sub_sequence_number(lab):
    """Bits 36 to 71 of a sequence number of version 2 are Unix seconds (golden numbers)."""
    lab.alter("shardId-000000000001", checkpointSubSequenceNumber={"N": "7"})
    entry = by_index(exported(lab))[1]
    assert entry["sub_number"] == 7 and entry["stored"] == f"{entry['number']}/7"
    assert parse_instant(entry["time"]) == int(entry["number"]) >> 36 & 0xFFFFFFFFF


def test_csv_has_the_same_positions(lab):
    done = lab.cli("export", *lab.where, "--format", "csv")
    table = csv.DictReader(io.StringIO(done.out))
    assert table.fieldnames == COLUMNS
    entries = exported(lab)["positions"]
    assert list(table) == [
        {name: "" if value is None else str(value) for name, value in entry.items()}
        for entry in entries
    ]


def test_a_file_is_new_and_its_owner_s(lab, tmp_path):
    path = tmp_path / "orders.positions"
    done = lab.cli("export", *lab.where, "-o", path)
    assert done.code == 0 and str(path) in done.out and "4 positions" in done.out
    assert stat.S_IMODE(path.stat().st_mode) == 0o600 != mode_of_new_files()
    assert path.read_text() == lab.cli("export", *lab.where).out
    again = lab.cli("export", *lab.where, "-o", path)
    assert again.code == 2 and again.says(f"{path} exists already", "another file: -o ")


def test_stdout_by_its_name(lab, tmp_path):
    other = tmp_path / "pipe"
    other.symlink_to("/dev/null")
    done = lab.cli("export", *lab.where, "-o", other)
    assert (done.code, done.out) == (0, "")


def test_a_snapshot_is_exported_alike(lab, tmp_path):
    saved = tmp_path / "orders.snapshot"
    lab.cli("snapshot", lab.locator, "--stream", lab.stream, "-o", saved)
    live = exported(lab)
    frozen = json.loads(lab.cli("export", f"snapshot:{saved}").out)
    assert frozen["positions"] == live["positions"]


def test_an_empty_table_has_no_positions(lab_of):
    lab = lab_of("a-both", TRIM_HORIZON, items=[])
    assert lab.cli("export", *lab.where).code == 6


def test_from_python(lab):
    from reshardctl import ExportRequest, export

    positions = export(ExportRequest(consumer=lab.locator, stream=lab.stream)).positions
    assert [position.text for position in positions][:1] == ["SHARD_END"]
