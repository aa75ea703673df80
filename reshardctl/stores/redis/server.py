"""A Redis server through redis-py: how it is reached, and what its errors mean.

The password comes from the locator or from REDISCLI_AUTH, as for redis-cli. The environment gives
nothing else that decides where a write goes.
"""

from __future__ import annotations

import os
import re
from collections.abc import Callable
from typing import TYPE_CHECKING, Any, TypeVar

from reshardctl.errors import CannotTell, Refused, ReshardError, UsageError, install
from reshardctl.model.retry import FailureKind, Retry

if TYPE_CHECKING:
    import redis

T = TypeVar("T")
READING = ("SCAN", "MGET", "TYPE", "PEXPIRETIME")
WRITING = ("WATCH", "UNWATCH", "MULTI", "EXEC", "SET", "DEL", "PEXPIREAT")
"""The commands that a user must be allowed besides AUTH; before Redis 7 PTTL and TIME in the place
of PEXPIRETIME; for another database than 0 SELECT, too."""
CONNECT, ANSWER = 10, 30
"""Seconds for a connection, and for an answer."""
TARGET = re.compile(
    r"(?:(?P<user>[^/@]*)@)?(?P<host>\[[0-9a-fA-F:.]+\]|[^/@:]+)(?::(?P<port>[0-9]{1,5}))?"
    r"(?:/(?P<db>[0-9]{1,5})?)?\Z"
)


def driver() -> Any:
    """The module redis. UsageError if it is not installed."""
    try:
        import redis
    except ImportError:
        raise UsageError(
            "Redis needs a driver that is not installed", install("redis")
        ) from None
    return redis


class Server:
    """One database of one server."""

    def __init__(self, target: str, password: str, *, tls: bool = False) -> None:
        """Loads the driver; connects to nothing yet.

        target: `[USER@]HOST[:PORT][/DB]`. Raises UsageError for another text.
        """
        match = TARGET.match(target)
        if match is None:
            raise UsageError(f"{target!r} is no Redis", "write it as HOST[:PORT]/DB")
        self._driver = driver()
        self._host, self._port = match["host"].strip("[]"), int(match["port"] or 6379)
        self._db, self._user = int(match["db"] or 0), match["user"] or None
        self._password = password or os.environ.get("REDISCLI_AUTH") or None
        self._tls = tls
        self.errors: type[Exception] = self._driver.exceptions.RedisError
        kinds = self._driver.exceptions
        self.moved: type[Exception] = kinds.WatchError
        self._denied = (
            kinds.AuthenticationError, kinds.AuthorizationError, kinds.NoPermissionError,
        )
        # ClusterDownError is of a replica that has lost its primary, too (MASTERDOWN).
        self._passing = (kinds.BusyLoadingError, kinds.TryAgainError, kinds.ClusterDownError)
        self._of_cluster = (kinds.AskError, kinds.ClusterCrossSlotError)

    @property
    def location(self) -> str:
        """The address, in words."""
        host = f"[{self._host}]" if ":" in self._host else self._host
        return f"redis{'s' if self._tls else ''}://{host}:{self._port}/{self._db}"

    def client(self) -> redis.Redis:
        """A client without retries of its own: the writer has to know of each attempt."""
        from redis.backoff import NoBackoff
        from redis.retry import Retry

        made: redis.Redis = self._driver.Redis(
            host=self._host, port=self._port, db=self._db, username=self._user,
            password=self._password, ssl=self._tls, socket_connect_timeout=CONNECT,
            socket_timeout=ANSWER, retry=Retry(NoBackoff(), 0),
        )
        return made

    def tried(self, doing: str, look: Callable[[redis.Redis], T]) -> T:
        """Reads, once more if the connection was lost. Raises CannotTell or Refused."""
        def read() -> T:
            with self.client() as client:
                return look(client)

        once_more = Retry((0.0,), lambda _seconds: None, self.errors, self.kind_of)
        return once_more.read(read, lambda error: self.failure(error, doing))

    def kind_of(self, error: Exception) -> FailureKind:
        """The kind of a driver's error. What the server answers as an error, it did not do."""
        busy = str(error).startswith("BUSY ") or "max number of clients" in str(error)
        if busy or isinstance(error, self._passing):
            return FailureKind.TRANSIENT
        return FailureKind.LOST_ANSWER if self.lost(error) else FailureKind.PERMANENT

    def lost(self, error: BaseException) -> bool:
        """Whether the connection was lost, so that it is unknown what the server did."""
        kinds = self._driver.exceptions
        return isinstance(error, (kinds.ConnectionError, kinds.TimeoutError)) and not isinstance(
            error, self._denied
        )

    def failure(self, error: Exception, doing: str) -> ReshardError:
        """The error to raise, in the server's own words; they hold no password."""
        what = f"{self.location}: {doing}: {error}"
        kinds = self._driver.exceptions
        if isinstance(error, self._denied) or "NOPERM" in what:  # of EXEC, by another name
            reading = ", ".join((*READING, "SELECT") if self._db else READING)
            return CannotTell(
                what, f"the password comes from REDISCLI_AUTH; allowed must be {reading}, and to "
                f"write {', '.join(WRITING)}, on APP:checkpoint:*",
            )
        if isinstance(error, kinds.ReadOnlyError):
            return Refused(what, "name the primary server, not a replica")
        if isinstance(error, self._of_cluster):
            return UsageError(
                f"{what}: this is a Redis Cluster, whose nodes hold a part of the positions each",
                "copy the keys to a single server; write by hand what `fix --dry-run` there shows",
            )
        if self.kind_of(error) is FailureKind.PERMANENT:
            return CannotTell(what, "mend what the server names, then run this again")
        return CannotTell(what, "check host and port; try again")
