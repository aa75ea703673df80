"""Rows that KCL cannot read, attribute by attribute, and a table of nothing else."""

from __future__ import annotations

import json
import tomllib
from copy import deepcopy
from pathlib import Path
from typing import Any

import pytest

from reshardctl.consumers.kcl.releases import traits_of
from reshardctl.consumers.kcl.rows import parse
from reshardctl.diagnosis.rules import Severity
from reshardctl.model import Cause, Image, ShardId, WillRead, WontRead, at_time, shard_id
from reshardctl.planning.plan import Nothing, Plan
from reshardctl.testing import load_topology
from tests.proof.drawn.trial import steps_of
from tests.proof.reference.kcl import run
from tests.support.case import CASES, Item, from_table, load
from tests.support.dialects import kcl as dialect
from tests.support.dialects.kcl import images_of
from tests.support.judging import Bench, delivered, options_of

# ----
# Attributes of a wrong type or value, against runs of the real library.
#
# `kcl_attribute_types.toml` says for attribute × value × release what came of a row that was half
# read by a worker that was killed (tests/proof/libraries/kcl/attributes.py runs them): "dies",
# "left out" (never taken), "stuck" (taken, and never begun), "read".

FILE = Path(__file__).with_name("kcl_attribute_types.toml")
TABLE: dict[str, dict[str, dict[str, str]]] = tomllib.loads(FILE.read_text(encoding="utf-8"))
CASE = load(CASES / "kcl" / "c.toml")

OVERFLOWS = {"leaseCounter", "ownerSwitchesSinceCheckpoint"}
"""KCL 3.x adds 1 to the greatest number there is when it takes the lease, and cannot read that."""
ASSIGNED_ONCE = "entityType"
"""KCL 3.5.1 assigns a row of an unknown kind once, makes nothing of it then, and audits as if it
were not there: the counter moves by one, and no list shows it."""


def value_of(spelled: str) -> dict[str, Any] | None:
    """An attribute as `attributes.spelled` wrote it."""
    kind, _, body = spelled.partition(" ")
    if kind == "absent":
        return None
    return {"B": "eA=="} if kind == "B" else {kind: json.loads(body)}


def images(attribute: str, spelled: str) -> list[Image]:
    """The table with the value in it."""
    shard = "shardId-000000000002" if attribute == "parentShardId" else "shardId-000000000001"
    items: list[Item] = [dict(item) for item in CASE.items()]
    row = next(item for item in items if item["leaseKey"]["S"] == shard)
    row["leaseOwner"] = {"S": "killed"}
    row.pop(attribute, None)
    if (value := value_of(spelled)) is not None:
        row[attribute] = value
    if attribute == "pendingCheckpointSubSequenceNumber":
        row["pendingCheckpoint"] = row["checkpoint"]
    return images_of(items)


def forecast(attribute: str, spelled: str, release: str) -> str:
    """The table's word for what is forecast."""
    found = images(attribute, spelled)
    options = {"initial": "TRIM_HORIZON", "release": release}
    (run,) = Bench.on(CASE, found, options).replays()
    if run.crash is not None and run.crash.certain:
        return "dies"
    shard = "shardId-000000000002" if attribute == "parentShardId" else "shardId-000000000001"
    row = parse(found).rows[shard]  # type: ignore[index]
    if isinstance(run.fates[row.shard], WontRead):
        taken = not row.unread(traits_of(release)) and not row.has_flaw("checkpointOwner")
        return "stuck" if taken else "left out"
    return "read"


def seen() -> list[tuple[str, str, str, str]]:
    return [
        (attribute, value, release, word)
        for attribute, values in TABLE.items()
        for value, words in values.items() for release, word in words.items()
        if not word.startswith("cannot be stored")
    ]


@pytest.mark.parametrize("attribute", TABLE)
def test_each_value_does_what_it_did_to_the_real_library(attribute: str) -> None:
    wrong = {}
    for name, value, release, word in seen():
        if name != attribute or (attribute in OVERFLOWS and word == "stuck"):
            continue
        expected = word.partition(" [")[0]
        if attribute == ASSIGNED_ONCE and expected == "stuck":
            expected = "left out"
        if (said := forecast(attribute, value, release)) != expected:
            wrong[value, release] = (word, said)
    assert not wrong


@pytest.mark.parametrize("attribute", TABLE)
def test_a_repaired_value_is_read_by_every_release(attribute: str) -> None:
    """What one release dies of, or leaves out, is right for all that were run after its fix."""
    seen_after: set[str] = set()
    for name, value, release, word in seen():
        if name != attribute or word.startswith("read") or word == "stuck":
            continue
        options = {"initial": "TRIM_HORIZON", "release": release}
        bench = Bench.on(CASE, images(attribute, value), options, accept="reread=48h,disorder")
        decision = bench.decide()
        assert isinstance(decision, Plan), (value, release, decision)
        after = bench.after(steps_of(None, decision))  # type: ignore[arg-type]
        if repr(after) in seen_after:
            continue  # as another value or release left them
        seen_after.add(repr(after))
        for later in ("1.15.3", "2.7.2", "3.1.3", "3.5.1"):
            again = Bench.on(CASE, after, {**options, "release": later})
            assert isinstance(again.decide(), Nothing), (value, release, later)
            assert again.replays()[0].crash is None


@pytest.mark.parametrize("release", ["3.1.3", "3.5.1"])
def test_a_lease_of_nobody_is_never_ended_though_its_shard_is_gone(release: str) -> None:
    """The assignment looks at the owner, not at the listing: nobody asks for the shard, so nobody
    learns that it is gone, and its children wait (drawn stores: KCL 3.5.1 seed 7213)."""
    case = load(CASES / "kcl" / "d1-waiting.toml")
    items = [dict(item) for item in case.items()]
    items[0]["checkpointOwner"] = {"NULL": True}
    options = {"initial": "TRIM_HORIZON", "release": release}
    bench = Bench.on(case, images_of(items), options, accept="reread=1h,disorder")
    (simulation,) = bench.replays()
    ran = run(load_topology(case.stream), case.stream["name"], items, "TRIM_HORIZON", release)
    said = delivered(case, simulation, bench.plan_case.state.lineage)
    assert {s for s, got in said.items() if got} == set(ran.delivered) == {shard_id(1)}
    assert "RSH301" in {f.code for f in bench.findings()}
    plan = bench.decide()
    assert isinstance(plan, Plan)
    after = Bench.on(case, bench.after(plan.steps), options, accept="reread=1h,disorder")
    assert isinstance(after.decide(), Nothing)
    (then,) = after.replays()
    read = delivered(case, then, bench.plan_case.state.lineage)
    assert {s for s, got in read.items() if got} == {shard_id(1), shard_id(2), shard_id(3)}


@pytest.mark.parametrize(("release", "cause"), [
    ("1.15.3", Cause.FALSE_END), ("2.7.2", Cause.BAD_END_MARK), ("3.5.1", Cause.BAD_END_MARK),
])  # fmt: skip
def test_an_open_shard_at_an_end_with_a_sub_sequence_number_is_never_read(
    release: str, cause: Cause
) -> None:
    """1.x takes it for an end, later releases ask for it as a number (cases/kcl/row-end-with-sub).
    """
    case = load(CASES / "kcl" / "false-end.toml")
    items = [dict(item) for item in case.items()]
    items[1]["checkpointSubSequenceNumber"] = {"N": "5"}
    options = {"initial": "TRIM_HORIZON", "release": release}
    bench = Bench.on(case, images_of(items), options, accept="reread=1h")
    assert bench.replays()[0].fates[shard_id(1)].cause is cause
    plan = bench.decide()
    assert isinstance(plan, Plan)
    for rows, read in ((items, {2, 3}), (rows_after(bench, plan), {1, 2, 3})):
        ran = run(load_topology(case.stream), case.stream["name"], rows, "TRIM_HORIZON", release)
        assert set(ran.delivered) == set(map(shard_id, read))


@pytest.mark.parametrize("value", [{"S": "x"}, {"S": "0"}])
def test_hash_keys_of_a_shard_that_is_gone_are_taken_off(value: Item) -> None:
    """No listing tells what they were; a row without them is read (kcl_attribute_types.toml)."""
    case = load(CASES / "kcl" / "d1-waiting.toml")
    items = [dict(item) for item in case.items()]
    items[0] |= {"startingHashKey": {"S": "0"}, "endingHashKey": value}
    options = {"initial": "TRIM_HORIZON", "release": "2.7.2"}
    bench = Bench.on(case, images_of(items), options, accept="reread=1h")
    plan = bench.decide()
    assert isinstance(plan, Plan)
    mended = rows_after(bench, plan)
    assert not {"startingHashKey", "endingHashKey"} & mended[0].keys()
    for rows, died in ((items, True), (mended, False)):
        ran = run(load_topology(case.stream), case.stream["name"], rows, "TRIM_HORIZON", "2.7.2")
        assert ran.died is died


def rows_after(bench: Bench, plan: Plan) -> list[Item]:
    return [dict(image.attributes) for image in bench.after(plan.steps)]


@pytest.mark.parametrize("release", ["1.15.3", "2.7.2", "3.5.1"])
@pytest.mark.parametrize(("value", "audited"), [
    # ExtendedSequenceNumber.isShardEnd calls equals on what DynamoUtils.safeGetString gives:
    # a NullPointerException without an S, and an answer for an empty one.
    ({"S": ""}, True), ({"S": "abc"}, True), ({"NULL": True}, False),
])  # fmt: skip
def test_a_checkpoint_that_is_there_stops_no_audit(
    value: dict[str, Any], audited: bool, release: str
) -> None:
    """Drawn stores: KCL 1.15.3 by time, seed 60400."""
    shards = ["shardId-000000000001", "shardId-000000000002"]
    items = [
        {**item, "checkpoint": value} for item in CASE.items() if item["leaseKey"]["S"] == shards[0]
    ]
    options = {"initial": "TRIM_HORIZON", "release": release}
    bench = Bench.on(CASE, images_of(items), options)
    (simulation,) = bench.replays()
    ran = run(load_topology(CASE.stream), CASE.stream["name"], items, "TRIM_HORIZON", release)
    if ran.died:
        assert simulation.crash is not None
        return
    said = delivered(CASE, simulation, bench.plan_case.state.lineage)
    read = {shard for shard, got in said.items() if any(p.startswith("s") for p in got)}
    assert read == set(ran.delivered)
    assert bool(read) is audited


# ----
# A table of which KCL lists no lease is an empty one to it (isLeaseTableEmpty), and is begun anew.
#
# KCL 3.5 leaves out rows that it cannot read, and they keep their keys
# (tests/proof/reference/kcl.py, and kcl_sync.py: the first leases of a start at a time are those
# of the shards open then).

CREATED = 1_795_219_200
SHARDS = [
    {"id": 0, "range": ["0", "1"], "open": 0, "close": 600,
     "records": {"n": 3, "from": 60, "to": 560}},
    {"id": 1, "range": ["0", "1/2"], "open": 601, "close": 1200, "parents": [0],
     "records": {"n": 3, "from": 660, "to": 1100}},
    {"id": 2, "range": ["1/2", "1"], "open": 601, "parents": [0],
     "records": {"n": 3, "from": 660, "to": 2900}},
    {"id": 3, "range": ["0", "1/2"], "open": 1201, "parents": [1],
     "records": {"n": 3, "from": 1260, "to": 2900}},
]


def anew(shards: list[dict[str, Any]], initial: str) -> Bench:
    """Of two rows' shards only that of 2 has one, which 3.5 cannot read."""
    row = {"shard": 2, "checkpoint": "s2-0", "set": {"leaseCounter": {"S": "7"}}}
    case = from_table(Path("drawn.toml"), {
        "title": "t", "source": "drawn", "consumer": "kcl", "rows": [row],
        "stream": {"created": CREATED, "now": 3000, "shards": deepcopy(shards)},
        "expect": [{"findings": []}],
    })
    options = options_of(case, initial, "3.5.1")
    return Bench.on(case, dialect.images(case), options, accept="reread=48h")


def test_its_shards_begin_as_at_the_first_start() -> None:
    (run,) = anew(SHARDS, "AT_TIMESTAMP:+800").replays()
    fate = run.fates[ShardId("shardId-000000000001")]
    assert isinstance(fate, WillRead)
    assert (fate.at.lo, fate.cause) == (at_time(CREATED + 800), Cause.REFILLED)
    assert run.fates[ShardId("shardId-000000000002")].cause is Cause.UNREADABLE
    assert run.crash is None


@pytest.mark.parametrize(("initial", "gone", "may_die"), [
    ("AT_TIMESTAMP:+800", 1, True), ("AT_TIMESTAMP:+1300", 1, False), ("TRIM_HORIZON", 1, False),
    ("AT_TIMESTAMP:+800", 0, False),
])
def test_it_may_crash_at_a_time_of_which_a_shard_has_expired(
    initial: str, gone: int, may_die: bool
) -> None:
    """HierarchicalShardSyncer.getShardListAtInitialPosition wants the hash keys covered, and
    Scheduler gives up after twenty attempts; ListShards does not list expired shards, and the API
    reference corrects FROM_TIMESTAMP to the horizon, but not AT_TIMESTAMP."""
    shards = deepcopy(SHARDS)
    for shard in shards[: gone + 1]:
        shard |= {"trimmed": True, "records": []}
    found = anew(shards, initial)
    (run,) = found.replays()
    assert (run.crash is not None) is may_die
    assert run.crash is None or not run.crash.certain
    (told,) = [f for f in found.findings() if f.code == "RSH301"]
    assert told.severity is Severity.ERROR
    assert ("twenty attempts" in told.costs) is may_die
    plan = found.decide()
    assert isinstance(plan, Plan)
    options = options_of(found.case, initial, "3.5.1")
    (after,) = Bench.on(found.case, found.after(plan.steps), options).replays()
    assert after.crash is None
