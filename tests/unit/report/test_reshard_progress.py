"""When a consumer has crossed its reshards: held to the reference consumer and to the cases."""

from __future__ import annotations

import pytest

from reshardctl.consumers.locator import parse
from reshardctl.diagnosis.evidence import Snapshot
from reshardctl.model import shard_id
from reshardctl.report.forecast import Uncrossed, uncrossed
from tests.proof.exhaustive.scenes import Scene, scene
from tests.support.judging import images_of, lineage_of
from tests.unit.render.samples import CASES, STORED


def asked(case, options: str) -> Uncrossed:
    lineage = lineage_of(case.shards, case.stream["created"], case.retention_hours)
    images = tuple(images_of(case.items()))
    return uncrossed(Snapshot(parse(f"kcl://app?{options}"), lineage, images, {}, float(case.now)))


@pytest.mark.parametrize(("name", "behind", "unstarted"), [
    ("healthy-roots", [], []),
    ("healthy-split-cleaned", [], []),
    ("healthy-second-generation-cleaned", [], []),
    ("healthy-parent-drained", [0], [2, 3]),
    ("a-both", [], [2, 3]),
    ("parent-row-lost", [0], []),  # nobody knows whether it was read: that is not crossed
])  # fmt: skip
def test_cases(name: str, behind: list[int], unstarted: list[int]) -> None:
    found = asked(CASES[name], "initial=TRIM_HORIZON&release=3.5.1")
    assert found == Uncrossed(tuple(map(shard_id, behind)), tuple(map(shard_id, unstarted)))
    assert bool(found) is bool(behind or unstarted)


def test_an_empty_table() -> None:
    case = next(one for name, one in CASES.items() if name not in STORED)
    found = asked(case, "initial=TRIM_HORIZON&release=3.5.1")
    assert found.empty and bool(found)


def healthy() -> list[Scene]:
    """Tables that a worker left, at any moment of its life (the reference consumer's)."""
    return [one for one in map(scene, range(400)) if one.rows and one.undisturbed]


def test_what_a_worker_left_is_behind_exactly_where_it_has_something_to_end() -> None:
    """The rows say it themselves: KCL marks an end with SHARD_END, and deletes such rows only once
    every child has progressed."""
    scenes = healthy()
    crossed = 0
    for one in scenes:
        found = asked(one.case, f"initial={one.initial}&release={one.release}")
        at = {row["shard"]: row["checkpoint"] for row in one.rows}
        closed = {i for i, shard in one.case.topology.items() if shard.end}
        unended = {shard_id(i) for i in closed & at.keys() if at[i] != "SHARD_END"}
        assert unended <= set(found.behind)
        assert set(found.unstarted) == {
            shard_id(i) for i in one.case.topology if i not in closed and i not in at
        }
        crossed += not found
    assert len(scenes) > 30 and 5 < crossed < len(scenes)
