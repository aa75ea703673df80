"""Which writes are live: the two shapes that were run on a working KCL, and nothing else.

An eviction with a place in it, and the creation of an absent row that skips and re-reads nothing:
runs on KCL 1.15.3, 2.7.2 and 3.5.1, November 2026 (tests/proof/libraries/test_kcl_live.py).
"""

from __future__ import annotations

import pytest
from msgspec.structs import replace

from reshardctl.consumers.kcl.releases import App, traits_of
from reshardctl.consumers.kcl.writes import marked, proven
from reshardctl.errors import Refused
from reshardctl.model import TIP, Create, Cut, Delete, Step, Update, Write, at_number, writes_of
from reshardctl.planning.decision import live_for_all
from reshardctl.planning.plan import Plan, processed_frontier
from reshardctl.planning.writes import all_live, counted_writes, require_live
from tests.support.case import CASES, all_cases, load
from tests.support.covering import few
from tests.support.judging import Bench

LIVE = {
    "a-one": "3", "a-both": "2 3",  # never started, never had a lease
    "a-both-named": "2 3",  # childShardIds name them: ShutdownTask had made them, and they are lost
    "e1": "2 3", "e2": "2 3",  # children at LATEST
    "h": "0", "h-open": "1",  # numbers that Kinesis refuses: their owner asks in vain
    "timestamp-sentinel": "1",  # its owner asks in vain too
}  # fmt: skip

STOP = {
    "i1": ("3", "there before"),
    "g-no-children": ("0", "ends a shard"),
    "d1-timestamp": ("0", "ends a shard"),
    "row-not-born": ("4", "lose its lease"),  # a deletion
    "false-end": ("1", "finished lease"),
    "c2": ("2 3", "more than a position"),  # only the parents are named
    "row-no-checkpoint": ("2", "cannot be read"),
    "latest-below-a-grandparent": ("1", "below it has a lease"),
    "recreated": (None, "earlier stream"),
}


def planned(name: str, release: str = "3.5.1", items: list | None = None, **said) -> Plan:
    case = load(CASES / "kcl" / f"{name}.toml")
    initial = case.expects[0].initial[0]
    bench = Bench.of(case, initial, release, items=items)
    bench.plan_case = replace(bench.plan_case, **said)
    decision = bench.decide()
    assert isinstance(decision, Plan), decision
    return decision


def by_shard(plan: Plan) -> dict[str, Write]:
    return {str(int(w.key.rpartition("-")[2])): w for w in writes_of(plan.steps)}


@pytest.mark.parametrize("release", ["1.15.3", "2.7.2", "3.5.1"])
@pytest.mark.parametrize("name", LIVE)
def test_live(name: str, release: str) -> None:
    writes = by_shard(planned(name, release))
    assert {shard for shard, write in writes.items() if write.live} == set(LIVE[name].split())
    assert all_live([Step("", tuple(writes.values()))])
    assert all(write.running for write in writes.values())


@pytest.mark.parametrize("name", STOP)
def test_not_live_and_why(name: str) -> None:
    shards, why = STOP[name]
    plan = planned(name, recreated=name == "recreated")
    writes = by_shard(plan)
    for shard in shards.split() if shards else writes:
        assert not writes[shard].live and why in writes[shard].running
    with pytest.raises(Refused, match="Nothing was written") as refused:
        require_live(plan.steps)
    assert why in refused.value.what and "without --live" in refused.value.next


@pytest.mark.parametrize(("few", "least"), [
    (few(tuple(all_cases("kcl"))), 4),
    pytest.param([case.name for case in all_cases("kcl")], 20, marks=pytest.mark.long),
], ids=["few", "all"])  # fmt: skip
def test_every_live_write_has_one_of_the_two_shapes(few: list[str], least: int) -> None:
    """What runs and sources give: the conditions of DynamoDBLeaseRefresher.evictLease, KCL 3.1.3,
    with the counter that every other write of the library goes by."""
    seen = 0
    for case in (case for case in all_cases("kcl") if case.name in few):
        for expect in case.expects:
            for initial in expect.initial:
                decision = Bench.of(case, initial, None).decide()
                for write in writes_of(decision.steps) if isinstance(decision, Plan) else ():
                    seen += write.live
                    assert write.running
                    assert not write.live or _has_a_shape(write), write
    assert seen > least


MOVED = {"checkpoint", "checkpointSubSequenceNumber", "ownerSwitchesSinceCheckpoint"}


def _has_a_shape(write: Write) -> bool:
    match write.change:
        case Delete():
            return False
        case Create(row):
            return write.before is None and row["leaseCounter"] == {"N": "0"} and (
                row["checkpoint"] not in ({"S": "SHARD_END"}, {"S": "LATEST"})
                and "leaseOwner" not in row
            )
        case Update(values, remove, add):
            held = {"checkpoint", "checkpointSubSequenceNumber", "leaseCounter", "leaseOwner",
                    "checkpointOwner"}  # fmt: skip
            assert write.before is not None
            owned = "leaseOwner" in write.before.attributes
            return held <= set(write.guard) and add == {"leaseCounter": 1} and (
                ("leaseOwner" in remove) is owned
                and "checkpointOwner" not in write.before.attributes
                and set(values) == MOVED
                and values["checkpoint"]["S"] not in ("SHARD_END", "LATEST")
            )


ROWS = [
    ("h", 0, {"checkpointOwner": {"S": "w2"}}, "hand-off from w2"),
    ("e1", 2, {"pendingCheckpoint": {"S": "TRIM_HORIZON"}}, "prepared"),
]


def altered(name: str, shard: int, changes: dict) -> list[dict]:
    items = load(CASES / "kcl" / f"{name}.toml").items()
    for item in items:
        if item["leaseKey"]["S"] == f"shardId-{shard:012}":
            item.update(changes)
    return items


@pytest.mark.parametrize(("name", "shard", "changes", "why"), ROWS)
def test_a_row_in_transit_is_not_live(name: str, shard: int, changes: dict, why: str) -> None:
    writes = by_shard(planned(name, items=altered(name, shard, changes)))
    assert not writes[str(shard)].live and why in writes[str(shard)].running


def test_a_shard_whose_children_do_not_wait_for_it_is_not_moved_live() -> None:
    """A child's lease without the parent's name starts at once (BlockOnParentShardTask reads the
    attribute): the worker reads it already, and would not wait for a parent that begins anew."""
    numbers = load(CASES / "kcl" / "h.toml").records["shardId-000000000002"]
    items = altered("h", 2, {"checkpoint": {"S": numbers[1][0]}})
    write = by_shard(planned("h", items=items))["0"]
    assert not write.live and "shard 2 after it" in write.running


def marks(name: str, steps: list[Step], **want: Cut) -> dict[str, str]:
    """Why each write of these steps is not live ("" if it is), were this line wanted."""
    case = Bench.of(load(CASES / "kcl" / f"{name}.toml"), "LATEST", "3.5.1").plan_case
    line = {
        shard: want.get(f"s{int(shard[-3:])}", span.lo)
        for shard, span in processed_frontier(case).items()
    }
    app = case.candidates[0].app
    assert isinstance(app, App)
    found = marked(case.state.lineage, case.checkpoint(), steps, line, app)
    return {w.key[-1]: "" if w.live else w.running for w in writes_of(found)}


def test_what_skips_is_not_live() -> None:
    """A decision about records is for a consumer that stands still; LATEST is decided later yet."""
    steps = list(planned("e1").steps)
    third = load(CASES / "kcl" / "e1.toml").records["shardId-000000000002"][2][0]
    assert marks("e1", steps) == {"2": "", "3": ""}
    assert marks("e1", steps, s2=at_number(third), s3=TIP) == {
        "2": "it skips records", "3": "LATEST is the tip at some later moment, not now",
    }


def test_a_family_in_several_transactions_is_not_live() -> None:
    """Between the two the child would begin beside a parent that begins anew."""
    (child,) = planned("a-one").steps
    (parent,) = (w for w in writes_of(planned("h").steps) if w.key.endswith("0"))
    apart = [child, Step("", (parent,))]
    assert marks("a-one", apart)["3"] == "shard 0 before it is written in another transaction"
    assert marks("a-one", [child]) == {"3": ""}


def test_a_table_of_several_streams_is_not_live() -> None:
    """None was run."""
    case = load(CASES / "kcl-tables" / "multi-children-lost.toml")
    decision = Bench.of(case, case.expects[0].initial[0], case.expects[0].releases[-1]).decide()
    assert isinstance(decision, Plan)
    marks = {(write.live, write.running) for write in writes_of(decision.steps)}
    assert marks == {(False, "not tried on a running application of several streams")}


@pytest.mark.parametrize(("release", "tried"), [
    ("1.15.3", True), ("1.14.0", True), ("1.13.3", False), ("1.9", False), ("2.7.2", True),
    ("2.3.0", True), ("2.2.11", False), ("3.0.0", True), ("3.5.1", True),
])  # fmt: skip
def test_releases_that_take_leases_otherwise_are_not_live(release: str, tried: bool) -> None:
    """Up to 1.13 and 2.2 a shard's end synchronises everything; none of those was run live."""
    assert proven(traits_of(release)) is tried


def test_only_what_is_live_for_every_candidate_is_live() -> None:
    plan = planned("a-both")
    (step,) = plan.steps
    other = replace(step, writes=(replace(step.writes[0], live=False, running="no"),
                                  *step.writes[1:]))  # fmt: skip
    (both,) = live_for_all([(step,), (other,)])
    assert [(w.live, w.running) for w in both.writes] == [
        (False, "no"), (True, step.writes[1].running)
    ]
    assert counted_writes([both]) == "1 of 2 writes is safe while it runs"
    assert counted_writes([step]) == "both writes are safe while it runs"
