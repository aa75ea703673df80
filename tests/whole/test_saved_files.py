"""Files of 0.1.0 stay readable, and what is read of them is written again to the same bytes."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import pytest

from reshardctl.codec import values
from reshardctl.execution import plan_file
from reshardctl.journal import reading, records
from reshardctl.snapshot import file as snapshot_file

FOLDER = Path(__file__).parents[1] / "golden" / "files-0.1"
PLANS, SNAPSHOTS, JOURNALS = (
    sorted(FOLDER.rglob(f"*.{kind}")) for kind in ("plan", "snapshot", "journal")
)


def name(path: Path) -> str:
    return f"{path.parent.name}/{path.name}"


def test_there_are_files_of_every_consumer() -> None:
    consumers = {"kcl", "kinsumer", "kinesis-consumer", "quickwit", "spark"}
    for kind in (PLANS, SNAPSHOTS, JOURNALS):
        assert consumers <= {path.parent.name for path in kind}


@pytest.mark.parametrize("path", PLANS, ids=name)
def test_a_plan_is_written_again_to_the_same_bytes(path: Path) -> None:
    content = path.read_bytes()
    assert plan_file.text(plan_file.parsed(content, "p")).encode() == content


def test_a_crash_that_was_promised_is_spelled_as_in_0_1() -> None:
    content = (FOLDER / "kcl" / "fix.plan").read_bytes()
    plan = replace(plan_file.parsed(content, "p"), promised=((("crashes", "", "possible"),),))
    text = plan_file.text(plan)
    assert json.loads(text)["promised"] == [[["dies", "", "possible"]]]
    assert plan_file.parsed(text, "p") == plan


@pytest.mark.parametrize("path", SNAPSHOTS, ids=name)
def test_a_snapshot_is_written_again_to_the_same_bytes(path: Path) -> None:
    content = path.read_bytes()
    saved = snapshot_file.parsed(content, "s")
    written = snapshot_file.text(saved).encode()
    if path.parent.name == "quickwit":  # reading sorts a row's attributes, which this store did not
        assert len(written) == len(content) and json.loads(written) == json.loads(content)
        saved, content = snapshot_file.parsed(written, "s"), written
        written = snapshot_file.text(saved).encode()
    assert written == content
    assert saved.redacted == (path.parent.name == "kcl-redacted")


@pytest.mark.parametrize("path", JOURNALS, ids=name)
def test_a_journal_is_read_and_its_records_are_written_again(path: Path) -> None:
    lines = path.read_bytes().splitlines(keepends=True)
    journal = reading.read(path)
    assert (journal.torn, journal.count, journal.size) == ("", len(lines), path.stat().st_size)
    assert journal.fix.outcome == "verified" and journal.fix.intents
    assert (journal.undo is None) == (path.name == "fix.journal")
    assert journal.undo is None or journal.undo.outcome == "undone"
    header = {"seq": 0, "kind": "header", "body": records.header_body(journal.header)}
    line, _ = reading.sealed(values.text(header).encode(), reading.FIRST)
    assert line == lines[0]
    bodies = [values.text(records.intent_body(i)) for i in journal.fix.intents.values()]
    assert all(f'{{"body":{body},"kind":"intent"'.encode() in b"".join(lines) for body in bodies)
