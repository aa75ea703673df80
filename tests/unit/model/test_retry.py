"""The contract of `Retry`: whatever happens to whichever attempt, what it says is what is stored.

Every store and the journal on S3 write through `Retry.write`, so the rule on lost answers is
proven here once, for every sequence of faults; the suites of the stores show that each of them
tells its own errors apart.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from itertools import product

import pytest

from reshardctl.errors import AnswerLost, CannotTell, Refused, ReshardError
from reshardctl.model.retry import FailureKind, Retry, asking, unanswered
from reshardctl.model.write_state import WriteResult

PAUSES = (1.0, 2.0, 3.0)
EVENTS = (
    "answered", "busy", "lost before", "lost after", "lost and late", "denied", "others first",
    "refused by us",
)  # fmt: skip
"""What happens to one attempt."""
LOST = {"lost before", "lost after", "lost and late"}


class DriverError(Exception):
    def __init__(self, kind: FailureKind) -> None:
        super().__init__(kind.value)
        self.kind = kind


def kind_of(error: Exception) -> FailureKind:
    assert isinstance(error, DriverError)
    return error.kind


def failed(error: Exception) -> ReshardError:
    return CannotTell(f"failed: {error}")


class Register:
    """One value under a guard, written by us as "ours" where it is "before"."""

    def __init__(self, script: tuple[str, ...], *, raises: bool, readable: bool) -> None:
        """raises: a failed guard is an error. readable: whether it can be read at once after an
        answer was lost; else every second attempt to read fails."""
        self.value, self.effects, self.calls, self.reads = "before", 0, 0, 0
        self.script, self.raises, self.readable = script, raises, readable
        self.late = False

    def land(self) -> bool:
        if self.value != "before":
            return False
        self.value = "ours"
        self.effects += 1
        return True

    def call(self) -> WriteResult:
        event = self.script[self.calls]
        self.calls += 1
        match event:
            case "busy":
                raise DriverError(FailureKind.TRANSIENT)
            case "denied":
                raise DriverError(FailureKind.PERMANENT)
            case "refused by us":
                raise Refused("no")
            case "lost before":
                raise DriverError(FailureKind.LOST_ANSWER)
            case "lost after":
                self.land()
                raise DriverError(FailureKind.LOST_ANSWER)
            case "lost and late":
                self.late = True
                raise DriverError(FailureKind.LOST_ANSWER)
            case "others first":
                self.value = "theirs"
            case _:
                pass  # nothing in its way
        if self.land():
            return WriteResult.APPLIED
        if self.raises:
            raise DriverError(FailureKind.CONFLICT)
        return WriteResult.CONFLICT

    def look(self) -> bool | None:
        """As a store looks: its rows are as before, as written, or nobody can say."""
        self.reads += 1
        if not self.readable and self.reads % 2:
            return None
        value = self.value
        self.flush()
        if value == "theirs":
            raise AnswerLost("someone else has written since")
        return value == "ours"

    def flush(self) -> None:
        """The request that was under way arrives after we looked."""
        if self.late:
            self.late = False
            self.land()


def scripts() -> Iterator[tuple[str, ...]]:
    yield from product(EVENTS, repeat=len(PAUSES) + 1)


@pytest.mark.parametrize("readable", [True, False], ids=["readable", "unreadable"])
@pytest.mark.parametrize("raises", [True, False], ids=["raised", "returned"])
def test_what_is_said_of_a_write_is_what_is_stored(raises: bool, readable: bool) -> None:
    endings: set[str] = set()
    for script in scripts():
        register, slept = Register(script, raises=raises, readable=readable), list[float]()
        retry = Retry(PAUSES, slept.append, DriverError, kind_of)
        try:
            ended = retry.write(register.call, register.look, failed).value
        except AnswerLost:
            ended = "lost"
        except ReshardError as error:
            ended = type(error).__name__
        register.flush()
        seen = script[: register.calls]
        assert tuple(slept) == PAUSES[: register.calls - 1], script
        assert register.effects == (1 if ended == "done" else register.effects), script
        if ended == "lost":
            assert LOST & set(seen), script
        elif ended != "done":
            assert not register.effects, script
        if ended in ("CannotTell", "Refused"):
            assert not LOST & set(seen), script
        if ended == "CannotTell":
            assert seen[-1] == "busy", f"{script}: any other error refuses the write"
        endings.add(ended)
    assert endings == {"done", "moved", "lost", "CannotTell", "Refused"}


@pytest.mark.parametrize("at", range(len(PAUSES) + 1))
@pytest.mark.parametrize("event", ["lost before", "lost after"])
def test_one_lost_answer_at_any_attempt(event: str, at: int) -> None:
    """The attempts before it are busy; the write is in place once, and known to be."""
    last = ("answered",) * (len(PAUSES) - at)
    register = Register((*["busy"] * at, event, *last), raises=True, readable=True)
    retry = Retry(PAUSES, lambda _seconds: None, DriverError, kind_of)
    if event == "lost before" and not last:
        with pytest.raises(AnswerLost, match="may still land"):
            retry.write(register.call, register.look, failed)
        return
    assert retry.write(register.call, register.look, failed) is WriteResult.APPLIED
    assert register.effects == 1
    assert register.calls == at + (1 if event == "lost after" else 2)


def test_a_guard_that_fails_on_our_own_late_write_is_no_conflict() -> None:
    register = Register(("lost and late", "answered"), raises=True, readable=True)
    retry = Retry(PAUSES, lambda _seconds: None, DriverError, kind_of)
    assert retry.write(register.call, register.look, failed) is WriteResult.APPLIED
    assert (register.effects, register.calls) == (1, 2)


def test_a_caller_may_say_itself_what_is_unsettled() -> None:
    register = Register(("lost before", "denied"), raises=True, readable=True)
    retry = Retry(PAUSES, lambda _seconds: None, DriverError, kind_of)
    with pytest.raises(CannotTell) as caught:
        retry.write(register.call, register.look, failed, lambda error: error)
    assert type(caught.value) is CannotTell and caught.value.what == "failed: permanent"


def reading(kinds: tuple[FailureKind | None, ...]) -> Callable[[], int]:
    """A call that raises so, attempt by attempt, and answers at `None` with its number."""
    attempts = iter(enumerate(kinds))

    def call() -> int:
        number, kind = next(attempts)
        if kind is not None:
            raise DriverError(kind)
        return number

    return call


def test_a_read_ends_with_its_first_answer_or_its_last_error() -> None:
    passing = (FailureKind.TRANSIENT, FailureKind.LOST_ANSWER)
    for kinds in product((*FailureKind, None), repeat=len(PAUSES) + 1):
        slept: list[float] = []
        retry = Retry(PAUSES, slept.append, DriverError, kind_of)
        ends = [n for n, kind in enumerate(kinds) if kind not in passing]
        end = ends[0] if ends else len(PAUSES)
        kind = kinds[end]
        if kind is None:
            assert retry.read(reading(kinds), failed) == end
        else:
            with pytest.raises(CannotTell, match=f"failed: {kind.value}"):
                retry.read(reading(kinds), failed)
        assert tuple(slept) == PAUSES[:end]


def test_what_is_no_error_of_the_driver_passes_through() -> None:
    retry = Retry(PAUSES, lambda _seconds: None, DriverError, kind_of)

    def call() -> WriteResult:
        raise KeyError("a")

    with pytest.raises(KeyError):
        retry.read(call, failed)
    with pytest.raises(KeyError):
        retry.write(call, lambda: False, failed)


def test_a_service_is_unanswered_while_it_is_asked() -> None:
    with asking("https://kinesis"), asking(""):
        assert list(unanswered().values()) == ["https://kinesis"]
    assert not unanswered()
