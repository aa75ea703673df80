"""A lineage from a consistent listing: read, checked, and read again if it is not.

A listing of several pages is no snapshot: page 1 may show a shard open whose children are on page
9. So the summary is read before and after, the listing must not contradict itself, and one that
fails these checks is read again a bounded number of times.
"""

from __future__ import annotations

from collections.abc import Iterator

from reshardctl.errors import CannotTell, StreamUnsettled
from reshardctl.kinesis.listing import MovedError, Progress, pages
from reshardctl.kinesis.summary import summary
from reshardctl.kinesis.target import Target
from reshardctl.kinesis.transport import Transport
from reshardctl.lineage import Breach, Lineage
from reshardctl.model import Stream, short

FIRST_WAIT = 1.0
LONGEST_WAIT = 20.0
"""Seconds between readings, doubled each time."""
_NAMED = 5


def settled_lineage(
    transport: Transport, target: Target, rereads: int, progress: Progress
) -> Lineage:
    """Reads the stream's lineage. While it is UPDATING, two listings must be the same.

    StreamUnsettled after `rereads` further tries, with what was wrong at the last one.
    """
    before_last = b""
    trouble = ""
    for wait in (*_waits(rereads), None):
        lineage, trouble = _attempt(transport, target, progress)
        if lineage is not None and not trouble:
            if lineage.stream.status == "ACTIVE" or lineage.digest() == before_last:
                return lineage
            before_last = lineage.digest()
            trouble = f"its shards change while it is {lineage.stream.status}"
        if wait is not None:
            transport.sleep(wait)
    raise StreamUnsettled(
        f"stream {target.name} does not settle, after {rereads + 1} listings: {trouble}",
        "wait until this says ACTIVE, then run it again: "
        f"aws kinesis describe-stream-summary {target.option}",
    )


def _waits(rereads: int) -> Iterator[float]:
    wait = FIRST_WAIT
    for _ in range(rereads):
        yield wait
        wait = min(2 * wait, LONGEST_WAIT)


def _attempt(
    transport: Transport, target: Target, progress: Progress
) -> tuple[Lineage | None, str]:
    """One listing, and what is wrong with it ("" if nothing)."""
    before = summary(transport, target)
    try:
        lineage = Lineage.from_fields(before, pages(transport, target, progress))
    except MovedError as moved:
        return None, str(moved) or f"it is {before.status}"
    except (KeyError, TypeError, ValueError, AttributeError) as error:
        what = f"ListShards of {target.name}: a shard makes no sense ({error!r})"
        raise CannotTell(what, "check that the endpoint is Kinesis") from None
    after = summary(transport, target)
    trouble = _moved(before, after) or _miscounted(after, lineage)
    breaches = lineage.breaches()
    return lineage, "; ".join(filter(None, [trouble, *map(_spelled, breaches)]))


def _moved(before: Stream, after: Stream) -> str:
    """How the stream's summary after the listing differs from the one before it."""
    if before.created != after.created:
        return "it was deleted and created again meanwhile"
    if before.status != after.status:
        return f"it went from {before.status} to {after.status}"
    if before.open_shards != after.open_shards:
        return f"it went from {before.open_shards} to {after.open_shards} open shards"
    return ""


def _miscounted(stream: Stream, lineage: Lineage) -> str:
    """How the summary's shard count differs; while the stream is UPDATING it may."""
    listed = lineage.open_count()
    if stream.status == "ACTIVE" and listed != stream.open_shards:
        return f"it says {stream.open_shards} open shards and lists {listed}"
    return ""


def _spelled(breach: Breach) -> str:
    shards = ", ".join(map(short, breach.shards[:_NAMED]))
    more = ", ..." if len(breach.shards) > _NAMED else ""
    which = f" (shard {shards}{more})" if shards else ""
    return f"{breach.code} {breach.name}: {breach.why}{which}"
