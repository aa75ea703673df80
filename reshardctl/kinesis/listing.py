"""ListShards page by page, without boto3's paginator.

The paginator sends StreamName with each NextToken, which AWS refuses (botocore#2009); and a token
lives for 300 seconds only (ListShards API reference).
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

from reshardctl.errors import CannotTell
from reshardctl.kinesis.faults import Kind
from reshardctl.kinesis.pages import COLUMNS
from reshardctl.kinesis.target import Target
from reshardctl.kinesis.transport import CallError, Transport
from reshardctl.lineage import Fields, fields_of

PAGE = 1000
"""The most shards that AWS returns, whatever is asked for (ListShards API reference)."""
RESTARTS = 100
"""How many lost tokens a listing survives: enough for a million shards if every page loses one."""
_EMPTY_PAGES = 20

Progress = Callable[[int], None]


class MovedError(Exception):
    """The stream was deleted, or is being created, between two pages: list again from the start."""


def pages(transport: Transport, target: Target, progress: Progress) -> Iterator[Fields]:
    """Every page of the listing, as columns, in the order of the shards' ids.

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
        page = _columns(answer, target)
        ids = [shard for columns in page for shard in columns[0]]
        empty = 0 if ids else empty + 1
        if empty > _EMPTY_PAGES or (ids and ids[-1] == last):
            raise CannotTell(f"ListShards of {target.name} goes round in circles", "run this again")
        yield from page
        if ids:
            last, seen = ids[-1], seen + len(ids)
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


def _columns(answer: dict[str, Any], target: Target) -> list[Fields]:
    if COLUMNS in answer:
        columns: list[Fields] = answer[COLUMNS]
        return columns
    page = answer.get("Shards")
    if not isinstance(page, list):
        what = f"ListShards of {target.name}: the answer holds no shards"
        raise CannotTell(what, "check that the endpoint is Kinesis")
    return list(fields_of(page))
