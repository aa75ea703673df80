"""kinesis-lineage, whose offsets are ends: its newest committed line is edited where it stands.

That such an edit is read from: runs of sources with ends on Spark 3.3.4 to 4.3.0, November 2026
("newest COMMITTED offsets/2 30->15 in place: resumes at 15"). The spelling of the offset is that of
the recorded checkpoint `pyds`.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping

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
    Span,
    WillRead,
    after,
    at_number,
    at_time,
    shard_id,
)
from reshardctl.planning.effects import StreamState
from reshardctl.planning.plan import (
    Case,
    NoSafePlan,
    Nothing,
    Plan,
    decide,
    processed_frontier,
)
from reshardctl.planning.policy import LATEST_AT_START, LOSSLESS, Policy
from tests.support.checkpoint_files import file
from tests.support.spark_recorded import GOLDEN, HEAD, Recorded, judged

CONF = (GOLDEN / "pyds" / "lineage" / "offsets" / "0").read_text().split("\n")[1]
OPEN = {"seq": "", "end": False}


RECORDED = Recorded("s1", HEAD, HEAD)
"""A stream of one split, its numbers and its listing."""


def number(index: int) -> str:
    """Of the parent's record with this index; the fourth is where the recording stands."""
    read = int(RECORDED.facts["repair"]["shards"]["0"][1])
    return str(read + ((index - 3) << 80))


def files(ends: Mapping[int, object], planned: bool = False, state: bool = False) -> list[Image]:
    shards = {"shards": {shard_id(shard): end for shard, end in ends.items()}}
    texts = {
        "metadata": '{"id":"69880f2a-f006-496b-9513-9120bf42d838"}',
        "offsets/0": f"v1\n{CONF}\n{json.dumps(shards)}",
    }
    texts["commits/0"] = 'v1\n{"nextBatchWatermarkMs":0}'
    if planned:
        texts["offsets/1"] = texts["offsets/0"]
    if state:
        texts["state/0/0/1.delta"] = "x"
    return [Image(key, {"text": {"S": texts[key]}}) for key in sorted(texts)]


READING = {0: {"seq": number(3), "end": False}}
ENDED = {"seq": number(9), "end": True}
FOREIGN = {0: ENDED, 1: {"seq": number(3), "end": False}, 2: OPEN}
"""The child stands at a number of its parent."""


def with_text(images: list[Image], key: str, change: Callable[[str], str]) -> list[Image]:
    """The files with the text of one of them changed."""
    return [
        file(key, change(i.attributes["text"]["S"])) if i.key == key else i for i in images
    ]


def case(images: list[Image], **said: str) -> Case:
    consumer = Spark()
    options = {"startingPosition": "TRIM_HORIZON", "failOnDataLoss": "true"} | said
    parsed = consumer.parse(images, RECORDED.stream)
    state = StreamState(RECORDED.lineage, max(RECORDED.times.values()) + 60)
    return Case(consumer, state, images, consumer.candidates(parsed, options))


def span(one: Case, shard: int) -> Span:
    return processed_frontier(one)[shard_id(shard)]


def test_children_wait_for_their_parent() -> None:
    one = case(files(READING))
    found = judged(one).simulation.fates
    parent, child = found[shard_id(0)], found[shard_id(1)]
    assert isinstance(parent, WillRead) and isinstance(child, WillRead)
    assert parent.at.lo == at_number(number(3)) and parent.ends
    assert child.at.lo == START and child.after == {shard_id(0)}
    assert decide(one) == Nothing()


def test_an_end_is_an_end() -> None:
    one = case(files({0: ENDED, 1: OPEN, 2: OPEN}))
    parent = judged(one).simulation.fates[shard_id(0)]
    assert isinstance(parent, WillRead) and parent.at.lo == DONE
    assert decide(one) == Nothing()


@pytest.mark.parametrize("state", [False, True])
def test_the_line_is_edited_in_place_and_nothing_else(state: bool) -> None:
    """Where state would count records twice, the operator may let it."""
    one = case(files(FOREIGN, state=state), **({"allow": "recount"} if state else {}))
    plan = decide(one)
    assert isinstance(plan, Plan), plan
    assert [w.key for step in plan.steps for w in step.writes] == ["offsets/0"]
    mended = after(one.images, plan.steps)
    shards = {shard_id(0): ENDED, shard_id(1): OPEN, shard_id(2): OPEN}
    (log,) = [image for image in mended if image.key == "offsets/0"]
    assert log.attributes["text"]["S"].split("\n")[2] == json.dumps({"shards": shards})
    kept = [image for image in mended if image is not log]
    assert kept == [image for image in one.images if image.key != "offsets/0"]
    assert decide(replace(one, images=mended)) == Nothing()


@pytest.mark.parametrize(("images", "policy", "why"), [
    (files(FOREIGN, planned=True), LOSSLESS, "not committed"),
    (files(FOREIGN, state=True), LOSSLESS, "count twice"),
    # docs/source.md: an offset holds numbers, times of the first batch and ends.
    (files(READING), LATEST_AT_START, "numbers only"),
    # PySpark spells it by json.dumps; whatever else did may have meant something by it.
    (with_text(files(FOREIGN), "offsets/0", lambda text: text.replace(": {", ":{")), LOSSLESS,
     "not spelled as PySpark"),
], ids=["a planned batch", "state", "no mark for the tip", "another hand"])  # fmt: skip
def test_what_is_not_edited(images: list[Image], policy: Policy, why: str) -> None:
    decided = decide(replace(case(images), policy=policy))
    assert isinstance(decided, NoSafePlan) and why in decided.why
    restored = "restore offsets/ from a backup" in decided.ways_out
    assert restored or why != "not spelled as PySpark"


def test_a_planned_batch_that_ends_an_open_shard_crashes_the_query() -> None:
    """The batch is fixed, and its partition has to come to an end that the shard does not have."""
    one, mark = f'"{shard_id(1)}": ', '{"seq": "", "end": true}'
    images = with_text(
        files({0: ENDED, 1: OPEN, 2: OPEN}, planned=True), "offsets/1",
        lambda text: text.replace(one + json.dumps(OPEN), one + mark),
    )
    died = judged(case(images)).simulation.crash
    assert died is not None and died.cause is Cause.FALSE_END and died.by == (shard_id(1),)


def test_an_ancestor_of_a_shard_that_was_begun_is_taken_for_read() -> None:
    above = span(case(files({1: OPEN, 2: OPEN})), 0)
    assert above.lo == DONE and above.basis is Basis.INFERRED


def test_what_a_batch_read_whose_commit_is_torn_may_come_again() -> None:
    """Batch 0 runs again (runs of test_spoiled): processed is what its line says, or nothing."""
    found = span(case(with_text(files(READING), "commits/0", lambda _: "")), 0)
    assert (found.lo, found.hi) == (START, at_number(number(3)))


def test_a_false_end_without_a_number_proves_no_more_than_the_batch_before() -> None:
    """The child is open; before it was marked as ended it had come to a record."""
    first = str(int(RECORDED.lineage[shard_id(1)].start) + (1 << 80))
    one = files({0: ENDED, 1: {"seq": first, "end": False}, 2: OPEN})
    later = files({0: ENDED, 1: {"seq": "", "end": True}, 2: OPEN})[-1]
    found = span(case([*one, replace(later, key="offsets/1"), replace(one[0], key="commits/1")]), 1)
    assert found.lo == at_number(first) and found.hi == TIP


def test_after_which_cuts_nothing_is_left_of_a_shard():
    """API reference: EndingSequenceNumber is that of a closed shard's last record."""
    lineage = RECORDED.lineage
    closed, open_ = shard_id(0), shard_id(1)
    end = lineage[closed].end
    assert end is not None
    left = {at_number(str(int(end) - 1)): True, START: True, at_time(0.0): True}
    for cut, more in {**left, at_number(end): False, TIP: False, DONE: False}.items():
        assert over(lineage, closed, cut) is not more, cut
    for cut in (START, at_number(end), TIP):
        assert not over(lineage, open_, cut), cut
    assert over(lineage, open_, DONE)
