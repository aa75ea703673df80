"""For spreadsheets and `join`: RFC 4180, a line of heads, and one line for each shard.

Times are ISO 8601 in UTC, lengths of time seconds, what is not known is empty. A text of the store
that a spreadsheet would take for a formula has an apostrophe in front.
"""

from __future__ import annotations

from csv import writer
from io import StringIO

from reshardctl.render.content.status import shard_document
from reshardctl.render.context import Context
from reshardctl.render.escape import ascii_only, cell
from reshardctl.report.status import ConsumerStatus, ShardStatus

HEADS = (
    "shard", "state", "opened", "closed", "expires", "position", "stored", "number", "sub",
    "position_time", "lag_seconds", "lag_least_seconds", "unread_seconds", "records", "bytes",
    "at_least", "oldest_arrival", "owner", "progress", "progress_exact", "verdict", "rules",
)


def write(status: ConsumerStatus, context: Context) -> str:
    """All rows that are shown, in their order."""
    out = StringIO()
    lines = writer(out, lineterminator="\n")
    lines.writerow(HEADS)
    lines.writerows(_cells(row) for row in status.rows)
    return ascii_only(out.getvalue()) if context.ascii else out.getvalue()


def _cells(row: ShardStatus) -> list[str]:
    fields = shard_document(row)
    position, lag, progress = fields["position"], fields["lag"], fields["progress"] or {}
    return [_cell(value) for value in (
        fields["shard"], fields["state"], fields["opened"], fields["closed"], fields["expires"],
        position["kind"], position["stored"], position["number"], position["sub"],
        position["time"], lag["seconds"], lag["least_seconds"], lag["unread_seconds"],
        lag["records"], lag["bytes"], lag["at_least"], lag["oldest_arrival"], fields["owner"],
        progress.get("time"), progress.get("exact"), fields["verdict"], " ".join(fields["rules"]),
    )]


def _cell(value: object) -> str:
    match value:
        case None:
            return ""
        case bool():
            return "true" if value else "false"
        case str():
            return cell(value)
        case float():
            return f"{value:.3f}".rstrip("0").rstrip(".")
        case _:
            return str(value)
