"""What an exception of boto3 means for a call on a bucket, by kind, and in words."""

from __future__ import annotations

from collections.abc import Callable
from enum import Enum
from typing import Any

from reshardctl import aws
from reshardctl.aws import allow, clean, code_of
from reshardctl.errors import CannotTell, Refused, ReshardError, UsageError
from reshardctl.journal.log import S3Object


class Kind(Enum):
    """What happened to a call; `passes`: the same call may succeed later."""

    BUSY = ("busy", True)
    """Not done now."""
    UNSENT = ("unsent", True)
    """No connection: the service never saw the call."""
    LOST = ("lost", True)
    """No answer: a put may be in place."""
    MOVED = ("moved", False)
    """The object is not as we left it, or is there already."""
    ABSENT = ("absent", False)
    """No such object."""
    NO_BUCKET = ("no bucket", False)
    ELSEWHERE = ("elsewhere", False)
    """The bucket is in another region, and the redirection did not help."""
    DENIED = ("denied", False)
    CREDENTIALS = ("credentials", False)
    WRONG = ("wrong", False)
    """Anything else."""

    @property
    def passes(self) -> bool:
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
    **dict.fromkeys(aws.THROTTLES, Kind.BUSY),
    **dict.fromkeys(aws.DENIALS, Kind.DENIED),
}


ACTIONS = ("s3:GetObject", "s3:ListBucket", "s3:PutObject")
"""What a journal on S3 needs: the object's own actions, and s3:ListBucket on the bucket, without
which S3 answers 403 for an object that is not there."""
FIRST_PAUSE = 0.2
"""Seconds; with `aws.pauses`, 20 s in all."""


def listed(boto: Any, prefix: S3Object, sleep: Callable[[float], None]) -> list[str]:
    """All keys below a prefix, in order."""
    folder = prefix.key.rstrip("/")
    asked = {"Bucket": prefix.bucket, "Prefix": f"{folder}/" if folder else ""}
    keys: list[str] = []
    more: dict[str, str] = {}
    while True:
        answer = _page(boto, {**asked, **more}, prefix, sleep)
        keys += [one["Key"] for one in answer.get("Contents", ())]
        if not answer.get("IsTruncated"):
            return keys
        more = {"ContinuationToken": answer["NextContinuationToken"]}


def _page(
    boto: Any, asked: dict[str, str], prefix: S3Object, sleep: Callable[[float], None]
) -> dict[str, Any]:
    for pause in (*aws.pauses(FIRST_PAUSE), None):
        try:
            page: dict[str, Any] = boto.list_objects_v2(**asked)
            return page
        except aws.CAUGHT as error:
            kind = kind_of(error)
            if not kind.passes or pause is None:
                raise failure(error, kind, prefix, "s3:ListBucket") from None
        sleep(pause)
    raise AssertionError("unreachable")


def kind_of(error: Exception) -> Kind:
    """The kind of what a call raised."""
    code = code_of(error)
    if aws.about_credentials(error):
        return Kind.CREDENTIALS
    if code in _CODES:
        return _CODES[code]
    if isinstance(error, aws.UNSENT):
        return Kind.UNSENT
    if isinstance(error, aws.LOST) or aws.failed_inside(error):
        return Kind.LOST
    return Kind.WRONG


def failure(error: Exception, kind: Kind, where: S3Object, action: str) -> ReshardError:
    """The exception to raise for what boto3 raised, with the next thing to do.

    A refused put is Refused, a refused read CannotTell, as on the table.
    """
    writing = action == "s3:PutObject"
    what = f"cannot {'write' if writing else 'read'} journal {where}"
    match kind:
        case Kind.ABSENT:
            return UsageError(f"{what}: the object was deleted meanwhile", "reshardctl inspect")
        case Kind.NO_BUCKET:
            return UsageError(
                f"{what}: there is no bucket {where.bucket}",
                "aws s3api list-buckets, or keep the journal in a file: --journal FILE",
            )
        case Kind.ELSEWHERE:
            return _elsewhere(what, where, error)
        case Kind.DENIED:
            return _denied(what, where, action, writing)
        case Kind.CREDENTIALS:
            return aws.without_credentials(error, f"{what}: ")
        case Kind.BUSY | Kind.UNSENT | Kind.LOST:
            said = "S3 is busy" if kind is Kind.BUSY else "S3 does not answer"
            return CannotTell(
                f"{what}: {said} ({code_of(error)})", "run this again later"
            )
        case _:
            return CannotTell(f"{what}: {clean(str(error))}")


def taken(where: S3Object, *, fresh: bool) -> UsageError:
    """A condition did not hold. fresh: there was to be no object yet."""
    if fresh:
        return UsageError(
            f"journal {where} exists already; nothing was written",
            f"name another with --journal, or go on with it: reshardctl fix --resume {where}",
        )
    return UsageError(
        f"journal {where} is in use by another reshardctl", "wait until that one has ended"
    )


def _elsewhere(what: str, where: S3Object, error: Exception) -> UsageError:
    headers = getattr(error, "response", {}).get("ResponseMetadata", {}).get("HTTPHeaders", {})
    region = headers.get("x-amz-bucket-region", "REGION")
    return UsageError(
        f"{what}: bucket {where.bucket} is in another region ({region})",
        f"add --endpoint-url s3=https://s3.{region}.amazonaws.com",
    )


def _denied(what: str, where: S3Object, action: str, writing: bool) -> ReshardError:
    resource = f"arn:aws:s3:::{where.bucket}"
    more = ""
    if action != "s3:ListBucket":
        resource = f"{resource}/{where.key}"
    if action == "s3:GetObject":
        more = ", or no such object (without s3:ListBucket both look alike)"
    kind = Refused if writing else CannotTell
    return kind(
        f"{what}: no permission for {action}{more}", f"allow it: {allow((action,), resource)}"
    )
