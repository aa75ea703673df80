"""Transcripts of pages are what the commands print, on the stream that they were made with.

A page that is not here shows commands whose output no test compares;
tests/whole/docs/test_shell_blocks says of every page why.
"""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.cli.lab import Lab, printed
from tests.cli.page_reader import Reader, of

CHILDREN_LOST, LATEST_ROOTS, ROOTS = (
    "full-ended-children-lost", "healthy-latest-roots", "healthy-roots",
)


@pytest.fixture
def reader(
    lab_of: Callable[..., Lab], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> Callable[[str, str], Reader]:
    """A reader of a case, at a time of the transcripts' day."""

    def at(case: str, time: str, name: str = "app") -> Reader:
        page = Reader(lab_of(case, name=name))
        page.move(time)
        monkeypatch.chdir(tmp_path)
        return page

    return at


BREAKS, REFUSED = "A consumer that breaks there", "What the service would refuse"
PARTS = {
    # case, time, page, and the headings before and behind
    "snapshots": (CHILDREN_LOST, "21:47:10", "schemas", "Snapshots", "Versions and deprecation"),
    "before a reshard that a consumer crosses": (ROOTS, "21:45:42", "preflight", "", BREAKS),
    "before a reshard that breaks a consumer": (
        LATEST_ROOTS, "21:46:15", "preflight", BREAKS, REFUSED),
    "before a reshard that is refused": (
        ROOTS, "21:45:42", "preflight", REFUSED, "Limits of the forecast"),
    "an incident of last night": ("a-both-named-long", "14:16:00", "runbook", "", ""),
    "positions": ("a-both", "00:25:00", "policies", "Positions as data", "Some shards"),
    "a table of one release": ("a-both", "00:25:01", "kcl", "Example", "Is the application stop"),
}


@pytest.mark.parametrize("part", PARTS)
def test_a_part_of_a_page(reader, part):
    case, time, page, first, last = PARTS[part]
    typed = of(page, first=first, last=last)
    assert typed
    reading = reader(case, time)
    for transcript in typed:
        reading.type(transcript)


def test_replay_and_backfill(lab_of, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (new,) = of("replay", last="What a policy has skipped")
    Reader(lab_of("k", items=[], name="app-replay")).type(new)
    (skipped,) = of("replay", first="What a policy has skipped")
    page = Reader(lab_of("k", name="app"))
    page.type(skipped)
    assert Path("skipped.json").exists()


def test_files_in_place_of_calls(reader, tmp_path):
    page = reader(CHILDREN_LOST, "21:47:10")
    printed(page.lab, tmp_path)
    for file in tmp_path.glob("*.json"):
        os.utime(file, (page.lab.time(), page.lab.time()))
    for transcript in of("preflight", first="Without credentials"):
        page.type(transcript)


def test_journals_of_two_fixes(reader):
    page = reader(CHILDREN_LOST, "21:49:11")
    page.fix()
    page.move("21:49:13")
    page.fix("--policy", "latest-at-start")
    (listed,) = of("undo", first="Which journals are there", last="Two fixes after each other")
    page.type(listed)
    (refused,) = of("undo", first="Two fixes after each other", last="The journal is lost")
    page.type(refused)


def test_old_journals(reader):
    page = reader(CHILDREN_LOST, "21:49:11")
    page.fix()
    page.lab.fake.clock.advance(31 * 86_400)
    (pruned,) = of("undo", first="Old journals")
    page.type(pruned)


def test_undo_by_name(reader):
    page = reader(CHILDREN_LOST, "21:50:37")
    page.fix()
    page.move("21:50:39")
    (dry,) = of("undo", first="Undo a fix", last="Which journals are there")
    page.type(dry)


def test_what_undo_does_not_give_back(reader):
    page = reader("row-no-counter", "21:52:53")
    page.fix()
    (stays,) = of("undo", first="What undo does not give back", last="Old journals")
    page.type(stays)


def test_graph(reader):
    page = reader("chain-middle-lost", "00:35:00")
    page.lab.cli("snapshot", "kcl://app", "--stream", "orders", "-o", "orders.snapshot")
    (wide,) = of("status", first="Pictures", last="What a command shows")
    page.type(wide)


def test_waiting_for_a_consumer(reader):
    page = reader(ROOTS, "21:48:30")
    late, code = of("ci", last="Attach the report")
    page.lab.fake.client().update_shard_count(
        StreamName="orders", TargetShardCount=4, ScalingType="UNIFORM_SCALING"
    )
    page.type(late)
    page.type(code)
