"""What a search for a stream's positions found, as text and as JSON."""

from __future__ import annotations

from reshardctl.diagnosis.discovery import Confidence, Found, Table
from reshardctl.model.times import instant
from reshardctl.render.console import Part, Sheet
from reshardctl.render.documents import Json
from reshardctl.render.words import command, count

_COLORS = {Confidence.CERTAIN: "green", Confidence.STRONG: "green", Confidence.POSSIBLE: "yellow"}


def text(sheet: Sheet, discovery: Found) -> None:
    """A locator a line with its evidence below it; then what could not be read."""
    stream = discovery.lineage.stream
    sheet.fields(
        (stream.name, "bold"), stream.region, count(len(discovery.lineage), "shard"),
        f"created {instant(stream.created)}",
    )
    for table in discovery.matching():
        sheet.blank()
        _table(sheet, table)
    if discovery.unread:
        sheet.blank()
        sheet.line(("Could not be read", "bold"), "; one of these may hold the positions:")
        for name, why in discovery.unread:
            sheet.line(f"{name}: {why}", indent=2)
    _last(sheet, discovery)


def _table(sheet: Sheet, table: Table) -> None:
    confidence = table.evidence.confidence
    head: Part = (table.locator or table.name, "bold")
    sheet.fields(head, (str(confidence), _COLORS.get(confidence, "")), indent=2)
    sheet.line(f"{table.evidence.sentence()}.", indent=4)
    if not table.locator:
        why = f"its name does not end in {table.library.table_ending}"
        sheet.line(f"A table of {table.library.name}: {why}.", indent=4)


def _last(sheet: Sheet, discovery: Found) -> None:
    others = discovery.others()
    sheet.blank()
    summary = f"{count(discovery.looked, 'table')} in this account and region"
    if others:
        summary += f"; {count(len(others), 'table')} of consumers of other streams"
    sheet.line(f"{summary}.")
    if not discovery.matching():
        sheet.line(("No table holds positions of this stream.", "bold"))
        return
    sheet.blank()
    for table in discovery.matching():
        if table.locator:
            sheet.command(command("inspect", table.locator, *sheet.context.suggested_command))


def discovery_document(discovery: Found) -> Json:
    """What was searched and what it holds, without its schema and exit code."""
    stream = discovery.lineage.stream
    return {
        "taken": instant(discovery.now),
        "stream": {
            "name": stream.name, "arn": stream.arn, "created": instant(stream.created),
            "shards": len(discovery.lineage),
        },
        "tables": [_one(table) for table in discovery.matching()],
        "other_streams": [table.name for table in discovery.others()],
        "unread": [{"table": name, "why": why} for name, why in discovery.unread],
        "looked": discovery.looked,
    }


def _one(table: Table) -> Json:
    evidence = table.evidence
    return {
        "table": table.name, "library": table.library.name, "locator": table.locator or None,
        "confidence": str(evidence.confidence), "why": evidence.sentence(),
        "evidence": {
            "rows": evidence.rows, "rows_of_others": evidence.others,
            "numbers": evidence.numbers, "fitting": evidence.fitting, "exact": evidence.exact,
            "known_shards": evidence.known, "named": evidence.named,
        },
    }
