"""Whether a consumer runs: what a store shows of it, and what it cannot show."""

from __future__ import annotations

from itertools import pairwise
from types import SimpleNamespace
from typing import Any

import pytest

from reshardctl.consumers.locator import parse
from reshardctl.consumers.registry import CONSUMERS
from reshardctl.errors import Refused
from reshardctl.execution.watch import watch
from reshardctl.model import Image


def test_without_the_source_s_row_nothing_shows_that_it_is_switched_off():
    """Quickwit in PostgreSQL: a source is stopped by disabling it, which its row tells."""
    ports: Any = SimpleNamespace(store=SimpleNamespace(read=list))
    with pytest.raises(Refused, match="does not show whether the consumer is running") as told:
        watch(ports, parse("quickwit+postgres://user@host/db"), 60.0)
    assert "--assume-stopped" in told.value.next


@pytest.mark.parametrize("name", sorted(set(CONSUMERS) - {"quickwit"}))
def test_no_other_consumer_can_be_switched_off_in_its_store(name):
    assert CONSUMERS[name].enabled_state(()) is None


def test_at_most_a_fifth_of_a_watch_is_spent_reading():
    """As docs/status.md says; a read takes ten seconds here, and no row has an owner."""
    now, reads = [0.0], []

    def passes(seconds: float) -> None:
        now[0] += seconds

    def read() -> list[Image]:
        reads.append(now[0])
        passes(10.0)
        return []

    store = SimpleNamespace(read=read)
    ports: Any = SimpleNamespace(store=store, clock=lambda: now[0], sleep=passes)
    watch(ports, parse("kcl://app"), 205.0)
    begun = reads[1:]  # the first is of the time before the watch
    assert len(begun) > 4
    for one, following in pairwise(begun):
        assert following - one >= 5 * 10.0
