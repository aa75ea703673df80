"""Redis as a store: strings under `APP:checkpoint:STREAM:SHARD`, each one position.

The layout is store/redis of harlow/kinesis-consumer v0.5.0; images look as its rows do in every
other store (consumers/kinesis_consumer/spec.py). Writes are one WATCH, MULTI, EXEC: nothing is
written if a compared key changes before.

The server is reached through redis-py. The password comes from the locator or from REDISCLI_AUTH,
as for redis-cli. The environment gives nothing else that decides where a write goes.
"""

from __future__ import annotations

import base64
import os
import re
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any, TypeVar

from msgspec.structs import replace

from reshardctl.errors import (
    INSPECT,
    AnswerLost,
    CannotTell,
    Refused,
    ReshardError,
    UsageError,
    install,
)
from reshardctl.model import (
    Attributes,
    Image,
    Step,
    TableShape,
    Write,
    canonical,
    changed,
)
from reshardctl.model.images import ENDS, batched
from reshardctl.model.retry import FailureKind, Retry, before_sending
from reshardctl.model.write_state import WriteResult, applied
from reshardctl.stores.base import checked, holds

if TYPE_CHECKING:
    import redis

__all__ = [
    "Strings",
]


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

        once_more = Retry(
            (0.0,), lambda _seconds: None, self.errors, self.kind_of, self.location
        )
        return once_more.read(read, lambda error: self.failure(error, doing))

    def kind_of(self, error: Exception) -> FailureKind:
        """The kind of a driver's error. What the server answers as an error, it did not do."""
        busy = str(error).startswith("BUSY ") or "max number of clients" in str(error)
        if busy or isinstance(error, self._passing):
            return FailureKind.TRANSIENT
        return FailureKind.LOST_ANSWER if self.lost(error) else FailureKind.PERMANENT

    def lost(self, error: BaseException) -> bool:
        """Whether the connection was lost, so that it is unknown what the server did.

        While keys are watched, redis-py raises for that what it raises where one of them changed.
        """
        kinds = self._driver.exceptions
        if isinstance(error, self.moved) and error.__context__ is not None:
            return self.lost(error.__context__)
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


MARK = ":checkpoint:"
BATCH = 500
"""Keys asked for at once."""
PAUSES = (0.2, 1.0, 3.0)
"""Seconds between tries of a write that lost its connection."""


class Strings:
    """The positions of one application, or of all if none is named."""

    max_writes = 100

    def __init__(
        self, server: Server, shape: TableShape, number: str, app: str,
        sleep: Callable[[float], None],
    ) -> None:
        """Calls nothing yet.

        shape: of the images' keys, namespace and shard. number: the attribute of the position. app:
        the application; "" for all, which can only be read.
        """
        assert shape.range is not None
        self._server = server
        self._shape = shape
        self._space, self._shard = shape.hash, shape.range
        self._number = number
        self._app = app
        self._retry = Retry(PAUSES, sleep, server.errors, server.kind_of, server.location)

    def identity(self) -> Mapping[str, str]:
        """The address. Redis keeps nothing that distinguishes a database from a later one there.

        Its run_id is another one after each restart.
        """
        return {
            "medium": "redis", "arn": self._server.location, "created": "Redis does not keep it",
        }

    def read(self) -> list[Image]:
        """Every row in key order; keys created or deleted meanwhile may be in it or not."""
        images = self._server.tried("reading", lambda client: list(self._all(client)))
        return sorted(images, key=lambda image: image.key)

    def get(self, keys: Sequence[str]) -> dict[str, Image | None]:
        """The named rows as they are now."""
        return self._server.tried("reading", lambda client: self._with_ends(client, keys))

    def write(self, step: Step, token: str) -> WriteResult:  # noqa: ARG002 - see below
        """Makes all writes of the step or none.

        A repeat needs no token: its guards fail on its own rows, which then tell the outcome.
        """
        writes = checked(step, self.max_writes)
        exec_sent = False

        def transaction() -> WriteResult:
            nonlocal exec_sent
            exec_sent = False
            with self._prepared(writes) as pipe:
                if pipe is None:
                    return WriteResult.CONFLICT
                exec_sent = True
                return self._executed(pipe)

        retry = replace(
            self._retry, kind_of=before_sending(self._server.kind_of, lambda: exec_sent)
        )
        return retry.write(
            transaction, lambda: applied(step, self.get),
            lambda error: self._server.failure(error, step.title),
        )

    @contextmanager
    def _prepared(self, writes: Sequence[Write]) -> Iterator[redis.client.Pipeline | None]:
        """A transaction that is ready for its EXEC; `None` if a guard does not hold."""
        keys = [write.key for write in writes]
        with self._server.client() as client, client.pipeline() as pipe:
            pipe.watch(*map(self._redis_key, keys))
            rows = self._named(pipe, keys)
            if not all(holds(_as_used(write), rows[write.key]) for write in writes):
                yield None
                return
            pipe.multi()
            for write in writes:
                self._put(pipe, write, rows[write.key])
            yield pipe

    def _executed(self, pipe: redis.client.Pipeline) -> WriteResult:
        """Raises the error of a command that EXEC refused; AnswerLost if it did the others.

        A refusal before EXEC discards all (EXECABORT). EXEC itself goes on after an error.
        """
        try:
            answers = pipe.execute(raise_on_error=False)
        except self._server.moved as error:
            if self._server.lost(error):
                raise
            return WriteResult.CONFLICT
        errors = [answer for answer in answers if isinstance(answer, Exception)]
        if 0 < len(errors) < len(answers):
            raise AnswerLost(
                f"{self._server.location}: {len(errors)} of {len(answers)} commands of a "
                f"transaction were refused, and the others done: {errors[0]}",
                INSPECT,
            )
        if errors:
            raise errors[0]
        return WriteResult.APPLIED

    def _put(self, pipe: redis.client.Pipeline, write: Write, now: Image | None) -> None:
        then, key = changed(now, write), self._redis_key(write.key)
        if then is None:
            pipe.delete(key)
            return
        if now is not None and self._number not in now.attributes:
            raise UsageError(
                f"{self._server.location}: {key.decode()} holds no string, and what it holds could "
                "not be put back", "look at it, delete it by hand, and run this again",
            )
        extra = set(then.attributes) - {self._space, self._shard, self._number, ENDS}
        value = then.attributes.get(self._number)
        if extra or value is None:
            raise ValueError(f"{write.key}: a string cannot hold {sorted(extra) or 'nothing'}")
        pipe.set(key, _bytes(value), keepttl=now is not None)
        if now is None and ENDS in then.attributes:
            end = int(then.attributes[ENDS]["N"])
            if end <= time.time() * 1000:  # the server would delete it at once
                raise Refused(
                    f"{self._server.location}: the time to live of {key.decode()} has ended since",
                    "look whether it is still wanted, and set it by hand",
                )
            pipe.pexpireat(key, end)

    def _all(self, client: redis.Redis) -> Iterator[Image]:
        # Two slots, so that a node of a cluster refuses: it would list its own keys alone.
        client.mget([f"{self._app}{MARK}{{{slot}}}" for slot in "ab"])
        head = _literal(self._app) if self._app else b"*"
        pattern = head + MARK.encode() + b"*:*"
        keys = sorted(set(client.scan_iter(match=pattern, count=1000)))
        for batch in batched(keys, BATCH):
            values: list[Any] = client.mget(batch)
            for key, value, end in zip(batch, values, self._ends(client, batch), strict=True):
                parts = self._parts(key)
                if parts is None or (value is None and client.type(key) == b"none"):
                    continue
                yield _ending(self._image(*parts, value), end)

    def _with_ends(self, client: redis.Redis, keys: Sequence[str]) -> dict[str, Image | None]:
        images = self._named(client, keys)
        there = [name for name, image in images.items() if image is not None]
        ends = self._ends(client, [self._redis_key(name) for name in there])
        by_name = dict(zip(there, ends, strict=True))
        return {
            name: image and _ending(image, by_name[name]) for name, image in images.items()
        }

    def _ends(self, client: redis.Redis, keys: Sequence[bytes]) -> list[int]:
        """When the keys' times to live end, in Unix milliseconds; below 0 for a key without."""
        pipe = client.pipeline(transaction=False)
        for key in keys:
            pipe.pexpiretime(key)  # type: ignore[arg-type]  # as bytes
        answers = pipe.execute(raise_on_error=False)
        if any("unknown command" in str(answer) for answer in answers):  # before Redis 7
            for key in keys:
                pipe.pttl(key)
            seconds, micros = client.time()
            now = int(seconds) * 1000 + int(micros) // 1000
            answers = [
                left if isinstance(left, Exception) or left < 0 else now + left
                for left in pipe.execute(raise_on_error=False)
            ]
        for answer in answers:
            if isinstance(answer, Exception):
                raise answer
        return list(map(int, answers))

    def _named(self, client: Any, keys: Sequence[str]) -> dict[str, Image | None]:
        if not keys:
            return {}
        names = list(dict.fromkeys(keys))
        raw = [self._redis_key(name) for name in names]
        images: dict[str, Image | None] = {}
        for name, key, value in zip(names, raw, client.mget(raw), strict=True):
            there = value is not None or client.type(key) != b"none"
            parts = self._shape.parts(name)
            images[name] = self._image(parts[self._space], parts[self._shard], value) \
                if there else None
        return images

    def _image(self, space: str, shard: str, value: bytes | None) -> Image:
        attributes: Attributes = {self._space: {"S": space}, self._shard: {"S": shard}}
        if value is not None:
            attributes = {**attributes, self._number: _value(value)}
        return Image(self._shape.image_key(space, shard), canonical(attributes))

    def _parts(self, key: bytes) -> tuple[str, str] | None:
        """Namespace and shard of a key; `None` for a key that is no text."""
        try:
            return parts_of(key.decode(), self._app)
        except UnicodeDecodeError:
            return None

    def _redis_key(self, image_key: str) -> bytes:
        return redis_key(self._shape, self._app, image_key)


def parts_of(key: str, app: str) -> tuple[str, str]:
    """Namespace and shard of a key. app: the application, "" for that which the key names."""
    app = app or key.partition(MARK)[0]
    stream, _, shard = key[len(app) + len(MARK) :].rpartition(":")
    return f"{app}-{stream}", shard


def redis_key(shape: TableShape, app: str, image_key: str) -> bytes:
    """The key of a row. UsageError for a row of another application, or if none is named."""
    space, shard = shape.parts(image_key).values()
    if not app or not space.startswith(f"{app}-"):
        raise UsageError(
            f"{image_key} is not known to be a row of this application", "name it with app="
        )
    return f"{app}{MARK}{space.removeprefix(f'{app}-')}:{shard}".encode()


def _as_used(write: Write) -> Write:
    """The write, guarded by what the library reads: a time to live moves as time goes by."""
    return replace(write, guard=tuple(name for name in write.guard if name != ENDS))


def _ending(image: Image, end: int) -> Image:
    if end < 0:
        return image
    return Image(image.key, canonical({**image.attributes, ENDS: {"N": str(end)}}))


def _literal(name: str) -> bytes:
    """A name, escaped for a glob pattern."""
    return "".join(f"\\{c}" if c in "*?[]\\^" else c for c in name).encode()


def _value(value: bytes) -> dict[str, str]:
    try:
        return {"S": value.decode()}
    except UnicodeDecodeError:
        return {"B": base64.b64encode(value).decode()}


def _bytes(value: Mapping[str, Any]) -> bytes:
    ((kind, body),) = value.items()
    if kind not in ("S", "B"):
        raise ValueError(f"a string cannot hold {kind}")
    return base64.b64decode(body) if kind == "B" else str(body).encode()
