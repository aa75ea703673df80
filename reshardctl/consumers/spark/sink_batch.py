"""Whether batch=N is the number that the sink itself ends with.

Spark's file sink passes over every batch whose number its log has, rows and all, without a word
(FileStreamSink.addBatch); and where numbers are missing from that log, it cannot compact it and
the query dies within ten batches (CompactibleFileStreamLog.compact).
"""

from __future__ import annotations

from collections.abc import Mapping

from reshardctl.errors import Refused


def in_step(options: Mapping[str, str], sink: str, newest: int | None) -> None:
    """Raises Refused where it is not. newest: in the sink's log, `None` where it has none."""
    said = options.get("batch")
    if said is None or newest is None or int(said) == newest:
        return
    if int(said) < newest:
        why = f"it would pass over batches {int(said) + 1} to {newest} of the query without a word"
    else:
        why = f"batches {newest + 1} to {said} would be missing, and the query dies of that"
    raise Refused(
        f"batch={said}, and the last batch in the log of {sink} is {newest}: {why}",
        f"say batch={newest}",
    )
