"""What an exception of boto3 means for us, by kind."""

from __future__ import annotations

from enum import Enum

from botocore.exceptions import (
    BotoCoreError,
    ClientError,
    ConnectTimeoutError,
    EndpointConnectionError,
    HTTPClientError,
    IncompleteReadError,
    NoCredentialsError,
    ProxyConnectionError,
    ResponseStreamingError,
)
from botocore.exceptions import ConnectionError as BotoConnectionError
from botocore.parsers import ResponseParserError


class Kind(Enum):
    """What happened to a call."""

    BUSY = "busy"
    """Not done now; the same call may do later."""
    UNSENT = "unsent"
    """No connection: the store never saw the call."""
    LOST = "lost"
    """No answer, or one that does not tell: a write may be in place."""
    PENDING = "pending"
    """An earlier attempt with our token is still at work."""
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


WAITED_FOR = (Kind.BUSY, Kind.UNSENT, Kind.LOST, Kind.PENDING)
"""After these the same call may succeed later."""

CAUGHT = (ClientError, BotoCoreError, ResponseParserError)
"""What boto3 raises for a call that was well formed."""

# Amazon DynamoDB Developer Guide, "Error handling with DynamoDB": which codes may be retried.
_CODES = {
    "ConditionalCheckFailedException": Kind.MOVED,
    "TransactionInProgressException": Kind.PENDING,
    "ResourceNotFoundException": Kind.ABSENT,
    "AccessDeniedException": Kind.DENIED,
    "AccessDenied": Kind.DENIED,
    **dict.fromkeys(
        (
            "ProvisionedThroughputExceededException",
            "ThrottlingException",
            "RequestLimitExceeded",
            "LimitExceededException",
            "TransactionConflictException",
            "ReplicatedWriteConflictException",
        ),
        Kind.BUSY,
    ),
    **dict.fromkeys(
        (
            "ExpiredTokenException",
            "ExpiredToken",
            "RequestExpired",
            "UnrecognizedClientException",
            "InvalidClientTokenId",
            "InvalidSignatureException",
            "IncompleteSignatureException",
            "IncompleteSignature",
            "SignatureDoesNotMatch",
            "MissingAuthenticationTokenException",
            "MissingAuthenticationToken",
        ),
        Kind.CREDENTIALS,
    ),
}

# CancellationReasons of TransactWriteItems, API reference.
_REASONS_TO_WAIT = {"TransactionConflict", "ProvisionedThroughputExceeded", "ThrottlingError"}

# By name: SSO and token errors moved between releases of botocore.
_CREDENTIAL_ERRORS = {
    "CredentialRetrievalError",
    "PartialCredentialsError",
    "SSOError",
    "SSOTokenLoadError",
    "TokenRetrievalError",
    "UnauthorizedSSOTokenError",
    "LoginRefreshRequired",
}


_UNSENT = (ConnectTimeoutError, EndpointConnectionError, ProxyConnectionError)
_LOST = (
    BotoConnectionError,
    HTTPClientError,
    IncompleteReadError,
    ResponseStreamingError,
    ResponseParserError,
)


def kind_of(error: Exception) -> Kind:
    """The kind of what a call raised."""
    if isinstance(error, ClientError):
        return _of_answer(error)
    if isinstance(error, _UNSENT):
        return Kind.UNSENT
    if isinstance(error, _LOST):
        return Kind.LOST
    if isinstance(error, NoCredentialsError) or type(error).__name__ in _CREDENTIAL_ERRORS:
        return Kind.CREDENTIALS
    return Kind.WRONG


def code_of(error: Exception) -> str:
    """The service's error code, or the exception's name."""
    if isinstance(error, ClientError):
        return str(error.response.get("Error", {}).get("Code", "")) or "unknown error"
    return type(error).__name__


def _of_answer(error: ClientError) -> Kind:
    code = code_of(error)
    if code == "TransactionCanceledException":
        return _of_cancelled(error)
    if code in _CODES:
        return _CODES[code]
    status = error.response.get("ResponseMetadata", {}).get("HTTPStatusCode", 0)
    return Kind.LOST if status >= 500 else Kind.WRONG


def _of_cancelled(error: ClientError) -> Kind:
    reasons = {reason.get("Code") for reason in error.response.get("CancellationReasons", ())}
    if "ConditionalCheckFailed" in reasons:
        return Kind.MOVED
    reasons -= {"None", None}
    return Kind.BUSY if reasons and reasons <= _REASONS_TO_WAIT else Kind.WRONG
