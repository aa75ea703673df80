"""Checks that batch=N is the last number in the sink's own log.

Spark's file sink silently skips every batch whose number its log has, rows and all
(FileStreamSink.addBatch); if numbers are missing from that log, it cannot compact it and the query
crashes within ten batches (CompactibleFileStreamLog.compact).
"""

from __future__ import annotations

from collections.abc import Mapping

from reshardctl.errors import Refused


def in_step(options: Mapping[str, str], sink: str, newest: int | None) -> None:
    """Raises Refused where it is not. newest: in the sink's log, `None` where it has none."""
    batch = options.get("batch")
    if batch is None or newest is None or int(batch) == newest:
        return
    if int(batch) < newest:
        why = f"it would pass over batches {int(batch) + 1} to {newest} of the query without a word"
    else:
        why = f"batches {newest + 1} to {batch} would be missing, and the query crashes at that"
    raise Refused(
        f"batch={batch}, and the last batch in the log of {sink} is {newest}: {why}",
        f"say batch={newest}",
    )
