"""For people: one row for each shard, or one block where a row has no room.

Rows can be tens of thousands, so their lines are put together here; rich lays out what stands
above and below them.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence

from reshardctl.diagnosis.rules import Severity
from reshardctl.model import short
from reshardctl.render.console import Sheet
from reshardctl.render.context import Context
from reshardctl.render.plain import title
from reshardctl.render.status.cells import cells, heads
from reshardctl.render.status.documents import VERDICTS, verdict
from reshardctl.render.status.grid import Grid, blocks, fitting
from reshardctl.render.text_stream import header
from reshardctl.render.words import command, count, shortened
from reshardctl.report.status import ConsumerStatus, ShardStatus

_COLORS = {Severity.ERROR: "31", Severity.WARNING: "33"}
"""Colours of rows: red and yellow (ECMA-48, SGR)."""
_STYLES = {Severity.ERROR: "bold red", Severity.WARNING: "bold yellow", Severity.INFO: "bold"}


def write(status: ConsumerStatus, context: Context) -> str:
    """Stream and consumer, findings of all shards, the rows, and what to run next."""
    rows = _rows(status, context)
    return _above(status, context) + rows + ("\n" if rows else "") + _below(status, context)


def _above(status: ConsumerStatus, context: Context) -> str:
    sheet = Sheet(context)
    header(sheet, status.report)
    for finding in status.of_all_shards:
        sheet.line((str(finding.severity), _STYLES[finding.severity]), f"  {title(finding)}: ",
                   shortened(finding.what, context.verbose))
    for note in status.report.caveats:
        sheet.line(note)
    sheet.blank()
    return sheet.render()


def _rows(status: ConsumerStatus, context: Context) -> str:
    if not status.rows:
        return ""
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


def _below(status: ConsumerStatus, context: Context) -> str:
    """How much is shown, the findings, and the commands that say more."""
    shown, total = len(status.rows), status.total
    hidden = f"{shown} of " if shown != total else ""
    verdicts = Counter(map(verdict, status.rows))
    each = [f"{verdicts[word]} {word}" for word in VERDICTS if verdicts[word]]
    sheet = Sheet(context)
    sheet.line(f"{hidden}{count(total, 'shard')}{': ' if each else ''}{', '.join(each)}.")
    if status.suppressed:
        sheet.line(f"{count(status.suppressed, 'finding')} suppressed by reshardctl.toml.")
    bad = next((row for row in status.rows if row.bad), None)
    if bad is not None:
        sheet.command(command("explain", short(bad.shard), *context.suggested_command))
        sheet.command(command("inspect", *context.suggested_command))
    return sheet.render()
