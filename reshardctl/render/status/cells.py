"""The words of one shard's row, with times as they are or as ages."""

from __future__ import annotations

from reshardctl.model import short
from reshardctl.model.times import duration, instant
from reshardctl.render.escape import cut
from reshardctl.render.status.documents import verdict
from reshardctl.report.lag import Lag
from reshardctl.report.status import PositionKind, ShardState, ShardStatus, StoredPosition

SPELLED = 24
"""Characters up to which a position is shown as the store spells it."""
NOTHING = "-"

_BYTES = (("TB", 10**12), ("GB", 10**9), ("MB", 10**6), ("kB", 10**3))


def heads(measured: bool) -> list[str]:
    """The columns, those of records where records were read."""
    read = ["records", "bytes"] if measured else []
    return ["shard", "state", "position", "lag", *read, "owner", "progress", "verdict", "rule"]


def cells(row: ShardStatus, now: float, *, ages: bool, measured: bool) -> list[str]:
    """A cell for each of the heads. ages: times as `14m ago` instead of UTC."""
    read = [_records(row.lag), _bytes(row.lag)] if measured else []
    return [
        cut(short(row.shard), 60), _state(row, now, ages), _position(row.position, now, ages),
        _lag(row.lag), *read, row.owner or NOTHING, _progress(row, now, ages), verdict(row),
        ", ".join(row.rules) or NOTHING,
    ]


def cells_by_head(row: ShardStatus, now: float) -> dict[str, str]:
    """The cells by their heads, with ages."""
    return dict(zip(heads(True), cells(row, now, ages=True, measured=True), strict=True))


def _when(moment: float, now: float, ages: bool) -> str:
    if not ages:
        return instant(moment)
    return f"{duration(now - moment)} ago" if moment <= now else f"in {duration(moment - now)}"


def _state(row: ShardStatus, now: float, ages: bool) -> str:
    if row.state is ShardState.CLOSED and row.closed is not None:
        return f"closed {'' if ages else 'since '}{_when(row.closed, now, ages)}"
    return str(row.state)


def _position(position: StoredPosition, now: float, ages: bool) -> str:
    kind = position.kind
    if kind in (PositionKind.NUMBER, PositionKind.TIME):
        when = "time unknown" if position.time is None else _when(position.time, now, ages)
        return f"{kind} {when}"
    stored = position.stored
    if kind is PositionKind.NONE or stored is None or len(stored) > SPELLED:
        return str(kind)
    return f"{kind} {stored}" if kind is PositionKind.UNREADABLE else stored


def _lag(lag: Lag) -> str:
    """`12m`; `≤ 12m` where the position is not certain."""
    if lag.seconds is None:
        return NOTHING
    sure = lag.least_seconds is not None and lag.least_seconds >= lag.seconds
    return f"{'' if sure else '≤ '}{duration(lag.seconds)}"


def _records(lag: Lag) -> str:
    return NOTHING if lag.records is None else f"{'≥ ' if lag.at_least else ''}{lag.records}"


def _bytes(lag: Lag) -> str:
    """`812 B`, `1.5 MB`, `≥ 40 kB`: powers of ten, as CloudWatch counts."""
    if lag.size_bytes is None:
        return NOTHING
    unit, size = next(((u, s) for u, s in _BYTES if lag.size_bytes >= s), ("B", 1))
    value = f"{lag.size_bytes / size:.1f}".removesuffix(".0")
    return f"{'≥ ' if lag.at_least else ''}{value} {unit}"


def _progress(row: ShardStatus, now: float, ages: bool) -> str:
    """When the position was saved; a bound where only the record's own time is known."""
    if row.progress is None:
        return NOTHING
    when = _when(row.progress.time, now, ages)
    if row.progress.exact:
        return when
    return f"{'≤' if ages else '≥'} {when}"
