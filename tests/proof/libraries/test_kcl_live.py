"""Writes to the table of the real library while it works: what `--live` allows, and why no more.

The states are those of the case files; each run has the library find them, stand there, and be
mended without a stop. What counts is what the program delivered.
"""

from __future__ import annotations

import pytest

from tests.proof.libraries.kcl.laboratory import Laboratory
from tests.proof.libraries.kcl.live import Edited, burst, edited
from tests.proof.libraries.kcl.verdict import Outcome, differences
from tests.support.case_stream import shard_name

pytestmark = pytest.mark.interop

GENERATIONS = ("1.15.3", "2.7.2", "3.1.3", "3.5.1")

CREATED = [
    edited(name, release, initial, "fix", busy=1)
    for release in GENERATIONS
    for name, initial in (
        ("a-one", "LATEST"), ("a-both", "TRIM_HORIZON"), ("a-both", "LATEST"),
        ("a-both-named", "LATEST"),
    )
]
"""Children that nothing would ever start (state a), also where their leases were made once and are
lost; shard 1 is read on meanwhile."""

EVICTED = [
    edited(name, release, "LATEST", "fix", busy)
    for release in GENERATIONS
    for name, busy in (("e1", 2), ("h", 1), ("h-open", 1))
]
"""Children at LATEST whose owner stands at the tip (state e1), one of which gets records as it is
evicted; numbers of other shards, which their owner asks for in vain (h, h-open)."""

BARE = [
    edited("e1", release, "LATEST", what, busy=2)
    for release in GENERATIONS
    for what in ("checkpoint-only", "owner-kept")
]


def shown(outcome: Outcome) -> Outcome:
    print(f"{outcome.seconds:.1f} s\n{outcome.tail()}")
    return outcome


def before_last_start(outcome: Outcome, shard: str) -> tuple[list[str], list[str]]:
    """Payloads of a shard until its last INIT, and from there on."""
    parts: list[list[str]] = [[]]
    for event in outcome.log.of("INIT", "RECORD"):
        if event.members["shard"] != shard:
            continue
        if event.kind == "INIT":
            parts.append([])
        else:
            parts[-1].append(event.members["payload"])
    return [one for part in parts[:-1] for one in part], parts[-1]


@pytest.mark.parametrize("planned", CREATED, ids=str)
def test_a_created_lease_is_taken_up_and_no_other_is_lost(
    planned: Edited, laboratory: Laboratory
) -> None:
    """Nothing is skipped and nothing comes twice, in the shard that is being read either."""
    outcome = shown(laboratory.outcome(planned.id))
    assert differences(outcome, planned.delivers, (), dies=False) == []
    inits = [event.members["shard"] for event in outcome.log.of("INIT")]
    assert len(inits) == len(set(inits))


REFUSED = {"h", "h-open"}
"""Cases whose stored number is one that Kinesis refuses for its shard."""


@pytest.mark.parametrize("planned", EVICTED, ids=str)
def test_an_evicted_lease_begins_at_the_written_place(
    planned: Edited, laboratory: Laboratory
) -> None:
    """Nothing is skipped. What its owner still read when it had lost the lease comes once more, and
    its checkpoint does not stand: else the records before it would be missing."""
    outcome = shown(laboratory.outcome(planned.id))
    assert outcome.settled and not outcome.died
    for shard, wanted in planned.delivers.items():
        stale, fresh = before_last_start(outcome, shard)
        print(shard, stale, fresh)
        assert fresh == list(wanted)
        # With a refused number its owner never got to read: every try to begin fails and looks the
        # position up again, so the next one may begin at the written place before it has noticed.
        begun = planned.case.name not in REFUSED
        may = [list(burst(planned.busy))] if begun else [list(burst(planned.busy)), list(wanted)]
        assert any(stale == one[: len(stale)] for one in may)


@pytest.mark.parametrize("planned", BARE, ids=str)
def test_an_edit_that_leaves_the_owner_is_of_no_use(
    planned: Edited, laboratory: Laboratory
) -> None:
    """It is absorbed by the next renewal and overwritten by the next checkpoint. The comparison
    above has to notice that the records before it are missing."""
    outcome = shown(laboratory.outcome(planned.id))
    found = differences(outcome, planned.delivers, (), dies=False)
    robbed = [line.partition(":")[0] for line in found]
    assert robbed == [shard_name(2), shard_name(3)]
    assert outcome.of(shard_name(2)) == (*burst(2), "n2-0", "n2-1")
