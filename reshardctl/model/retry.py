"""Retries of calls, and of writes whose answer was lost.

A write whose answer was lost may be in place, may still arrive, or was never received. So every
later error, a failed guard too, is judged by what is stored and not by the error alone.

Which services were asked and have not answered yet is kept here, too: a person who waits is told.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from enum import Enum
from typing import TypeVar

from msgspec import Struct

from reshardctl.errors import AnswerLost, CannotTell, Refused, ReshardError
from reshardctl.model.write_state import WriteResult

T = TypeVar("T")

_asked: dict[object, str] = {}


@contextmanager
def asking(service: str) -> Iterator[None]:
    """A context in which the service is waited for. service: its address; "" for none."""
    if not service:
        yield
        return
    question = object()
    _asked[question] = service
    try:
        yield
    finally:
        del _asked[question]


def unanswered() -> Mapping[object, str]:
    """Each open question, and the service that was asked, the oldest first."""
    return _asked.copy()


class FailureKind(Enum):
    """What an error means for the call that raised it."""

    TRANSIENT = "transient"
    """Nothing was done; the same call may succeed later."""
    LOST_ANSWER = "lost answer"
    """No answer came: a write may be in place. The same call may succeed later."""
    CONFLICT = "conflict"
    """A guard did not hold; nothing was written."""
    PERMANENT = "permanent"
    """Nothing was done, and the same call cannot succeed."""


def uncertain(error: ReshardError) -> AnswerLost:
    """The error to raise after a lost answer: the lost write may still arrive."""
    return AnswerLost(f"{error.what}; an earlier attempt may still land", error.next)


def before_sending(
    kind_of: Callable[[Exception], FailureKind], sent: Callable[[], bool]
) -> Callable[[Exception], FailureKind]:
    """Kinds of errors where an answer can be lost before a write was sent: nothing is in place.

    sent: whether the attempt that failed had sent its write, or its commit.
    """
    def kind(error: Exception) -> FailureKind:
        found = kind_of(error)
        lost = found is FailureKind.LOST_ANSWER
        return FailureKind.TRANSIENT if lost and not sent() else found

    return kind


class Retry(Struct, frozen=True):
    """How the calls to one service are retried.

    pauses: seconds before the second attempt and each further one; none for a single attempt.
    service: its address, which a person is told who waits for an answer; "" for none.
    sleep: waits that many seconds. raised: the exceptions of the service's driver; all others pass
    through. kind_of: what such an exception means.
    """

    pauses: Sequence[float]
    sleep: Callable[[float], None]
    raised: type[Exception] | tuple[type[Exception], ...]
    kind_of: Callable[[Exception], FailureKind]
    service: str = ""

    def read(self, call: Callable[[], T], failed: Callable[[Exception], Exception]) -> T:
        """Repeats a call that changes nothing until it answers.

        failed: makes the exception to raise from the last error when no attempt succeeds.
        """
        with asking(self.service):
            return self._read(call, failed)

    def _read(self, call: Callable[[], T], failed: Callable[[Exception], Exception]) -> T:
        pauses = iter(self.pauses)
        while True:
            try:
                return call()
            except self.raised as error:
                kind, pause = self.kind_of(error), next(pauses, None)
                passes = kind in (FailureKind.TRANSIENT, FailureKind.LOST_ANSWER)
                if pause is None or not passes:
                    raise failed(error) from None
            self.sleep(pause)

    def write(
        self,
        call: Callable[[], WriteResult],
        applied: Callable[[], bool | None],
        failed: Callable[[Exception], ReshardError],
        unsettled: Callable[[ReshardError], ReshardError] = uncertain,
    ) -> WriteResult:
        """Sends a guarded write until its outcome is certain.

        call: sends the write once. It returns APPLIED or CONFLICT, or raises; an error of kind
        CONFLICT counts as CONFLICT. applied: whether the write is in place, judged from what is
        stored; asked only after an answer was lost. `None`: that cannot be read now; AnswerLost
        from it ends the write. failed: makes the exception to raise from the last error; CannotTell
        becomes Refused where that error is PERMANENT. unsettled: what to raise in its place once an
        answer was lost.

        Returns CONFLICT only if no attempt is in place.
        """
        with asking(self.service):
            return self._write(call, applied, failed, unsettled)

    def _write(
        self,
        call: Callable[[], WriteResult],
        applied: Callable[[], bool | None],
        failed: Callable[[Exception], ReshardError],
        unsettled: Callable[[ReshardError], ReshardError],
    ) -> WriteResult:
        pauses = iter(self.pauses)
        lost, last = False, Exception()
        while True:
            try:
                if call() is WriteResult.APPLIED:
                    return WriteResult.APPLIED
                kind = FailureKind.CONFLICT
            except ReshardError as error:
                if lost:
                    raise unsettled(error) from None
                raise
            except self.raised as error:
                kind, last = self.kind_of(error), error
            lost = lost or kind is FailureKind.LOST_ANSWER
            in_place = applied() if lost else False
            if in_place:
                return WriteResult.APPLIED
            if kind is FailureKind.CONFLICT and in_place is not None:
                return WriteResult.CONFLICT  # None: perhaps our own write, whose answer was lost
            pause = next(pauses, None)
            if pause is None or kind is FailureKind.PERMANENT:
                failure = failed(last)
                if lost:
                    raise unsettled(failure) from None
                raise (_refusal(failure) if kind is FailureKind.PERMANENT else failure) from None
            self.sleep(pause)


def _refusal(failure: ReshardError) -> ReshardError:
    """What a permanent error of a write is: the service said no, and nothing is in place."""
    told = isinstance(failure, CannotTell)
    return Refused(failure.what, failure.next) if told else failure
