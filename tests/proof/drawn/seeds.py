"""One seed of a family: its state, and what its starts came to."""

from __future__ import annotations

import time
from dataclasses import replace

from tests.proof.drawn.families import Family
from tests.proof.drawn.states import CREATED, State
from tests.proof.drawn.trial import Judge, Verdict, Violation, examine
from tests.proof.libraries.starts.deciding import NotAsRecorded


def created_now(family: Family, seed: int) -> int:
    """When the stream of this state was created, so that the real clock is at its end."""
    if not family.clock:
        return CREATED
    return int(time.time()) - family.state(seed).stream["now"]


def one(family: Family, seed: int, judge: Judge) -> tuple[State | str, Verdict]:
    """The verdict of one seed. What a real library does only once is the machine's doing: a start
    that it was too busy for delivers nothing, so the second look waits longer."""
    if family.whole is not None:
        return family.whole(seed, judge)
    state = family.state(seed, created_now(family, seed))
    verdict = examined(state, judge)
    if family.real and verdict.violations:
        state = replace(family.state(seed, created_now(family, seed)), looks=1)
        again = examined(state, judge)
        kinds = {one.kind for one in verdict.violations}
        again.starts += verdict.starts
        again.uncertain += any(one.kind not in kinds for one in again.violations)
        again.uncertain += not again.violations
        again.violations = [one for one in again.violations if one.kind in kinds]
        return state, again
    return state, verdict


def examined(state: State, judge: Judge) -> Verdict:
    """As `examine`; a start that is run again and is not as its record says is a violation."""
    try:
        return examine(state, judge)
    except NotAsRecorded as changed:
        return Verdict("error", [Violation("record", str(changed))])
