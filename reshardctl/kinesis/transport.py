"""Calls to Kinesis, with retries and with errors in our words.

ListShards answers are read without boto3's parser, which takes most of the time of a long listing.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from enum import Enum
from typing import TYPE_CHECKING, Any

from botocore.exceptions import ClientError, SSLError
from msgspec import DecodeError, Struct, ValidationError
from msgspec.json import Decoder

from reshardctl.aws import client as aws
from reshardctl.aws.client import ATTEMPTS, allow, clean, code_of, message_of
from reshardctl.errors import CannotTell, ReshardError, UsageError, command_line
from reshardctl.kinesis.target import CHECK, Target
from reshardctl.lineage import shard_of_texts
from reshardctl.model import Shard
from reshardctl.model.retry import FailureKind

if TYPE_CHECKING:
    from boto3.session import Session


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


LISTED = "Listed"
"""The key under which an answer of ListShards holds its page as a list of `Shard`."""


class _HashKeyRange(Struct, rename="pascal", gc=False):
    starting_hash_key: str
    ending_hash_key: str


class _SequenceNumberRange(Struct, rename="pascal", gc=False):
    starting_sequence_number: str
    ending_sequence_number: str | None = None


class _Shard(Struct, rename="pascal", gc=False):
    shard_id: str
    hash_key_range: _HashKeyRange
    sequence_number_range: _SequenceNumberRange
    parent_shard_id: str | None = None
    adjacent_parent_shard_id: str | None = None


class _Answer(Struct, rename="pascal"):
    shards: list[_Shard] | None = None
    next_token: str | None = None


_ANSWER = Decoder(_Answer)


def keep_pages_raw(client: Any) -> None:
    """Makes `list_shards` of this client return LISTED instead of `Shards`.

    botocore still resolves, signs, sends and receives; only the body of a successful answer is
    taken before it is parsed. Errors stay with botocore, and so does an answer that is no JSON
    object or has no shards. Shards that are not as the service writes them raise ValueError.
    """

    def take_over(
        response_dict: dict[str, Any], customized_response_dict: dict[str, Any], **_: object
    ) -> None:
        if response_dict["status_code"] != 200:
            return
        shards, token = shards_of(response_dict["body"])
        if shards is None:
            return
        # These keys become part of the answer, and the parser has nothing left to do.
        customized_response_dict.update({LISTED: shards, "NextToken": token})
        response_dict["body"] = b"{}"

    client.meta.events.register(
        "before-parse.kinesis.ListShards", take_over, unique_id="reshardctl-shards"
    )


def shards_of(body: bytes | str) -> tuple[list[Shard] | None, str]:
    """The shards of an answer, and its NextToken ("" on the last page).

    The shards are `None` if the body is no JSON object or has no shards. ValueError for a hash key
    that is none, and, naming the member, for one of another type than the service writes.
    """
    try:
        answer = _ANSWER.decode(body)
    except ValidationError:
        if body.lstrip()[:1] in (b"{", "{"):
            raise
        return None, ""
    except DecodeError:
        return None, ""
    if answer.shards is None:
        return None, ""
    return list(map(_shard, answer.shards)), answer.next_token or ""


def _shard(listed: _Shard) -> Shard:
    keys, numbers = listed.hash_key_range, listed.sequence_number_range
    return shard_of_texts(
        listed.shard_id, listed.parent_shard_id or "", listed.adjacent_parent_shard_id or "",
        keys.starting_hash_key, keys.ending_hash_key,
        numbers.starting_sequence_number, numbers.ending_sequence_number or "",
    )


FIRST_PAUSE = 0.2
"""Seconds; with `aws.retry`, 16 s in all."""

_ACCOUNT = re.compile(r"\baccount (\d{12})\b")


class CallError(Exception):
    """A failed call, which the caller may work around; `told` is the error to raise if not."""

    def __init__(self, kind: Kind, message: str, told: ReshardError) -> None:
        super().__init__(message)
        self.kind = kind
        self.message = message
        self.told = told


def client_of(session: Session, region: str | None, endpoint_url: str | None) -> Any:
    """boto3's client, with ListShards answers left raw. Raises what `aws.client_of` raises."""
    boto = aws.client_of(session, "kinesis", region, endpoint_url, "the stream")
    keep_pages_raw(boto)
    return boto


class Transport:
    """Calls on the streams of one region."""

    def __init__(self, client: Any, sleep: Callable[[float], None]) -> None:
        self._client = client
        self.region: str = client.meta.region_name
        self.sleep = sleep
        self._retry = aws.retry(client, FIRST_PAUSE, sleep, _failure_of)

    def call(self, operation: str, target: Target, **arguments: object) -> dict[str, Any]:
        """Makes one call, repeated while it is throttled or unanswered. CallError if it fails."""
        def once() -> dict[str, Any]:
            answer: dict[str, Any] = getattr(self._client, operation)(**arguments)
            return answer

        def failed(error: Exception) -> CallError:
            kind = kind_of(error)
            return CallError(kind, message_of(error), self._told(error, kind, operation, target))

        return self._retry.read(once, failed)

    def _told(self, error: Exception, kind: Kind, operation: str, target: Target) -> ReshardError:
        """The error for the operator.

        Texts about credentials are ours alone: the service's own may repeat parts of them.
        """
        action = operation.title().replace("_", "")
        stream = f"stream {target.name} in {target.region}"
        match kind:
            case Kind.DENIED:
                return _denied(error, action, target)
            case Kind.CREDENTIALS:
                return aws.without_credentials(error)
            case Kind.ABSENT:
                return _absent(error, target)
            case Kind.BUSY:
                what = f"{action} on {stream} is throttled ({code_of(error)}, {ATTEMPTS} attempts)"
                return CannotTell(what, "run this again later")
            case Kind.UNREACHABLE:
                where = self._client.meta.endpoint_url
                return CannotTell(
                    f"{action} on {stream}: {where} cannot be reached ({code_of(error)})",
                    "check the network, --region, --endpoint-url and AWS_ENDPOINT_URL_KINESIS",
                )
            case Kind.LOST:
                what = (
                    f"{action} on {stream} gets no answer ({code_of(error)}, {ATTEMPTS} attempts)"
                )
                return CannotTell(what, "run this again later")
            case _:
                text = clean(message_of(error))
                return CannotTell(
                    f"{action} on {stream}: {code_of(error)}: {text}",
                    f"aws kinesis describe-stream-summary {target.option}",
                )


def _failure_of(error: Exception) -> FailureKind:
    """Every call here is a read: after a lost answer it is sent again, as after a throttle."""
    passes = kind_of(error) in (Kind.BUSY, Kind.LOST, Kind.UNREACHABLE)
    return FailureKind.TRANSIENT if passes else FailureKind.PERMANENT


def _denied(error: Exception, action: str, target: Target) -> CannotTell:
    if code_of(error).startswith("KMS"):
        return CannotTell(
            f"the records of stream {target.name} cannot be decrypted ({code_of(error)})",
            "allow kms:Decrypt on the stream's key",
        )
    name = f"kinesis:{action}"
    return CannotTell(
        f"no permission for {name} on {target.resource}",
        f"allow it: {allow((name,), target.resource)}",
    )


def _absent(error: Exception, target: Target) -> UsageError:
    account = _ACCOUNT.search(message_of(error))
    where = f"account {account[1]}" if account else "the account of these credentials"
    return UsageError(
        f"there is no stream {target.name} in {target.region} in {where}",
        f"{CHECK} " + command_line("aws", "kinesis", "list-streams", "--region", target.region),
    )
