"""Every record of a world: put, delivered, announced as lost; and what is wrong between these.

A record that was never delivered has to have been announced, or nothing can have known of it: the
damage forged a place behind it, or the application starts at the tip and never read its shard.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any

Effect = Mapping[str, Any]
"""As reports spell it: `effect` of reshardctl/render/report.schema.json."""

FOR_GOOD = ("skipped",)
WHILE_SO = ("stalled", "crashes")
"""What a start leaves unread, and what a later one may read after all."""
EVERYTHING = {"at": "start"}, {"at": "done"}


@dataclass(frozen=True)
class Put:
    """One record; `at` by the clock of Kinesis."""

    payload: str
    shard: str
    number: int
    at: float


@dataclass
class Ledger:
    """`latest`: the application starts at the tip."""

    latest: bool = False
    puts: dict[str, Put] = field(default_factory=dict)
    delivered: dict[str, int] = field(default_factory=dict)
    """How often, by payload."""
    stored: set[str] = field(default_factory=set)
    """Shards of which a row has shown, before some start, how far they were read. At the tip, one
    that was stopped between its first record and its first checkpoint begins at the tip again."""
    forged: list[tuple[str, float]] = field(default_factory=list)
    """Shards whose stored place says what is not so, and since when."""
    skips: list[Effect] = field(default_factory=list)
    """Announced before a start, or by a plan that was accepted."""
    stalls: list[Effect] = field(default_factory=list)
    """Announced before the last start."""
    again: list[Effect] = field(default_factory=list)
    """Re-reads that were announced since the last start."""

    def add(self, put: Put) -> None:
        self.puts[put.payload] = put

    def deliver(self, payloads: Iterable[str]) -> None:
        """What one start delivered."""
        for payload in payloads:
            self.delivered[payload] = self.delivered.get(payload, 0) + 1
        self.again.clear()

    def before_start(self, report: Mapping[str, Any]) -> None:
        """What `inspect` says of the next start. A refusal to judge is said of everything."""
        effects = list(_effects(report))
        if "findings" not in report:
            effects = [_of_everything("crashes")]
        self.skips += [each for each in effects if each["harm"] in FOR_GOOD]
        self.stalls = [each for each in effects if each["harm"] in WHILE_SO]
        self.again += [each for each in effects if each["harm"] == "re-read"]

    def accept(self, plan: Mapping[str, Any]) -> None:
        """A plan, as the dry run showed it, is about to be written."""
        costs = [
            effect for effects in (*plan["after"], plan["costs"], plan["price"])
            for effect in effects
        ]
        self.skips += [each for each in costs if each["harm"] in FOR_GOOD]
        self.again += [each for each in costs if each["harm"] == "re-read"]

    def due(self, horizon: float, more: Iterable[str] = ()) -> set[str]:
        """Payloads that were never delivered, though nothing but an announcement excuses it.

        horizon: what came before it has expired. more: what a start has delivered until now.
        """
        since = dict[str, int]()
        delivered = {*self.delivered, *more}
        for payload in delivered:
            put = self.puts[payload]
            since[put.shard] = min(put.number, since.get(put.shard, put.number))
        return {
            put.payload for put in self.puts.values()
            if put.payload not in delivered and put.at >= horizon
            and not (self.latest and put.shard not in self.stored)
            and not (self.latest and put.number < since.get(put.shard, math.inf))
            and not any(put.shard == shard and put.at <= when for shard, when in self.forged)
        }

    def lost(self, horizon: float, more: Iterable[str] = ()) -> list[str]:
        """Those of them that nobody announced."""
        said = [*self.skips, *self.stalls]
        unsaid = [p for p in self.due(horizon, more) if not covered(self.puts[p], said)]
        return [f"{p} of {self.puts[p].shard}" for p in sorted(unsaid)]

    def rewound(self, before: Mapping[str, float], after: Mapping[str, float]) -> list[str]:
        """Delivered records that a written plan reads again and did not say so.

        before, after: the number up to which the stored rows say that a shard was read.
        """
        return [
            f"{put.payload} of {put.shard}"
            for payload in sorted(self.delivered)
            for put in (self.puts[payload],)
            if put.shard in after
            and after[put.shard] < put.number <= before.get(put.shard, -1)
            and not covered(put, self.again)
        ]


def covered(put: Put, effects: Iterable[Effect]) -> bool:
    """Whether an effect is about this record: its shard, and since < record <= until."""
    return any(
        each["shard"] in (None, put.shard)
        and not _up_to(each["since"], put) and _up_to(each["until"], put)
        for each in effects
    )


def _up_to(cut: Mapping[str, Any], put: Put) -> bool:
    """Whether the record lies before the cut, or is the one that it is behind."""
    if cut["at"] == "start":
        return False
    if cut["at"] == "number":
        return put.number <= int(cut["number"])
    if cut["at"] == "time":
        return put.at <= datetime.fromisoformat(cut["time"]).timestamp()
    return True


def _effects(report: Mapping[str, Any]) -> Iterable[Effect]:
    since, until = EVERYTHING
    for finding in report.get("findings", ()):
        yield from finding["effects"]
        if finding["code"] == "RSH205":  # no table tells whether its shards were read
            for shard in finding["shards"]:
                yield {"harm": "stalled", "shard": shard, "since": since, "until": until}
    for effects in report.get("decision", {}).get("before", ()):
        yield from effects


def _of_everything(harm: str) -> Effect:
    since, until = EVERYTHING
    return {"harm": harm, "shard": None, "since": since, "until": until}
