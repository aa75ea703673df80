"""Writes steps to a store one after the other, each durable in the journal before.

The caller proves the steps on fresh rows just before: `fresh_rows`, its own judgement, `apply`; or
`rest_of`, its own judgement, `resume`, which writes what an interrupted fix left.
"""

from __future__ import annotations

import shlex
from collections.abc import Callable, Collection, Mapping, Sequence
from contextlib import suppress
from types import MappingProxyType
from typing import NoReturn

from msgspec import Struct
from msgspec.structs import replace

from reshardctl.errors import (
    REPLAN,
    AnswerLost,
    Cancelled,
    CannotTell,
    HalfDone,
    Refused,
    ReshardError,
    StalePlan,
    UsageError,
)
from reshardctl.journal import Intent, Journal, Records
from reshardctl.model import Image, Step, keys_of, writes_of
from reshardctl.model.phrases import listed
from reshardctl.model.write_state import WriteResult, WriteState, write_states
from reshardctl.planning.writes import rebase
from reshardctl.stores.base import Store, Texts, recover

NAMED = 5
"""Rows that an error names before it counts the rest."""
TRIES = 5
"""How often a step is tried while a running consumer renews its rows."""


class Applied(Struct, frozen=True):
    """The number of steps written now, and of steps recognised as already in place."""

    steps: tuple[Step, ...]
    written: int
    recognised: int


def never() -> bool:
    """Says that nothing interrupts, for callers that cannot be interrupted."""
    return False


class Rest(Struct, frozen=True):
    """What is left of an interrupted fix.

    rows: as they are now. todo: the writes that are not in place, with the index of their step
    among `total`. unrecorded: indexes of steps that are in place, which the journal does not say.
    """

    rows: tuple[Image, ...]
    todo: tuple[tuple[int, Step], ...]
    total: int
    unrecorded: tuple[int, ...] = ()

    @property
    def steps(self) -> list[Step]:
        """The steps of `todo`, without their indexes."""
        return [step for _, step in self.todo]

    @property
    def in_place(self) -> int:
        """How many steps are already in place."""
        return self.total - len(self.todo)


def fresh_rows(store: Store) -> list[Image]:
    """The rows as they are now, after clearing up what a killed write may have left."""
    recover(store)
    return store.read()


def apply(
    steps: Sequence[Step],
    fresh: Sequence[Step],
    store: Store,
    journal: Journal,
    *,
    interrupted: Callable[[], bool] = never,
    renewing: Collection[str] = (),
) -> Applied:
    """Writes every step.

    fresh: the same steps over the rows as they are now, proven on them. renewing: attributes that a
    running consumer changes without changing the row's meaning; a step whose rows changed in
    nothing else is read and tried again. Raises StalePlan (nothing written), Cancelled (interrupted
    before the first write), HalfDone (stopped after a write, or with one whose outcome is unknown),
    and what the store raises while nothing is in place.
    """
    if [_keys(step) for step in fresh] != [_keys(step) for step in steps]:
        raise StalePlan("the checked steps write other rows than the plan's", REPLAN)
    if isinstance(store, Texts) and not journal.undoing:
        journal.keep(store.texts(keys_of(fresh)))
    run = _Run(store, journal, interrupted, len(fresh), 0, renewing)
    for intent in run.begin([*enumerate(fresh)]):
        run.write(intent)
    return Applied(tuple(fresh), len(fresh), 0)


def rest_of(
    records: Records,
    store: Store,
    *,
    volatile_attributes: Collection[str],
    renewing: Collection[str] = (),
    identity_rows: Mapping[str, str] = MappingProxyType({}),
    only_shown: bool = False,
) -> Rest:
    """What is left of the last run of a journal, the fix or its undo.

    volatile_attributes: attributes that the consumer changes by itself. renewing: as for `apply`.
    identity_rows: as for `belongs`. only_shown: nothing is cleared up in the store. A row that is
    neither as before nor as written is HalfDone, or StalePlan if nothing was begun.
    """
    belongs(records, store, identity_rows)
    rows = store.read() if only_shown else fresh_rows(store)
    run = records.run
    steps = run.current
    try:
        done_anyway = run.applied if renewing else frozenset()
        todo = remaining(steps, rows, records, volatile_attributes, renewing, done_anyway)
    except HalfDone as error:
        if run.intents:
            raise
        raise StalePlan(f"{error.what}; nothing was written", REPLAN) from None
    in_place = set(range(len(steps))) - {index for index, _ in todo} - run.applied
    unrecorded = tuple(sorted(index for index in in_place if index in run.intents))
    return Rest(tuple(rows), tuple(todo), len(steps), unrecorded)


def resume(
    rest: Rest,
    store: Store,
    journal: Journal,
    *,
    interrupted: Callable[[], bool] = never,
    renewing: Collection[str] = (),
) -> Applied:
    """Writes what is left. renewing, errors: as for `apply`."""
    for index in rest.unrecorded:
        journal.applied(index)
    run = _Run(store, journal, interrupted, rest.total, rest.in_place, renewing)
    for intent in run.begin(rest.todo):
        run.write(intent)
    return Applied(tuple(rest.steps), len(rest.todo), rest.in_place)


def belongs(records: Records, store: Store, identity_rows: Mapping[str, str]) -> None:
    """UsageError unless the store is the one that the journal is about, in every member.

    A journal that names fewer members than the store has is about no store at all. identity_rows:
    member of a store's identity → the row that gives it, see `Spec`.
    """
    identity, wanted = store.identity(), records.header.identity
    given = _given_by_the_fix(records, identity, identity_rows)
    for name in sorted(identity.keys() | wanted.keys()):
        if name in given or (given and name not in identity):
            continue
        if identity.get(name) != wanted.get(name):
            raise UsageError(
                f"journal {records.path} is about another store: {name} was "
                f"{wanted.get(name, 'not known')}, here it is {identity.get(name, 'not known')}",
                f"reshardctl undo --show {shlex.quote(str(records.path))}   # which store it was",
            )


def _given_by_the_fix(
    records: Records, identity: Mapping[str, str], identity_rows: Mapping[str, str]
) -> frozenset[str]:
    """The members of the store's identity that the fix itself gave it.

    It gives the id of a query to a directory that was empty.
    """
    written = keys_of(records.header.steps)
    gained = identity.keys() - records.header.identity.keys()
    return frozenset(name for name in gained if identity_rows.get(name) in written)


def remaining(
    steps: Sequence[Step],
    rows: Sequence[Image],
    records: Records,
    volatile_attributes: Collection[str] = (),
    renewing: Collection[str] = (),
    done_anyway: Collection[int] = (),
) -> list[tuple[int, Step]]:
    """The writes that are not in place, with the index of their step, on the rows as they are now.

    renewing: as for `apply`. done_anyway: indexes of steps that are done whatever their rows say
    now, because a running consumer reads on from them. HalfDone, naming the rows, if another row is
    neither as before nor as written.
    """
    images = {image.key: image for image in rows}
    now = {write.key: images.get(write.key) for write in writes_of(steps)}
    stands = write_states(steps, now, volatile_attributes)
    moved = {
        write.key
        for index, (step, row) in enumerate(zip(steps, stands, strict=True))
        for write, state in zip(step.writes, row, strict=True)
        if state is WriteState.CONFLICT and index not in done_anyway
    }
    if moved:
        what = f"{_rows(moved)} neither as before the fix nor as written: another process wrote"
        back = "" if records.undoing else f"   # or back: {records.header.undoing(records.path)}"
        raise HalfDone(what, f"{REPLAN}{back}", str(records.path))
    rest = []
    for index, (step, row) in enumerate(zip(steps, stands, strict=True)):
        pairs = zip(step.writes, row, strict=True)
        writes = tuple(write for write, state in pairs if state is WriteState.PENDING)
        if writes and index not in done_anyway:
            rest.append((index, replace(step, writes=writes)))
    fresh = rebase([step for _, step in rest], rows, renewing or volatile_attributes)
    return [(index, step) for (index, _), step in zip(rest, fresh, strict=True)]


class _Run:
    """Writes steps and counts them, so that every error says how far it got."""

    def __init__(
        self,
        store: Store,
        journal: Journal,
        interrupted: Callable[[], bool],
        total: int,
        in_place: int,
        renewing: Collection[str],
    ) -> None:
        self._store = store
        self._journal = journal
        self._interrupted = interrupted
        self._total = total
        self._in_place = in_place
        self._renewing = renewing

    def begin(self, todo: Sequence[tuple[int, Step]]) -> list[Intent]:
        """Records all that is about to be written, durable before the first write."""
        for _, step in todo:
            if len(step.writes) > self._store.max_writes:
                raise ValueError(f"{step.title}: more writes than one step may have")
        self._stop_if_asked()
        return self._intend(todo)

    def write(self, intent: Intent) -> None:
        """Writes a step and records it; tries again where its rows were only renewed meanwhile."""
        self._stop_if_asked()
        self._stop_at(intent.step)
        tries = TRIES if self._renewing else 1
        while self._sent(intent) is not WriteResult.APPLIED:
            tries -= 1
            if not tries:
                self._moved(intent.step)
            intent = self._reread(intent)
        self._in_place += 1
        self._record(intent.index)

    def _sent(self, intent: Intent) -> WriteResult:
        try:
            return self._store.write(intent.step, intent.token)
        except (Exception, KeyboardInterrupt, SystemExit) as error:
            self._failed(error)

    def _intend(self, todo: Sequence[tuple[int, Step]]) -> list[Intent]:
        try:
            return self._journal.intend(todo)
        except ReshardError as error:
            if self._in_place:
                raise self._half_done(error.what) from error
            raise _nothing_written(error) from None

    def _reread(self, intent: Intent) -> Intent:
        """The same step over its rows as they are now, in the journal too."""
        try:
            images = self._store.get([write.key for write in intent.step.writes])
            rows = [row for row in images.values() if row is not None]
            (step,) = rebase([intent.step], rows, self._renewing)
        except StalePlan as error:
            self._moved(intent.step, error.what)
        except ReshardError as error:
            self._failed(error)
        (fresh,) = self._intend([(intent.index, step)])
        return fresh

    def _moved(self, step: Step, how: str = "") -> NoReturn:
        keys = ", ".join(sorted(write.key for write in step.writes))
        what = f"{step.title}: a row changed after it was read ({how or keys})"
        self._note(what)
        if self._in_place:
            raise self._half_done(what)
        again = REPLAN
        if self._journal.undoing:
            again = f"{self._journal.header.undoing(self._journal.path)}   # looks again"
        raise StalePlan(f"{what}; nothing was written", again)

    def _failed(self, error: BaseException) -> NoReturn:
        """Says of a failed call what is in place, and whether the outcome of a write is known."""
        if isinstance(error, AnswerLost):
            self._note(error.what)
            raise half_done(
                self._journal,
                f"{self._so_far()}; whether the next step was written is unknown: {error.what}",
            ) from error
        if isinstance(error, CannotTell | Refused | UsageError):
            self._note(error.what)
            if self._in_place:
                raise self._half_done(error.what) from error
            raise _nothing_written(error) from None
        self._note(repr(error))
        raise half_done(
            self._journal,
            f"{self._so_far()}; the next step was interrupted ({type(error).__name__})",
        ) from error

    def _record(self, index: int) -> None:
        try:
            self._journal.applied(index)
        except ReshardError as error:
            raise self._half_done(error.what) from error

    def _stop_if_asked(self) -> None:
        if not self._interrupted():
            return
        if self._in_place:
            self._note("interrupted")
            raise self._half_done("interrupted")
        raise Cancelled("interrupted; nothing was written")

    def _stop_at(self, step: Step) -> None:
        """Stops at a step after a barrier: the consumer has to continue first."""
        if not step.barrier:
            return
        try:
            there = self._store.get([step.barrier])[step.barrier] is not None
        except ReshardError as error:
            self._failed(error)
        if not there:
            self._note(f"waits for {step.barrier}")
            raise half_done(
                self._journal,
                f"{self._so_far()}; the next step waits until {step.barrier} exists "
                f"({step.title})",
            )

    def _so_far(self) -> str:
        return f"{self._in_place} of {self._total} steps are in place"

    def _half_done(self, what: str) -> HalfDone:
        return half_done(self._journal, f"{self._so_far()}, then: {what}")

    def _note(self, what: str) -> None:
        """Records the failure if the disk accepts it; the failure itself matters more."""
        with suppress(ReshardError):
            self._journal.failed(what)


def half_done(journal: Journal | Records, what: str) -> HalfDone:
    """HalfDone with the journal and the two ways out."""
    header = journal.header
    ways = header.undoing(journal.path)
    if not journal.undoing:
        ways = f"{header.resuming(journal.path)}   # or back: {ways}"
    return HalfDone(what, ways, str(journal.path))


def _keys(step: Step) -> list[str]:
    return [write.key for write in step.writes]


def _rows(keys: Collection[str]) -> str:
    named = listed(sorted(keys), NAMED)
    return f"row {named} is" if len(keys) == 1 else f"rows {named} are"


def _nothing_written(error: ReshardError) -> ReshardError:
    """The same error, which says that nothing is in place."""
    if "nothing was written" not in error.what:
        error.what += "; nothing was written"
    return error
