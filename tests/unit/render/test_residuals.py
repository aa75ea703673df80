"""A shard that is left alone names the flag that accepts its cost, or says that there is none."""

from __future__ import annotations

import pytest
from msgspec.structs import replace

from reshardctl.planning.effects import Effect, Harm
from reshardctl.planning.plan import Nothing, Residual
from reshardctl.planning.prices import flag_of_effect as flag_of
from reshardctl.render.context import Context
from tests.unit.render.formats import FORMATS
from tests.unit.render.samples import report_of


@pytest.mark.parametrize(
    ("harm", "seconds", "flag"),
    [
        (Harm.REREAD, 10_800.0, "--accept reread=4h"),
        (Harm.REREAD, None, "--accept reread=all"),
        (Harm.SKIPPED, 60.0, "--accept skip=1h"),
        (Harm.DISORDERED, None, "--accept disorder"),
        (Harm.STALLED, 60.0, ""),
        (Harm.CRASHES, None, ""),
    ],
)
def test_only_what_can_be_accepted_has_a_flag(harm, seconds, flag):
    assert flag_of(Effect(harm, None, True, seconds=seconds)) == flag


@pytest.mark.parametrize("name", ["text", "concise", "markdown"])
def test_no_command_is_offered_that_would_not_help(name):
    report = report_of("h-long")
    assert isinstance(report.decision, Nothing)
    (left,) = report.decision.residuals
    stalled = Residual(left.shard, Effect(Harm.STALLED, left.shard, True, why="stalls"), "")
    shown = replace(report, decision=Nothing((stalled,)))
    context = Context(("kcl://orders-app", "--stream", "orders"))
    before = FORMATS[name].plan(report, context)
    after = FORMATS[name].plan(shown, context)
    assert "--accept" in before
    assert "--accept" not in after
    assert "no flag" in after
