"""The first lines: which stream, which positions, which store."""

from __future__ import annotations

from reshardctl.render.console import Part, Sheet
from reshardctl.render.context import Context
from reshardctl.render.reshards import resharded
from reshardctl.render.words import ago
from reshardctl.report import Report
from reshardctl.times import instant


def header(sheet: Sheet, report: Report, context: Context) -> None:
    """Stream and consumer, one line each where they fit."""
    snapshot = report.snapshot
    lineage, stream = snapshot.lineage, snapshot.lineage.stream
    opened = lineage.open_count()
    parts: list[Part] = [
        (stream.name, "bold"), stream.region, stream.status,
        f"retention {stream.retention // 3600}h",
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
