"""A listing that lags behind what the query has seen: nothing is lost by that, and nothing dies.

ListShards is eventually consistent (Kinesis developer guide, "List shards"; API reference: "may not
reflect" a reshard at once)."""

from __future__ import annotations

import pytest

from reshardctl.errors import CannotTell
from reshardctl.lineage import Lineage
from reshardctl.spark.source.latest import Lists
from reshardctl.testing.faults import stale_listing
from tests.unit.spark.source.drive import Query
from tests.unit.spark.source.streams import Living, lived, order_held, play, steps

BOTH = pytest.mark.parametrize("old", [True, False], ids=["4.0", "4.2"])


@BOTH
@pytest.mark.parametrize("down", [False, True])
@pytest.mark.parametrize("answers", [1, 3])
def test_children_in_the_offset_are_not_listed(old, down, answers):
    living, query = two_generations(old)
    if down:
        query.stop()
    living.fake.clock.advance(20)
    living.fake.faults.add("ListShards", stale_listing, times=answers)
    goes_on(living, query)


class Lagging:
    """Lists what was there before, so many times; the summary beside it lags as well."""

    def __init__(self, lists: Lists, before: Lineage, times: int) -> None:
        self.lists, self.before, self.times = lists, before, times

    def lineage(self, stream: str, *, rereads: int = 5) -> Lineage:
        self.times -= 1
        return self.before if self.times >= 0 else self.lists.lineage(stream, rereads=rereads)


@BOTH
@pytest.mark.parametrize("loss", ["true", "false"])
def test_children_in_the_offset_are_not_known_at_all(old, loss):
    living, query = two_generations(old)
    before = query.plans.lists.lineage("orders")
    play(living, query, steps("split 0, put 0 2, wait 20, drain"))
    query.options = {"failOnDataLoss": loss}
    query.stop()
    query.start()
    query.plans._view.lists = Lagging(query.plans.lists, before, 1)
    with pytest.raises(CannotTell, match=r"shard 3 is newer than every listed shard"):
        query.trigger()
    goes_on(living, query)
    query.plans._view.lists = Lagging(query.plans.lists, before, 5)
    goes_on(living, query)


def two_generations(old: bool) -> tuple[Living, Query]:
    living, query = lived(old, "put 0 2, drain, split 0, put 0 1, wait 20, trigger, trigger")
    assert len(query.newest["shards"]) == 3
    living.put(0, 1)
    return living, query


def goes_on(living: Living, query: Query) -> None:
    for _ in range(6):
        play(living, query, steps("put 0 1, wait 20, drain"))
    assert query.data() == living.all()
    order_held(living, query)
