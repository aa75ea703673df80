"""Whether a consumer runs: what a store shows of it, and what it cannot show."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import pytest

from reshardctl.consumers.locator import parse
from reshardctl.consumers.registry import CONSUMERS
from reshardctl.errors import Refused
from reshardctl.execution.watch import watch
from reshardctl.planning.joining import rewritten
from tests.contracts.medium_contract import create, row, step


def test_without_the_source_s_row_nothing_shows_that_it_is_switched_off():
    """Quickwit in PostgreSQL: a source is stopped by disabling it, which its row tells."""
    ports: Any = SimpleNamespace(store=SimpleNamespace(read=list))
    with pytest.raises(Refused, match="does not show whether the consumer is running") as told:
        watch(ports, parse("quickwit+postgres://user@host/db"), 60.0)
    assert "--assume-stopped" in told.value.next


@pytest.mark.parametrize("name", sorted(set(CONSUMERS) - {"quickwit"}))
def test_no_other_consumer_can_be_switched_off_in_its_store(name):
    assert CONSUMERS[name].enabled_state(()) is None


def test_a_step_of_files_keeps_its_title_whichever_rows_it_still_writes():
    """The others name the rows in it."""
    both = step(create(row("a")), create(row("b")))
    assert rewritten(both, both.writes[:1], CONSUMERS["quickwit"]).title == both.title
