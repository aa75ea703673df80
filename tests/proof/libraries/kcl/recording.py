"""Starts of the KCL as they are recorded: their inputs, what came of them, and the comparison.

Records of different shards are delivered by threads of their own, so their order among each other
differs from run to run; a new run is compared with its record shard by shard, and by the same
order of shards as its case asks for (verdict.py).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import groupby
from typing import Any

from tests.proof.libraries.kcl.built import HERE
from tests.proof.libraries.kcl.log import Event, Log
from tests.proof.libraries.kcl.pace import PACES
from tests.proof.libraries.kcl.verdict import Outcome
from tests.proof.libraries.starts.digest import digest_of, digest_of_files

Items = Sequence[Mapping[str, Any]]

RUNNER = ("agent", "pom.xml", "runner", "tracking")
SETS = frozenset({"SS", "NS", "BS"})
WORKERS = {"1": "worker-1", "2": "worker-2", "3": "worker-2"}


def digest_of_start(
    release: str,
    options: Mapping[str, str],
    tables: Mapping[str, Items],
    streams: Sequence[Mapping[str, Any]],
) -> str:
    """The digest of a start: on these tables (DynamoDB JSON, by name) and these streams."""
    pace = PACES[release]
    return digest_of({
        "library": "kcl",
        "release": release,
        "options": dict(options),
        "tables": {name: sorted(map(_plain, items), key=str) for name, items in tables.items()},
        "streams": list(streams),
        "runner": digest_of_runner(release),
        "pace": [dict(pace.waits), dict(pace.intervals), pace.audits, pace.seconds],
    })  # fmt: skip


def digest_of_runner(release: str) -> str:
    """The digest of the program that runs this release: with another one no record is usable."""
    return digest_of_files(HERE, (*RUNNER, WORKERS[release[0]], f"kcl-{release}"))


def record_of(
    name: str, outcome: Outcome, leases: Items, payloads: Mapping[str, str]
) -> dict[str, Any]:
    """What is kept of a run that came to rest: ``leases`` is the table that it left.

    ``payloads``, by number, are those of the records that were there before the start.
    """
    started = outcome.log.of("STARTED")
    began = started[0].at if started else 0.0
    inits = outcome.log.of("INIT")
    runs = groupby(outcome.delivered, key=lambda each: each[0])
    return {
        "start": name,
        "died": outcome.died,
        "seconds": round(outcome.seconds, 1),
        "started": {each.members["shard"]: round(each.at - began, 1) for each in inits},
        "delivered": [[shard, *(payload for _, payload in run)] for shard, run in runs],
        "left": _positions(leases, payloads),
    }


def outcome_of_record(record: Mapping[str, Any]) -> Outcome:
    """The outcome as a test looks at it; of the log, what was kept."""
    delivered = [(shard, payload) for shard, *run in record["delivered"] for payload in run]
    log = Log()
    log.add(Event("STARTED", 0.0, {}))
    for shard, seconds in record["started"].items():
        log.add(Event("INIT", seconds, {"shard": shard}))
    for shard, payload in delivered:
        log.add(Event("RECORD", record["seconds"], {"shard": shard, "payload": payload}))
    if record["died"]:
        log.add(Event("DIED", record["seconds"], {}))
    return Outcome(
        delivered=tuple(delivered),
        died=record["died"],
        settled=True,
        robbed=False,
        seconds=record["seconds"],
        log=log,
        recorded=True,
    )


def contradictions(outcome: Outcome, record: Mapping[str, Any]) -> list[str]:
    """How a new run differs from the record of the same inputs; empty when it does not."""
    before = outcome_of_record(record)
    found = [] if outcome.settled else ["it was still moving when its time was up"]
    if outcome.died is not before.died:
        found.append(f"died: {outcome.died}, recorded {before.died}")
    shards = sorted({shard for shard, _ in (*outcome.delivered, *before.delivered)})
    return found + [
        f"{shard}: delivered {list(outcome.of(shard))}, recorded {list(before.of(shard))}"
        for shard in shards
        if outcome.of(shard) != before.of(shard)
    ]


def _positions(items: Items, payloads: Mapping[str, str]) -> dict[str, str]:
    """The positions that a run left, by key; counters, owners and times differ at every run.

    A number is given as its record's payload; records put during the run have other numbers
    at every run.
    """
    texts = {
        item["leaseKey"]["S"]: item["checkpoint"]["S"]
        for item in items
        if "S" in item.get("checkpoint", {}) and "S" in item.get("leaseKey", {})
    }
    return {
        key: f"at {payloads.get(text, 'a live record')}" if text.isdecimal() else text
        for key, text in sorted(texts.items())
    }


def _plain(value: Any) -> Any:
    """DynamoDB's answer as JSON: sets in order, bytes as hexadecimal digits."""
    if isinstance(value, Mapping):
        return {
            key: sorted(map(_plain, each), key=str) if key in SETS else _plain(each)
            for key, each in value.items()
        }
    if isinstance(value, bytes):
        return {"hex": value.hex()}
    return [_plain(each) for each in value] if isinstance(value, list) else value
