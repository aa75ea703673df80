"""Oddities of the entries themselves, and of entries against the lineage."""

from __future__ import annotations

from collections.abc import Iterator

from reshardctl.consumers.quickwit.positions import (
    Standing,
    earlier_incarnation,
    place_of,
    unborn,
)
from reshardctl.consumers.quickwit.rows import Checkpoint, Row
from reshardctl.lineage import Lineage
from reshardctl.model import Odd, Oddity


def odd(lineage: Lineage, checkpoint: Checkpoint) -> list[Odd]:
    """Everything odd about the entries, apart from where they stand."""
    others = [
        Odd(Oddity.UNREADABLE_STORE, image.key, "", str(why.get("S", "")))
        for image in checkpoint.unreadable for why in [image.attributes["unreadable"]]
    ]
    return [*others, *(one for row in checkpoint.rows.values() for one in _of_row(lineage, row))]


def _of_row(lineage: Lineage, row: Row) -> Iterator[Odd]:
    key, raw, shard = row.image.key, row.text, row.shard
    if unborn(lineage, shard):
        yield Odd(Oddity.UNBORN, key, raw, "the stream has no such shard yet", shard)
    elif shard not in lineage:
        yield Odd(Oddity.GONE, key, raw, "the shard is not listed any more", shard)
    else:
        place = place_of(lineage, shard, raw)
        if place.standing is Standing.END_MARK:
            why = "~ marks an end, which no position of a Kinesis source may"
            yield Odd(Oddity.UNREADABLE, key, raw, why, shard)
        if place.standing is Standing.NONSENSE:
            why = f"{raw[:40]!r} is no sequence number"
            yield Odd(Oddity.UNREADABLE, key, raw, why, shard)
    if earlier_incarnation(lineage, raw):
        why = "its number is older than the stream"
        yield Odd(Oddity.EARLIER_INCARNATION, key, raw, why, shard)
