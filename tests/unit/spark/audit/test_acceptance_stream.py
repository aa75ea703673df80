"""Against the stream, over HTTP: exactly the missing records; what nobody can know is called so."""

from __future__ import annotations

from typing import Any

import pytest
from msgspec.structs import replace

from reshardctl.auditing.coverage import TAKEN, unknowable
from reshardctl.spark.audit import Columns, audit
from reshardctl.spark.audit.audit import LOOK_DOUBLED, STORED_WHOLE, WHOLE
from tests.proof.damaged_sinks import damage
from tests.proof.damaged_sinks.history import Kind
from tests.proof.damaged_sinks.layouts import CONNECTOR, LAYOUTS, OURS, Layout
from tests.proof.damaged_sinks.truth import truth_of
from tests.unit.spark.audit.scenes import (
    OLD,
    PACKED,
    Scene,
    against,
    columns,
    differences,
    fitting,
    frame,
    scene,
    served,
    shuffled,
)


def compared(spark: Any, made: Scene, layout: Layout) -> Any:
    """All that is looked at is collected while the stream is still served."""
    rows = frame(spark, shuffled(made), layout)
    with served(made) as url:
        found = audit(rows, lineage=made.lineage(), columns=columns(layout), **against(url))
        return found, differences(found, made.truth, layout, against=True)


@pytest.mark.parametrize("layout", [OURS, CONNECTOR], ids=lambda layout: layout.name)
def test_a_clean_sink_lacks_nothing(spark: Any, layout: Layout) -> None:
    """Sixteen hours of the stream are gone: unknowable, and neither missing nor fine."""
    made = scene(51, (), OLD)
    found, wrong = compared(spark, made, layout)
    assert wrong == "" and not made.truth.missing
    lineage = made.lineage()
    cut = {one.shard for one in unknowable(found.facts, lineage) if one.why == TAKEN}
    older = {row.shard for row in made.rows if row.arrival < made.history.horizon}
    assert cut & older == older & set(lineage) != set()
    for shard, one in found.facts.compared.items():
        assert (one.ended, one.tip) == (not lineage.is_open(shard), lineage.is_open(shard)), shard
        assert one.whole == (shard not in cut), shard
        assert one.short == ""


def test_every_loss_is_named(spark: Any) -> None:
    """Single, in a row, a parent's tail, a child's head, a whole shard, inside of aggregates; and
    three that retention has taken since, of which nothing is said."""
    made = scene(53, [*fitting(OURS), damage.lose_old], PACKED)
    assert len(made.truth.gone) >= 3 and sum(map(len, made.truth.missing.values())) > 9
    assert any(sub for places in made.truth.missing.values() for _, sub in places)
    rows = frame(spark, shuffled(made), OURS)
    with served(made) as url:
        found = audit(rows, lineage=made.lineage(), columns=columns(OURS), **against(url))
        found = replace(
            found, doubled=found.doubled.localCheckpoint(), missing=found.missing.localCheckpoint()
        )
        assert differences(found, made.truth, OURS, against=True) == ""
        damage.lose_single(made.making)  # the comparison itself has to notice one more
        assert "missing: found" in differences(found, truth_of(made.making), OURS, against=True)


@pytest.mark.long
@pytest.mark.parametrize("seed", range(60, 66))
def test_many_seeds(spark: Any, seed: int) -> None:
    layout = LAYOUTS[seed % len(LAYOUTS)]
    kind = PACKED if layout.has("sub") and seed % 3 == 0 else OLD if seed % 2 else Kind()
    more = [damage.lose_old] if kind is not Kind() and kind.hours > 24 else []
    assert compared(spark, scene(seed, [*fitting(layout), *more], kind), layout)[1] == ""


def test_aggregated_records_that_are_stored_whole(spark: Any) -> None:
    """As with unpackAggregates=false: nothing is missing, and nothing that is lost is hidden."""
    made = scene(56, (), PACKED)
    whole = [row for row in made.rows if row.sub == 0]
    lost = whole[-9]
    rows = frame(spark, [row for row in whole if row is not lost], OURS)
    with served(made) as url:
        told = audit(rows, lineage=made.lineage(), **against(url)).facts
        found = audit(rows, lineage=made.lineage(), columns=Columns(sub=""), **against(url))
        facts = found.facts
        assert {s: c.missing for s, c in facts.compared.items() if c.missing} == {lost.shard: 1}
        assert [row["sequence_number"] for row in found.missing.collect()] == [lost.number]
    assert WHOLE in facts.notes and STORED_WHOLE not in facts.notes
    assert STORED_WHOLE in told.notes
    assert sum(c.missing for c in told.compared.values()) > 1


def test_aggregated_records_without_their_places(spark: Any) -> None:
    made = scene(57, (), PACKED)
    rows = frame(spark, made.rows, OURS)
    facts = audit(rows, lineage=made.lineage(), columns=Columns(sub="")).facts
    assert LOOK_DOUBLED in facts.notes and any(one.doubled for one in facts.shards.values())
