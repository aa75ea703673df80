"""kinesis-lineage, whose offsets are ends: its newest committed line is edited where it stands.

That such an edit is read from: runs of sources with ends on Spark 3.3.4 to 4.3.0, November 2026
("newest COMMITTED offsets/2 30->15 in place: resumes at 15"). The spelling of the offset is that of
the recorded checkpoint `pyds`.
"""

from __future__ import annotations

import json
from collections.abc import Mapping

import pytest
from msgspec.structs import replace

from reshardctl.consumers.spark.consumer import Spark
from reshardctl.consumers.spark.encode import over
from reshardctl.model import (
    DONE,
    START,
    TIP,
    Basis,
    Cause,
    Image,
    ShardId,
    Span,
    WillRead,
    after,
    at_number,
    at_time,
    shard_id,
)
from reshardctl.planning.effects import StreamState
from reshardctl.planning.plan import Case, NoSafePlan, Nothing, Plan, decide
from reshardctl.planning.policy import LATEST_AT_START
from tests.support.spark_recorded import GOLDEN, HEAD, Recorded, judged

CONF = (GOLDEN / "pyds" / "lineage" / "offsets" / "0").read_text().split("\n")[1]
COMMIT = 'v1\n{"nextBatchWatermarkMs":0}'
OPEN = {"seq": "", "end": False}


def recorded() -> Recorded:
    """A stream of one split, its numbers and its listing."""
    return Recorded("s1", HEAD, HEAD)


def number(index: int) -> str:
    """Of the parent's record with this index; the fourth is where the recording stands."""
    read = int(recorded().facts["repair"]["shards"]["0"][1])
    return str(read + ((index - 3) << 80))


def files(ends: Mapping[int, object], planned: bool = False, state: bool = False) -> list[Image]:
    shards = {"shards": {shard_id(shard): end for shard, end in ends.items()}}
    texts = {
        "metadata": '{"id":"69880f2a-f006-496b-9513-9120bf42d838"}',
        "offsets/0": f"v1\n{CONF}\n{json.dumps(shards)}",
    }
    texts["commits/0"] = COMMIT
    if planned:
        texts["offsets/1"] = texts["offsets/0"]
    if state:
        texts["state/0/0/1.delta"] = "x"
    return [Image(key, {"text": {"S": texts[key]}}) for key in sorted(texts)]


def case(images: list[Image], **said: str) -> Case:
    one, consumer = recorded(), Spark()
    options = {"startingPosition": "TRIM_HORIZON", "failOnDataLoss": "true"} | said
    parsed = consumer.parse(images, one.stream)
    state = StreamState(one.lineage, max(one.times.values()) + 60)
    return Case(consumer, state, images, consumer.candidates(parsed, options))


def fates(one: Case) -> Mapping[ShardId, object]:
    (candidate,) = one.candidates
    return one.consumer.simulate_start(one.state.lineage, one.checkpoint(), candidate.app).fates


def span(one: Case, shard: int) -> Span:
    (candidate,) = one.candidates
    return one.consumer.processed(one.state.lineage, one.checkpoint(), candidate.app)[
        shard_id(shard)
    ]


def line(images: list[Image]) -> str:
    (log,) = [image for image in images if image.key == "offsets/0"]
    return str(log.attributes["text"]["S"].split("\n")[2])


def test_children_wait_for_their_parent() -> None:
    found = fates(case(files({0: {"seq": number(3), "end": False}})))
    parent, child = found[shard_id(0)], found[shard_id(1)]
    assert isinstance(parent, WillRead) and isinstance(child, WillRead)
    assert parent.at.lo == at_number(number(3)) and parent.ends
    assert child.at.lo == START and child.after == {shard_id(0)}


def test_an_end_is_an_end() -> None:
    ended = files({0: {"seq": number(9), "end": True}, 1: OPEN, 2: OPEN})
    parent = fates(case(ended))[shard_id(0)]
    assert isinstance(parent, WillRead) and parent.at.lo == DONE
    assert decide(case(ended)) == Nothing()


def test_a_sound_checkpoint_plans_nothing() -> None:
    assert decide(case(files({0: {"seq": number(3), "end": False}}))) == Nothing()


def foreign() -> dict[int, object]:
    """The child stands at a number of its parent."""
    ended = {"seq": number(9), "end": True}
    return {0: ended, 1: {"seq": number(3), "end": False}, 2: OPEN}


def test_the_line_is_edited_in_place_and_nothing_else() -> None:
    one = case(files(foreign()))
    plan = decide(one)
    assert isinstance(plan, Plan), plan
    assert [w.key for step in plan.steps for w in step.writes] == ["offsets/0"]
    mended = after(one.images, plan.steps)
    expected = {shard_id(0): {"seq": number(9), "end": True}, shard_id(1): OPEN, shard_id(2): OPEN}
    assert line(mended) == json.dumps({"shards": expected})
    kept = [image for image in mended if image.key != "offsets/0"]
    assert kept == [image for image in one.images if image.key != "offsets/0"]
    assert decide(replace(one, images=mended)) == Nothing()


@pytest.mark.parametrize(("images", "said", "why"), [
    (files(foreign(), planned=True), {}, "not committed"),
    (files(foreign(), state=True), {}, "count twice"),
])
def test_what_an_edit_would_break_is_refused(
    images: list[Image], said: dict[str, str], why: str
) -> None:
    decided = decide(case(images, **said))
    assert isinstance(decided, NoSafePlan) and why in decided.why


def test_it_has_no_mark_for_the_tip_as_of_each_start() -> None:
    """docs/source.md: an offset holds numbers, times of the first batch and ends."""
    one = replace(case(files({0: {"seq": number(3), "end": False}})), policy=LATEST_AT_START)
    decided = decide(one)
    assert isinstance(decided, NoSafePlan) and "numbers only" in decided.why


def test_a_line_of_another_hand_is_not_edited() -> None:
    """PySpark spells it by json.dumps; whatever else did may have meant something by it."""
    images = [
        replace(i, attributes={"text": {"S": i.attributes["text"]["S"].replace(": {", ":{")}})
        if i.key == "offsets/0" else i for i in files(foreign())
    ]
    decided = decide(case(images))
    assert isinstance(decided, NoSafePlan) and "not spelled as PySpark" in decided.why
    assert "restore offsets/ from a backup" in decided.ways_out


def test_a_planned_batch_that_ends_an_open_shard_crashes_the_query() -> None:
    """The batch is fixed, and its partition has to come to an end that the shard does not have."""
    images = files({0: {"seq": number(9), "end": True}, 1: OPEN, 2: OPEN}, planned=True)
    text = images[-1].attributes["text"]["S"].replace(
        f'"{shard_id(1)}": {json.dumps(OPEN)}', f'"{shard_id(1)}": {{"seq": "", "end": true}}'
    )
    died = judged(case([*images[:-1], Image("offsets/1", {"text": {"S": text}})])).simulation.crash
    assert died is not None and died.cause is Cause.FALSE_END and died.by == (shard_id(1),)


def test_an_ancestor_of_a_shard_that_was_begun_is_taken_for_read() -> None:
    above = span(case(files({1: OPEN, 2: OPEN})), 0)
    assert above.lo == DONE and above.basis is Basis.INFERRED


def test_what_a_batch_read_whose_commit_is_torn_may_come_again() -> None:
    """Batch 0 runs again (runs of test_spoiled): processed is what its line says, or nothing."""
    images = [
        replace(i, attributes={"text": {"S": ""}}) if i.key == "commits/0" else i
        for i in files({0: {"seq": number(3), "end": False}})
    ]
    found = span(case(images), 0)
    assert (found.lo, found.hi) == (START, at_number(number(3)))


def test_a_false_end_without_a_number_proves_no_more_than_the_batch_before() -> None:
    """The child is open; before it was marked as ended it had come to a record."""
    first = str(int(recorded().lineage[shard_id(1)].start) + (1 << 80))
    ended = {"seq": number(9), "end": True}
    one = files({0: ended, 1: {"seq": first, "end": False}, 2: OPEN})
    later = files({0: ended, 1: {"seq": "", "end": True}, 2: OPEN})[-1]
    found = span(case([*one, replace(later, key="offsets/1"), replace(one[0], key="commits/1")]), 1)
    assert found.lo == at_number(first) and found.hi == TIP


def test_the_operator_may_let_state_count_twice() -> None:
    assert isinstance(decide(case(files(foreign(), state=True), allow="recount")), Plan)


def test_after_which_cuts_nothing_is_left_of_a_shard():
    """API reference: EndingSequenceNumber is that of a closed shard's last record."""
    lineage = recorded().lineage
    closed, open_ = (next(s for s in lineage if lineage.is_open(s) is is_open)
                     for is_open in (False, True))  # fmt: skip
    end = lineage[closed].end
    assert end is not None
    left = {at_number(str(int(end) - 1)): True, START: True, at_time(0.0): True}
    for cut, more in {**left, at_number(end): False, TIP: False, DONE: False}.items():
        assert over(lineage, closed, cut) is not more, cut
    for cut in (START, at_number(end), TIP):
        assert not over(lineage, open_, cut), cut
    assert over(lineage, open_, DONE)
