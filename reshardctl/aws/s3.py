"""What an exception of boto3 means for a call on a bucket, as a kind, and in words."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from enum import Enum
from typing import Any

from reshardctl.aws import client
from reshardctl.aws.client import allow, clean, code_of
from reshardctl.errors import CannotTell, Refused, ReshardError, UsageError, command_line
from reshardctl.model.retry import FailureKind, Retry

FIRST_PAUSE = 0.2
"""Seconds; with `aws.retry`, 16 s in all."""


class Kind(Enum):
    """Kinds of failure of a call, and what they mean for a retry (`failure`)."""

    BUSY = ("busy", FailureKind.TRANSIENT)
    """Throttled or unavailable; the same call may succeed later."""
    UNSENT = ("unsent", FailureKind.TRANSIENT)
    """No connection: the service never received the call."""
    LOST = ("lost", FailureKind.LOST_ANSWER)
    """No answer: a put may be in place."""
    MOVED = ("moved", FailureKind.CONFLICT)
    """The object is not as we left it, or exists already."""
    ABSENT = ("absent", FailureKind.PERMANENT)
    """No such object."""
    NO_BUCKET = ("no bucket", FailureKind.PERMANENT)
    ELSEWHERE = ("elsewhere", FailureKind.PERMANENT)
    """The bucket is in another region, and the redirection did not help."""
    DENIED = ("denied", FailureKind.PERMANENT)
    CREDENTIALS = ("credentials", FailureKind.PERMANENT)
    WRONG = ("wrong", FailureKind.PERMANENT)
    """Anything else."""

    @property
    def failure(self) -> FailureKind:
        """What the kind means for a retry."""
        return self.value[1]


# Amazon S3 API reference, "Error responses"; ConditionalRequestConflict: a conflicting put of the
# same object at the same moment, to be sent again.
_CODES = {
    "PreconditionFailed": Kind.MOVED,
    "412": Kind.MOVED,
    "ConditionalRequestConflict": Kind.BUSY,
    "OperationAborted": Kind.BUSY,
    "SlowDown": Kind.BUSY,
    "RequestTimeout": Kind.LOST,
    "NoSuchKey": Kind.ABSENT,
    "404": Kind.ABSENT,
    "NoSuchBucket": Kind.NO_BUCKET,
    "PermanentRedirect": Kind.ELSEWHERE,
    "TemporaryRedirect": Kind.ELSEWHERE,
    "301": Kind.ELSEWHERE,
    "AuthorizationHeaderMalformed": Kind.ELSEWHERE,
    "IllegalLocationConstraintException": Kind.ELSEWHERE,
    "AllAccessDisabled": Kind.DENIED,
    "AccountProblem": Kind.DENIED,
    "403": Kind.DENIED,
    "InvalidAccessKeyId": Kind.CREDENTIALS,
    "InvalidToken": Kind.CREDENTIALS,
    **dict.fromkeys(client.THROTTLES, Kind.BUSY),
    **dict.fromkeys(client.DENIALS, Kind.DENIED),
}


_OF_WRITES = (
    "s3:PutObject", "s3:DeleteObject", "s3:GetObjectTagging", "s3:PutObjectTagging",
)
"""Actions without which nothing is written."""


def kind_of(error: Exception) -> Kind:
    """The kind of an exception that a call raised."""
    code = code_of(error)
    if client.about_credentials(error):
        return Kind.CREDENTIALS
    if code in _CODES:
        return _CODES[code]
    if isinstance(error, client.UNSENT):
        return Kind.UNSENT
    if isinstance(error, client.LOST) or client.failed_inside(error):
        return Kind.LOST
    return Kind.WRONG


def not_implemented(error: Exception) -> bool:
    """Whether the service has no such operation, as some that are like S3."""
    return code_of(error) in ("NotImplemented", "MethodNotAllowed", "501", "405")


def retry(boto: Any, sleep: Callable[[float], None]) -> Retry:
    """How calls on a bucket are retried."""
    return client.retry(boto, FIRST_PAUSE, sleep, lambda error: kind_of(error).failure)


def pages(
    boto: Any, retry: Retry, request: Mapping[str, str],
    failed: Callable[[Exception], ReshardError],
) -> Iterator[Mapping[str, Any]]:
    """All pages of ListObjectsV2. failed: as for `Retry.read`."""
    token: dict[str, str] = {}
    while True:
        page: Mapping[str, Any] = retry.read(
            lambda: boto.list_objects_v2(**request, **token), failed
        )
        yield page
        if not page.get("IsTruncated"):
            return
        token["ContinuationToken"] = page["NextContinuationToken"]


def failure(
    error: Exception, kind: Kind, what: str, bucket: str, key: str, action: str
) -> ReshardError:
    """The exception to raise for what boto3 raised, with the next thing to do.

    what: what cannot be done, in words. A refused write is Refused, a refused read CannotTell.
    """
    match kind:
        case Kind.NO_BUCKET:
            return UsageError(f"{what}: there is no bucket {bucket}", "aws s3api list-buckets")
        case Kind.ELSEWHERE:
            return _elsewhere(what, bucket, error)
        case Kind.DENIED:
            return _denied(what, bucket, key, action)
        case Kind.CREDENTIALS:
            return client.without_credentials(error, f"{what}: ")
        case Kind.BUSY | Kind.UNSENT | Kind.LOST:
            reason = "S3 is busy" if kind is Kind.BUSY else "S3 does not answer"
            return CannotTell(f"{what}: {reason} ({code_of(error)})", "run this again later")
        case _:
            return CannotTell(
                f"{what}: {clean(str(error))}",
                command_line("aws", "s3api", "head-bucket", "--bucket", bucket),
            )


def _elsewhere(what: str, bucket: str, error: Exception) -> UsageError:
    headers = getattr(error, "response", {}).get("ResponseMetadata", {}).get("HTTPHeaders", {})
    region = headers.get("x-amz-bucket-region", "REGION")
    return UsageError(
        f"{what}: bucket {bucket} is in another region ({region})",
        f"add --endpoint-url s3=https://s3.{region}.amazonaws.com",
    )


def _denied(what: str, bucket: str, key: str, action: str) -> ReshardError:
    resource = f"arn:aws:s3:::{bucket}"
    more = ""
    if action != "s3:ListBucket":
        resource = f"{resource}/{key}"
    if action == "s3:GetObject":
        more = ", or no such object (without s3:ListBucket both look alike)"
    kind = Refused if action in _OF_WRITES else CannotTell
    return kind(
        f"{what}: no permission for {action}{more}", f"allow it: {allow((action,), resource)}"
    )
