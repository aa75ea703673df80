"""Anomalies of the entries themselves, and of entries against the lineage."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import chain

from reshardctl.consumers.against_listing import against_listing
from reshardctl.consumers.quickwit.positions import PositionKind, position_of
from reshardctl.consumers.quickwit.rows import Checkpoint, Row
from reshardctl.lineage import Lineage
from reshardctl.model import Anomaly, AnomalyKind


def anomalies(lineage: Lineage, checkpoint: Checkpoint) -> list[Anomaly]:
    """Every anomaly of the entries, apart from their positions."""
    others = [
        Anomaly(AnomalyKind.UNREADABLE_STORE, image.key, "", str(why.get("S", "")))
        for image in checkpoint.unreadable for why in [image.attributes["unreadable"]]
    ]
    refused = [
        Anomaly(AnomalyKind.UNREADABLE, checkpoint.key, "", why) for why in [checkpoint.refused]
        if why
    ]
    foreign = [
        Anomaly(AnomalyKind.FOREIGN_ENTRY, image.key, repr(image.key), "no position of a source")
        for image in checkpoint.foreign
    ]
    own = (_of_row(lineage, row) for row in checkpoint.rows.values())
    return [*others, *refused, *foreign, *chain.from_iterable(own)]


def _of_row(lineage: Lineage, row: Row) -> Iterator[Anomaly]:
    key, raw, shard = row.image.key, row.text, row.shard
    kind = position_of(lineage, shard, raw).kind if shard in lineage else None
    if kind is PositionKind.END_MARK:
        why = "~ marks an end, which no position of a Kinesis source may"
        yield Anomaly(AnomalyKind.UNREADABLE, key, raw, why, shard)
    if kind is PositionKind.NONSENSE:
        why = f"{raw[:40]!r} is no sequence number"
        yield Anomaly(AnomalyKind.UNREADABLE, key, raw, why, shard)
    yield from against_listing(lineage, shard, key, raw, number=raw.removeprefix("~"))
