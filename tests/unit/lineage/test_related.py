"""What lies above and below some shards, in one pass: as the lineage says shard by shard."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from tests.support.lineages import lineages


@given(lineages(), st.data())
def test_many_shards_have_the_descendants_and_ancestors_of_each(lineage, data):
    chosen = data.draw(st.sets(st.sampled_from(list(lineage))))
    below = {d for shard in chosen for d in lineage.descendants(shard)}
    above = {a for shard in chosen for a in lineage.ancestors(shard)}
    assert lineage.descendants(*chosen) == below
    assert lineage.ancestors(*chosen) == above
    near = {*chosen, *below, *above}
    assert lineage.related(chosen) == near.union(*(lineage[shard].parents for shard in near))
