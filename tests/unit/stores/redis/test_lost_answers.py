"""Answers that are lost around EXEC, and errors of another kind after one. Needs no server."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from typing import Any

import pytest
from redis.exceptions import BusyLoadingError, NoPermissionError, ResponseError, WatchError
from redis.exceptions import ConnectionError as Gone

from reshardctl.errors import AnswerLost, CannotTell, Refused, UsageError
from reshardctl.model import Image, TableShape
from reshardctl.model.retry import FailureKind
from reshardctl.model.write_state import WriteResult
from reshardctl.stores.redis import Server, Strings
from tests.contracts.store_contract import create, step

SHAPE = TableShape("", hash="namespace", range="shard_id")
KEY = "app-a-s-1/a"
ROW = {"namespace": {"S": "app-a-s-1"}, "shard_id": {"S": "a"}}
STEP = step(create(Image(KEY, {**ROW, "sequence_number": {"S": "1"}})))

Fault = Callable[[Callable[[], None]], list[Any] | None]


class Lives:
    """Commands about times to live: no key has one."""

    def __init__(self) -> None:
        self._asked = 0

    def pexpiretime(self, _key: bytes) -> None:
        self._asked += 1

    def execute(self, raise_on_error: bool) -> list[int]:
        assert not raise_on_error
        return [-1] * self._asked


class Pipe:
    """A connection, its pipeline and what it holds: what `Strings` asks of redis-py."""

    def __init__(self, faults: Sequence[Fault]) -> None:
        self.strings: dict[bytes, bytes] = {}
        self.executed = self.watched = 0
        self.unreached: Exception | None = None
        """What every WATCH raises."""
        self._faults, self._queued = list(faults), dict[bytes, bytes]()

    def __enter__(self) -> Pipe:
        return self

    def __exit__(self, *_raised: object) -> None:
        self._queued = {}

    def pipeline(self, *, transaction: bool = True) -> Any:
        return self if transaction else Lives()

    def watch(self, *_keys: bytes) -> None:
        self.watched += 1
        if self.unreached is not None:
            raise self.unreached

    def multi(self) -> None: ...

    def mget(self, keys: Sequence[bytes]) -> list[bytes | None]:
        return [self.strings.get(key) for key in keys]

    def type(self, key: bytes) -> bytes:
        return b"string" if key in self.strings else b"none"

    def set(self, key: bytes, value: bytes, *, keepttl: bool) -> None:
        assert not keepttl
        self._queued[key] = value

    def execute(self, raise_on_error: bool) -> list[Any]:
        assert not raise_on_error
        self.executed += 1
        if self._faults:
            return self._faults.pop(0)(self._apply) or []
        self._apply()
        return [True]

    def _apply(self) -> None:
        self.strings |= self._queued


def before(_apply: Callable[[], None]) -> None:
    raise Gone("before")


def after(apply: Callable[[], None]) -> None:
    apply()
    raise Gone("after")


def lost_while_watching(_apply: Callable[[], None]) -> None:
    """As redis-py says it, which retries nothing then (Pipeline._disconnect_raise_on_watching)."""
    try:
        raise Gone("before")
    except Gone:
        raise WatchError("A ConnectionError occurred while watching one or more keys")  # noqa: B904


def denied(_apply: Callable[[], None]) -> None:
    raise NoPermissionError("no SET")


def late_and_denied(apply: Callable[[], None]) -> None:
    """What an earlier attempt sent arrives, and this one is refused."""
    apply()
    raise NoPermissionError("no SET")


Make = Callable[..., tuple[Strings, Pipe]]


@pytest.fixture
def strings(monkeypatch: pytest.MonkeyPatch) -> Make:
    def made(*faults: Fault) -> tuple[Strings, Pipe]:
        server, pipe = Server("127.0.0.1:1/0", ""), Pipe(faults)
        monkeypatch.setattr(server, "client", lambda: pipe)
        return Strings(server, SHAPE, "sequence_number", "app-a", lambda _seconds: None), pipe

    return made


def written(medium: Strings) -> Image | None:
    return medium.get([KEY])[KEY]


@pytest.mark.parametrize("faults", [
    (after,), (before,), (before, before, after), (lost_while_watching,), (before, late_and_denied),
])  # fmt: skip
def test_a_lost_answer_is_looked_for(strings, faults):
    medium, pipe = strings(*faults)
    assert medium.write(STEP, "t") is WriteResult.APPLIED
    assert written(medium) is not None
    assert pipe.executed == len(faults) + (faults[-1] in (before, lost_while_watching))


def test_a_key_that_changes_before_exec_is_moved(strings: Make) -> None:
    """EXEC answers nil then, of which redis-py makes a WatchError without another cause."""

    def changed(_apply: Callable[[], None]) -> None:
        raise WatchError("Watched variable changed.")

    def with_a_cause(apply: Callable[[], None]) -> None:
        """As a client would say it that met no lost connection before."""
        try:
            raise KeyError("a script that is not loaded")
        except KeyError:
            changed(apply)

    for fault in (changed, with_a_cause):
        medium, pipe = strings(fault)
        assert medium.write(STEP, "t") is WriteResult.CONFLICT
        assert (pipe.executed, written(medium)) == (1, None)


@pytest.mark.parametrize(("faults", "error", "words", "executed"), [
    ((before,) * 4, AnswerLost, "an earlier attempt may still land", 4),
    ((before, denied), AnswerLost, "no SET; an earlier attempt may still land", 2),
    ((denied,), Refused, "no SET", 1),
    ((lambda _apply: [NoPermissionError("no SET")],), Refused, "no SET", 1),
    # EXEC looks at the rules once more for each command, and does the others: execCommand of
    # multi.c in Redis 7.0, "ACLs rules changed between the moment the transaction was accumulated
    # and the EXEC call".
    ((lambda _apply: [True, NoPermissionError("no DEL")],), AnswerLost, "1 of 2 commands", 1),
], ids=["no answer at all", "then refused", "refused", "by EXEC", "one of two by EXEC"])
def test_a_write_that_is_refused_or_may_still_land(strings, faults, error, words, executed):
    medium, pipe = strings(*faults)
    with pytest.raises(error, match=words):
        medium.write(STEP, "t")
    assert (pipe.executed, written(medium)) == (executed, None)


@pytest.mark.parametrize(("error", "kind"), [
    (ResponseError("BUSY Redis is busy running a script."), FailureKind.TRANSIENT),
    (Gone("max number of clients reached"), FailureKind.TRANSIENT),
    (BusyLoadingError("Redis is loading the dataset in memory"), FailureKind.TRANSIENT),
    (Gone("Connection closed by server."), FailureKind.LOST_ANSWER),
    (ResponseError("WRONGTYPE Operation against a key"), FailureKind.PERMANENT),
])  # fmt: skip
def test_what_an_error_of_redis_means(error: Exception, kind: FailureKind) -> None:
    """Redis' own words (src/script.c, src/networking.c); as an error of a connection, redis-py
    raises what a server says before it closes one."""
    assert Server("127.0.0.1:1/0", "").kind_of(error) is kind


@pytest.mark.parametrize("error", [Gone("refused"), BusyLoadingError("loading the dataset")])
def test_a_server_that_is_not_reached_got_nothing(strings, error):
    """Nothing was sent but WATCH: no write may still arrive."""
    medium, pipe = strings()
    pipe.unreached = error
    with pytest.raises(CannotTell) as caught:
        medium.write(STEP, "t")
    assert type(caught.value) is CannotTell
    assert (pipe.watched, pipe.executed) == (4, 0)


@pytest.mark.parametrize(("more", "words"), [
    ({"sequence_number": {"N": "1"}}, "a string cannot hold N"),
    ({"sequence_number": {"S": "1"}, "note": {"S": "x"}}, "a string cannot hold ['note']"),
    ({}, "a string cannot hold nothing"),
])  # fmt: skip
def test_what_is_no_string_is_no_write(strings, more, words):
    medium, pipe = strings()
    with pytest.raises(ValueError, match=re.escape(words)):
        medium.write(step(create(Image(KEY, {**ROW, **more}))), "t")
    assert pipe.strings == {}


def test_a_row_of_another_application_is_none_of_ours(strings: Make) -> None:
    medium, _ = strings()
    with pytest.raises(UsageError, match="app-b-s-1/a is not known to be a row of this appl"):
        medium.get(["app-b-s-1/a"])
