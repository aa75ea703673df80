"""What lies below some shards, in one pass: as the lineage says shard by shard."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from reshardctl.consumers.related_shards import ancestors_of, below
from tests.support.lineages import lineages


@given(lineages(), st.data())
def test_many_shards_have_the_descendants_and_ancestors_of_each(lineage, data):
    chosen = data.draw(st.sets(st.sampled_from(list(lineage))))
    assert below(lineage, chosen) == {d for shard in chosen for d in lineage.descendants(shard)}
    assert ancestors_of(lineage, chosen) == {a for s in chosen for a in lineage.ancestors(s)}
