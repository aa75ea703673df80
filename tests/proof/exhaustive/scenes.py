"""A scene: one stream, one table, one application. The same seed gives the same scene."""

from __future__ import annotations

from copy import deepcopy
from dataclasses import dataclass, field, replace
from functools import lru_cache
from pathlib import Path
from random import Random
from typing import Any

from tests.proof.exhaustive.healthy import interrupted
from tests.proof.exhaustive.histories import Stream, random_stream, small_streams
from tests.proof.exhaustive.tables import Row, as_written_by, damaged, random_rows
from tests.support.case import Case, from_table

HOUR = 3600.0
SOURCE = "reference consumer"

RELEASES = (
    "2.7.2", "3.5.1", "3.5.1", "2.7.2", "3.5.1", "3.5.1", "1.13.3", "1.15.3", "2.2.11", "1.3.0",
)
"""The newest as often as the random scenes need it, the others for what sets them apart."""


@dataclass(frozen=True)
class Scene:
    """`reread`: what the operator accepts, in seconds. `kind`: how the table came about."""

    name: str
    kind: str
    stream: Stream
    rows: list[Row]
    initial: str
    release: str
    reread: float = HOUR
    case: Case = field(init=False, compare=False, repr=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "case", from_table(Path(f"{self.name}.toml"), self.table({})))

    def table(self, delivers: dict[str, list[str]]) -> dict[str, Any]:
        """The whole case file."""
        expect = {"initial": [self.initial], "releases": [self.release], "delivers": delivers}
        return {
            "title": f"{self.kind} table {self.name}",
            "source": SOURCE,
            "consumer": "kcl",
            "stream": deepcopy(self.stream),
            "rows": deepcopy(self.rows),
            "live": live(self.stream),
            "expect": [expect | {"findings": []}],
        }


    @property
    def undisturbed(self) -> bool:
        """Whether a worker left this table and nothing of it is in doubt: nothing has expired
        under it, and LATEST stands only where it is the application's own choice."""
        shards = self.case.topology
        return (
            self.kind == "healthy"
            and all(shard.listed for shard in shards.values())
            and not any(
                row["checkpoint"] == "LATEST"
                and (shards[row["shard"]].end or shards[row["shard"]].parents)
                for row in self.rows
            )
        )


def live(stream: Stream) -> dict[str, Any]:
    """Something to read in every open shard, once the consumer runs."""
    return {"shards": [s["id"] for s in stream["shards"] if "close" not in s], "n": 1}


@lru_cache(maxsize=2000)
def scene(seed: int | str) -> Scene:
    """The random scene of this seed."""
    rng = Random(f"scene {seed}")
    stream = random_stream(rng)
    initial = rng.choice(("LATEST", "TRIM_HORIZON"))
    release = rng.choice(RELEASES)
    kind = rng.choice(("random", "random", "damaged", "damaged", "healthy"))
    empty = Scene(f"seed-{seed}", kind, stream, [], initial, release, rng.choice((HOUR, 99 * HOUR)))
    if kind == "random":
        rows = random_rows(rng, empty.case.topology)
        return replace(empty, rows=as_written_by(release, rows))
    rows = interrupted(rng, empty.case, initial, release)
    if kind == "damaged":
        rows = damaged(rng, rows, empty.case.topology)
    return replace(empty, rows=as_written_by(release, rows))


STATES = ("absent", "TRIM_HORIZON", "record", "SHARD_END", "LATEST", "END")


def count() -> int:
    """How many small scenes there are: every table of six states a shard over every history of
    one root and at most two operations, under both initial positions."""
    return sum(2 * len(STATES) ** len(stream["shards"]) for _, stream in small_streams())


@lru_cache(maxsize=2000)
def nth(index: int) -> Scene:
    """One of the small scenes. IndexError beyond the last."""
    for name, stream in small_streams():
        tables = len(STATES) ** len(stream["shards"])
        if index < 2 * tables:
            code, initial = index // 2, ("LATEST", "TRIM_HORIZON")[index % 2]
            rows = _coded(code, stream)
            full = f"{name}-{code}-{initial}"
            return Scene(full, "small", stream, rows, initial, "3.5.1", 99 * HOUR)
        index -= 2 * tables
    raise IndexError(index)


def _coded(code: int, stream: Stream) -> list[Row]:
    rows: list[Row] = []
    for shard in stream["shards"]:
        code, digit = divmod(code, len(STATES))
        state = STATES[digit]
        if state == "record":
            state = f"s{shard['id']}-0"
        if state == "END" and "close" not in shard:
            state = f"s{shard['id']}-1"  # an open shard has no end: its last record instead
        if state != "absent":
            rows.append({"shard": shard["id"], "checkpoint": state})
    return rows
