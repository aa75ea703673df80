"""Batches that a fix planned or edited and that have run since, so that undo cannot remove them.

A batch that is removed after its commit keeps the query from starting (run: offsets removed,
commits left, "CONCURRENT_STREAM_LOG_UPDATE"); one removed after it has run is delivered twice.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable

from reshardctl.consumers.spark.checkpoint import LINEAGE, Checkpoint
from reshardctl.consumers.spark.logs import log_of
from reshardctl.consumers.spark.tree import checkpoint_of
from reshardctl.model import Image


def superseded_rows(images: Iterable[Image], keys: Collection[str], source: str) -> dict[str, str]:
    """Offset logs among `keys` whose batch has run: key → how that is known.

    A rebuilt checkpoint has its batches and a commit from the fix itself, so they do not show that
    the query has run.
    """
    numbers = sorted(int(n) for n in (_batch(key) for key in keys) if n)
    if not numbers:
        return {}
    checkpoint = checkpoint_of(images, None, source)
    reasons = {number: _how(checkpoint, number, keys) for number in numbers}
    return {f"offsets/{number}": how for number, how in reasons.items() if how}


def _batch(key: str) -> str:
    folder, _, name = key.rpartition("/")
    return name if folder == "offsets" and name.isascii() and name.isdigit() else ""


def _made_again(checkpoint: Checkpoint, number: int) -> bool:
    """Whether a batch was committed before its log was written: the fix made it readable again."""
    stamps = [
        int(image.attributes.get("modified", {"N": "0"})["N"]) if image is not None else 0
        for image in map(checkpoint.images.get, (f"commits/{number}", f"offsets/{number}"))
    ]
    return 0 < stamps[0] < stamps[1]


def _how(checkpoint: Checkpoint, number: int, own: Collection[str]) -> str:
    later = number + 1
    there = later in checkpoint.batches or later in checkpoint.unreadable
    if there and f"offsets/{later}" not in own:
        return f"batch {later} is planned after it"
    batch = checkpoint.batches.get(number)
    if checkpoint.connector == LINEAGE or batch is None or _made_again(checkpoint, number):
        return ""
    if batch.committed and f"commits/{number}" not in own:
        return f"batch {number} is committed"
    return f"batch {number} has run" if checkpoint.entries.get(log_of(batch)) else ""
