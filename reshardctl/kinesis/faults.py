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
    SSLError,
)
from botocore.exceptions import ConnectionError as BrokenConnectionError
from botocore.parsers import ResponseParserError


class Kind(Enum):
    """What happened to a call."""

    BUSY = "busy"
    """Not done now; the same call may do later."""
    LOST = "lost"
    """No answer, or one that makes no sense. All calls here are reads: asking again is safe."""
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


CAUGHT = (ClientError, BotoCoreError, ResponseParserError)
"""What boto3 raises for a call that was well formed."""

# Kinesis API reference, "Errors" of the four actions and "Common Errors".
_CODES = {
    "ResourceNotFoundException": Kind.ABSENT,
    "ResourceInUseException": Kind.IN_USE,
    "ExpiredNextTokenException": Kind.TOKEN,
    "ExpiredIteratorException": Kind.ITERATOR,
    "InvalidArgumentException": Kind.INVALID,
    "ValidationException": Kind.INVALID,
    **dict.fromkeys(
        (
            "LimitExceededException",
            "ProvisionedThroughputExceededException",
            "ThrottlingException",
            "Throttling",
            "RequestLimitExceeded",
            "KMSThrottlingException",
        ),
        Kind.BUSY,
    ),
    **dict.fromkeys(
        (
            "AccessDeniedException",
            "AccessDenied",
            "KMSAccessDeniedException",
            "NotAuthorized",
            "UnauthorizedOperation",
        ),
        Kind.DENIED,
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
            "OptInRequired",
        ),
        Kind.CREDENTIALS,
    ),
}

# By name: SSO and token errors moved between releases of botocore.
_CREDENTIAL_ERRORS = {
    "CredentialRetrievalError",
    "PartialCredentialsError",
    "RefreshWithMFAUnsupportedError",
    "SSOError",
    "SSOTokenLoadError",
    "TokenRetrievalError",
    "UnauthorizedSSOTokenError",
    "LoginRefreshRequired",
}
_UNREACHABLE = (
    EndpointConnectionError,
    ConnectTimeoutError,
    ProxyConnectionError,
    SSLError,
)
_LOST = (
    BrokenConnectionError,
    HTTPClientError,
    IncompleteReadError,
    ResponseStreamingError,
    ResponseParserError,
)


def kind_of(error: Exception) -> Kind:
    """The kind of what a call raised."""
    if isinstance(error, ClientError):
        return _of_answer(error)
    if isinstance(error, NoCredentialsError) or type(error).__name__ in _CREDENTIAL_ERRORS:
        return Kind.CREDENTIALS
    if isinstance(error, _UNREACHABLE):
        return Kind.UNREACHABLE
    return Kind.LOST if isinstance(error, _LOST) else Kind.WRONG


def code_of(error: Exception) -> str:
    """The service's error code, or the exception's name."""
    if isinstance(error, ClientError):
        return str(error.response.get("Error", {}).get("Code", "")) or "unknown error"
    return type(error).__name__


def message_of(error: Exception) -> str:
    """The service's own words, or the exception's."""
    if isinstance(error, ClientError):
        return str(error.response.get("Error", {}).get("Message", ""))
    return str(error)


def _of_answer(error: ClientError) -> Kind:
    operation = error.operation_name
    if operation.startswith("AssumeRole") or operation == "GetRoleCredentials":
        return Kind.CREDENTIALS  # it was not Kinesis that refused
    code = code_of(error)
    if code in _CODES:
        return _CODES[code]
    status = error.response.get("ResponseMetadata", {}).get("HTTPStatusCode", 0)
    return Kind.LOST if status >= 500 else Kind.WRONG
