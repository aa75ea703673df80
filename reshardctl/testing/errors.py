"""Errors as the service answers them: a code, a text and an HTTP status.

Texts are recorded answers of AWS where one is known (kinesalite's tests, which run against AWS too;
boto3#1478; KCL#391; beam#33478; amazon-kinesis-scaling-utils#82). The others are ours.
"""

from __future__ import annotations

from typing import NoReturn


class ApiError(Exception):
    """The service refuses; clients act on `code`."""

    def __init__(self, code: str, message: str | None = None, status: int | None = None) -> None:
        known = _KNOWN.get(code, ("", 400))
        self.code = code
        self.message = known[0] if message is None else message
        self.status = known[1] if status is None else status
        super().__init__(f"{self.code}: {self.message}")


class NoAnswerError(Exception):
    """The connection breaks: before the request took effect, or after it (`executed`)."""

    def __init__(self, *, executed: bool) -> None:
        self.executed = executed
        super().__init__("no answer, " + ("executed" if executed else "not executed"))


_KNOWN: dict[str, tuple[str, int]] = {
    "LimitExceededException": ("Rate exceeded for stream.", 400),
    "ProvisionedThroughputExceededException": ("Rate exceeded for shard.", 400),
    "ThrottlingException": ("Rate exceeded", 400),
    "InternalFailure": ("", 500),
    "ServiceUnavailable": ("", 503),
    "ExpiredTokenException": ("The security token included in the request is expired", 400),
    "UnrecognizedClientException": ("The security token included in the request is invalid.", 400),
    "AccessDeniedException": ("User is not authorized to perform this action", 400),
    "ExpiredNextTokenException": ("The specified NextToken has expired.", 400),
    "ExpiredIteratorException": ("Iterator expired.", 400),
    "ResourceInUseException": ("The resource is not available for this operation.", 400),
    "ResourceNotFoundException": ("The requested resource could not be found.", 400),
    "InvalidArgumentException": ("A specified parameter is not valid.", 400),
    "ValidationException": ("The input fails to satisfy the constraints.", 400),
}


def invalid(message: str) -> NoReturn:
    """Raise InvalidArgumentException."""
    raise ApiError("InvalidArgumentException", message)


def not_valid(message: str) -> NoReturn:
    """Raise ValidationException, which precedes every check of the stream."""
    raise ApiError("ValidationException", message)


def stream_not_found(name: str, account: str) -> NoReturn:
    """Raise ResourceNotFoundException for a stream."""
    message = f"Stream {name} under account {account} not found."
    raise ApiError("ResourceNotFoundException", message)


def shard_not_found(shard_id: str, name: str, account: str) -> NoReturn:
    """Raise ResourceNotFoundException for a shard that is being read."""
    message = f"Shard {shard_id} in stream {name} under account {account} does not exist"
    raise ApiError("ResourceNotFoundException", message)


def no_such_shard(shard_id: str, name: str, account: str) -> NoReturn:
    """Raise ResourceNotFoundException for a shard that is being resharded."""
    message = f"Could not find shard {shard_id} in stream {name} under account {account}."
    raise ApiError("ResourceNotFoundException", message)


def not_active(name: str, account: str, status: str) -> NoReturn:
    """Raise ResourceInUseException for a stream that is busy."""
    message = f"Stream {name} under account {account} not ACTIVE, instead in state {status}"
    raise ApiError("ResourceInUseException", message)
