"""What the rows of an application that starts at a time say of shards without a row.

allgroup.go and consumer.go of v0.5.0 and master 31e0042: a shard without a row begins at the start
mode, whatever the rows of the others hold. States: the differential families `…-by-time`.

Two rows may hold each other's numbers. Kinesis refuses a number in another shard's row (runs of
v0.5.0 and master 31e0042), but it is a record's, and of these rows the only one of its shard: the
plan that writes over it keeps it.
"""

from __future__ import annotations

from copy import deepcopy
from pathlib import Path

import pytest
from msgspec.structs import replace

from reshardctl.model import START, Image, ShardId, at_number, changed, decode, shard_id
from reshardctl.planning.decision import Scope
from reshardctl.planning.effects import Harm
from reshardctl.planning.plan import Decision, NoSafePlan, Nothing, Plan, decide, processed_frontier
from reshardctl.planning.within_scope import touched
from reshardctl.testing.shards import SequenceNumber
from tests.support.case import CASES, Case, from_table, load
from tests.support.dialects import kinesis_consumer as dialect
from tests.support.judging import Bench, options_of

RELEASES = ("0.5.0", "master-31e0042")
LATE = "AT_TIMESTAMP:+2000"
LOWER, UPPER = ["0", "1/2"], ["1/2", "1"]
SHARDS = [
    {"id": 0, "range": LOWER, "open": 0, "close": 600,
     "records": {"n": 3, "from": 60, "to": 560}},
    {"id": 1, "range": LOWER, "open": 601, "parents": [0],
     "records": {"n": 2, "from": 700, "to": 2900}},
    {"id": 2, "range": UPPER, "open": 0, "close": 1200,
     "records": {"n": 3, "from": 60, "to": 1100}},
    {"id": 3, "range": UPPER, "open": 1201, "parents": [2],
     "records": {"n": 2, "from": 1300, "to": 2900}},
]


def case(**numbers: str) -> Case:
    """The stream, and rows by shard: s1="START"."""
    rows = [{"shard": int(name[1:]), "number": text} for name, text in numbers.items()]
    return from_table(Path("drawn.toml"), {
        "title": "t", "source": "drawn", "consumer": "kinesis-consumer",
        "stream": {"created": 1_795_219_200, "now": 3000, "shards": deepcopy(SHARDS)},
        "rows": rows, "expect": [{"findings": []}],
    })


def bench_of(rows: Case, initial: str, release: str) -> Bench:
    options = {**options_of(rows, initial, release), "app": "app"}
    return Bench.on(rows, dialect.images(rows), options)


def decided(rows: Case, initial: str, release: str) -> Decision:
    return bench_of(rows, initial, release).decide()


@pytest.mark.parametrize("release", RELEASES)
def test_a_row_at_its_shard_s_start_does_not_show_that_the_application_was_at_work(
    release: str
) -> None:
    """`fix` writes such a row in place of one that is no number: no record was read with it."""
    assert isinstance(decided(case(s1="START"), LATE, release), Nothing)


@pytest.mark.parametrize("release", RELEASES)
def test_a_row_that_is_no_number_is_repaired_once(release: str) -> None:
    plan = decided(case(s1="null"), LATE, release)
    assert isinstance(plan, Plan)
    assert [write.key for step in plan.steps for write in step.writes] == [
        "app-orders/shardId-000000000001"
    ]


def test_an_application_that_read_before_its_start_time_may_have_begun_elsewhere() -> None:
    """Its start mode was another one then: a root without a row may be unread from its start."""
    bench = bench_of(case(s1="s1-0"), LATE, "0.5.0")
    assert "RSH202" in {finding.code for finding in bench.findings()}
    plan = bench.decide()
    assert isinstance(plan, Plan)
    assert any(write.key.endswith("2") for step in plan.steps for write in step.writes)


def test_an_application_that_read_nothing_before_its_start_time_began_there() -> None:
    """A root without a row has had no record since."""
    early = "AT_TIMESTAMP:+10"
    assert isinstance(decided(case(s1="s1-0"), early, "0.5.0"), Nothing)


@pytest.mark.parametrize(("initial", "late"), [
    ("LATEST", True), ("AT_TIMESTAMP:+602", True), ("AT_TIMESTAMP:+601", False),
])  # fmt: skip
def test_a_start_time_before_a_shard_opened_passes_over_nothing_of_it(initial, late):
    """1 opened at +601, while the application read 2."""
    known = processed_frontier(bench_of(case(s0="s0-2", s1="s1-0", s2="s2-2"), initial, "0.5.0")
                               .plan_case)  # fmt: skip
    assert bool(known[shard_id(1)].head) is late


def test_a_number_under_another_key_tells_how_far_the_shard_may_have_been_read() -> None:
    """A copy of the row under a key that is no shard's proves nothing, and prices the repair."""
    rows = case(s0="s0-2", s3="s3-0")
    own = rows.number_of("s1-0")
    copied = [
        Image(f"app-orders/{key}", {
            "namespace": {"S": "app-orders"}, "shard_id": {"S": key},
            "sequence_number": {"S": text},
        }) for key, text in (("old-shardId-000000000001", own), ("note", "null"))
    ]  # fmt: skip
    options = {**options_of(rows, LATE, "0.5.0"), "app": "app"}
    plan = Bench.on(rows, [*dialect.images(rows), *copied], options, accept="reread=24h").decide()
    assert isinstance(plan, Plan)
    (again,) = [e for e in plan.after[0] if e.harm is Harm.REREAD and e.shard == shard_id(1)]
    assert again.until == at_number(own)


def test_a_shard_left_alone_names_the_records_before_the_start_time() -> None:
    """master takes no row below the unread shard 0, so 1 and 2 begin at the start time: what came
    before it is skipped, whatever comes after it is read."""
    rows = load(CASES / "kinesis-consumer" / "b1.toml")
    options = {"app": "app", "release": "master-31e0042", "initial": "AT_TIMESTAMP"}
    plan = Bench.on(rows, dialect.images(rows), options).decide()
    assert isinstance(plan, Plan)
    left = {residual.shard: residual.costs.harm for residual in plan.residuals}
    assert left == {shard_id(1): Harm.SKIPPED, shard_id(2): Harm.SKIPPED}


def test_a_shard_that_was_read_stays_read_when_the_row_below_it_begins_again() -> None:
    """The number in the row of 1 alone says that 0 was read: master takes rows below for it.

    Moved back to a time after the close of 0, before which 1 held no record, the row of 1 says so
    no more; of a row at its own end master never asks for the shard (runs, November 2026).
    """
    rows = case(s1="s1-1")
    options = {"app": "app", "release": "master-31e0042", "initial": "TRIM_HORIZON"}
    bench = Bench.on(rows, dialect.images(rows), options, "at-timestamp:+650")
    plan = bench.decide()
    assert isinstance(plan, Plan)
    written = {
        write.key[-1]: after.attributes["sequence_number"]["S"]
        for step in plan.steps for write in step.writes
        if (after := changed(write.before, write)) is not None
    }
    first, second = (shard["SequenceNumberRange"] for shard in rows.shards[:2])
    assert written["0"] == first["EndingSequenceNumber"]
    assert written["1"] == second["StartingSequenceNumber"]


PARENT, CHILD = shard_id(2), shard_id(3)
MASTER = "master-31e0042"
INITIAL = ("TRIM_HORIZON", "LATEST", LATE)


@pytest.mark.parametrize("initial", INITIAL)
@pytest.mark.parametrize("release", RELEASES)
def test_a_parent_and_its_child_get_their_numbers_back(release: str, initial: str) -> None:
    """Master never asks for the parent's; it alone tells what is left in the parent."""
    bench = bench_of(case(s2="s3-0", s3="s2-0"), initial, release)
    plan = bench.decide()
    assert isinstance(plan, Plan)
    right = {row.key: row for row in dialect.images(case(s2="s2-0", s3="s3-0"))}
    after = {row.key: row for row in bench.after(plan.steps)}
    assert {key: after[key] for key in right} == right


@pytest.mark.parametrize("shard", [PARENT, CHILD])
def test_a_plan_of_one_of_them_writes_both_or_none(shard: ShardId) -> None:
    whole = bench_of(case(s2="s3-0", s3="s2-0"), "TRIM_HORIZON", MASTER).plan_case
    plan = decide(replace(whole, scope=Scope(frozenset({shard}))))
    if isinstance(plan, Plan):
        assert touched(whole, plan.steps).keys() == {PARENT, CHILD}
    else:
        assert isinstance(plan, NoSafePlan) and set(plan.needs) == {PARENT, CHILD}


@pytest.mark.parametrize("initial", INITIAL)
@pytest.mark.parametrize("release", RELEASES)
def test_they_show_that_the_application_was_at_work(release: str, initial: str) -> None:
    """Of shards without a row the same is known as once the numbers are in their places."""
    swapped, right = (
        processed_frontier(bench_of(rows, initial, release).plan_case)
        for rows in (case(s2="s3-0", s3="s2-0"), case(s2="s2-0", s3="s3-0"))
    )
    for shard in (shard_id(0), shard_id(1)):
        assert swapped[shard] == right[shard]


@pytest.mark.parametrize("spelled", [" {}", "{}\n", "0{}"])
@pytest.mark.parametrize("initial", INITIAL)
@pytest.mark.parametrize("release", RELEASES)
def test_so_does_a_number_that_is_refused_for_its_spelling(
    release: str, initial: str, spelled: str
) -> None:
    """A repair writes it bare: what is known of the others is the same before and after it."""
    right = case(s3="s3-0")
    odd = case(s3=spelled.format(right.number_of("s3-0")))
    before, after = (
        processed_frontier(bench_of(rows, initial, release).plan_case) for rows in (odd, right)
    )
    for shard in map(shard_id, (0, 1, 2)):
        assert before[shard] == after[shard]


def test_a_number_that_its_shard_cannot_have_is_not_one_of_them() -> None:
    """That row is another stream's, as one with a twin's number: nothing was swapped."""
    rows = case(s2="s3-0", s3="s2-0")
    own = decode(rows.number_of("s3-0"))
    assert own is not None
    twin = SequenceNumber(epoch=own.epoch - 900, index=1, time=own.time - 900, shard=3)
    known = processed_frontier(
        bench_of(case(s2=str(twin), s3="s2-0"), "TRIM_HORIZON", "telegraf-1.39").plan_case
    )
    assert known[PARENT].lo == START
