"""An injected sink with its stream, and what an audit of it says other than the truth."""

from __future__ import annotations

import time
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from random import Random
from typing import Any

from reshardctl.kinesis import Kinesis
from reshardctl.kinesis.fast import Reach
from reshardctl.lineage import Lineage
from reshardctl.spark.audit import Columns
from reshardctl.testing import serve
from tests.proof.damaged_sinks import damage
from tests.proof.damaged_sinks.damage import Damage, Making, inject
from tests.proof.damaged_sinks.history import History, Kind, draw
from tests.proof.damaged_sinks.layouts import Layout
from tests.proof.damaged_sinks.odd import quoted
from tests.proof.damaged_sinks.rows import Row
from tests.proof.damaged_sinks.truth import Truth, truth_of

OLD = Kind(hours=40, roots=3, reshards=7, records=320)
PACKED = Kind(hours=40, roots=3, reshards=7, records=320, aggregated=0.2)
"""Older than its retention, with two generations of shards that nothing lists any more."""


@dataclass(frozen=True)
class Scene:
    """What a right consumer's sink became."""

    making: Making
    truth: Truth

    @property
    def history(self) -> History:
        return self.making.history

    @property
    def rows(self) -> list[Row]:
        return self.making.rows

    def lineage(self) -> Lineage:
        return Kinesis.of_client(self.history.fake().client()).lineage("orders")


def scene(seed: int, damages: Iterable[Damage], kind: Kind | None = None) -> Scene:
    """The clock stands at the machine's time, as that of a reader does."""
    making = inject(draw(seed, kind, now=int(time.time())), seed, damages)
    return Scene(making, truth_of(making))


def fitting(layout: Layout, damages: Iterable[Damage] = damage.EVERYTHING) -> list[Damage]:
    """Those that can be seen in this layout's columns."""
    needs: dict[Damage, str] = {
        damage.other_stream: "stream", damage.not_its_shard: "shard",
        damage.child_first: "order", damage.within_shard: "order",
    }  # fmt: skip
    return [one for one in damages if layout.has(needs.get(one, "number"))]


def columns(layout: Layout) -> Columns:
    """What is said of a sink with names of its own, as an operator says it."""
    return Columns(**layout.roles)


@contextmanager
def served(scene: Scene) -> Iterator[str]:
    """The stream over HTTP, as long as the block runs: its address."""
    with serve(scene.history.fake()) as server:
        yield server.url


def against(url: str) -> dict[str, Any]:
    """The argument of an audit that reads this stream as well."""
    return {"stream": (Reach("us-east-1", url), "orders")}


def shuffled(scene: Scene) -> list[Row]:
    """The rows in an order that tells nothing."""
    rows = list(scene.rows)
    Random(17).shuffle(rows)
    return rows


Place = tuple[int, int]


def place(record: Any) -> Place | None:
    return None if record is None else (int(record.number), record.sub)


def differences(found: Any, truth: Truth, layout: Layout, *, against: bool = False) -> str:
    """A line each; "" where facts and frames say the truth, all of it and nothing else."""
    facts = found.facts
    told: list[tuple[str, Any, Any]] = [("rows", facts.rows, truth.rows)]
    told.append(("shards", sorted(facts.shards), sorted(truth.shards)))
    for shard in sorted(facts.shards.keys() & truth.shards.keys()):
        told += _held(shard, facts.shards[shard], truth, layout)
    told.append(("unusable", _faults(facts), {f: len(r) for f, r in truth.unusable.items()}))
    told.append(("doubled records", _places(found.doubled), set(truth.doubled)))
    if against:
        told += _compared(found, truth)
    else:
        told.append(("compared", dict(facts.compared), {}))
    differing = (one for one in told if one[1] != one[2])
    return "\n".join(f"{what}: found {is_}, is {ought}" for what, is_, ought in differing)


def _held(shard: str, held: Any, truth: Truth, layout: Layout) -> list[tuple[str, Any, Any]]:
    ought = truth.shards[shard]
    return [
        (f"{shard} rows", held.rows, ought.rows),
        (f"{shard} first", place(held.first), ought.first),
        (f"{shard} last", place(held.last), ought.last),
        (f"{shard} doubled", (held.doubled, held.extra), (ought.doubled, ought.extra)),
        (f"{shard} disordered", held.disordered, ought.disordered if ordered(layout) else None),
    ]


def ordered(layout: Layout) -> bool:
    """Whether anything tells in which order a key's rows came."""
    return layout.has("order") and layout.has("key")


def _compared(found: Any, truth: Truth) -> list[tuple[str, Any, Any]]:
    facts = found.facts
    missing = {s: c.missing for s, c in facts.compared.items() if c.missing}
    told: list[tuple[str, Any, Any]] = [
        ("read", {s: c.read for s, c in facts.compared.items() if c.read}, truth.read),
        ("missing", missing, {s: len(places) for s, places in truth.missing.items()}),
        ("missing records", _places(found.missing), {p for s in truth.missing.values() for p in s}),
    ]
    for shard in missing.keys() & truth.missing.keys():
        one, places = facts.compared[shard], truth.missing[shard]
        ends = place(one.first_missing), place(one.last_missing)
        told.append((f"{shard} missing from to", ends, (places[0], places[-1])))
    return told


def _faults(facts: Any) -> dict[str, int]:
    found: dict[str, int] = {}
    for one in facts.unusable:
        found[str(one.fault)] = found.get(str(one.fault), 0) + one.rows
    return found


def _places(frame: Any) -> set[Place]:
    """Of a frame of offending rows; each record is to be in it once."""
    rows = frame.select("sequence_number", "sub_sequence_number").collect()
    found = [(int(row[0]), int(row[1] or 0)) for row in rows]
    assert len(found) == len(set(found)), "a record is named twice"
    return set(found)


def frame(spark: Any, rows: Sequence[Row], layout: Layout) -> Any:
    """The rows as a DataFrame of the layout's own types; they come from Python once."""
    schema = ", ".join(f"{quoted(name)} {kind}" for name, kind in layout.types.items())
    made = [tuple(layout.cells(row).values()) for row in rows]
    return spark.createDataFrame(made, schema).repartition(3).localCheckpoint()


def drop_one(path: Path, layout: Layout) -> None:
    """Takes a row with a number out of a sink of JSON lines, after it was written."""
    column = layout.roles["number"]
    for file in sorted(path.glob("*.json")):
        lines = file.read_text(encoding="utf-8").splitlines(keepends=True)
        for at, line in enumerate(lines):
            if f'"{column}": "49' in line:
                file.write_text("".join(lines[:at] + lines[at + 1 :]), encoding="utf-8")
                return
    raise AssertionError("no row to drop")
