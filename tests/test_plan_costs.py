"""A repair that costs more than is accepted names the flag that accepts it, and that flag does."""

from __future__ import annotations

import re

import pytest

from reshardctl.plan import NoLine, Plan
from tests.test_cases_dialects import SITUATIONS

DYING = [s for s in SITUATIONS if s.expect.dies and s.case.name.startswith("log-missing")]


@pytest.mark.parametrize("one", DYING, ids=str)
def test_a_start_that_dies_and_whose_repair_is_too_dear(one):
    """The connector's log of the newest batch is gone: the query dies, and what is written instead
    reads the batch again (runs R10 on the connectors, November 2026)."""
    decision = one.bench(accept="reread=1s").decide()
    assert isinstance(decision, NoLine)
    assert "costs more than is accepted" in decision.why
    flag = re.fullmatch(r"accept it: --accept (reread=\S+)", decision.ways_out[0])
    assert flag is not None
    assert isinstance(one.bench(accept=flag[1]).decide(), Plan)


def test_there_are_such_situations():
    assert len(DYING) >= 4
