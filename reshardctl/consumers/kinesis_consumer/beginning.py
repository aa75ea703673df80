"""Where a shard without a row begins: at the application's start mode."""

from __future__ import annotations

from reshardctl.consumers.kinesis_consumer.app import App, Start
from reshardctl.consumers.sequence_numbers import furthest
from reshardctl.lineage import Lineage
from reshardctl.model import DONE, START, Cut, ShardId, at_time
from reshardctl.model.cuts import ARRIVAL_SLACK


def beginning(lineage: Lineage, shard: ShardId, app: App) -> Cut:
    """The cut at which it begins; by time perhaps at the shard's start or end."""
    if app.initial is Start.LATEST:
        return furthest(lineage, shard)
    if app.initial is Start.TRIM_HORIZON:
        return START
    opened, closed = lineage.opened_at(shard), lineage.closed_at(shard)
    if app.time is not None and opened is not None and app.time <= opened:
        return START
    if app.time is not None and closed is not None and closed + ARRIVAL_SLACK < app.time:
        return DONE
    return at_time(app.time)
