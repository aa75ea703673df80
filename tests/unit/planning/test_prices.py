"""Effects that were there before a plan: one of the same harm and shard, at least as wide."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from reshardctl.model import DONE, START, TIP, at_number, shard_id
from reshardctl.planning.effects import Effect, Harm
from reshardctl.planning.prices import by_place, price, so_already

CUTS = st.sampled_from([START, at_number("5"), at_number("7"), TIP, DONE])
EFFECTS = st.lists(st.builds(
    Effect, st.sampled_from([Harm.REREAD, Harm.SKIPPED, Harm.CRASHES]),
    st.sampled_from([shard_id(0), shard_id(1), None]), st.booleans(), CUTS, CUTS,
), max_size=12)  # fmt: skip


def includes(known, effect):
    same = known.harm is effect.harm and known.shard == effect.shard
    wide = known.since <= effect.since and effect.until <= known.until
    return same and wide and (known.certain or not effect.certain)


@given(EFFECTS, EFFECTS)
def test_an_effect_is_no_price_if_one_before_the_plan_includes_it(before, then):
    known = by_place(before)
    for effect in then:
        assert so_already(effect, known) == any(includes(one, effect) for one in before)
    assert list(price(then, known)) == [e for e in then if not so_already(e, known)]
