"""What a search for a stream's positions found, as text and as JSON."""

from __future__ import annotations

from reshardctl.consumers.sequence_numbers import Origin
from reshardctl.diagnosis.discovery import Confidence, Found, Holding, Table
from reshardctl.model.times import instant
from reshardctl.render.console import Part, Sheet
from reshardctl.render.documents import Json
from reshardctl.render.words import LISTED, capital, command, count, sentence

_NEAR = (Holding.EARLIER, Holding.NOTHING)
"""What the table of a stream that was made again holds, and one that was emptied."""
_COLORS = {Confidence.CERTAIN: "green", Confidence.STRONG: "green", Confidence.POSSIBLE: "yellow"}


def text(sheet: Sheet, discovery: Found) -> None:
    """A locator a line with its evidence below it; then the rest, and what could not be read."""
    stream = discovery.lineage.stream
    sheet.fields(
        (stream.name, "bold"), stream.region, count(len(discovery.lineage), "shard"),
        f"created {instant(stream.created)}",
    )
    for table in discovery.matching():
        sheet.blank()
        _table(sheet, discovery, table)
    if discovery.unread:
        sheet.blank()
        sheet.line(("Could not be read", "bold"), "; one of these may hold the positions:")
        for name, why in discovery.unread:
            sheet.line(f"{name}: {why}", indent=2)
    _others(sheet, discovery)
    _last(sheet, discovery)


def _table(sheet: Sheet, discovery: Found, table: Table) -> None:
    confidence = table.evidence.confidence
    head: Part = (table.locator or table.name, "bold")
    more: list[Part] = [table.region] if len(discovery.regions) > 1 else []
    if table.evidence.shared:
        more.append(("shared with another stream", "yellow"))
    sheet.fields(head, (str(confidence), _COLORS.get(confidence, "")), *more, indent=2)
    sheet.line(sentence(table.sentence), indent=4)
    if table.unreadable:
        what = f"A table of {table.library.name} that no command can read"
        sheet.line(f"{what}: {table.unreadable}.", indent=4)


def _others(sheet: Sheet, discovery: Found) -> None:
    """Every table that may be this stream's after all, and the first of the other streams'."""
    others = discovery.others()
    if not others:
        return
    near = [table for table in others if table.evidence.holding in _NEAR]
    far = [table for table in others if table.evidence.holding not in _NEAR]
    sheet.blank()
    sheet.line(("Tables without a position of this stream", "bold"), ":")
    for table in (*near, *far[:LISTED]):
        where = f" in {table.region}" if len(discovery.regions) > 1 else ""
        sheet.line(f"{table.locator or table.name}{where}: {table.sentence}", indent=2)
    if len(far) > LISTED:
        sheet.line(f"and {len(far) - LISTED} more; --format json names them", indent=2)


def _last(sheet: Sheet, discovery: Found) -> None:
    sheet.blank()
    where = "in this account and region"
    if len(discovery.regions) > 1:
        where = f"in this account in {' and '.join(discovery.regions)}"
    sheet.line(f"{count(discovery.looked, 'table')} {where}.")
    for note in discovery.notes:
        sheet.line(sentence(capital(note)))
    if not discovery.matching():
        sheet.line(("No table is known to hold positions of this stream.", "bold"))
        sheet.line("They may be in another region or account: --region, --profile.")
    earlier = [t for t in discovery.others() if t.evidence.holding is Holding.EARLIER]
    commands = [table.words for table in (*discovery.matching(), *earlier) if table.words]
    if commands:
        sheet.blank()
    for words in commands:
        sheet.command(command("inspect", *words))


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
        "others": [
            {**_one(table), "holds": table.evidence.holding.value} for table in discovery.others()
        ],
        "unread": [{"table": name, "why": why} for name, why in discovery.unread],
        "looked": discovery.looked, "regions": list(discovery.regions),
        "notes": list(discovery.notes),
    }


def _one(table: Table) -> Json:
    evidence = table.evidence
    return {
        "table": table.name, "region": table.region, "library": table.library.name,
        "locator": table.locator or None,
        "command": " ".join(command("inspect", *table.words)) if table.words else None,
        "confidence": str(evidence.confidence), "why": table.sentence,
        "streams": dict(table.streams),
        "evidence": {
            "rows": evidence.rows, "rows_of_others": evidence.others,
            "numbers": len(evidence.numbers),
            "fitting": evidence.count(Origin.OWN, Origin.UNPROVEN), "exact": evidence.exact,
            "taken": evidence.taken, "earlier": evidence.count(Origin.EARLIER),
            "elsewhere": evidence.count(Origin.ELSEWHERE),
            "unproven": evidence.count(Origin.UNPROVEN), "known_shards": evidence.known,
            "named": evidence.named,
        },
    }
