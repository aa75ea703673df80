"""Sinks with known faults: the audit finds exactly those, and in a clean sink nothing.

The truth is counted by the injector, by plain sets, from the rows that it took away, added and
moved (tests/proof/damaged_sinks); nothing of the audit has a part in it.
"""

from __future__ import annotations

from typing import Any

import pytest
from msgspec.structs import replace

from reshardctl.spark.audit import audit
from reshardctl.spark.audit.audit import LOOK_DOUBLED
from tests.proof.damaged_sinks import damage
from tests.proof.damaged_sinks.history import Kind
from tests.proof.damaged_sinks.layouts import BARE, CONNECTOR, LAYOUTS, OURS, TEXT, Layout
from tests.proof.damaged_sinks.truth import truth_of
from tests.unit.spark.audit.scenes import (
    OLD,
    PACKED,
    Scene,
    columns,
    differences,
    fitting,
    frame,
    scene,
    shuffled,
)  # fmt: skip


def audited(spark: Any, made: Scene, layout: Layout) -> Any:
    rows = frame(spark, shuffled(made), layout)
    return audit(rows, lineage=made.lineage(), columns=columns(layout))


def alone(spark: Any, made: Scene, layout: Layout) -> str:
    return differences(audited(spark, made, layout), made.truth, layout)


@pytest.mark.parametrize("layout", [BARE, TEXT], ids=lambda layout: layout.name)
def test_a_clean_sink_has_nothing(spark: Any, layout: Layout) -> None:
    """The other two are compared with their stream besides (test_acceptance_stream.py)."""
    made = scene(1, (), OLD)
    assert alone(spark, made, layout) == ""
    assert not (made.truth.doubled or made.truth.disordered or made.truth.unusable)


@pytest.mark.parametrize("layout", [OURS, TEXT], ids=lambda layout: layout.name)
def test_everything_at_once_and_aggregated_records_one_by_one(spark: Any, layout: Layout) -> None:
    made = scene(3, fitting(layout), PACKED)
    assert made.truth.doubled and made.truth.unusable and made.making.lost
    assert any(sub for _, sub in made.truth.doubled) or any(row.sub for row in made.rows)
    found = audited(spark, made, layout)
    assert differences(found, made.truth, layout) == ""
    assert LOOK_DOUBLED not in found.facts.notes


@pytest.mark.long
@pytest.mark.parametrize("seed", range(10, 18))
def test_many_seeds(spark: Any, seed: int) -> None:
    layout = LAYOUTS[seed % len(LAYOUTS)]
    packed = layout.has("sub") and seed % 3 == 0
    kind = PACKED if packed else OLD if seed % 2 else Kind()
    assert alone(spark, scene(seed, fitting(layout), kind), layout) == ""


def test_the_comparison_notices_one_row_more_or_less(spark: Any) -> None:
    """Everything at once, and against truths that differ from the sink's own in one row each."""
    made = scene(4, fitting(CONNECTOR))
    assert made.truth.doubled and made.truth.unusable and made.making.lost
    found = audited(spark, made, CONNECTOR)
    assert differences(found, made.truth, CONNECTOR) == ""
    found = replace(found, doubled=found.doubled.localCheckpoint())
    changes = (
        damage.double_once, damage.lose_single, damage.within_shard, damage.unknown_shard,
        damage.faulty_numbers, damage.lose_tail,
    )  # fmt: skip
    for change in changes:
        other = scene(4, fitting(CONNECTOR))
        change(other.making)
        assert differences(found, truth_of(other.making), CONNECTOR), change.__name__


def test_everything_in_a_sink_without_an_order_which_says_so(spark: Any) -> None:
    made = scene(5, [*fitting(BARE), damage.child_first])
    assert made.truth.doubled and made.truth.unusable and made.making.lost
    found = audited(spark, made, BARE)
    assert differences(found, made.truth, BARE) == ""
    assert found.facts.ordered_by == ""
    assert {held.disordered for held in found.facts.shards.values()} == {None}
