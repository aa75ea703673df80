"""Positions that an operator gives, on the cases of every library.

What a plan for them has to do follows from the request alone: the shard starts there, no other
position changes, nothing crashes that did not before, the next plan is empty, and an undo restores
the rows.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import pytest
from msgspec.structs import replace

from reshardctl.codec.values import SHARD_END, kind_of
from reshardctl.consumers.locator import Locator
from reshardctl.consumers.registry import CONSUMERS
from reshardctl.consumers.spec import BASIC_KINDS
from reshardctl.diagnosis.evidence import Snapshot
from reshardctl.errors import ReshardError
from reshardctl.model import (
    DONE,
    START,
    TIP,
    Basis,
    Cut,
    Image,
    ShardId,
    Update,
    WontRead,
    after,
    at_number,
    changed,
    shard_id,
)
from reshardctl.planning.as_given import StoredPosition, stored_positions, times_back
from reshardctl.planning.plan import Case, NoSafePlan, Nothing, Plan, decide
from reshardctl.planning.policy import EVERYTHING, POSITIONS, Accept
from reshardctl.planning.restore import Restore
from reshardctl.snapshot.positions import ExportedPositions, csv_text, json_text, positions_in
from reshardctl.snapshot.resolve import resolved_positions
from reshardctl.snapshot.take import FrozenStream
from tests.support.case import CASES, all_cases, load
from tests.support.case import Case as CaseFile
from tests.support.dialects import dialect_of, spoken
from tests.support.judging import Bench, options_of

ALL = Accept(reread=EVERYTHING, skip=EVERYTHING, disorder=True)
EVERY = 12
"""One case in so many is in the default suite; all of them are where nothing is in a hurry."""


def params() -> Iterator[object]:
    for consumer in spoken():
        for number, case in enumerate(all_cases(consumer)):
            marks = [] if number % EVERY == 0 else [pytest.mark.long]
            yield pytest.param(case, id=f"{consumer}-{case.name}", marks=marks)


def options_in(file: CaseFile) -> dict[str, str]:
    """The first of the file's start modes, and the last of that one's releases."""
    expect = file.expects[0]
    initial = expect.initial[0] if expect.initial else ""
    options = options_of(file, initial, expect.releases[-1] if expect.releases else None)
    return options | ({"app": "app"} if file.consumer == "kinesis-consumer" else {})


def posed(file: CaseFile) -> Case:
    """The case of a file, under the first of its start modes; skipped where nothing is stored."""
    try:
        images = dialect_of(file.consumer).images(file)
        case = Bench.on(file, images, options_in(file)).plan_case
        empty = case.consumer.empty(case.checkpoint())
    except ReshardError:
        pytest.skip("refused before anything is planned")
    if empty:
        pytest.skip("no position")
    return replace(case, accept=None)


def moves(file: CaseFile, case: Case) -> Iterator[tuple[ShardId, Cut]]:
    """Every place of every shard that the store can hold and does not hold yet."""
    stored = {p.shard: p for p in stored_positions(case)}
    kinds = BASIC_KINDS | case.consumer.spec.kinds
    for shard in case.state.lineage:
        records = file.records.get(shard, ())
        places = [START, *(at_number(record[0]) for record in (*records[:1], *records[-1:]))]
        for cut in (*places, TIP if case.state.lineage.is_open(shard) else DONE):
            there = stored[shard].basis is Basis.STORED and stored[shard].cut == cut
            if kind_of(cut) in kinds and not there:
                yield shard, cut


def crashes(case: Case) -> list[bool]:
    checkpoint, lineage = case.checkpoint(), case.state.lineage
    runs = [case.consumer.simulate_start(lineage, checkpoint, c.app) for c in case.candidates]
    return [run.crash is not None for run in runs]


@pytest.mark.parametrize("file", list(params()))
def test_a_plan_does_what_is_asked_and_no_more(file):
    case = posed(file)
    texts = case.consumer.positions(case.checkpoint())
    for shard, cut in moves(file, case):
        wanted = replace(case, policy=replace(POSITIONS, places={shard: cut}))
        plan = decide(wanted)
        if not isinstance(plan, Plan):
            continue
        then = replace(wanted, images=after(case.images, plan.steps))
        there = {p.shard: p for p in stored_positions(then)}
        assert cut in (DONE, TIP) or there[shard].cut == cut
        now = case.consumer.positions(then.checkpoint())
        if file.consumer != "spark":  # whose files hold all shards: a batch more spells them anew
            made = {s for s in now.keys() - texts.keys() if s not in case.state.lineage}
            assert {now[s] for s in made} <= {SHARD_END}, "an expired parent, for the merge to end"
            assert {s: t for s, t in now.items() if s not in {shard, *made}} == {
                s: t for s, t in texts.items() if s != shard
            }
        assert not any(crashes(then))
        assert isinstance(decide(then), Nothing)
        assert undone(case, plan) == kept(case, case.images)


def kept(case: Case, images: Sequence[Image]) -> dict[str, dict]:
    """Rows without what no undo restores: counters and owners."""
    lost = case.consumer.spec.monotonic_counters | case.consumer.spec.owner_attributes
    return {i.key: {n: v for n, v in i.attributes.items() if n not in lost} for i in images}


def undone(case: Case, plan: Plan) -> dict[str, dict]:
    """The rows after the plan and its undo."""
    spec = case.consumer.spec
    rule = Restore.of(spec)
    rows: dict[str, Image | None] = {image.key: image for image in case.images}
    done = []
    for write in (write for step in plan.steps for write in step.writes):
        before = rows.get(write.key)
        rows[write.key] = changed(before, write)
        done.append((write, before, rows[write.key]))
    for write, before, landed in reversed(done):
        if (back := rule(write, before, landed, rows[write.key])) is not None:
            rows[write.key] = changed(rows[write.key], back)
    return kept(case, [image for image in rows.values() if image is not None])


@pytest.mark.parametrize("file", list(params()))
@pytest.mark.parametrize("form", [json_text, csv_text])
def test_an_export_of_the_same_positions_moves_nothing(file, form):
    case = posed(file)
    state = case.state
    exported = ExportedPositions(
        "", state.lineage.stream.arn, state.lineage.stream.created, state.now,
        tuple(stored_positions(case)),
    )
    given = positions_in(form(exported), "orders.positions")
    locator = Locator("", file.consumer, next(iter(file.stores), ""), "app", options_in(file))
    snapshot = Snapshot(locator, state.lineage, tuple(case.images), {}, state.now)
    assert len(given.positions) == len(exported.positions)
    asked = replace(POSITIONS, given=given)
    policy = resolved_positions(asked, snapshot, FrozenStream(snapshot))
    assert policy.places == {} and not policy.unresolved
    assert decide(replace(case, policy=policy)) == Nothing()


def test_every_library_has_cases():
    assert set(spoken()) == set(CONSUMERS)


def test_an_end_that_the_store_cannot_hold_is_no_plan():
    """kinesis-consumer v0.5.0 has no mark for an end: a closed shard stays at its last number."""
    (file,) = [case for case in all_cases("kinesis-consumer") if case.name == "b4"]
    case = posed(file)
    shard = ShardId("shardId-000000000000")
    decision = decide(replace(case, policy=replace(POSITIONS, places={shard: DONE})))
    assert isinstance(decision, NoSafePlan) and "SHARD_END as the position of 0" in decision.why


@pytest.mark.parametrize(("back", "expected"), [
    (600, {1: 1260 - 600, 2: 1000 - 600, 3: 900 - 600, 0: 900 - 600}),
    (300, {1: 960, 2: 700, 3: 600}),  # in the second of the close
    (100, {1: 1160, 2: 900, 3: 800}),
])  # fmt: skip
def test_an_ended_parent_goes_back_with_its_children_only(back, expected):
    """0 closed at 600, seconds after creation; 2 and 3, its children, were read to 1000 and 900."""
    (file,) = [case for case in all_cases("kcl") if case.name == "a-both"]
    state, created = posed(file).state, file.stream["created"]

    def at(shard: int, time: float, cut: Cut) -> StoredPosition:
        return StoredPosition(ShardId(f"shardId-{shard:012d}"), cut, time, Basis.STORED, "")

    inside = at_number("1")
    ended = replace(DONE, text="7")
    now = [at(0, created + 600, ended), at(1, created + 1260, inside),
           at(2, created + 1000, inside), at(3, created + 900, inside)]  # fmt: skip
    times = times_back(state, {p.shard: p for p in now}, back)
    assert times == {
        ShardId(f"shardId-{shard:012d}"): created + time for shard, time in expected.items()
    }


def test_a_place_whose_time_is_not_known_goes_nowhere():
    (file,) = [case for case in all_cases("kcl") if case.name == "a-both"]
    state, root = posed(file).state, ShardId("shardId-000000000001")
    for cut, time in ((None, None), (at_number("1"), None)):
        position = StoredPosition(root, cut, time, Basis.STORED, "")
        assert times_back(state, {root: position}, 60) == {}


def places(file: CaseFile, options: dict[str, str], given: dict[int, Cut]) -> object:
    """The decision on places that the operator gives, whatever they cost."""
    case = Bench.on(file, dialect_of(file.consumer).images(file), options).plan_case
    policy = replace(POSITIONS, places={shard_id(n): cut for n, cut in given.items()})
    return decide(replace(case, policy=policy, accept=ALL))


def test_an_end_replaces_a_number_that_is_not_the_shard_s_own():
    """With it the mark would prove nothing (RSH206)."""
    file = load(CASES / "kinsumer" / "finished-at-another-number.toml")
    plan = places(file, {"release": "snowplow-1.7", "initial": "TRIM_HORIZON"}, {0: DONE})
    assert isinstance(plan, Plan)
    (write,) = (write for step in plan.steps for write in step.writes)
    assert isinstance(write.change, Update)
    assert write.change.set["SequenceNumber"] == {"NULL": True}


@pytest.mark.parametrize(("shard", "way"), [
    (0, "--set 1=TRIM_HORIZON --set 2=TRIM_HORIZON"), (1, "give those shards another position"),
])  # fmt: skip
def test_an_end_that_a_store_cannot_hold_has_a_way_out(shard, way):
    """kinesis-consumer marks no end: what is below needs a row, and an open shard has none."""
    file = load(CASES / "kinesis-consumer" / "c.toml")
    options = {"app": "app", "release": "0.5.0", "initial": "TRIM_HORIZON"}
    decision = places(file, options, {shard: DONE})
    assert isinstance(decision, NoSafePlan) and way in decision.ways_out[0]


def test_a_child_that_is_given_a_position_needs_no_other_one():
    file = load(CASES / "kinesis-consumer" / "c.toml")
    options = {"app": "app", "release": "0.5.0", "initial": "TRIM_HORIZON"}
    decision = places(file, options, {0: DONE, 1: START})
    assert isinstance(decision, NoSafePlan)
    assert "--set 2=TRIM_HORIZON" in decision.ways_out[0] and "--set 1" not in decision.ways_out[0]


@pytest.mark.parametrize("name", ["d-finished", "healthy-children-read", "row-unborn"])
def test_what_an_earlier_start_may_have_passed_over_is_no_skip_of_a_given_position(name):
    """RSH217: the application may have begun at the tip, long before. Counted as well, the first
    records would be skipped twice, and on purpose."""
    file = load(CASES / "kinesis-consumer" / f"{name}.toml")
    options = {"app": "app", "release": "0.5.0", "initial": "LATEST"}
    case = Bench.on(file, dialect_of(file.consumer).images(file), options).plan_case
    stored = int(case.consumer.texts(case.checkpoint())[shard_id(2)])
    plan = places(file, options, {2: at_number(str(stored + (1 << 80)))})
    assert isinstance(plan, Plan)
    (skip,) = plan.costs
    assert (skip.since.number, skip.past) == (stored, False)
    (doubt,) = (e for run in plan.after for e in run if e.past and e.shard == skip.shard)
    assert doubt.until.number == stored, "what comes after is skipped by the plan"


@pytest.mark.parametrize(("name", "quiet", "moved"), [
    ("s2", [0], 1), ("s1x", [0], 1), ("orphan-behind-planned", [0], 1), ("lost-twice", [0, 1], 2),
])  # fmt: skip
def test_a_shard_that_no_start_looks_at_is_not_named_with_a_given_one(name, quiet, moved):
    """The connector takes up only what its batch names and what is new below that: a name would
    make it read the whole shard again."""
    file = load(CASES / "spark" / f"{name}-awslabs-2.toml")
    options = {"release": "awslabs-1.4.2", "startingPosition": "TRIM_HORIZON"}
    case = Bench.on(file, dialect_of("spark").images(file), options).plan_case
    plan = places(file, options, {moved: START})
    assert isinstance(plan, Plan)
    before, then = (
        case.simulation(case.checkpoint(rows), case.candidates[0]).fates
        for rows in (case.images, case.after(plan.steps))
    )
    for shard in map(shard_id, quiet):
        assert isinstance(before[shard], WontRead) and isinstance(then[shard], WontRead)


@pytest.mark.parametrize("name", [
    "kinsumer/finished-at-another-number", "kinsumer/finished-at-another-number-cached",
    "spark/lineage-ended-at-older",
])
def test_an_end_at_a_number_of_another_shard_can_be_confirmed(name):
    """The store spells the end already, but the number beside it makes it doubtful (RSH206); the
    operator who knows that the shard was read says so, and the doubt is over."""
    case = posed(load(CASES / f"{name}.toml"))
    zero = shard_id(0)
    assert zero not in {p.shard for p in stored_positions(case) if p.cut == DONE}
    given = replace(case, policy=replace(POSITIONS, places={zero: DONE}), accept=ALL)
    plan = decide(given)
    assert isinstance(plan, Plan) and plan.price, "what may be skipped is asked about"
    mended = replace(given, images=given.after(plan.steps))
    assert zero in {p.shard for p in stored_positions(mended) if p.cut == DONE}
    assert isinstance(decide(mended), Nothing)
