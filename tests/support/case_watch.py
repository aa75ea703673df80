"""Cases of a KCL application that is watched: `tests/cases/watches`, one file each.

    title, source             # as in every case
    table = "healthy-roots"   # the case of kcl/ with the stream and the rows as they stand
    renewed = [0, 1]          # shards whose leaseCounter a worker counts up all the time
    moved = [0]               # shards whose checkpoint a worker moves to their last record
    left = [1]                # shards whose row has no leaseOwner
    probe = true              # records are looked for

    [expect]
    inspect = ["RSH403 error 1"]      # code, severity and shards of inspect --watch, exactly
    fix = "RSH401"                    # fix --watch is refused, exit 4; "" where it is not
"""

from __future__ import annotations

import tomllib
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from tests.support.case import CASES
from tests.support.case_stream import only, shard_name

KEYS = {"title", "source", "table", "renewed", "moved", "left", "probe", "expect"}


@dataclass(frozen=True, slots=True)
class WatchCase:
    """One application, what its workers write meanwhile, and what is said of it."""

    name: str
    table: str
    renewed: tuple[str, ...]
    moved: tuple[str, ...]
    left: tuple[str, ...]
    probe: bool
    inspect: tuple[str, ...]
    fix: str

    @property
    def codes(self) -> frozenset[str]:
        """Every rule that the case shows."""
        return frozenset(line.split()[0] for line in (*self.inspect, self.fix) if line)


def watch_cases() -> list[WatchCase]:
    """Every case of a watch, by file name."""
    return [_load(path) for path in sorted((CASES / "watches").glob("*.toml"))]


def _load(path: Path) -> WatchCase:
    table: dict[str, Any] = tomllib.loads(path.read_text(encoding="utf-8"))
    only(table, KEYS, path.name)
    only(table["expect"], {"inspect", "fix"}, f"{path.name}: expect")
    assert table["title"] and table["source"], path.name
    return WatchCase(
        path.stem, table["table"], _ids(table.get("renewed", ())), _ids(table.get("moved", ())),
        _ids(table.get("left", ())), table.get("probe", False),
        tuple(table["expect"]["inspect"]), table["expect"]["fix"],
    )


def _ids(shards: Iterable[int]) -> tuple[str, ...]:
    return tuple(map(shard_name, shards))
