"""What an undo may still take back: a planned batch that has not run, and nothing later.

"An appended batch that has not run yet counts as repaired, one that has run as done": runs of
November 2026, in which the same repair after its batch had run was delivered twice.
"""

from __future__ import annotations

import pytest

from reshardctl.consumers.spark.consumer import Spark
from reshardctl.model import Image, after
from reshardctl.planning.plan import Plan, decide
from tests.support.spark_recorded import HEAD, Recorded

COMMIT = 'v1\n{"nextBatchWatermarkMs":0}'


def repaired(shape: str) -> tuple[list[Image], set[str]]:
    """The files after the fix, and the keys that it wrote."""
    case = Recorded(shape, HEAD, HEAD).case()
    plan = decide(case)
    assert isinstance(plan, Plan)
    keys = {write.key for step in plan.steps for write in step.writes}
    return after(case.images, plan.steps), keys


def text(key: str, content: str) -> Image:
    return Image(key, {"text": {"S": content}})


@pytest.mark.parametrize("shape", ["s1", "u1"])
def test_a_planned_batch_can_be_taken_back(shape: str) -> None:
    images, keys = repaired(shape)
    assert Spark().superseded_rows(images, keys, ()) == {}


@pytest.mark.parametrize("shape", ["s1", "u1"])
def test_a_committed_one_cannot(shape: str) -> None:
    images, keys = repaired(shape)
    committed = [*images, text("commits/1", COMMIT)]
    assert Spark().superseded_rows(committed, keys, ()) == {"offsets/1": "batch 1 is committed"}


def test_nor_one_that_has_run_and_died_in_its_sink() -> None:
    images, keys = repaired("s1")
    log = "sources/0/shard-source"
    (entry,) = [one for one in images if one.key.startswith(f"{log}/0/shardId")]
    ran = Image(entry.key.replace(f"{log}/0/", f"{log}/1/"), entry.attributes)
    assert Spark().superseded_rows([*images, ran], keys, ()) == {"offsets/1": "batch 1 has run"}


def test_nor_one_behind_which_another_is_planned() -> None:
    images, keys = repaired("s1")
    (log,) = [one for one in images if one.key == "offsets/1"]
    after = [*images, Image("offsets/2", log.attributes)]
    assert Spark().superseded_rows(after, keys, ()) == {"offsets/1": "batch 2 is planned after it"}
    assert Spark().superseded_rows(after, keys, {"offsets/2"}) == {}, "it was there before the fix"


@pytest.mark.parametrize("stood", [True, False])
def test_a_log_that_was_only_made_readable_again_can_be_taken_back(stood: bool) -> None:
    """Its batch was committed before; one that was planned by the fix is committed after it."""
    recorded = Recorded("s3", HEAD, HEAD)
    newest = max(recorded.case().checkpoint().batches)
    before = {f"commits/{newest}"} if stood else set()
    found = Spark().superseded_rows(recorded.images, {f"offsets/{newest}"}, before)
    assert found == ({} if stood else {f"offsets/{newest}": f"batch {newest} is committed"})


def test_a_log_that_nobody_can_read_has_not_run() -> None:
    images, keys = repaired("s1")
    spoiled = [text("offsets/1", "?") if one.key == "offsets/1" else one for one in images]
    assert Spark().superseded_rows(spoiled, keys, ()) == {}


@pytest.mark.parametrize("stood", [True, False])
def test_a_batch_that_was_planned_before_and_is_committed_since_shows_it(stood: bool) -> None:
    """The query ran it, and had nothing to plan after that."""
    recorded = Recorded("s3", HEAD, HEAD)
    first, second = sorted(recorded.case().checkpoint().batches)
    before = {f"offsets/{second}", f"commits/{first}"} | ({f"commits/{second}"} if stood else set())
    found = Spark().superseded_rows(recorded.images, {f"offsets/{first}"}, before)
    since = {f"offsets/{first}": f"batch {second} is committed after it"}
    assert found == ({} if stood else since)


def test_a_batch_that_is_planned_further_on_shows_it_as_well() -> None:
    """The log next to the fix's was there before it, and the one after that was not."""
    recorded = Recorded("s3", HEAD, HEAD)
    first, second = sorted(recorded.case().checkpoint().batches)
    (log,) = [one for one in recorded.images if one.key == f"offsets/{second}"]
    images = [*recorded.images, Image(f"offsets/{second + 1}", log.attributes)]
    stood = {f"offsets/{second}", f"commits/{first}"}
    found = Spark().superseded_rows(images, {f"offsets/{first}"}, stood)
    assert found == {f"offsets/{first}": f"batch {second + 1} is planned after it"}
