"""A case, run through the core: what replay delivers, what rules find, what fix writes."""

from __future__ import annotations

from collections.abc import Callable
from copy import copy
from dataclasses import dataclass, field
from datetime import datetime
from functools import cache, lru_cache
from typing import Any, TypeVar

from msgspec.structs import replace

from reshardctl.commands.target import accept_of
from reshardctl.consumers.base import Candidate
from reshardctl.consumers.registry import CONSUMERS
from reshardctl.consumers.sequence_numbers import to_verify
from reshardctl.diagnosis.rules import Finding, View, findings, merged
from reshardctl.lineage import Lineage
from reshardctl.model import (
    DONE,
    START,
    TIP,
    Cut,
    Frontier,
    Image,
    Probe,
    Rank,
    Shard,
    ShardId,
    Simulation,
    Stream,
    WillRead,
    after,
    at_number,
)
from reshardctl.model.times import When, instant
from reshardctl.planning.crashes import aged, beside_the_crash
from reshardctl.planning.effects import StreamState
from reshardctl.planning.plan import Case as PlanCase
from reshardctl.planning.plan import Decision, decide, judge, processed_frontier
from reshardctl.planning.policy import POLICIES, Accept, Policy
from tests.support.case import Case
from tests.support.case_stream import number
from tests.support.dialects import dialect_of
from tests.support.dialects.kcl import images_of, side_images

T = TypeVar("T")


def shard_of(listed: dict) -> Shard:
    keys, numbers = listed["HashKeyRange"], listed["SequenceNumberRange"]
    return Shard(
        ShardId(listed["ShardId"]), listed.get("ParentShardId"),
        listed.get("AdjacentParentShardId"), int(keys["StartingHashKey"]),
        int(keys["EndingHashKey"]), numbers["StartingSequenceNumber"],
        numbers.get("EndingSequenceNumber"),
    )


def lineage_of(
    shards: list[dict], created: float, retention_hours: int = 24, status: str = "ACTIVE"
) -> Lineage:
    arn = "arn:aws:kinesis:us-east-1:123456789012:stream/orders"
    stream = Stream(arn, "orders", created, retention_hours * 3600, status)
    return Lineage(stream, [shard_of(s) for s in shards])


def options_of(case: Case, initial: str, release: str | None) -> dict[str, str]:
    if initial.startswith("AT_TIMESTAMP:+"):
        at = case.stream["created"] + float(initial.partition("+")[2])
        initial = "AT_TIMESTAMP:" + datetime.fromtimestamp(at).astimezone().isoformat()
    start = dialect_of(case.consumer).START
    options = {start: initial} if initial else {}
    if release:
        options["release"] = release
    return options


def asked(case: Case, policy: str) -> Policy:
    """A policy as a case spells it: by name, or ``at-timestamp:+60``, seconds after creation."""
    name, _, seconds = policy.partition(":+")
    if not seconds:
        return POLICIES[name]
    at = case.stream["created"] + float(seconds)
    return replace(POLICIES[name], when=When(instant(at), at=at))


def resolved(case: Case, policy: Policy, lineage: Lineage) -> Policy:
    """The same with its places, read off the case's records and from no stream."""
    if not policy.unresolved:
        return policy
    assert policy.when is not None
    time = policy.when.at if policy.when.at is not None else float(case.now)
    places: dict[ShardId, Cut] = {}
    for shard in lineage:
        closed, opened = lineage.closed_at(shard), lineage.opened_at(shard)
        if (closed is None or closed > time) and (opened is None or opened < time):
            before = START
            for number, _, arrived in case.records[shard]:
                if arrived >= time:
                    break
                before = at_number(number)
            places[shard] = before
    return replace(policy, since=time, places=places)


def probes_of(case: Case, lineage: Lineage, processed: Frontier) -> dict[ShardId, Probe]:
    """What a bounded read of every closed shard shows, read off the case's own records."""
    found = {}
    for shard in lineage:
        since = processed[shard].lo
        if lineage.is_open(shard) or since == DONE:
            continue
        left = [r for r in held(case, shard) if since == START or int(r[0]) > since.processed]
        found[shard] = Probe(
            since, not left, left[0][2] if left else None, left[0][0] if left else None, len(left),
            False, left[-1][2] if left else None,
        )
    return found


@lru_cache(maxsize=256)
def _listed(case: Case) -> Lineage:
    return lineage_of(
        case.shards, case.stream["created"], case.retention_hours,
        case.stream.get("status", "ACTIVE"),
    )


@lru_cache(maxsize=256)
def _now(case: Case, refused: tuple[int, ...] = ()) -> Lineage:
    """The case's lineage at its time; refused: the numbers that its Kinesis refuses."""
    return _listed(case).as_of(case.now).as_of(case.now, dict.fromkeys(refused, False))


@cache
def _stored(case: Case, initial: str, release: str | None, policy: str) -> Bench:
    """The case's own rows, which many tests look at."""
    images = dialect_of(case.consumer).images(case)
    return Bench.on(case, images, options_of(case, initial, release), policy)


@dataclass
class Bench:
    """One case under one start mode and one release (or every release).

    What the core says of it is asked once: several tests look at the same bench of a case.
    """

    case: Case
    plan_case: PlanCase
    _said: dict[str, tuple[PlanCase, Any]] = field(
        default_factory=dict, repr=False, compare=False
    )

    @classmethod
    def of(cls, case: Case, initial: str, release: str | None, policy: str = "lossless",
           items: list[dict] | None = None) -> Bench:
        if items is None:
            return copy(_stored(case, initial, release, policy))
        images = [*images_of(items), *side_images(case)]
        return cls.on(case, images, options_of(case, initial, release), policy)

    @classmethod
    def on(cls, case: Case, images: list[Image], options: dict[str, str],
           policy: str = "lossless", accept: str = "", probe: bool = False) -> Bench:
        """These rows under these options of the locator. probe: every closed shard was read."""
        consumer = CONSUMERS[case.consumer].for_options(options, next(iter(case.stores), ""))
        lineage = _listed(case)
        checkpoint = consumer.parse(images, lineage.stream)
        candidates = consumer.candidates(checkpoint, options)
        lineage = _now(case)
        # A case's shards keep the epoch of their beginning, so its Kinesis refuses every other one.
        refused = to_verify(lineage, consumer.texts(checkpoint).values())
        lineage = _now(case, tuple(refused))
        state = StreamState(lineage, case.now)
        wanted = resolved(case, asked(case, policy), lineage)
        plain = PlanCase(
            consumer, state, images, candidates, wanted,
            accept_of(accept) if accept else Accept(),
        )
        if not probe:
            return cls(case, plain)
        probes = probes_of(case, lineage, processed_frontier(plain))
        return cls(case, replace(plain, state=StreamState(lineage, case.now, probes)))

    def _once(self, name: str, make: Callable[[], T]) -> T:
        """What was said of this very plan case before, or what is said now."""
        held = self._said.get(name)
        if held is None or held[0] is not self.plan_case:
            held = self.plan_case, make()
            self._said[name] = held
        said: T = held[1]
        return said

    def decide(self) -> Decision:
        return self._once("decision", lambda: decide(self.plan_case))

    def findings(self) -> list[Finding]:
        return list(self._once("findings", self._found))

    def _found(self) -> list[Finding]:
        from reshardctl.consumers.base import Incarnation
        from reshardctl.planning.policy import LOSSLESS

        case = self.plan_case
        lineage = case.state.lineage
        processed = processed_frontier(case)
        want = LOSSLESS.frontier(lineage, processed)
        checkpoint = case.checkpoint()
        anomalies = case.consumer.anomalies(lineage, checkpoint)
        recreated = case.consumer.incarnation(lineage, checkpoint) is Incarnation.RECREATED
        return merged({
            str(j.candidate.options): findings(
                View(
                    case.state, processed, j.simulation,
                    (*j.effects, *beside_the_crash(case.state, want, processed, j.simulation)),
                    anomalies, recreated,
                )
            )
            for j in judge(case, want, processed)
        })

    def after(self, steps) -> list[Image]:
        """Every row after these steps."""
        return after(self.plan_case.images, steps)

    def applied(self, steps) -> list[dict]:
        """The lease table after these steps; side tables are not written."""
        rows = after(self.plan_case.images, steps)
        return [dict(i.attributes) for i in rows if "leaseKey" in i.attributes]

    def replays(self) -> list[Simulation]:
        case = self.plan_case
        checkpoint = case.checkpoint()
        lineage = case.state.lineage
        runs = (case.consumer.simulate_start(lineage, checkpoint, c.app) for c in case.candidates)
        return [aged(case.state, run) for run in runs]


def delivered(case: Case, run: Simulation, lineage: Lineage) -> dict[str, tuple[str, ...]]:
    """Payloads that a replay says will be delivered, by shard: stored ones and live ones."""
    out: dict[str, tuple[str, ...]] = {shard["ShardId"]: () for shard in case.shards}
    if run.crash is not None:
        return out
    ended: set[str] = set()
    waiting = {s: fate for s, fate in sorted(run.fates.items()) if isinstance(fate, WillRead)}
    while ready := [s for s, fate in waiting.items() if fate.after <= ended]:
        for shard in ready:
            fate = waiting.pop(shard)
            ended |= {shard} if fate.ends else set()
            if shard in lineage:
                out[shard] = _from(case, lineage, shard, fate.at.lo, fate.until)
    return out


def held(case: Case, shard: ShardId) -> list[tuple[str, str, float]]:
    """The records of a shard that retention has left: number, payload, arrival."""
    trimmed = case.stream["created"] + case.stream.get("trim", 0)
    horizon = max(case.now - case.retention_hours * 3600, trimmed)
    return [r for r in case.records.get(shard, ()) if r[2] >= horizon]


def _from(
    case: Case, lineage: Lineage, shard: ShardId, at: Cut, until: Cut = DONE
) -> tuple[str, ...]:
    stored = held(case, shard)
    if until.rank is Rank.INSIDE:
        stored = [r for r in stored if int(r[0]) <= until.processed]
    if at in (DONE, TIP):
        kept = []
    elif at == START:
        kept = [payload for _, payload, _ in stored]
    elif at.by_time:
        kept = [payload for _, payload, arrived in stored if at.time is None or arrived >= at.time]
    else:
        kept = [payload for number, payload, _ in stored if int(number) > at.processed]
    index = int(shard.removeprefix("shardId-"))
    live = []
    if lineage[shard].open and index in case.live.shards and at != DONE:
        live = [f"n{index}-{i}" for i in range(case.live.n) if _comes(case, index, i, at)]
    return (*kept, *live)


def _comes(case: Case, index: int, place: int, at: Cut) -> bool:
    """Whether a live record lies behind this cut: a number of the future is greater than its."""
    if at.rank is not Rank.INSIDE or at.by_time:
        return True
    shard = case.topology[index]
    epoch = int(shard.start) >> 148 & 0xFFFFFFFFF
    return int(number(epoch, len(shard.records) + 1 + place, case.now, index)) > at.processed


__all__ = ["Bench", "Candidate", "delivered", "images_of", "lineage_of"]
