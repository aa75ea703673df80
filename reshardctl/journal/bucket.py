"""Lists the journals of a bucket, and puts errors of S3 into words."""

from __future__ import annotations

import shlex
from collections.abc import Callable
from typing import Any

from reshardctl.aws import s3 as buckets
from reshardctl.aws.s3 import Kind, kind_of
from reshardctl.errors import ReshardError, UsageError
from reshardctl.journal.log import S3Object

ACTIONS = ("s3:GetObject", "s3:ListBucket", "s3:PutObject")
"""The actions on the object that a journal on S3 needs, and s3:ListBucket on the bucket, without
which S3 answers 403 for an absent object."""

PRUNING = ("s3:DeleteObject", "s3:GetObject", "s3:ListBucket")
"""What `undo --prune` needs of a bucket."""
VERBS = {"s3:PutObject": "write", "s3:DeleteObject": "delete"}


def listed(boto: Any, prefix: S3Object, sleep: Callable[[float], None]) -> list[str]:
    """All keys below a prefix, in order."""
    folder = prefix.key.rstrip("/")
    request = {"Bucket": prefix.bucket, "Prefix": f"{folder}/" if folder else ""}
    pages = buckets.pages(
        boto, buckets.retry(sleep), request,
        lambda error: failure(error, kind_of(error), prefix, "s3:ListBucket"),
    )
    return [stored["Key"] for page in pages for stored in page.get("Contents", ())]


def failure(error: Exception, kind: Kind, where: S3Object, action: str) -> ReshardError:
    """The exception to raise for what boto3 raised, with the next thing to do.

    A refused put is Refused, a refused read CannotTell.
    """
    what = f"cannot {VERBS.get(action, 'read')} journal {where}"
    if kind is Kind.ABSENT:
        gone = f"{what}: the object was deleted in the meantime"
        return UsageError(gone, "see the rows with reshardctl inspect")
    failed = buckets.failure(error, kind, what, where.bucket, where.key, action)
    if kind is Kind.NO_BUCKET:
        failed.next += ", or keep the journal in a file: --journal FILE"
    return failed


def taken(where: S3Object, *, fresh: bool) -> UsageError:
    """The error for a condition that did not hold. fresh: the object was to be absent."""
    if fresh:
        return UsageError(
            f"journal {where} exists already; nothing was written",
            f"name another with --journal, or go on with it: reshardctl fix --resume "
            f"{shlex.quote(str(where))}",
        )
    return UsageError(
        f"journal {where} is in use by another reshardctl", "wait until that one has ended"
    )
