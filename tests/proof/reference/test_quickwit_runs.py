"""The reference source against the real one: runs of Quickwit 0.8.2 and 0.9.0, Nov 2026."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from reshardctl.testing import FakeKinesis, load_topology
from tests.proof.reference.quickwit import RELEASES, Run, started
from tests.proof.reference.quickwit_checkpoint import Delta, DeltaError, Mark
from tests.proof.reference.quickwit_store import StoredSource, sources
from tests.support.case import Case, Expect, all_cases
from tests.support.case_stream import shard_name
from tests.support.dialects import quickwit as dialect

CASES = {case.name: case for case in all_cases("quickwit")}
GOLDEN = Path(__file__).parents[2] / "golden" / "quickwit"
STATES = ("q1", "q2", "q3", "q3b", "q4", "q5", "q6")
LATER = 12_000
"""Seconds after creation: every record has arrived."""


def fake_of(state: str, stream: str) -> FakeKinesis:
    scenario = json.loads((GOLDEN / "0.9.0" / state / "scenario.json").read_text())
    (one,) = [s for s in scenario["streams"] if s["name"] == stream]
    return load_topology({"account": "123456789012", "region": "us-east-1", "now": LATER, **one})


def recorded(release: str, state: str) -> dict[str, Any]:
    found: dict[str, Any] = json.loads((GOLDEN / release / state / "real_source.json").read_text())
    return found


def as_recorded(run: Run) -> dict[str, Any]:
    """In the words of real_source.json: records by their index."""
    return {
        "delivered": {
            shard: [int(payload.partition("-")[2]) for payload in payloads]
            for shard, payloads in sorted(run.delivered.items())
        },
        "published": run.published, "publish": run.publish, "panic": run.panic, "exit": run.exit,
        "checkpoint_after": run.checkpoint,
    }


def start(release: str, state: str, stored: StoredSource, **more: Any) -> dict[str, Any]:
    return as_recorded(started(
        fake_of(state, stored.stream), stored.stream, stored.positions, release,
        index_uid=stored.index_uid, source=stored.source, backfill=stored.backfill, **more,
    ))


@pytest.mark.parametrize("release", RELEASES)
@pytest.mark.parametrize("state", STATES)
def test_the_reference_does_what_the_real_source_did(release: str, state: str) -> None:
    found = sources(GOLDEN / release / state / "metastore", release)
    real = recorded(release, state)
    assert real.keys() == found.keys()
    for name, stored in found.items():
        outcomes = [start(release, state, stored)]
        if stored.backfill:  # the real run was one outcome of a race
            outcomes.append(start(release, state, stored, late=frozenset({shard_name(0)})))
        assert _known_uid(real[name], stored) in outcomes, name


def _known_uid(real: dict[str, Any], stored: StoredSource) -> dict[str, Any]:
    """The runs were made in an index of the same name that was created for them."""
    if real["exit"] and "could not find checkpoint" in real["exit"]:
        before, _, rest = real["exit"].partition("`")
        return {**real, "exit": f"{before}`{stored.index_uid}`{rest.partition('`')[2]}"}
    return real


def _situations() -> Iterator[Any]:
    for case in CASES.values():
        if dialect.backfill(case):
            continue  # a race, see the golden state q6
        for number, expect in enumerate(case.expects):
            for release in expect.releases:
                yield pytest.param(case, expect, release, id=f"{case.name}-{release}-{number}")


every_situation = pytest.mark.parametrize(("case", "expect", "release"), list(_situations()))


def run_of(case: Case, positions: dict[str, str] | None, release: str) -> Run:
    return started(load_topology(case.stream), case.stream["name"], positions, release)


def delivered(case: Case, run: Run) -> dict[str, tuple[str, ...]]:
    return {shard: tuple(run.delivered.get(shard, ())) for shard in case.records}


@every_situation
def test_a_start_delivers_what_the_case_says(case: Case, expect: Expect, release: str) -> None:
    run = run_of(case, dialect.stored(case), release)
    assert run.died == expect.dies
    assert delivered(case, run) == expect.delivers


@every_situation
@pytest.mark.only(
    lambda expect: expect.fixed is not None and not expect.fixed.refused, "the case names no fix"
)
def test_a_start_after_the_fix_delivers_what_the_case_says(
    case: Case, expect: Expect, release: str
) -> None:
    fixed = expect.fixed
    run = run_of(case, dialect.mended(case, fixed.writes), release)
    assert not run.died
    assert delivered(case, run) == fixed.delivers


@every_situation
def test_a_shard_that_stalls_has_a_finding(case: Case, expect: Expect, release: str) -> None:
    """Kinesis's refusal is rightly unreported where nothing is owed: at or behind a shard's end."""
    run = run_of(case, dialect.stored(case), release)
    ends = {shard for shard, text in (dialect.stored(case) or {}).items() if _is_end(case, text)}
    if run.dead.keys() - ends and not run.died:
        assert expect.findings & {"RSH102", "RSH207", "RSH301"}


def _is_end(case: Case, text: str) -> bool:
    ends = [int(shard.end) for shard in case.topology.values() if shard.end]
    return text.isdigit() and any(int(text) >= end for end in ends)


@pytest.mark.parametrize(
    ("title", "positions", "published"),
    [
        ("from the stored position", {"shardId-000000000000": "s0-4"}, ("s0-4", "s0-9")),
        ("an empty entry is the beginning", {"shardId-000000000000": ""}, ("", "s0-9")),
    ],
)
def test_the_next_publish_starts_where_the_position_stood(
    title: str, positions: dict[str, str], published: tuple[str, str]
) -> None:
    """Quickwit 0.9.0, Nov 2026: the deltas that the real source built after each edit."""
    case = CASES["split"]
    spelled = {shard: case.number_of(at) if at else at for shard, at in positions.items()}
    run = run_of(case, spelled, "0.9.0")
    first, last = (case.number_of(at) if at else at for at in published)
    assert run.published[0]["shardId-000000000000"] == {"from": first, "to": last}, title
    assert run.publish == ["accepted"]


NUMBER, LOWER, HIGHER = "4960", "4950", "4970"
ALGEBRA = [
    # stored, then what becomes of a change from "", a lower, the same, a higher number, ~number
    (None, "ok", "ok", "ok", "ok", "ok"),
    ("", "ok", "ok", "ok", "ok", "ok"),
    (NUMBER, "no", "no", "ok", "ok", "ok"),
    (f"~{NUMBER}", "no", "no", "no", "no", "ok"),
    ("~", "no", "no", "no", "no", "ok"),
    ("SHARD_END", "no", "no", "no", "no", "ok"),
    ("9", "no", "no", "no", "no", "ok"),
    ("0004960", "no", "ok", "ok", "ok", "ok"),
    ("1", "no", "ok", "ok", "ok", "ok"),
]


@pytest.mark.parametrize(("stored", "empty", "lower", "same", "higher", "ended"), ALGEBRA)
def test_which_change_follows_which_position(
    stored: str | None, empty: str, lower: str, same: str, higher: str, ended: str
) -> None:
    """The metastores of both releases, Nov 2026; the same output from either."""
    begins = {"": empty, LOWER: lower, NUMBER: same, HIGHER: higher, f"~{NUMBER}": ended}
    for begin, outcome in begins.items():
        delta = Delta({"shard": (Mark.of(begin), Mark.of("anything"))})
        positions = {} if stored is None else {"shard": stored}
        if outcome == "no":
            with pytest.raises(DeltaError, match="incompatible"):
                delta.applied(positions)
        else:
            assert delta.applied(positions) == {"shard": "anything"}


def test_one_wrong_entry_refuses_the_whole_change() -> None:
    """One incompatible partition rejects the whole publish (runs on both releases)."""
    delta = Delta({"a": (Mark.of("1"), Mark.of("2")), "b": (Mark.of("1"), Mark.of("2"))})
    with pytest.raises(DeltaError, match="`b`"):
        delta.applied({"a": "1", "b": "3"})


def test_an_empty_record_at_an_answers_end_takes_its_position_along() -> None:
    """Q11 of both releases, Nov 2026: one shard: nothing is sent; two: the position stays."""
    base = {"account": "123456789012", "region": "us-east-1", "name": "s", "created": 1795132800}
    full = [{"t": 10, "data": "s0-0"}, {"t": 20, "data": "s0-1"}, {"t": 30, "data": ""}]
    alone = {**base, "now": 100, "shards": [
        {"id": 0, "range": ["0", "1"], "parents": [], "open": 0, "records": full}]}
    run = started(load_topology(alone), "s", {}, "0.9.0")
    assert (run.delivered, run.checkpoint) == ({}, {})
    beside = {**base, "now": 100, "shards": [
        {"id": 0, "range": ["0", "1/2"], "parents": [], "open": 0, "records": full},
        {"id": 1, "range": ["1/2", "1"], "parents": [], "open": 0,
         "records": [{"t": 10, "data": "s1-0"}]}]}
    run = started(load_topology(beside), "s", {}, "0.9.0")
    assert run.delivered["shardId-000000000000"] == ["s0-0", "s0-1"]
    assert run.checkpoint is not None and "shardId-000000000000" not in run.checkpoint
