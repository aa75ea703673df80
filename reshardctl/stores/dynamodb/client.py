"""The table's client: errors in our words, and reads that are retried."""

from __future__ import annotations

from collections.abc import Callable
from copy import copy
from typing import TYPE_CHECKING, Any

from reshardctl.aws import client as aws
from reshardctl.aws.client import ATTEMPTS, allow, clean, code_of
from reshardctl.errors import CannotTell, NoStore, Refused, ReshardError, command_line
from reshardctl.stores.dynamodb.faults import Kind, failure_of, kind_of

if TYPE_CHECKING:
    from boto3.session import Session

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
        self._boto = aws.client_of(session, "dynamodb", region, endpoint_url, f"table {table}")
        self.table = table
        self.more: tuple[str, ...] = ()
        self.region: str = self._boto.meta.region_name
        self.retry = aws.retry(FIRST_PAUSE, sleep, failure_of)
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
                return aws.without_credentials(error, f"{where}: ")
            case Kind.ABSENT:
                return NoStore(
                    f"there is no table {names} in {self.region} "
                    "in the account of these credentials",
                    self.search, self.table, self.region,
                )
            case Kind.BUSY | Kind.UNSENT | Kind.LOST | Kind.PENDING:
                what = "is throttled" if kind_of(error) is Kind.BUSY else "does not answer"
                return CannotTell(
                    f"{where}: {tables} {what} ({code_of(error)}, {ATTEMPTS} attempts)",
                    "run this again later",
                )
            case _:
                return CannotTell(
                    f"{where}: {tables}: {clean(str(error))}",
                    command_line(
                        "aws", "dynamodb", "describe-table", "--region", self.region,
                        "--table-name", self.table,
                    ),
                )
