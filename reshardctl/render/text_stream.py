"""The first lines: which stream, which positions, which store."""

from __future__ import annotations

from reshardctl.lineage import Lineage
from reshardctl.model.times import instant
from reshardctl.render.console import Part, Sheet
from reshardctl.render.context import Context
from reshardctl.render.forecast_words import happening, supposed
from reshardctl.render.reshards import resharded
from reshardctl.render.words import ago
from reshardctl.report.report import Report


def forecast(sheet: Sheet, report: Report) -> None:
    """Write which reshards a forecast supposes, above everything that rests on them."""
    if condition := supposed(report):
        what = happening(report, sheet.context.verbose)
        sheet.line(("Forecast", "bold yellow"), f", {condition}: {what}. Nothing was resharded.")
        sheet.blank()


def header(sheet: Sheet, report: Report) -> None:
    """Stream and consumer, one line each where they fit."""
    forecast(sheet, report)
    snapshot, listed = report.snapshot, report.snapshot.lineage.stream
    stream(sheet, report)
    read = "read" if snapshot.foreseen is None else "foreseen for"
    sheet.fields(*subject(sheet.context, report), f"{read} {instant(snapshot.now)}")
    if sheet.context.verbose:
        sheet.fields(listed.arn, f"created {instant(listed.created)}", listed.mode)
        sheet.fields(*(f"{name} {value}" for name, value in sorted(snapshot.store.items())))
    elif "arn" in snapshot.store:
        sheet.fields(snapshot.store["arn"])
    sheet.blank()


def subject(context: Context, report: Report) -> list[Part]:
    """The consumer: its locator, after its name among several."""
    locator = report.snapshot.locator.text
    name = context.name or locator
    named: Part = (name, "bold")
    return [named] if name.startswith(locator) else [named, locator]


def stream(sheet: Sheet, report: Report, *more: str) -> None:
    """The stream alone. more: what to add at the end."""
    snapshot = report.snapshot
    now = None if snapshot.foreseen else snapshot.now
    stream_line(sheet, snapshot.lineage, now, *more)


def stream_line(sheet: Sheet, lineage: Lineage, now: float | None, *more: str) -> None:
    """Write the stream's name, place, state and size.

    now: since when it was resharded is counted; `None` to leave that out. more: further parts.
    """
    listed, opened = lineage.stream, lineage.open_count()
    parts: list[Part] = [
        (listed.name, "bold"), listed.region, listed.status,
        f"retention {listed.retention // 3600}h",
        f"{opened} open · {len(lineage) - opened} closed",
    ]
    if now is not None and (then := resharded(lineage)) is not None:
        parts.append(f"resharded {ago(then, now)}")
    sheet.fields(*parts, *more)
