"""A consumer's status, shard by shard: a line for each shard, two, or a block, as there is room.

Rows can be tens of thousands, so their lines are put together here; rich lays out what stands above
and below them. Times are shown as they are or as ages.

As plain values and as a table it is in `content/status_json.py`.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence

from reshardctl.diagnosis.rules import Severity
from reshardctl.model import short
from reshardctl.model.times import duration, instant
from reshardctl.render.content import workers
from reshardctl.render.content.findings import title
from reshardctl.render.content.report import header, note_of
from reshardctl.render.content.status_json import VERDICTS, verdict
from reshardctl.render.context import Context
from reshardctl.render.escape import cut
from reshardctl.render.grid import Grid, laid_out
from reshardctl.render.sheet import Sheet
from reshardctl.render.words import (
    NOTHING,
    brief,
    command,
    count,
    lag_words,
    shortened,
)
from reshardctl.report.lag import Lag
from reshardctl.report.next_start import Begins, crash_of
from reshardctl.report.status import (
    ConsumerStatus,
    PositionKind,
    ShardState,
    ShardStatus,
    StoredPosition,
)
from reshardctl.report.workers import (
    Room,
    WorkerStatus,
    by_worker,
    migrations_of,
    ownership_of,
    room_of,
)

SPELLED = 24
"""Characters up to which a position is shown as the store spells it."""
FOREIGN = "not this stream's"

_BYTES = (("TB", 10**12), ("GB", 10**9), ("MB", 10**6), ("kB", 10**3))


def _heads(read: Sequence[str], *last: str) -> list[str]:
    return ["shard", "state", "position", "lag", *read, *last]


def _read(status: ConsumerStatus) -> list[str]:
    """The columns of records, where records were read."""
    return ["records", "bytes"] if status.measured else []


OWNERS = (None, 24, 12, 8, 0)
"""Characters of an owner in a brief row, as there is room; 0 leaves owners and bytes out."""


def brief_rows(
    status: ConsumerStatus, most: int | None
) -> tuple[list[str], list[list[str]]]:
    """Heads and rows with one short line for each shard.

    most: characters of an owner, `None` for as many as it has, with every code of a finding.
    """
    now, read = status.report.snapshot.now, _read(status)[: 1 if most == 0 else None]
    rows = [
        [
            cut(short(row.shard), 60), _state(row, now), _brief_position(row.position, now),
            lag_words(row.lag, brief), *(_READ[head](row.lag) for head in read),
            *([] if most == 0 else [_beginning(row.owner or NOTHING, most)]),
            next_start(row), _found(row, most is None),
        ]
        for row in status.rows
    ]
    owner = [] if most == 0 else ["owner"]
    return _heads(read, *owner, "next start", "finding"), rows


def _beginning(text: str, most: int | None) -> str:
    return text if most is None or len(text) <= most else f"{text[: most - 1]}…"


def full_rows(status: ConsumerStatus, *, ages: bool) -> tuple[list[str], list[list[str]]]:
    """Heads and rows with whole owners and numbers. ages: times as `14m59s ago` instead of UTC."""
    now, read = status.report.snapshot.now, _read(status)
    rows = [
        [
            cut(short(row.shard), 60), _state(row, now, None if ages else instant),
            _position(row.position, now, ages), lag_words(row.lag, duration),
            *(_READ[head](row.lag) for head in read),
            row.owner or NOTHING, _progress(row, now, ages), next_start(row), verdict(row),
            ", ".join(row.rules) or NOTHING,
        ]
        for row in status.rows
    ]
    return _heads(read, "owner", "progress", "next start", "verdict", "rule"), rows


def standing(row: ShardStatus, now: float) -> dict[str, str]:
    """The words of a row by their columns, for sentences about one shard."""
    return {
        "shard": cut(short(row.shard), 60), "state": _state(row, now),
        "position": _brief_position(row.position, now), "lag": lag_words(row.lag, duration),
        "owner": row.owner or NOTHING, "progress": _progress(row, now, ages=True),
        "found": _found(row, whole=True),
    }


def _when(moment: float, now: float, ages: bool) -> str:
    if not ages:
        return instant(moment)
    return f"{duration(now - moment)} ago" if moment <= now else f"in {duration(moment - now)}"


def _briefly(moment: float, now: float) -> str:
    return f"{brief(now - moment)} ago" if moment <= now else f"in {brief(moment - now)}"


def _state(
    row: ShardStatus, now: float, spelled: Callable[[float], str] | None = None
) -> str:
    """`closed 15m ago`, or `closed since` a time that is spelled."""
    if row.state is not ShardState.CLOSED or row.closed is None:
        return str(row.state)
    if spelled is None:
        return f"closed {_briefly(row.closed, now)}"
    return f"closed since {spelled(row.closed)}"


def _brief_position(position: StoredPosition, now: float) -> str:
    """When the last processed record was written, or the position as the store spells it."""
    if position.foreign:
        return FOREIGN
    if position.time is not None:
        word = "time " if position.kind is PositionKind.TIME else ""
        return f"{word}{_briefly(position.time, now)}"
    if position.kind is PositionKind.NUMBER:
        return str(position.kind)
    return _spelled(position)


def _position(position: StoredPosition, now: float, ages: bool) -> str:
    kind = position.kind
    if kind in (PositionKind.NUMBER, PositionKind.TIME):
        unknown = FOREIGN if position.foreign else "time unknown"
        when = unknown if position.time is None else _when(position.time, now, ages)
        return " ".join(filter(None, (str(kind), position.number, when)))
    return _spelled(position)


def _spelled(position: StoredPosition) -> str:
    kind, stored = position.kind, shortened(position.stored or "")
    if kind is PositionKind.NONE or len(stored) > SPELLED:
        return str(kind)
    return f"{kind} {stored}" if kind is PositionKind.UNREADABLE else stored


NAMED = 2
"""Shards that a row names of those that it waits for."""

_BEGINS = {
    Begins.POSITION: "reads from here", Begins.BEGINNING: "from its beginning",
    Begins.TIP: "from its tip", Begins.TIME: "from a time", Begins.NEVER: "never",
    Begins.PERHAPS: "perhaps never", Begins.FINISHED: "finished", Begins.LEFT: "not read",
}


def next_start(row: ShardStatus) -> str:
    """`reads from here`, `waits for 1, 3`, `never`: what the next start does with the shard."""
    if len(row.starts) != 1:
        return "depends on options" if row.starts else NOTHING
    (start,) = row.starts
    if start.waits_for:
        many = len(start.waits_for) > NAMED
        named = ", ".join(cut(short(shard), 60) for shard in start.waits_for)
        passes = start.begins in (Begins.TIP, Begins.TIME)
        then = f", then {_BEGINS[start.begins]}" if passes else ""
        return f"waits for {count(len(start.waits_for), 'shard') if many else named}{then}"
    return _BEGINS[start.begins]


def _found(row: ShardStatus, whole: bool) -> str:
    """`error RSH203`, `error RSH203 +1`; whole: every code."""
    codes = row.rules if whole else row.rules[:1]
    more = len(row.rules) - len(codes)
    return " ".join([verdict(row), ", ".join(codes), f"+{more}" if more else ""]).strip()


def _records(lag: Lag) -> str:
    return NOTHING if lag.records is None else f"{'≥ ' if lag.at_least else ''}{lag.records}"


def _bytes(lag: Lag) -> str:
    """`812 B`, `1.5 MB`, `≥ 40 kB`: powers of ten, as CloudWatch counts."""
    if lag.size_bytes is None:
        return NOTHING
    unit, size = next(((u, s) for u, s in _BYTES if lag.size_bytes >= s), ("B", 1))
    value = f"{lag.size_bytes / size:.1f}".removesuffix(".0")
    return f"{'≥ ' if lag.at_least else ''}{value} {unit}"


_READ = {"records": _records, "bytes": _bytes}


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
    if crash := crash_of(status.report):
        sheet.line(("✗", "bold red"), f" {shortened(crash, context.verbose)}")
    for finding in status.of_all_shards:
        sheet.line((str(finding.severity), _STYLES[finding.severity]), f"  {title(finding)}: ",
                   shortened(finding.what, context.verbose))
    for note in status.report.caveats:
        note_of(sheet, status.report, note)
    sheet.blank()
    if status.selection.by_worker:
        report, found = status.report, by_worker(status)
        room, now = room_of(report), report.snapshot.now
        sheet.raw(_of_workers(found, now, room, context))
        sheet.blank()
        owned, migrations = ownership_of(report), migrations_of(report)
        for line in workers.below(found, owned, room, migrations, now):
            sheet.line(line)
        sheet.blank()
    elif status.rows:
        sheet.raw(_rows(status, context))
        sheet.blank()
    _below(sheet, status)


STACKED = (("shard", ""), ("state", "next start"), ("position", "finding"), ("lag", "owner"))
READ = (("records", "bytes"),)
"""What stands below each other where a shard has two lines. READ: where records were read."""


def _rows(status: ConsumerStatus, context: Context) -> str:
    if context.verbose:
        tables = (full_rows(status, ages=ages) for ages in (False, True))
        lines = laid_out((Grid.of(*table, context.ascii) for table in tables), context.width)
    else:
        lines = laid_out(_brief_grids(status, context), context.width)
    return "".join(_colored(lines, status.rows, context))


def _brief_grids(status: ConsumerStatus, context: Context) -> Iterator[Grid]:
    """One line for each shard, and two where that has no room."""
    for most in OWNERS:
        yield Grid.of(*brief_rows(status, most), context.ascii)
    columns = (*STACKED, *(READ if status.measured else ()))
    for most in OWNERS[1:]:
        yield Grid.of(*brief_rows(status, most), context.ascii).stacked(columns)


def _of_workers(
    found: Sequence[WorkerStatus], now: float, room: Room | None, context: Context
) -> str:
    rows = [workers.row(worker, now, room, whole=context.verbose) for worker in found]
    grid = Grid.of(workers.heads(room), rows, context.ascii)
    return "".join(_colored(laid_out([grid], context.width), found, context))


def _colored(
    parts: Iterable[str], rows: Sequence[ShardStatus | WorkerStatus], context: Context
) -> Iterable[str]:
    """The heads, if there are any, and then the lines of each row."""
    texts = list(parts)
    above = len(texts) - len(rows)
    yield from (f"{text}\n" for text in texts[:above])
    for text, row in zip(texts[above:], rows, strict=True):
        color = _COLORS.get(row.verdict or Severity.INFO, "") if context.color else ""
        yield f"\x1b[{color}m{text}\x1b[0m\n" if color else f"{text}\n"


def _below(sheet: Sheet, status: ConsumerStatus) -> None:
    """The commands that say more; last, how much is shown and how many shards have findings."""
    suggested = sheet.context.suggested_command
    bad = next((row for row in status.rows if row.bad), None)
    if bad is not None:
        sheet.command(command("explain", *suggested[:1], short(bad.shard), *suggested[1:]))
        sheet.command(command("inspect", *suggested, *status.reading))
        sheet.blank()
    if status.suppressed:
        sheet.line(f"{count(status.suppressed, 'finding')} suppressed by reshardctl.toml.")
    rows, total = status.rows or status.fine, status.total
    part = f"{len(rows)} of " if len(rows) != total else ""
    verdicts = Counter(map(verdict, rows))
    each = [f"{verdicts[word]} {word}" for word in VERDICTS if verdicts[word]]
    counted = f"{part}{count(total, 'shard')}{': ' if each else ''}{', '.join(each)}"
    sheet.line((f"{counted}{'' if status.rows else '; none shown'}.", "bold"))
