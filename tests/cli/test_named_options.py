"""A time or a duration that cannot be read is named with the option that it was given to."""

from __future__ import annotations

import pytest

ON = ("kcl://app", "--stream", "s")
FIX = ("fix", *ON, "--dry-run")
JSON = 'spark:/c?startingPosition={{"shardId-000000000000":{{"AT_TIMESTAMP":"{}"}}}}'
WRONG = [
    (("fix", *ON, "--recreated", "soon"), "--recreated: 'soon' is no time"),
    ((*FIX, "--recreated", "2026-11-21T00:00:00"), "--recreated: '2026-11-21T00:00:00' has no"),
    ((*FIX, "--created", "soon"), "--created: 'soon' is no time"),
    ((*FIX, "--watch", "5"), "--watch: '5' is no duration"),
    ((*FIX, "--watch", "9999999d"), "--watch: '9999999d' is longer than any retention"),
    ((*FIX, "--shift", "-5"), "--shift: '5' is no duration"),
    ((*FIX, "--accept", "reread=5"), "--accept reread: '5' is no duration"),
    ((*FIX, "--policy", "at-timestamp=soon"), "--policy at-timestamp: 'soon' is no time"),
    ((*FIX, "--policy", "at-timestamp=-5"), "--policy at-timestamp: '5' is no duration"),
    ((*FIX, "--set", "3=AT_TIMESTAMP:soon"), "--set 3=AT_TIMESTAMP:soon: 'soon' is no time"),
    (("undo", "--prune", "--older-than", "5"), "--older-than: '5' is no duration"),
    (("inspect", *ON, "--wait", "5"), "--wait: '5' is no duration"),
    (("inspect", *ON, "--watch", "5"), "--watch: '5' is no duration"),
    (("inspect", *ON, "--every", "5"), "--every: '5' is no duration"),
    (("inspect", *ON, "--probe", "--probe-budget", "time=5"), "--probe-budget time: '5' is no"),
    (("graph", *ON, "--since", "soon"), "--since: 'soon' is no time"),
    (("audit", "/sink", "--stream", "s", "--since", "soon"), "--since: 'soon' is no time"),
    (("audit", "/sink", "--stream", "s", "--until", "-5"), "--until: '5' is no duration"),
    (("inspect", "kcl://app?failover=5", *ON[1:]), "failover: '5' is no duration"),
    (("inspect", "kcl://app?initial=AT_TIMESTAMP:-90m", *ON[1:]), "initial: '-90m' is no time"),
    (("inspect", "kinsumer://app?initial=AT_TIMESTAMP:x", *ON[1:]), "initial: 'x' is no time"),
    (("inspect", "spark:/c?startingPosition=AT_TIMESTAMP:x", *ON[1:]), "startingPosition: 'x' is"),
    *((("inspect", JSON.format(time), *ON[1:]), f"startingPosition as JSON: '{time}' is no time")
      for time in ("x", "nan", "inf", "1e12", "-1")),
]


@pytest.mark.parametrize(("words", "what"), WRONG, ids=lambda v: " ".join(v)[-40:])
def test_a_time_that_cannot_be_read(lab, words, what):
    result = lab.cli(*words)
    assert result.code == 2 and result.says(what)
    assert lab.wire.calls == []
