"""Notes beside the findings: what these readers do that no row shows."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from reshardctl.consumers.kinesis_consumer.app import App, Start
from reshardctl.consumers.kinesis_consumer.rows import Positions
from reshardctl.lineage import Lineage
from reshardctl.model import Cause, Fate, ShardId, WillRead
from reshardctl.model.phrases import listed_shards

NAMED = 4


def notes(
    lineage: Lineage, positions: Positions, app: App, fates: Mapping[ShardId, Fate]
) -> Iterator[str]:
    """The notes, the most important first."""
    if app.initial is Start.LATEST and positions.rows:
        yield (
            "started at LATEST, this library reads a new shard from the moment at which it first "
            "asks for it: every reshard loses what came before that; start it with TRIM_HORIZON, "
            "which rows override wherever there are any"
        )
    if app.traits.out_of_order and positions.rows:
        yield (
            "Telegraf stores the number that was delivered last, in whatever order: after a kill, "
            "or a stop while an output fails, records before the stored numbers may be "
            "undelivered. They are fewer than max_undelivered_messages (999 at most by default) "
            "over all shards together, but may lie as far back as where that process began, and "
            "no row shows which; --policy at-timestamp=T, T before its start, reads them again"
        )
    taken = [s for s, fate in fates.items() if fate.cause is Cause.TAKEN_FOR_READ]
    if taken:
        yield (
            f"master does not read {listed_shards(taken, NAMED)}: shards below have rows; "
            "whether anything is left in it is stored nowhere, --probe tells"
        )
    closed = [
        s for s, fate in fates.items()
        if isinstance(fate, WillRead) and s in lineage and not lineage.is_open(s)
        and fate.cause is not Cause.FINISHED
    ]
    if app.traits.takes_end and closed:
        yield (
            f"Telegraf drops the last answer of a closed shard where it still holds records: the "
            f"very end of {listed_shards(closed, NAMED)} may go missing, and no position changes "
            "that"
        )
