"""Rows that do not say of which stream they are: another stream's, if most contradict the listing.

Nothing in a row without a number names its stream; the shards and the ends that it tells are all
there is. Numbers of the first shards of two streams of one second look the same, for they carry the
second of the creation (seven of seven public samples); a reshard begins an epoch of its own.
"""

from __future__ import annotations

import pytest
from msgspec.structs import replace

from reshardctl.consumers.locator import parse
from reshardctl.consumers.registry import consumer_of
from reshardctl.consumers.sequence_numbers import born_later
from reshardctl.diagnosis.evidence import Snapshot
from reshardctl.errors import WrongStream
from reshardctl.lineage import Lineage
from reshardctl.model import START, Image, at_number, decode, shard_id
from reshardctl.planning.plan import NoSafePlan, Plan
from reshardctl.planning.policy import LATEST as LATEST_NOW
from reshardctl.planning.policy import LOSSLESS, POSITIONS
from reshardctl.report.report import RepairOptions, make
from reshardctl.report.status import statuses
from tests.support.case import CASES, load
from tests.support.case_stream import number
from tests.support.dialects import dialect_of
from tests.support.judging import lineage_of

CASE = load(CASES / "kcl" / "a-both.toml")
"""Shard 0 is closed, 1 to 3 are open, and there is no 4."""
CREATED = float(CASE.stream["created"])
MOST = {0: "SHARD_END", 1: "SHARD_END", 7: "TRIM_HORIZON", 8: "TRIM_HORIZON"}
FEW = {0: "SHARD_END", 1: "TRIM_HORIZON", 2: "TRIM_HORIZON", 7: "TRIM_HORIZON"}


def snapshot(rows: dict[int, str], made_at: float | None = None) -> Snapshot:
    images = tuple(
        Image(shard_id(shard), {
            "leaseKey": {"S": shard_id(shard)}, "checkpoint": {"S": checkpoint},
            "checkpointSubSequenceNumber": {"N": "0"}, "leaseCounter": {"N": "1"},
            "ownerSwitchesSinceCheckpoint": {"N": "0"},
        }) for shard, checkpoint in rows.items()
    )
    locator = parse("kcl://app?initial=TRIM_HORIZON&release=3.5.1")
    lineage = lineage_of(CASE.shards, CREATED)
    return Snapshot(locator, lineage, images, {}, float(CASE.now), made_at=made_at)


@pytest.mark.parametrize("made_at", [None, CREATED + 60])
def test_most_rows_are_refused_as_another_stream_s(made_at):
    """That they are of an earlier stream is no way out where the store is younger than this one."""
    with pytest.raises(WrongStream) as refused:
        make(snapshot(MOST, made_at), RepairOptions(created=CREATED))
    assert (
        "3 of 4 rows contradict the listing of stream orders (2 of a shard that it never had, such "
        "as 7; 1 at the end of a shard that is open, such as 1)"
    ) in refused.value.what
    assert ("--recreated" in refused.value.next) is (made_at is None)


@pytest.mark.parametrize("rows", [MOST, FEW])
def test_the_operator_may_say_that_they_are_of_an_earlier_stream(rows):
    report = make(snapshot(rows), RepairOptions(recreated=CREATED))
    assert report.doubt == ""


def test_fewer_are_named_and_asked_about():
    report = make(snapshot(FEW), RepairOptions())
    said = "1 of 4 rows contradicts the listing of stream orders (1 of a shard that it never had"
    assert said in report.doubt


def test_a_number_of_this_stream_shows_whose_the_others_are():
    own = CASE.records[shard_id(1)][0][0]
    report = make(snapshot(MOST | {2: str(own)}), RepairOptions())
    assert report.doubt == ""


OTHER = "arn:aws:kinesis:us-east-1:123456789012:stream/other"
ROWS = {
    "kcl/a-one": "kcl://app?initial=TRIM_HORIZON&release=3.5.1",
    "kinsumer/b4": "kinsumer://app?release=twitch",
    "kinesis-consumer/b4": "kinesis-consumer+ddb://table?app=app&release=0.5.0",
    "quickwit/split-healthy": "quickwit+file:///root",
    "spark/half-read-awslabs-2": "spark:/c",
}
"""Case → the locator that reads its rows: they hold numbers of first and of later shards."""


@pytest.mark.parametrize("name", ROWS)
def test_the_rows_are_of_the_other_stream(name):
    """This stream has the same first shards, and was never resharded."""
    case = load(CASES / f"{name}.toml")
    whole = lineage_of(case.shards, case.stream["created"])
    roots = [replace(whole[shard], end=None) for shard in whole if not whole[shard].parents]
    rows = tuple(dialect_of(case.consumer).images(case))
    theirs = Snapshot(parse(ROWS[name]), whole, rows, {}, float(case.now))
    make(theirs, RepairOptions())
    consumer = consumer_of(theirs.locator)
    texts = consumer.texts(consumer.parse(rows, whole.stream))
    later = {shard: text for shard, text in texts.items() if born_later(theirs.lineage, text)}
    assert 0 < len(later) < sum(decode(text) is not None for text in texts.values())
    born = {decode(text).epoch: (OTHER,) for text in later.values()}  # type: ignore[union-attr]
    ours = replace(theirs, lineage=Lineage(whole.stream, roots), born=born)
    make(ours, RepairOptions())
    with pytest.raises(WrongStream, match="stream other, which was created in the same second"):
        make(replace(ours, alike=(OTHER,)), RepairOptions())


YOUNGER = number(int(CREATED) + 9_000, 5, int(CREATED) + 9_100, 5)
"""Of shard 5 of a stream that was created later: this one has no such shard yet."""


@pytest.mark.parametrize("known", [False, True])
def test_an_end_beside_another_stream_s_row_may_be_that_stream_s(known):
    """docs/judged.md: rows of which no number tells, beside rows of another stream. A number of
    this stream in the family of the shard shows that its end is this one's."""
    own = CASE.records[shard_id(1)][0][0]
    rows = {0: "SHARD_END", 1: str(own), 5: YOUNGER}
    if known:
        rows[2] = str(CASE.records[shard_id(2)][0][0])
    report = make(snapshot(rows), RepairOptions())
    assert isinstance(report.decision, Plan)
    assert ("no sequence number shows whose the position of 0 is" in report.doubt) is not known
    assert ("fix asks for --created" in str(report.notes)) is not known


OWN = str(CASE.records[shard_id(1)][0][0])
NEXT = at_number(CASE.records[shard_id(1)][1][0])
OLDER = str(number(int(CREATED) - 9_000, 2, int(CREATED) - 8_900, 5))
"""Of shard 2 of the stream that had this name before."""
BESIDE_OTHERS = {0: "SHARD_END", 1: OWN, 5: YOUNGER}
LATEST = replace(LATEST_NOW, since=float(CASE.now), places={shard_id(1): NEXT})
ALL_BACK = replace(POSITIONS, places={shard_id(0): START}, shifts=True)


@pytest.mark.parametrize(("rows", "options", "asked"), [
    pytest.param({0: "SHARD_END", 1: OWN, 2: OLDER}, RepairOptions(), True, id="earlier stream"),
    pytest.param(
        {0: "SHARD_END", 1: OWN, 2: OLDER}, RepairOptions(recreated=CREATED), False,
        id="earlier stream, of which the operator knows",
    ),
    pytest.param(BESIDE_OTHERS, RepairOptions(policy=LATEST), True, id="latest names no shard"),
    pytest.param(BESIDE_OTHERS, RepairOptions(policy=ALL_BACK), True, id="shift names none"),
    pytest.param(
        BESIDE_OTHERS, RepairOptions(policy=replace(ALL_BACK, shifts=False)), False, id="set does",
    ),
])
def test_what_shows_whose_an_end_is_and_what_does_not(rows, options, asked):
    report = make(snapshot(rows), options)
    assert isinstance(report.decision, Plan)
    assert ("no sequence number shows whose the position of 0 is" in report.doubt) is asked


def test_a_number_of_another_stream_has_no_time_in_this_one():
    """When its record was written tells nothing of how far this stream's shard is read."""
    report = make(snapshot(BESIDE_OTHERS | {2: OLDER}), RepairOptions())
    rows = {row.shard: row for row in statuses(report, report.findings)}
    for shard, foreign in ((1, False), (2, True), (5, True)):
        row = rows[shard_id(shard)]
        assert (row.position.foreign, row.position.time is None) == (foreign, foreign)
        assert (row.progress is None) is foreign


def test_the_rows_of_several_other_streams_are_told_apart():
    """One of shard 5 of a younger stream, one of an earlier one; the doubt names whose each is."""
    doubt = make(snapshot(BESIDE_OTHERS | {2: OLDER}), RepairOptions()).doubt
    assert "that of 5 is of another stream" in doubt
    assert "that of 2 is of an earlier stream of this name or of another stream" in doubt


@pytest.mark.parametrize(("rows", "theirs"), [
    (BESIDE_OTHERS, "another stream's"), ({0: "SHARD_END", 1: OWN, 2: OLDER}, "older than it"),
])
@pytest.mark.parametrize("shifts", [False, True])
def test_no_plan_takes_away_the_last_number_of_this_stream(rows, theirs, shifts):
    """Every later command would take the table for the other stream's, or ask for --recreated."""
    policy = replace(POSITIONS, places={shard_id(1): START}, shifts=shifts)
    report = make(snapshot(rows), RepairOptions(policy=policy))
    assert isinstance(report.decision, NoSafePlan)
    assert report.decision.why.endswith(f"the numbers that are left are {theirs}")


@pytest.mark.parametrize(("policy", "told"), [(LATEST, True), (ALL_BACK, False), (LOSSLESS, False)])
def test_a_policy_says_which_shard_it_does_not_move(policy, told):
    """The end of 0 is not moved either, but no policy would move it."""
    if policy is LATEST:
        policy = replace(LATEST, places={**LATEST.places, shard_id(3): NEXT})
    report = make(snapshot(BESIDE_OTHERS | {3: "TRIM_HORIZON"}), RepairOptions(policy=policy))
    assert ("--policy latest does not move 3:" in str(report.notes)) is told


@pytest.mark.parametrize("kept", [{}, {3: "TRIM_HORIZON"}])
def test_a_recreated_stream_forgets_what_the_plan_changes(kept):
    """The earlier stream's number of 2 and the end of 0; 1 has a number of this stream, and 3 stays
    at its beginning."""
    rows = {0: "SHARD_END", 1: OWN, 2: OLDER} | kept
    report = make(snapshot(rows), RepairOptions(recreated=CREATED))
    assert isinstance(report.decision, Plan) and report.decision.forgets == 2
