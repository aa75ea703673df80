"""A consumer's status, shard by shard: one row for each shard, or one block where it has no room.

Rows can be tens of thousands, so their lines are put together here; rich lays out what stands above
and below them. Times are shown as they are or as ages.

As plain values it is `reshardctl/status/1`, described by `status.schema.json`. As in reports,
sequence numbers are strings, times ISO 8601 in UTC, lengths of time seconds; every object has all
of its members, always, and members are only ever added.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence

from reshardctl.diagnosis.rules import Finding, Severity
from reshardctl.exit import Exit
from reshardctl.model import short
from reshardctl.model.times import duration, instant
from reshardctl.render.content.findings import title
from reshardctl.render.content.report import header
from reshardctl.render.content.report_json import (
    consumer_document,
    exit_json,
    stream_document,
)
from reshardctl.render.context import Context
from reshardctl.render.document import Json
from reshardctl.render.escape import cut, time_json
from reshardctl.render.sheet import Grid, Sheet, blocks, fitting
from reshardctl.render.words import command, count, shortened
from reshardctl.report.lag import Lag
from reshardctl.report.status import (
    ConsumerStatus,
    PositionKind,
    Progress,
    ShardState,
    ShardStatus,
    StoredPosition,
)

STATUS = "reshardctl/status/1"
VERDICTS = ("error", "warning", "info", "ok")


def status_document(status: ConsumerStatus, code: Exit) -> Json:
    """The whole document. code: what the command ends with."""
    return {
        **head(status, code),
        "findings": [finding_document(finding) for finding in status.findings],
        "shards": [shard_document(row) for row in status.rows],
        **tail(status),
    }


def head(status: ConsumerStatus, code: Exit) -> Json:
    """What was looked at, and which rows of it are shown."""
    report, selection = status.report, status.selection
    store = report.snapshot.store
    return {
        "schema": STATUS,
        "exit": exit_json(code),
        "taken": instant(report.snapshot.now),
        "stream": stream_document(report.snapshot.lineage),
        "consumer": consumer_document(report),
        "store": {name: store[name] for name in sorted(store)},
        "selection": {
            "shards": list(selection.shards), "only_bad": selection.only_bad,
            "sort": selection.sort,
        },
    }


def tail(status: ConsumerStatus) -> Json:
    """What there is in all."""
    return {
        "total_shards": status.total,
        "shown_shards": len(status.rows),
        "counts": status.counts(),
        "suppressed": status.suppressed,
        "notes": list(status.report.notes),
    }


def shard_document(row: ShardStatus) -> Json:
    """One shard."""
    return {
        "shard": row.shard,
        "state": str(row.state),
        "opened": time_json(row.opened),
        "closed": time_json(row.closed),
        "expires": time_json(row.expires),
        "parents": list(row.parents),
        "children": list(row.children),
        "position": _position_json(row.position),
        "lag": _lag_json(row.lag),
        "owner": row.owner or None,
        "progress": _progress_json(row.progress),
        "verdict": verdict(row),
        "rules": list(row.rules),
    }


def verdict(row: ShardStatus) -> str:
    """`error`, `warning`, `info`, or `ok` where no finding names the shard."""
    return "ok" if row.verdict is None else str(row.verdict)


def _position_json(position: StoredPosition) -> Json:
    return {
        "kind": str(position.kind), "stored": position.stored,
        "number": position.number or None, "sub": position.sub if position.number else None,
        "time": time_json(position.time),
    }


def _lag_json(lag: Lag) -> Json:
    return {
        "seconds": lag.seconds, "least_seconds": lag.least_seconds,
        "unread_seconds": lag.unread_seconds, "records": lag.records, "bytes": lag.size_bytes,
        "at_least": lag.at_least, "oldest_arrival": time_json(lag.oldest), "measured": lag.measured,
    }


def _progress_json(progress: Progress | None) -> Json | None:
    if progress is None:
        return None
    return {"time": time_json(progress.time), "exact": progress.exact}


def finding_document(finding: Finding) -> Json:
    """What a finding is, without its effects."""
    return {
        "code": finding.code, "name": finding.name, "severity": str(finding.severity),
        "shards": list(finding.shards), "what": finding.what, "when": finding.when,
    }


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


_COLORS = {Severity.ERROR: "31", Severity.WARNING: "33"}
"""Colours of rows: red and yellow (ECMA-48, SGR)."""
_STYLES = {Severity.ERROR: "bold red", Severity.WARNING: "bold yellow", Severity.INFO: "bold"}


def status_text(sheet: Sheet, status: ConsumerStatus) -> None:
    """Stream and consumer, findings of all shards, the rows, and what to run next."""
    context = sheet.context
    header(sheet, status.report)
    for finding in status.of_all_shards:
        sheet.line((str(finding.severity), _STYLES[finding.severity]), f"  {title(finding)}: ",
                   shortened(finding.what, context.verbose))
    for note in status.report.caveats:
        sheet.line(note)
    sheet.blank()
    if status.rows:
        sheet.raw(_rows(status, context))
        sheet.blank()
    _below(sheet, status)


def _rows(status: ConsumerStatus, context: Context) -> str:
    now, measured = status.report.snapshot.now, status.measured
    names = heads(measured)
    made = [
        [cells(row, now, ages=ages, measured=measured) for row in status.rows]
        for ages in (False, True)
    ]
    grids = [Grid.of(names, table, context.ascii) for table in made]
    grid = fitting(grids, context.width)
    parts = blocks(grids[0], context.width) if grid is None else grid.lines()
    return "".join(_colored(parts, status.rows, context))


def _colored(
    parts: Iterable[str], rows: Sequence[ShardStatus], context: Context
) -> Iterable[str]:
    """The heads, if there are any, and then the lines of each row."""
    texts = list(parts)
    above = len(texts) - len(rows)
    yield from (f"{text}\n" for text in texts[:above])
    for text, row in zip(texts[above:], rows, strict=True):
        color = _COLORS.get(row.verdict or Severity.INFO, "") if context.color else ""
        yield f"\x1b[{color}m{text}\x1b[0m\n" if color else f"{text}\n"


def _below(sheet: Sheet, status: ConsumerStatus) -> None:
    """How much is shown, the findings, and the commands that say more."""
    shown, total = len(status.rows), status.total
    hidden = f"{shown} of " if shown != total else ""
    verdicts = Counter(map(verdict, status.rows))
    each = [f"{verdicts[word]} {word}" for word in VERDICTS if verdicts[word]]
    suggested = sheet.context.suggested_command
    sheet.line(f"{hidden}{count(total, 'shard')}{': ' if each else ''}{', '.join(each)}.")
    if status.suppressed:
        sheet.line(f"{count(status.suppressed, 'finding')} suppressed by reshardctl.toml.")
    bad = next((row for row in status.rows if row.bad), None)
    if bad is not None:
        sheet.command(command("explain", *suggested[:1], short(bad.shard), *suggested[1:]))
        sheet.command(command("inspect", *suggested))


TABLE = (
    "shard",
    "state",
    "opened",
    "closed",
    "expires",
    "position",
    "stored",
    "number",
    "sub",
    "position_time",
    "lag_seconds",
    "lag_least_seconds",
    "unread_seconds",
    "records",
    "bytes",
    "at_least",
    "oldest_arrival",
    "owner",
    "progress",
    "progress_exact",
    "verdict",
    "rules",
)
"""The heads of a table for spreadsheets: times in UTC, lengths of time in seconds."""


def table_row(row: ShardStatus) -> tuple[object, ...]:
    """A value for each of these heads."""
    fields = shard_document(row)
    position, lag, progress = fields["position"], fields["lag"], fields["progress"] or {}
    return (
        fields["shard"],
        fields["state"],
        fields["opened"],
        fields["closed"],
        fields["expires"],
        position["kind"],
        position["stored"],
        position["number"],
        position["sub"],
        position["time"],
        lag["seconds"],
        lag["least_seconds"],
        lag["unread_seconds"],
        lag["records"],
        lag["bytes"],
        lag["at_least"],
        lag["oldest_arrival"],
        fields["owner"],
        progress.get("time"),
        progress.get("exact"),
        fields["verdict"],
        " ".join(fields["rules"]),
    )
