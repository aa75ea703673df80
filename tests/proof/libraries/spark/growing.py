"""A stream at two moments, before and after a split, for a checkpoint that the query itself writes.

Both lie in the past, so that "now" is after every record, as it is for an operator.
"""

from __future__ import annotations

import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from reshardctl.testing import load_topology, serve
from tests.proof.libraries.spark.shapes import AHEAD_SECONDS, Planted

STREAM = "st"
INITIAL = "TRIM_HORIZON"
_AGE_SECONDS = 7200
_CLOSE = 3600


def before() -> list[dict[str, Any]]:
    """One open shard: s0-0 to s0-3."""
    return [{"id": 0, "range": ["0", "1"], "records": _records(0, 10, 200, 400, 600)}]


def after() -> list[dict[str, Any]]:
    """Two more records, a split, and two records in each child."""
    ends = _records(0, 10, 200, 400, 600, 3598, 3599)
    return [
        {"id": 0, "range": ["0", "1"], "records": ends, "close": _CLOSE},
        {"id": 1, "range": ["0", "1/2"], "parents": [0], "records": _records(1, 3610, 3620)},
        {"id": 2, "range": ["1/2", "1"], "parents": [0], "records": _records(2, 3610, 3620)},
    ]


def expired() -> list[dict[str, Any]]:
    """The same, once retention has taken the parent with its two records."""
    parent, *children = after()
    return [{**parent, "trimmed": True}, *children]


def aged() -> list[dict[str, Any]]:
    """One open shard; with a retention of an hour the last two records alone are left."""
    return [{"id": 0, "range": ["0", "1"], "records": _records(0, 10, 200, 400, 600, 6000, 6001)}]


class Growing:
    """Serves both moments with the same numbers; ``checkpoint`` is written by the query."""

    def __init__(self, checkpoint: Path, age: float = _AGE_SECONDS) -> None:
        self._checkpoint = checkpoint
        self._created = int(time.time() - age)

    def moment(self, seconds: float) -> float:
        """So many seconds after the stream's creation, as Unix seconds."""
        return self._created + seconds

    @contextmanager
    def at(self, shards: list[dict[str, Any]], **more: Any) -> Iterator[Planted]:
        """The stream with these shards, for as long as the block; it goes on from now. more: of the
        topology, say retention_hours."""
        now = time.time() + AHEAD_SECONDS - self._created
        table = {"name": STREAM, "created": self._created, "now": now, "shards": shards, **more}
        fake = load_topology(table, ticking=True)
        with serve(fake) as server:
            yield Planted(self._checkpoint, server.url, fake, STREAM, INITIAL)


def _records(shard: int, *times: float) -> list[dict[str, Any]]:
    return [{"t": t, "data": f"s{shard}-{i}"} for i, t in enumerate(times)]
