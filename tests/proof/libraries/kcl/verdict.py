"""What a run of the real library shows against what its case says."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass

from tests.proof.libraries.kcl.log import Log
from tests.support.case import Delivery

TAIL = 60


@dataclass(frozen=True, slots=True)
class Outcome:
    """What one application delivered: (shard id, payload) in the order of delivery.

    ``settled`` is False when it was still moving when its time was up. ``robbed``: it lost a
    lease before it was asked to stop, and no edit of the test's had taken it: it delivers once more
    what it had not yet checkpointed. ``recorded``: it was not run now, its record says so
    (`tests/proof/libraries/starts`), and ``seconds`` are those of that run.
    """

    delivered: tuple[tuple[str, str], ...]
    died: bool
    settled: bool
    robbed: bool
    seconds: float
    log: Log
    recorded: bool = False

    def of(self, shard: str) -> tuple[str, ...]:
        return tuple(payload for of, payload in self.delivered if of == shard)

    def tail(self) -> str:
        """The last events, for a message."""
        return "\n".join(map(str, self.log.events()[-TAIL:]))


def outcome_of(log: Log, *, settled: bool, seconds: float) -> Outcome:
    records = [event.members for event in log.of("RECORD")]
    return Outcome(
        delivered=tuple((record["shard"], record["payload"]) for record in records),
        died=bool(log.of("DIED")),
        settled=settled,
        robbed=_robbed(log),
        seconds=seconds,
        log=log,
    )


def came(log: Log, delivers: Delivery) -> bool:
    """Whether all these records came, each as often as it is named, or all is over."""
    if log.ended():
        return True
    seen = Counter((e.members["shard"], e.members["payload"]) for e in log.of("RECORD"))
    return all(
        seen[shard, payload] >= times
        for shard, payloads in delivers.items()
        for payload, times in Counter(payloads).items()
    )


def started(log: Log, delivers: Delivery) -> bool:
    """Whether each shard with records here has been started, and those that it held came."""
    begun = {event.members["shard"] for event in log.of("INIT")}
    held = {
        shard: tuple(payload for payload in payloads if not payload.startswith("n"))
        for shard, payloads in delivers.items()
    }
    return log.ended() or (
        begun >= {shard for shard, payloads in delivers.items() if payloads} and came(log, held)
    )


def _robbed(log: Log) -> bool:
    taken: set[str] = set()
    for event in log.of("EDIT", "LEASE_LOST"):
        if event.kind == "EDIT":
            taken |= set(event.members["takes"].split())
        elif event.members["shard"] in taken:
            taken.remove(event.members["shard"])
        else:
            return True
    return False


def differences(
    outcome: Outcome, delivers: Delivery, order: tuple[tuple[str, str], ...], *, dies: bool
) -> list[str]:
    """Every way in which the run is not what was expected; empty when there is none."""
    found = [] if outcome.settled else ["it was still moving when its time was up"]
    if outcome.died is not dies:
        found.append("the worker died" if outcome.died else "the worker did not die")
    return [*found, *_wrong_records(outcome, delivers), *_wrong_order(outcome, order)]


def _wrong_records(outcome: Outcome, delivers: Mapping[str, tuple[str, ...]]) -> list[str]:
    shards = sorted({*delivers, *(shard for shard, _ in outcome.delivered)})
    return [
        f"{shard}: delivered {list(outcome.of(shard))}, expected {list(delivers.get(shard, ()))}"
        for shard in shards
        if outcome.of(shard) != tuple(delivers.get(shard, ()))
    ]


def _wrong_order(outcome: Outcome, order: tuple[tuple[str, str], ...]) -> list[str]:
    shards = [shard for shard, _ in outcome.delivered]
    return [
        f"a record of {later} came before one of {first}"
        for first, later in order
        if later in shards and first in shards[shards.index(later) :]
    ]
