"""What an exception of boto3 means for a call to Kinesis."""

from __future__ import annotations

from enum import Enum

from botocore.exceptions import ClientError, SSLError

from reshardctl.aws import client as aws


class Kind(Enum):
    """Kinds of failure of a call."""

    BUSY = "busy"
    """Throttled or unavailable; the same call may succeed later."""
    LOST = "lost"
    """No answer, or a malformed one. All calls here are reads: repeating them is safe."""
    UNREACHABLE = "unreachable"
    """No connection to the endpoint."""
    IN_USE = "in use"
    """The stream is being created or deleted."""
    TOKEN = "token"
    """The NextToken has expired or is not accepted."""
    ITERATOR = "iterator"
    """The shard iterator has expired."""
    DENIED = "denied"
    """No permission for the action."""
    CREDENTIALS = "credentials"
    """Missing, expired or not accepted."""
    ABSENT = "absent"
    """No such stream or shard here."""
    INVALID = "invalid"
    """An argument was refused."""
    WRONG = "wrong"
    """Anything else; the same call cannot succeed."""


# Kinesis API reference, "Errors" of the four actions.
_CODES = {
    "ResourceNotFoundException": Kind.ABSENT,
    "ResourceInUseException": Kind.IN_USE,
    "ExpiredNextTokenException": Kind.TOKEN,
    "ExpiredIteratorException": Kind.ITERATOR,
    "InvalidArgumentException": Kind.INVALID,
    "ValidationException": Kind.INVALID,
    **dict.fromkeys(aws.THROTTLES, Kind.BUSY),
    **dict.fromkeys(aws.DENIALS, Kind.DENIED),
}


def kind_of(error: Exception) -> Kind:
    """The kind of an exception that a call raised."""
    if aws.about_credentials(error):
        return Kind.CREDENTIALS
    if isinstance(error, ClientError):
        otherwise = Kind.LOST if aws.failed_inside(error) else Kind.WRONG
        return _CODES.get(aws.code_of(error), otherwise)
    if isinstance(error, (*aws.UNSENT, SSLError)):
        return Kind.UNREACHABLE
    return Kind.LOST if isinstance(error, aws.LOST) else Kind.WRONG
