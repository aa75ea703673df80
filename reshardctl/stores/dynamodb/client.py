"""DynamoDB's client: calls on a table, with errors in our words and reads that are retried.

What an exception of boto3 means for a call is said in our words. Values go between boto3 and
Images: bytes as base64 text, sets in order. `ACTIONS` names the IAM actions that the calls need.
"""

from __future__ import annotations

import base64
from collections.abc import Callable, Mapping
from copy import copy
from enum import Enum
from typing import TYPE_CHECKING, Any

from botocore.exceptions import ClientError

from reshardctl.aws import client
from reshardctl.aws.client import ATTEMPTS, allow, clean, code_of
from reshardctl.errors import CannotTell, NoStore, Refused, ReshardError, command_line
from reshardctl.model import Attributes, AttributeValue, Image, TableShape, canonical
from reshardctl.model.retry import FailureKind

if TYPE_CHECKING:
    from boto3.session import Session


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
    **dict.fromkeys(client.THROTTLES, Kind.BUSY),
    **dict.fromkeys(client.DENIALS, Kind.DENIED),
}

# CancellationReasons of TransactWriteItems, API reference.
_REASONS_TO_WAIT = {"TransactionConflict", "ProvisionedThroughputExceeded", "ThrottlingError"}


def kind_of(error: Exception) -> Kind:
    """The kind of an exception that a call raised."""
    if client.about_credentials(error):
        return Kind.CREDENTIALS
    if isinstance(error, ClientError):
        return _of_answer(error)
    if isinstance(error, client.UNSENT):
        return Kind.UNSENT
    return Kind.LOST if isinstance(error, client.LOST) else Kind.WRONG


def failure_of(error: Exception) -> FailureKind:
    """What the error means for trying the call again."""
    return _FAILURES.get(kind_of(error), FailureKind.PERMANENT)


def _of_answer(error: ClientError) -> Kind:
    code = client.code_of(error)
    if code == "TransactionCanceledException":
        return _of_cancelled(error)
    return _CODES.get(code, Kind.LOST if client.failed_inside(error) else Kind.WRONG)


def _of_cancelled(error: ClientError) -> Kind:
    reasons = {reason.get("Code") for reason in error.response.get("CancellationReasons", ())}
    if "ConditionalCheckFailed" in reasons:
        return Kind.MOVED
    reasons -= {"None", None}
    return Kind.BUSY if reasons and reasons <= _REASONS_TO_WAIT else Kind.WRONG


FIRST_PAUSE = 0.1
"""Seconds; with `aws.retry`, 11 s in all."""


def list_tables(region: str, profile: str | None = None) -> str:
    """The command that lists the tables of a region."""
    named = ("--profile", profile) if profile else ()
    return command_line("aws", "dynamodb", "list-tables", "--region", region, *named)


class Denied(CannotTell):
    """A read of a DynamoDB table for which there is no permission.

    Next: grant the actions that `reshardctl config iam` lists.
    """

    id = "E306"


UNREACHED = (
    "check the network, --region, --table-region, --endpoint-url and AWS_ENDPOINT_URL_DYNAMODB"
)


class Client:
    """Calls on one table. boto3's own retries are off: a lost write must be looked at first."""

    def __init__(
        self,
        session: Session,
        table: str,
        region: str | None,
        endpoint_url: str | None,
        sleep: Callable[[float], None],
        search: Callable[[str], str] = list_tables,
    ) -> None:
        """Makes the client and calls nothing. Raises UsageError without a region.

        search: region → the command that shows which tables there are.
        """
        self._boto = client.client_of(session, "dynamodb", region, endpoint_url, f"table {table}")
        self.table = table
        self.more: tuple[str, ...] = ()
        self.region: str = self._boto.meta.region_name
        self.retry = client.retry(self._boto, FIRST_PAUSE, sleep, failure_of)
        self.search = search(self.region)

    def once(self, operation: str, **arguments: object) -> dict[str, Any]:
        """One attempt; raises what boto3 raises."""
        answer: dict[str, Any] = getattr(self._boto, operation)(**arguments)
        return answer

    def read(self, operation: str, action: str, where: str, **arguments: object) -> dict[str, Any]:
        """A reading call, retried. where: the name of the place in a message."""
        return self.retry.read(
            lambda: self.once(operation, **arguments),
            lambda error: self.failure(error, action, where),
        )

    def of_table(self, table: str, *more: str) -> Client:
        """The same client for another table. more: others that a transaction of it spans."""
        other = copy(self)
        other.table, other.more = table, more
        return other

    def failure(
        self, error: Exception, action: str, where: str, *, writing: bool = False
    ) -> ReshardError:
        """The exception to raise for what boto3 raised, with the next thing to do.

        writing: a refused write is Refused (nothing was written), a refused read CannotTell. Texts
        about credentials are ours alone: the service's own may repeat parts of them.
        """
        names = " and ".join((self.table, *self.more))
        tables = f"table {names} in {self.region}"
        match kind_of(error):
            case Kind.DENIED:
                arn = f"arn:aws:dynamodb:{self.region}:*:table/"
                resource = [f"{arn}{name}" for name in (self.table, *self.more)]
                refused = Refused if writing else Denied
                return refused(
                    f"{where}: no permission for {action} on {tables}",
                    f"allow it: {allow((action,), *resource)}",
                )
            case Kind.CREDENTIALS:
                return client.without_credentials(error, f"{where}: ")
            case Kind.ABSENT:
                return NoStore(
                    f"there is no table {names} in {self.region} "
                    "in the account of these credentials (elsewhere: --table-region, "
                    "--table-profile)",
                    self.search, self.table, self.region,
                )
            case Kind.BUSY | Kind.UNSENT | Kind.LOST | Kind.PENDING:
                what = "is throttled" if kind_of(error) is Kind.BUSY else "does not answer"
                unsent = kind_of(error) is Kind.UNSENT
                at = f" at {self._boto.meta.endpoint_url}" if unsent else ""
                return CannotTell(
                    f"{where}: {tables} {what}{at} ({code_of(error)}, {ATTEMPTS} attempts)",
                    UNREACHED if unsent else "run this again later",
                )
            case _:
                return CannotTell(
                    f"{where}: {tables}: {clean(str(error))}",
                    command_line(
                        "aws", "dynamodb", "describe-table", "--region", self.region,
                        "--table-name", self.table,
                    ),
                )


ACTIONS = {
    "inspect": ("dynamodb:DescribeTable", "dynamodb:Scan"),
    "fix": (
        "dynamodb:BatchGetItem",
        "dynamodb:DeleteItem",
        "dynamodb:DescribeTable",
        "dynamodb:PutItem",
        "dynamodb:Scan",
        "dynamodb:UpdateItem",
    ),
    "discover": ("dynamodb:DescribeTable", "dynamodb:ListTables", "dynamodb:Scan"),
    "beside": ("dynamodb:GetItem", "dynamodb:Scan"),
    "tables": (
        "dynamodb:DescribeContinuousBackups",
        "dynamodb:DescribeTable",
        "dynamodb:DescribeTimeToLive",
        "dynamodb:Scan",
    ),
    "log": (
        "dynamodb:BatchGetItem",
        "dynamodb:DeleteItem",
        "dynamodb:DescribeTable",
        "dynamodb:PutItem",
        "dynamodb:Scan",
    ),
}
"""Command group → actions on the table. `fix` stands for `fix` and `undo`.

`beside`: on the side tables of KCL 3.0-3.4, for every command. Without it they are not read, and
the report says so. `tables`: for `config tables --check`, on side tables as well; it scans where
the time to live is on. `log`: on the table of a log, for `fix` and `undo`: its rows are deleted and
restored, never updated.

A transaction needs the actions of the writes in it and none of its own (Amazon DynamoDB Developer
Guide, "Using IAM with DynamoDB transactions")."""


REPLICATION = "aws:rep:"
"""The head of attributes that DynamoDB itself adds to every item of a global table, version
2017.11.29 (aws:rep:deleting, aws:rep:updatetime, aws:rep:updateregion), at every write: they are no
part of a row, and nobody else may write them. Later versions hide them."""


def image_of(item: Mapping[str, Any], shape: TableShape) -> Image:
    """The image of an item as boto3's client returns it."""
    attributes = {
        name: _read(value) for name, value in item.items() if not name.startswith(REPLICATION)
    }
    key = shape.image_key(*(item[name]["S"] for name in shape.names))
    return Image(key, canonical(attributes))


def key_of(shape: TableShape, image_key: str) -> dict[str, dict[str, Any]]:
    """The key of a row as boto3's client takes it. ValueError for an image of another table."""
    return {name: {"S": value} for name, value in shape.parts(image_key).items()}


def item_of(attributes: Attributes) -> dict[str, dict[str, Any]]:
    """Attributes as boto3's client takes them."""
    return {name: sent(value) for name, value in attributes.items()}


def _read(value: AttributeValue) -> dict[str, Any]:
    ((kind, body),) = value.items()
    match kind:
        case "B":
            return {kind: base64.b64encode(body).decode()}
        case "BS":
            return {kind: sorted(base64.b64encode(member).decode() for member in body)}
        case "SS" | "NS":
            return {kind: sorted(body)}
        case "L":
            return {kind: [_read(member) for member in body]}
        case "M":
            return {kind: {name: _read(body[name]) for name in sorted(body)}}
        case _:
            return {kind: body}


def sent(value: AttributeValue) -> dict[str, Any]:
    """One attribute value as boto3's client takes it."""
    ((kind, body),) = value.items()
    match kind:
        case "B":
            return {kind: base64.b64decode(body, validate=True)}
        case "BS":
            return {kind: [base64.b64decode(member, validate=True) for member in body]}
        case "L":
            return {kind: [sent(member) for member in body]}
        case "M":
            return {kind: {name: sent(member) for name, member in body.items()}}
        case _:
            return {kind: body}
