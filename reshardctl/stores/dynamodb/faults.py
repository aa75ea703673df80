"""What an exception of boto3 means for a call on a table."""

from __future__ import annotations

from enum import Enum

from botocore.exceptions import ClientError

from reshardctl.aws import client as aws
from reshardctl.model.retry import FailureKind


class Kind(Enum):
    """Kinds of failure of a call."""

    BUSY = "busy"
    """Throttled or unavailable; the same call may succeed later."""
    UNSENT = "unsent"
    """No connection: the store never received the call."""
    LOST = "lost"
    """No answer, or an inconclusive one: a write may be in place."""
    PENDING = "pending"
    """An earlier attempt with our token is still in progress."""
    MOVED = "moved"
    """A condition did not hold."""
    DENIED = "denied"
    """No permission for the action."""
    CREDENTIALS = "credentials"
    """Missing, expired or not accepted."""
    ABSENT = "absent"
    """No such table here."""
    WRONG = "wrong"
    """Anything else; the same call cannot succeed."""


_FAILURES = {
    Kind.BUSY: FailureKind.TRANSIENT,
    Kind.UNSENT: FailureKind.TRANSIENT,
    Kind.LOST: FailureKind.LOST_ANSWER,
    Kind.PENDING: FailureKind.LOST_ANSWER,
    Kind.MOVED: FailureKind.CONFLICT,
}

# Amazon DynamoDB Developer Guide, "Error handling with DynamoDB": which codes may be retried.
_CODES = {
    "ConditionalCheckFailedException": Kind.MOVED,
    "TransactionInProgressException": Kind.PENDING,
    "ResourceNotFoundException": Kind.ABSENT,
    "TransactionConflictException": Kind.BUSY,
    "ReplicatedWriteConflictException": Kind.BUSY,
    **dict.fromkeys(aws.THROTTLES, Kind.BUSY),
    **dict.fromkeys(aws.DENIALS, Kind.DENIED),
}

# CancellationReasons of TransactWriteItems, API reference.
_REASONS_TO_WAIT = {"TransactionConflict", "ProvisionedThroughputExceeded", "ThrottlingError"}


def kind_of(error: Exception) -> Kind:
    """The kind of an exception that a call raised."""
    if aws.about_credentials(error):
        return Kind.CREDENTIALS
    if isinstance(error, ClientError):
        return _of_answer(error)
    if isinstance(error, aws.UNSENT):
        return Kind.UNSENT
    return Kind.LOST if isinstance(error, aws.LOST) else Kind.WRONG


def failure_of(error: Exception) -> FailureKind:
    """What the error means for trying the call again."""
    return _FAILURES.get(kind_of(error), FailureKind.PERMANENT)


def _of_answer(error: ClientError) -> Kind:
    code = aws.code_of(error)
    if code == "TransactionCanceledException":
        return _of_cancelled(error)
    return _CODES.get(code, Kind.LOST if aws.failed_inside(error) else Kind.WRONG)


def _of_cancelled(error: ClientError) -> Kind:
    reasons = {reason.get("Code") for reason in error.response.get("CancellationReasons", ())}
    if "ConditionalCheckFailed" in reasons:
        return Kind.MOVED
    reasons -= {"None", None}
    return Kind.BUSY if reasons and reasons <= _REASONS_TO_WAIT else Kind.WRONG
