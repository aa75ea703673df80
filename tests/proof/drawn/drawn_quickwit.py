"""Checkpoints of a Quickwit source: what the reference source published before it stopped, then
damaged."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from random import Random
from typing import Any

from reshardctl.testing import load_topology
from tests.proof.drawn.damages import COMMON, Damage, Forged, Value, World
from tests.proof.drawn.drawn_go import _case, _fake, _history, _live, bound
from tests.proof.drawn.later import harmed, hostile, twin
from tests.proof.drawn.states import Rows, State
from tests.proof.reference.quickwit import Run, started
from tests.support.dialects.quickwit import PREFIX

_SHARD = re.compile(rf"{re.escape(PREFIX)}/shardId-\d{{12}}", re.ASCII)
TYPED = ("restored from CSV", "another type", "an attribute missing")


def stranger(rng: Random, rows: Rows, world: World) -> Forged:  # noqa: ARG001 - see Damage
    """A row that is no position of a listed shard: an entry under a word, or one of no source."""
    key, text = rng.choice((
        ("note", "x"), ("events/ghost/shardId-000000000000", "49"), (f"{PREFIX}/note", "x"),
        (f"{PREFIX}/00000000000000000000", "00000000000000000042"), (f"{PREFIX}/", ""),
        (f"{PREFIX}/shardId-000000000000.bak", "SHARD_END"),
    ))
    rows[key] = {"position": {"S": text}}
    return ()


def green(rng: Random, rows: Rows, world: World) -> Forged:
    """The checkpoint of a source that a blue/green copy of the index has, under the same name."""
    for key, row in sorted(rng.choice([rows, *world.backups]).items()):
        rows[key.replace(PREFIX, "events/green-events", 1)] = {n: dict(v) for n, v in row.items()}
    return ()


POSITIONS = {name: way for name, way in COMMON.items() if name not in TYPED} | {
    "set to a bound": (bound, 2), "a row of another kind": (stranger, 2),
}

LATER: dict[str, tuple[Damage, float]] = {
    "a twin's rows": (twin, 2), "hostile": (hostile, 1), "a copy beside": (green, 1),
}


class EntryShape:
    """`position` of an entry."""

    marks = ("LATEST", "TRIM_HORIZON", "", "~", "SHARD_END", "0", "~0")
    apart = frozenset[str]()

    def shards(self, rows: Rows) -> dict[str, str]:
        """Without what `stranger` puts beside them."""
        return {k: k.rpartition("/")[2] for k in rows if _SHARD.fullmatch(k)}

    def position(self, row: Mapping[str, Any]) -> Value | None:
        return row.get("position")

    def place(self, row: dict[str, Any], value: Value | None) -> None:
        """The metastore's text holds strings only."""
        if value is not None:
            (body,) = value.values()
            row["position"] = {"S": str(body)}


def source(seed: int, created: int, release: str, family: str,
           only: Sequence[int] | None = None) -> State:
    """The state of this seed, of 0.8.2 or 0.9.0."""
    rng = Random(f"quickwit {release} {seed}")
    stream, moments = _history(rng, created, (3, 4, 5, 6), 60)  # 0.8 starts on no resharded one
    positions: dict[str, str] = {}
    read: dict[str, set[str]] = {}
    stages: list[Rows] = []
    for moment in moments:
        run = started(_fake(stream, moment), "orders", positions, release)
        positions = dict(run.checkpoint or {})
        for shard, payloads in run.delivered.items():
            read.setdefault(shard, set()).update(payloads)
        stages.append(_rows(positions, release))
    honest = stages[-1]
    world = World(_case(stream), EntryShape(), stages[:-1])
    name = f"damage quickwit {release} {seed}"
    rows, damages, forged = harmed(rng, name, honest, world, POSITIONS, LATER, only)
    kept = {shard: frozenset(done) for shard, done in read.items()}
    return State(family, seed, "quickwit", stream, rows, {"release": release}, kept, damages,
                 honest, forged)


def start(state: State, rows: Rows) -> Run:
    """The reference source's next start."""
    fake = load_topology(state.case.stream)
    positions = {
        key.rpartition("/")[2]: row["position"]["S"]
        for key, row in rows.items() if key.startswith(f"{PREFIX}/")
    }
    return started(fake, "orders", positions, state.release, live=_live(state.case, fake))


def _rows(positions: Mapping[str, str], release: str) -> Rows:
    version = release.rpartition(".")[0]
    found: Rows = {PREFIX: {
        "backfill": {"BOOL": False}, "checkpoint": {"S": "{}"}, "enabled": {"BOOL": True},
        "index_uid": {"S": "events:01M7Y8Y2K2MMN7QETDSR65CHCY"}, "region": {"S": "us-east-1"},
        "stream": {"S": "orders"}, "version": {"S": version},
    }}
    return found | {f"{PREFIX}/{s}": {"position": {"S": text}} for s, text in positions.items()}
