"""A lineage from a consistent listing: read page by page, checked, and read again if it is not.

ListShards is called without boto3's paginator, which sends StreamName with each NextToken, and AWS
refuses that (botocore#2009); and a token lives for 300 seconds only (ListShards API reference).

A listing of several pages is no snapshot: page 1 may show a shard open whose children are on page
9. So the summary (DescribeStreamSummary: identity, retention, status) is read with the first page
and after the last, the listing must not contradict itself, and one that fails these checks is read
again a bounded number of times.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

from reshardctl.at_once import ahead
from reshardctl.errors import CannotTell, StreamUnsettled
from reshardctl.kinesis.target import Target
from reshardctl.kinesis.transport import LISTED, CallError, Kind, Transport
from reshardctl.kinesis.whose import streams
from reshardctl.lineage import Breach, Lineage, shard_of
from reshardctl.model import Shard, Stream, short
from reshardctl.model.phrases import did_you_mean

PAGE = 1000
"""The most shards that AWS returns, whatever is asked for (ListShards API reference)."""
RESTARTS = 100
"""How many lost tokens a listing survives: enough for a million shards if every page loses one."""
_EMPTY_PAGES = 20

Progress = Callable[[int], None]


class MovedError(Exception):
    """The stream was deleted, or is being created, between two pages: list again from the start."""


def pages(transport: Transport, target: Target, progress: Progress) -> Iterator[Shard]:
    """Every shard of the listing, page by page, in the order of the shards' ids.

    After a token is lost, the listing continues after the last id seen, by ExclusiveStartShardId.
    Raises MovedError, and CannotTell or UsageError if the stream cannot be read.
    """
    token, last, seen, restarts, empty = "", "", 0, 0, 0
    while True:
        try:
            answer = transport.call("list_shards", target, **_words(target, token, last))
        except CallError as failed:
            restarts += 1
            if not _token_lost(failed, token) or restarts > RESTARTS:
                raise _cause(failed, token) from None
            token = ""
            continue
        page = _page(answer, target)
        empty = 0 if page else empty + 1
        if empty > _EMPTY_PAGES or (page and page[-1].id == last):
            raise CannotTell(f"ListShards of {target.name} goes round in circles", "run this again")
        yield from page
        if page:
            last, seen = page[-1].id, seen + len(page)
            progress(seen)
        token = answer.get("NextToken") or ""
        if not token:
            return


def _words(target: Target, token: str, last: str) -> dict[str, object]:
    if token:
        return {"NextToken": token}
    start = {"ExclusiveStartShardId": last} if last else {}
    return {**target.words, "MaxResults": PAGE, **start}


def _token_lost(failed: CallError, token: str) -> bool:
    """Whether the token alone was refused: expired, or unknown to the service."""
    return bool(token) and failed.kind in (Kind.TOKEN, Kind.INVALID)


def _cause(failed: CallError, token: str) -> Exception:
    moved = failed.kind is Kind.IN_USE or (token and failed.kind is Kind.ABSENT)
    return MovedError(failed.message) if moved else failed.told


def _page(answer: dict[str, Any], target: Target) -> list[Shard]:
    if LISTED in answer:
        shards: list[Shard] = answer[LISTED]
        return shards
    page = answer.get("Shards")
    if not isinstance(page, list):
        what = f"ListShards of {target.name}: the answer holds no shards"
        raise CannotTell(what, "check that the endpoint is Kinesis")
    return list(map(shard_of, page))


_HOUR = 3600


def summary(transport: Transport, target: Target) -> Stream:
    """The stream's identity and status.

    UsageError if there is no such stream, with the name of one that is similar.
    """
    try:
        answer = transport.call("describe_stream_summary", target, **target.words)
    except CallError as failed:
        if failed.kind is Kind.ABSENT and not target.arn:
            known = [arn.rpartition("/")[2] for arn in streams(transport, target.region) or ()]
            failed.told.next = did_you_mean(target.name, known, failed.told.next)
        raise failed.told from None
    try:
        description = answer["StreamDescriptionSummary"]
        return Stream(
            arn=description["StreamARN"],
            name=description["StreamName"],
            created=description["StreamCreationTimestamp"].timestamp(),
            retention=description["RetentionPeriodHours"] * _HOUR,
            status=description["StreamStatus"],
            mode=description.get("StreamModeDetails", {}).get("StreamMode", "PROVISIONED"),
            open_shards=description["OpenShardCount"],
        )
    except (KeyError, TypeError, AttributeError) as error:
        what = f"DescribeStreamSummary of {target.name}: the answer makes no sense ({error!r})"
        raise CannotTell(what, "check that the endpoint is Kinesis") from None


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
    shards = ahead(pages(transport, target, progress))
    before = summary(transport, target)
    try:
        lineage = Lineage(before, shards)
    except MovedError as moved:
        return None, str(moved) or f"it is {before.status}"
    except (KeyError, TypeError, ValueError, AttributeError) as error:
        what = f"ListShards of {target.name}: a shard makes no sense ({error!r})"
        raise CannotTell(what, "check that the endpoint is Kinesis") from None
    after = summary(transport, target)
    if changed := _moved(before, after):
        return lineage, "; ".join([changed, *map(_spelled, lineage.breaches())])
    return lineage, contradictions(lineage, after)


def contradictions(lineage: Lineage, stream: Stream) -> str:
    """What in a listing contradicts itself, or the stream's summary; "" if nothing does."""
    found = [_miscounted(stream, lineage), *map(_spelled, lineage.breaches())]
    return "; ".join(filter(None, found))


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
