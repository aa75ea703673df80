"""Calls to Kinesis, with retries and with errors in our words."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from reshardctl.aws import client as aws
from reshardctl.aws.client import ATTEMPTS, allow, clean, code_of, message_of
from reshardctl.errors import CannotTell, ReshardError, UsageError, command_line
from reshardctl.kinesis.faults import Kind, kind_of
from reshardctl.kinesis.pages import keep_pages_raw
from reshardctl.kinesis.target import Target
from reshardctl.model.retry import FailureKind

if TYPE_CHECKING:
    from boto3.session import Session

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
        self._retry = aws.retry(FIRST_PAUSE, sleep, _failure_of)

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
                    "check the network, --region and AWS_ENDPOINT_URL_KINESIS",
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
        "check --region and --profile: "
        + command_line("aws", "kinesis", "list-streams", "--region", target.region),
    )
