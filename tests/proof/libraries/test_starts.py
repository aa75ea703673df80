"""The recording of starts, without any real library."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from tests.proof.libraries.kcl.built import RELEASES
from tests.proof.libraries.kcl.log import Event, Log
from tests.proof.libraries.kcl.recording import (
    contradictions,
    digest_of_runner,
    digest_of_start,
    outcome_of_record,
    record_of,
)
from tests.proof.libraries.kcl.verdict import Outcome
from tests.proof.libraries.starts import records as records_module
from tests.proof.libraries.starts.deciding import recorded_or_run
from tests.proof.libraries.starts.digest import digest_of_files
from tests.proof.libraries.starts.records import RECORDED, Records
from tests.proof.libraries.starts.sample import sample

LEASE = {"leaseKey": {"S": "shardId-000000000000"}, "checkpoint": {"S": "TRIM_HORIZON"}}
OTHER = {"leaseKey": {"S": "shardId-000000000001"}, "owners": {"SS": ["a", "b"]}}
STREAM = {"name": "orders", "created": 1_700_000_000}


def digest(
    release: str = "3.5.1",
    initial: str = "LATEST",
    leases: tuple[dict[str, Any], ...] = (LEASE, OTHER),
    stream: dict[str, Any] = STREAM,
) -> str:
    return digest_of_start(release, {"initial": initial}, {"leases": leases}, [stream])


@pytest.mark.parametrize(
    "other",
    [
        digest(release="3.1.3"),
        digest(initial="TRIM_HORIZON"),
        digest(leases=(LEASE,)),
        digest(leases=({**LEASE, "checkpoint": {"S": "LATEST"}}, OTHER)),
        digest(leases=({**LEASE, "checkpoint": {"N": "1"}}, OTHER)),
        digest(stream={**STREAM, "created": 1_700_000_001}),
    ],
)
def test_each_input_counts(other: str) -> None:
    assert other != digest()


def test_the_order_of_rows_and_of_members_of_sets_does_not_count() -> None:
    assert digest(leases=({**OTHER, "owners": {"SS": ["b", "a"]}}, LEASE)) == digest()


def test_the_program_that_runs_the_library_counts_and_what_is_built_does_not(
    tmp_path: Path,
) -> None:
    source, built = tmp_path / "src" / "Runner.java", tmp_path / "src" / "target" / "Runner.class"
    built.parent.mkdir(parents=True)
    source.write_text("one", encoding="utf-8")
    first = digest_of_files(tmp_path, ["src"])
    built.write_text("built", encoding="utf-8")
    assert digest_of_files(tmp_path, ["src"]) == first
    source.write_text("two", encoding="utf-8")
    assert digest_of_files(tmp_path, ["src"]) != first


def outcome(*delivered: tuple[str, str], died: bool = False, settled: bool = True) -> Outcome:
    log = Log()
    log.add(Event("STARTED", 1000.0, {}))
    log.add(Event("INIT", 1002.5, {"shard": "shardId-000000000000"}))
    return Outcome(delivered, died, settled, False, 12.34, log)


RAN = outcome(("a", "a-0"), ("b", "b-0"), ("a", "a-1"))


def test_a_record_gives_the_outcome_back() -> None:
    back = outcome_of_record(record_of("case/LATEST", RAN, [LEASE], {}))
    assert (back.delivered, back.died, back.settled) == (RAN.delivered, False, True)
    assert [event.at for event in back.log.of("INIT")] == [2.5]


def test_a_record_names_the_positions_that_were_left() -> None:
    left = [LEASE, {**LEASE, "leaseKey": {"S": "b"}, "checkpoint": {"S": "496"}}]
    record = record_of("case/LATEST", RAN, left, {"496": "b-0"})
    assert record["left"] == {"b": "at b-0", "shardId-000000000000": "TRIM_HORIZON"}


@pytest.mark.parametrize(
    ("again", "found"),
    [
        (RAN, 0),
        (outcome(("a", "a-0"), ("a", "a-1"), ("b", "b-0")), 0),
        (outcome(("a", "a-1"), ("a", "a-0"), ("b", "b-0")), 1),
        (outcome(("a", "a-0"), ("b", "b-0")), 1),
        (outcome(*RAN.delivered, ("c", "c-0")), 1),
        (outcome(*RAN.delivered, died=True), 1),
        (outcome(*RAN.delivered, settled=False), 1),
    ],
)
def test_a_start_that_ends_otherwise_contradicts_its_record(again: Outcome, found: int) -> None:
    assert len(contradictions(again, record_of("case/LATEST", RAN, [], {}))) == found


def ask(records: Records, delivers: Outcome) -> tuple[Outcome, int]:
    """What a start gives that would deliver this, and how many runs it took."""
    runs: list[Outcome] = []

    def run() -> Outcome:
        runs.append(delivers)
        return delivers

    given = recorded_or_run(
        records, "d1", run, read=outcome_of_record,
        keep=lambda outcome: record_of("case/LATEST", outcome, [], {}) if outcome.settled else None,
        hold=lambda _outcome, record: records.add("d1", record),
        differences=contradictions,
    )  # fmt: skip
    return given, len(runs)


def test_what_is_recorded_is_not_run_until_the_sample_asks_for_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("RESHARDCTL_STARTS", raising=False)
    monkeypatch.setenv("RESHARDCTL_RECORD_STARTS", "1")
    assert ask(Records("kcl-9", tmp_path, "c"), RAN) == (RAN, 1)
    sampled = Records("kcl-9", tmp_path, "c")
    assert ask(sampled, RAN) == (RAN, 1), "the only record of a release is its sample"
    with pytest.raises(AssertionError, match="not as recorded"):
        ask(sampled, outcome())
    monkeypatch.setattr(records_module, "sample", lambda *_: frozenset())
    given, runs = ask(Records("kcl-9", tmp_path, "c"), outcome())
    assert (given.delivered, runs) == (RAN.delivered, 0)


def test_nothing_is_recorded_unless_asked_for(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("RESHARDCTL_RECORD_STARTS", raising=False)
    ask(Records("kcl-9", tmp_path, "c"), RAN)
    assert list(tmp_path.iterdir()) == []


def test_records_of_another_program_go_when_one_of_today_s_is_added(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """They can no longer be used. Those that name no program stay."""
    monkeypatch.setenv("RESHARDCTL_RECORD_STARTS", "1")
    records = Records("kcl-9", tmp_path, "c")
    for digest, program in (("d1", {"runner": "old"}), ("d2", {}), ("d3", {"runner": "new"})):
        records.add(digest, {"start": digest, **program})
    lines = (tmp_path / "kcl-9.jsonl").read_text(encoding="utf-8").splitlines()
    assert [json.loads(line)["digest"] for line in lines] == ["d2", "d3"]


def test_a_start_that_did_not_come_to_rest_is_not_recorded(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("RESHARDCTL_RECORD_STARTS", "1")
    ask(Records("kcl-9", tmp_path, "c"), outcome(settled=False))
    assert list(tmp_path.iterdir()) == []


def test_all_starts_run_again_where_the_environment_says_so(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("RESHARDCTL_RECORD_STARTS", "1")
    ask(Records("kcl-9", tmp_path, "c"), RAN)
    monkeypatch.setattr(records_module, "sample", lambda *_: frozenset())
    assert ask(Records("kcl-9", tmp_path, "c"), RAN)[1] == 0
    monkeypatch.setenv("RESHARDCTL_STARTS", "all")
    assert ask(Records("kcl-9", tmp_path, "c"), RAN)[1] == 1


def test_the_sample_is_two_percent_at_least_one_and_the_commits_own() -> None:
    digests = [f"{number:032x}" for number in range(200)]
    assert sample("c1", digests) == sample("c1", list(reversed(digests)))
    assert len(sample("c1", digests)) == 4
    assert sample("c1", digests) != sample("c2", digests)
    assert len(sample("c1", digests[:3])) == 1
    assert sample("c1", []) == frozenset()


@pytest.mark.parametrize("path", sorted(RECORDED.glob("*.jsonl")), ids=lambda path: path.stem)
def test_recorded_starts_are_sorted_and_each_there_once(path: Path) -> None:
    digests = [line[11:43] for line in path.read_text(encoding="utf-8").splitlines()]
    assert digests == sorted(set(digests))


@pytest.mark.parametrize("release", RELEASES)
def test_the_records_are_of_the_program_that_runs_the_library_today(release: str) -> None:
    """Else none of them is usable, and every run starts the library a thousand times. After a
    change of the program: ``tests/proof/libraries/run --record``."""
    lines = (RECORDED / f"kcl-{release}.jsonl").read_text(encoding="utf-8").splitlines()
    assert {json.loads(line).get("runner") for line in lines} <= {digest_of_runner(release)}
