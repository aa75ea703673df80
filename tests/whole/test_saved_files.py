"""Saved files stay readable; what is read of them is written again to the same bytes."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from reshardctl.codec import values
from reshardctl.execution import plan_file
from reshardctl.execution import plan_file as plan_bundle
from reshardctl.journal import records
from reshardctl.journal import records as reading
from reshardctl.snapshot import file, positions

GOLDEN = Path(__file__).parents[1] / "golden"
FOLDER = GOLDEN / "files-0.2"
PLANS, SNAPSHOTS, JOURNALS, POSITIONS = (
    sorted(FOLDER.rglob(pattern))
    for pattern in ("*.plan", "*.snapshot", "*.journal", "positions.json")
)


def name(path: Path) -> str:
    return "/".join(path.parts[-3:]).removeprefix("files-")


def test_there_are_files_of_every_consumer() -> None:
    consumers = {"kcl", "kinsumer", "kinesis-consumer", "quickwit", "spark"}
    for kind in (PLANS, SNAPSHOTS, JOURNALS):
        assert consumers <= {path.parent.name for path in kind}


@pytest.mark.parametrize("path", PLANS, ids=name)
def test_a_plan_is_written_again_to_the_same_bytes(path: Path) -> None:
    content = path.read_bytes()
    assert plan_file.text(plan_file.parsed(content, "p")).encode() == content


@pytest.mark.parametrize("path", SNAPSHOTS, ids=name)
def test_a_snapshot_is_written_again_to_the_same_bytes(path: Path) -> None:
    content = path.read_bytes()
    saved = file.parsed(content, "s")
    written = file.text(saved).encode()
    if path.parent.name == "quickwit":  # reading sorts a row's attributes, which this store did not
        assert len(written) == len(content) and json.loads(written) == json.loads(content)
        saved, content = file.parsed(written, "s"), written
        written = file.text(saved).encode()
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


def test_a_file_of_several_plans_is_written_again_to_the_same_bytes() -> None:
    path = FOLDER / "kcl-several" / "both.plans"
    plans = plan_bundle.load_several(path)
    assert len(plans) == 2 and len({plan.locator for plan in plans}) == 2
    assert plan_bundle.text_of_several(plans).encode() == path.read_bytes()


def test_a_plan_of_a_part_and_one_of_given_positions_say_so() -> None:
    """What `--shards 2` and `--set 1=TRIM_HORIZON` asked for is in their plans."""
    part, given = (
        plan_file.load(FOLDER / folder / "fix.plan") for folder in ("kcl-part", "kcl-given")
    )
    assert [w.key for step in part.steps for w in step.writes] == ["shardId-000000000002"]
    assert "shardId-000000000001" in {w.key for step in given.steps for w in step.writes}


@pytest.mark.parametrize("path", POSITIONS, ids=name)
def test_positions_are_read(path: Path) -> None:
    """Each shard that the file names, in its order; JSON and CSV say the same."""
    written = json.loads(path.read_bytes())
    read = positions.positions_in(path.read_text(encoding="utf-8"), "p")
    listed = [entry["shard"] for entry in written["positions"]]
    assert listed and [position.shard for position in read.positions] == listed
    table = path.with_suffix(".csv")
    if table.exists():
        same = positions.positions_in(table.read_text(encoding="utf-8"), "p")
        assert [p.cut for p in same.positions] == [p.cut for p in read.positions]


def test_positions_of_every_consumer_are_there() -> None:
    assert len(POSITIONS) == 5 and POSITIONS[0].with_suffix(".csv").exists()
