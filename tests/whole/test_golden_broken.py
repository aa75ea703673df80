"""Tables that KCL 1.13.3 and 1.15.3 left, broken by hand: found, mended, and put back by undo.

What each release makes of them: runs on 1.15.3 (states a and i1), KinesisShardSyncer of 1.13.3.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest

from reshardctl.model import Image, Step, after
from reshardctl.planning.plan import Case, Nothing, Plan, decide
from tests.support.plans import Plan as Written
from tests.unit.consumers.test_kcl_golden import GOLDEN, above_info, case_of
from tests.unit.execution.test_undo import fixed, settled, undone

SHARDS = [f"shardId-{index:012d}" for index in range(6)]

BROKEN = [
    # Two leases gone: 1.13.3 creates the child at LATEST, and nothing above shard 2, which has one.
    ("1.13.3", "g2-split-parent-behind", {0, 3}, "LATEST", {"RSH202", "RSH209"},
     {0: "TRIM_HORIZON", 3: "TRIM_HORIZON"}),
    # The parent's lease gone: above open shards that have leases nothing is created.
    ("1.13.3", "g2-split-parent-behind", {0}, "LATEST", {"RSH202"}, {0: "TRIM_HORIZON"}),
    # State a: the finished parent stands, a child is gone: no audit ever makes it.
    ("1.15.3", "g3-split-parent-finished", {2, 3}, "LATEST", {"RSH203"},
     {2: "TRIM_HORIZON", 3: "TRIM_HORIZON"}),
    # State i1: parent and one child gone.
    ("1.15.3", "g3-split-parent-finished", {0, 3}, "LATEST", {"RSH209"}, {3: "TRIM_HORIZON"}),
]  # fmt: skip


def broken(version: str, story: str, gone: set[int], options: dict[str, str]) -> Case:
    lost = {SHARDS[index] for index in gone}
    return case_of(GOLDEN / version / story, options, lambda i: i["leaseKey"]["S"] in lost)


def codes(case: Case) -> set[str]:
    return {text.split()[0] for text in above_info(case)}


def again(version: str, story: str, options: dict[str, str], rows: list[Image]) -> Case:
    whole = case_of(GOLDEN / version / story, options)
    return Case(whole.consumer, whole.state, rows, whole.candidates)


@pytest.mark.parametrize(("version", "story", "gone", "initial", "found", "writes"), BROKEN)
def test_a_broken_table_is_mended_and_put_back(
    version: str, story: str, gone: set[int], initial: str, found: set[str],
    writes: dict[int, str], tmp_path: Path,
) -> None:
    options = {"initial": initial, "release": version}
    case = broken(version, story, gone, options)
    assert codes(case) == found
    plan = decide(case)
    assert isinstance(plan, Plan)
    assert _positions(plan.steps) == {SHARDS[i]: mark for i, mark in writes.items()}

    rows = after(case.images, plan.steps)
    mended = again(version, story, options, rows)
    assert codes(mended) == set()
    assert decide(mended) == Nothing()
    assert _attributes(rows) <= _attributes(case_of(GOLDEN / version / story, options).images)

    written = Written(tuple(case.images), tuple(plan.steps), "golden")
    journal = tmp_path / "j.jsonl"
    store = fixed(written, journal)
    undone(journal, store)
    assert settled(store.read()) == settled(sorted(case.images, key=lambda image: image.key))


def test_1_13_makes_what_is_missing_by_itself() -> None:
    """Both children's leases gone: the next start makes them behind their parent."""
    options = {"initial": "LATEST", "release": "1.13.3"}
    case = broken("1.13.3", "g2-split-parent-behind", {2, 3}, options)
    assert codes(case) == set()
    assert decide(case) == Nothing()


def _positions(steps: tuple[Step, ...]) -> dict[str, Any]:
    return {
        write.key: write.change.attributes["checkpoint"]["S"]  # type: ignore[union-attr]
        for step in steps for write in step.writes
    }


def _attributes(images: Sequence[Image]) -> set[str]:
    """Names on any row: a mended table has none that the release did not write."""
    return {name for image in images for name in image.attributes}


