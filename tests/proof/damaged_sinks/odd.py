"""Layouts from a seed: the odd names, types and spellings that sinks in life have, and what some of
their rows do not say."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from datetime import UTC, datetime, timedelta, timezone
from decimal import Decimal
from random import Random
from typing import Any

from tests.proof.damaged_sinks.damage import Making
from tests.proof.damaged_sinks.layouts import Cells, Layout
from tests.proof.damaged_sinks.rows import Row

Spell = Callable[[Row], Any]
Column = tuple[str, Spell]
"""Type and what a row has in it."""
_GAP = datetime(2026, 3, 29, tzinfo=UTC)
"""An hour before Berlin's clocks leave one out; 32 weeks later they have one twice."""
_FOLD = datetime(2026, 10, 25, tzinfo=UTC)
NAMES = ("plain", "Sequence-Nr", "a.b", "tick`s", "with blanks", "Größe", "select", "q.`x`.y")


def silenced(making: Making, share: float = 0.1) -> Making:
    """Some rows say nothing of their key or their order: they take no part in it."""
    for row in making.rows:
        if making.rng.random() < share:
            making.put(replace(row, key=""))
        elif making.rng.random() < share:
            making.put(replace(row, batch=-1))
    return making


def odd(seed: int) -> Layout:
    """Every seed another one. Order and key are always there."""
    rng = Random(seed * 31 + 7)
    columns: dict[str, Column] = {"number": rng.choice(_NUMBERS)}
    for role, spellings in (
        ("sub", _SUBS), ("shard", _SHARDS), ("stream", _STREAMS), ("key", _KEYS),
        ("arrival", _ARRIVALS), ("order", _ORDERS),
    ):
        if role in ("key", "order", "sub") or rng.random() < 0.8:
            columns[role] = rng.choice(spellings)
    names = _names(rng, list(columns))
    nested = {role for role in columns if "." not in names[role] and rng.random() < 0.3}
    return Layout(
        f"odd-{seed}", lambda row: _cells(row, columns, names, nested),
        {role: f"outer.{names[role]}" if role in nested else names[role] for role in columns},
        _types(columns, names, nested),
    )  # fmt: skip


def _names(rng: Random, roles: list[str]) -> dict[str, str]:
    odd_ones = rng.sample(NAMES, 3)
    named = dict(zip(rng.sample(roles, 3), odd_ones, strict=True))
    return {role: named.get(role, f"{role}_col") for role in roles}


def _types(
    columns: Mapping[str, Column], names: Mapping[str, str], nested: set[str]
) -> dict[str, str]:
    types = {names[role]: kind for role, (kind, _) in columns.items() if role not in nested}
    if nested:
        inside = (f"{quoted(names[role])}: {columns[role][0]}" for role in sorted(nested))
        types["Outer"] = f"struct<{', '.join(inside)}>"
    return {**types, "row_id": "bigint"}


def quoted(name: str) -> str:
    return "`" + name.replace("`", "``") + "`"


def _cells(
    row: Row, columns: Mapping[str, Column], names: Mapping[str, str], nested: set[str]
) -> Cells:
    cells = {names[role]: spell(row) for role, (_, spell) in columns.items() if role not in nested}
    if nested:
        cells["Outer"] = tuple(columns[role][1](row) for role in sorted(nested))
    return {**cells, "row_id": row.ident}


def _every(row: Row, turn: int) -> bool:
    """One row in so many; a copy of a row is another row."""
    return row.ident % turn == 0


_NUMBERS: tuple[Column, ...] = (
    ("string", lambda row: row.number),
    ("binary", lambda row: None if row.number is None else row.number.encode()),
)
_SUBS: tuple[Column, ...] = (
    ("bigint", lambda row: row.sub or None),
    ("int", lambda row: row.sub or -1),
    ("decimal(20,0)", lambda row: Decimal(row.sub)),
    ("double", lambda row: float(row.sub) if row.sub or _every(row, 2) else None),
    ("string", lambda row: str(row.sub) if row.sub or _every(row, 2) else ""),
)
_SHARDS: tuple[Column, ...] = (
    ("string", lambda row: row.shard),
    ("string", lambda row: row.shard if _every(row, 2) or row.record is None else None),
    ("string", lambda row: row.shard if _every(row, 2) or row.record is None else ""),
    ("binary", lambda row: row.shard.encode()),
)
_STREAMS: tuple[Column, ...] = (
    ("string", lambda row: row.stream),
    ("string", lambda row: row.stream if _every(row, 3) or row.record is None else None),
    ("string", lambda row: f"arn:aws:kinesis:us-east-1:123456789012:stream/{row.stream}"),
)
_KEYS: tuple[Column, ...] = (
    ("string", lambda row: row.key or None),
    ("binary", lambda row: row.key.encode() if row.key else None),
)


def _moment(seconds: float, zone: timezone = UTC) -> datetime:
    return datetime.fromtimestamp(seconds, zone)


def _bare(seconds: float) -> datetime:
    return _moment(seconds).replace(tzinfo=None)


_KOLKATA = timezone(timedelta(hours=5, minutes=30))
_ARRIVALS: tuple[Column, ...] = (
    ("timestamp", lambda row: None if _every(row, 7) else _moment(row.arrival)),
    ("timestamp_ntz", lambda row: _bare(row.arrival)),
    ("bigint", lambda row: round(row.arrival * 1000)),
    ("bigint", lambda row: round(row.arrival * 1000) * 1000),
    ("double", lambda row: float("nan") if _every(row, 7) else row.arrival),
    ("double", lambda row: float("inf") if _every(row, 7) else row.arrival),
    ("string", lambda row: "NaN" if _every(row, 7) else _bare(row.arrival).isoformat()),
    ("string", lambda row: _bare(row.arrival).isoformat(" ", "milliseconds")),
    ("string", lambda row: _moment(row.arrival, _KOLKATA).isoformat()),
    ("string", lambda row: "soon" if _every(row, 7) else f"{row.arrival:.3f}"),
)


def _written(row: Row, first: datetime) -> datetime | None:
    return None if row.batch < 0 else first + timedelta(minutes=row.batch)


def _told(row: Row, spell: Callable[[int], Any], nothing: Any = None) -> Any:
    return nothing if row.batch < 0 else spell(row.batch)


def _iso(row: Row, first: datetime, zone: timezone | None) -> str | None:
    when = _written(row, first)
    if when is None:
        return None
    return (when.replace(tzinfo=None) if zone is None else when.astimezone(zone)).isoformat()


_ORDERS: tuple[Column, ...] = (
    ("bigint", lambda row: _told(row, int)),
    ("smallint", lambda row: _told(row, int)),
    ("decimal(38,10)", lambda row: _told(row, Decimal)),
    ("double", lambda row: _told(row, float, float("nan"))),
    ("float", lambda row: _told(row, float)),
    ("string", lambda row: _told(row, str, "")),
    ("string", lambda row: _told(row, lambda batch: f"{(batch - 50) / 8}", "NaN")),
    ("string", lambda row: _told(row, lambda batch: f"{1_700_000_000 + batch / 4:.9E}")),
    ("string", lambda row: _told(row, lambda batch: f"batch-{batch:09d}")),
    ("timestamp", lambda row: _written(row, _FOLD)),
    ("timestamp_ntz", lambda row: _bare(w.timestamp()) if (w := _written(row, _GAP)) else None),
    ("timestamp_ntz", lambda row: _bare(w.timestamp()) if (w := _written(row, _FOLD)) else None),
    ("string", lambda row: _iso(row, _GAP, None)),
    ("string", lambda row: _iso(row, _FOLD, None)),
    ("string", lambda row: _iso(row, _FOLD, UTC if _every(row, 2) else _KOLKATA)),
    ("binary", lambda row: _told(row, lambda batch: batch.to_bytes(4))),
    ("date", lambda row: _told(row, lambda batch: (_GAP + timedelta(days=batch)).date())),
)
