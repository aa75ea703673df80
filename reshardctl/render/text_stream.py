"""The first lines: which stream, which positions, which store."""

from __future__ import annotations

from reshardctl.lineage import Lineage
from reshardctl.render.console import Part, Sheet
from reshardctl.render.context import Context
from reshardctl.render.words import ago
from reshardctl.report import Report
from reshardctl.times import duration, instant


def header(sheet: Sheet, report: Report, context: Context) -> None:
    """Stream and consumer, one line each where they fit."""
    snapshot = report.snapshot
    lineage, stream = snapshot.lineage, snapshot.lineage.stream
    opened = lineage.open_count()
    parts: list[Part] = [
        (stream.name, "bold"), stream.region, stream.status,
        f"retention {duration(stream.retention)}",
        f"{opened} open · {len(lineage) - opened} closed",
    ]
    if (then := resharded(lineage)) is not None:
        parts.append(f"resharded {ago(then, snapshot.now)}")
    sheet.fields(*parts)
    sheet.fields((snapshot.locator.text, "bold"), f"read {instant(snapshot.now)}")
    if context.verbose:
        sheet.fields(stream.arn, f"created {instant(stream.created)}", stream.mode)
        sheet.fields(*(f"{name} {value}" for name, value in sorted(snapshot.store.items())))
    elif "arn" in snapshot.store:
        sheet.fields(snapshot.store["arn"])
    sheet.blank()


def resharded(lineage: Lineage) -> float | None:
    """Unix second of the last split or merge: when the youngest open child opened."""
    born = (lineage.opened_at(s) for s in lineage.open_shards() if lineage[s].parents)
    return max((moment for moment in born if moment is not None), default=None)
