"""The steps that undo a fix: what it wrote, in reverse, on the rows as they are now.

If the text that it wrote into has become unreadable, the fix is undone as a whole.
"""

from __future__ import annotations

import shlex
from collections.abc import Collection, Mapping, Sequence
from typing import Self

from msgspec import Struct

from reshardctl.errors import INSPECT, REPLAN, ReshardError, UndoRefused, UsageError
from reshardctl.execution.apply import NAMED, half_done
from reshardctl.journal import Journal, Records
from reshardctl.model import (
    Create,
    Delete,
    Image,
    Step,
    Update,
    Write,
    after,
    changed,
    keys_of,
    writes_by_row,
    writes_of,
)
from reshardctl.model.phrases import by_reason
from reshardctl.model.write_state import (
    WriteResult,
    WriteState,
    differing,
    reached,
    same,
    write_states,
)
from reshardctl.planning.restore import Restore, RestoreRule, back_from
from reshardctl.stores.base import Store, Texts

MOVED = "rows are no longer as the fix left them"
NEITHER = "rows are neither as before the plan nor as it leaves them"

def undo_steps(
    records: Records,
    current: Mapping[str, Image | None],
    restore: RestoreRule,
    volatile_attributes: Collection[str],
    moved: str = MOVED,
) -> list[Step]:
    """The steps that undo what is in place, last first; [] if nothing is.

    current: the rows now, at least those of the journal; an absent one may be left out. Refuses
    whole (UndoRefused, listing rows) if a row that the fix wrote is not as the fix left it in any
    attribute except `volatile_attributes`; `moved` are the words for that. UsageError if an undo
    was begun: it has to be resumed; and if somebody else has put every row back.
    """
    if records.undo is not None:
        done = records.undo.outcome == "undone"
        what = "is undone already" if done else "has an undo that was begun"
        ways = INSPECT if done else records.header.undoing(records.path)
        raise UsageError(f"the fix of journal {records.path} {what}", ways)
    steps = records.fix.current
    applied = _steps_in_place(records, steps, current, volatile_attributes)
    now = {write.key: current.get(write.key) for write in writes_of(applied)}
    states = {s for row in write_states(applied, now, volatile_attributes) for s in row}
    if states == {WriteState.PENDING}:
        what = f"every row is as before the fix of journal {records.path}: nothing is left to undo"
        raise UsageError(what, INSPECT)
    _refuse_moved(applied, current, volatile_attributes, moved)
    return back_from(applied, {w.key: current.get(w.key) for w in writes_of(applied)}, restore)


def require_restoring(records: Records, rule: Restore) -> None:
    """UsageError unless the steps of a begun undo put back what the fix of the journal overwrote.

    A journal may come from elsewhere: its undo gets no more than a new undo of its fix could.
    """
    befores: dict[str, list[Image]] = {}
    created = set()
    for write in (*writes_of(records.header.steps), *writes_of(records.fix.current)):
        if write.before is None:
            created.add(write.key)
        else:
            befores.setdefault(write.key, []).append(write.before)
    for write in writes_of(records.run.current):
        if not _restores(write, befores.get(write.key, ()), rule, made=write.key in created):
            raise UsageError(
                f"journal {records.path}: its undo would write {write.key} as it was not before "
                "the fix: no reshardctl began it; nothing was written",
                f"reshardctl undo --show {shlex.quote(str(records.path))}   # what it holds",
            )


def _restores(write: Write, befores: Collection[Image], rule: Restore, *, made: bool) -> bool:
    """Whether a write of an undo gives a row back what one of its images before the fix had."""
    counters, change = rule.monotonic_counters, write.change
    if isinstance(change, Delete):
        return made
    if isinstance(change, Update) and not (change.add or {}).keys() <= counters:
        return False
    values = change.attributes if isinstance(change, Create) else change.set
    removed = change.remove if isinstance(change, Update) else ()
    return any(
        all(same(was.attributes.get(name), values[name]) for name in values if name not in counters)
        and not was.attributes.keys() & set(removed)
        for was in befores
    )


def staying(
    records: Records,
    current: Mapping[str, Image | None],
    restore: RestoreRule,
    volatile_attributes: Collection[str],
) -> dict[str, list[str]]:
    """What no undo restores of rows that get nothing else back, by key.

    These are counters that the fix made or raised and owners that it took.
    """
    applied = _steps_in_place(records, records.fix.current, current, volatile_attributes)
    back = keys_of(undo_steps(records, current, restore, volatile_attributes))
    names: dict[str, list[str]] = {}
    for write in writes_of(applied):
        if write.key not in back:
            left = changed(write.before, write)
            assert write.before and left, "a row that the fix made or deleted is put back"
            own = differing(write.before, left)
            names[write.key] = sorted({*names.get(write.key, ()), *own})
    return names


def _steps_in_place(
    records: Records,
    steps: Sequence[Step],
    current: Mapping[str, Image | None],
    volatile_attributes: Collection[str],
) -> list[Step]:
    """The steps, or the parts of them, that are in place.

    The rows decide; a record helps only if a consumer has written since, and that is refused later.
    Steps are written one after another: behind one whose rows are all as before, what is neither as
    before nor as written is not the fix's.
    """
    now = {write.key: current.get(write.key) for write in writes_of(steps)}
    stands = write_states(steps, now, volatile_attributes)
    result, others = [], {WriteState.PENDING}
    for index, (step, row) in enumerate(zip(steps, stands, strict=True)):
        if index not in records.fix.intents:
            continue
        if index in records.fix.applied:
            result.append(step)
            continue
        pairs = zip(step.writes, row, strict=True)
        writes = tuple(write for write, state in pairs if state not in others)
        if set(row) == {WriteState.PENDING}:
            others.add(WriteState.CONFLICT)
        if writes:
            result.append(Step(step.title, writes))
    return result


def _refuse_moved(
    applied: Sequence[Step],
    current: Mapping[str, Image | None],
    volatile_attributes: Collection[str],
    what: str,
) -> None:
    moved = {
        key: why
        for key, chain in sorted(writes_by_row(applied).items())
        if (why := _moved(chain, current.get(key), volatile_attributes))
    }
    if moved:
        raise UndoRefused(
            f"{what}; nothing was undone: {by_reason(moved, NAMED)}",
            REPLAN,
            tuple(moved),
        )


def _moved(chain: Sequence[Write], now: Image | None, volatile_attributes: Collection[str]) -> str:
    """How a row differs from what its writes left; "" if it does not."""
    left = chain[0].before
    for write in chain:
        left = changed(left, write)
    if left is None or now is None:
        if left is now:
            return ""
        return "exists again" if left is None else "is gone"
    names = differing(left, now, volatile_attributes)
    if not names and reached(chain, now, volatile_attributes) != len(chain):
        names = sorted(set(differing(left, now)))
    return ", ".join(names)


def unreadable(
    store: Store, records: Records, name: str, *, wanted: bool
) -> Mapping[str, str]:
    """The texts of the fix that cannot be read, and why.

    name: of the journal. wanted: whether they are to be restored as a whole. UndoRefused if there
    are some and that is not wanted or not possible, UsageError if it is wanted and all can be read.
    """
    if records.undo is not None and records.undo.outcome == "undone":
        return {}
    keys = keys_of(records.header.steps)
    spoiled = store.unreadable(keys) if isinstance(store, Texts) else {}
    if wanted and not spoiled:
        raise UsageError(
            "--whole-file restores files that cannot be read, and all can; nothing was undone",
            records.header.undoing(name),
        )
    why = "; ".join(spoiled.values())
    if spoiled and not spoiled.keys() <= records.fix.texts.keys():
        raise UndoRefused(
            f"{why}: the file was changed since the fix, and the journal does not hold its whole "
            "content from before; nothing was undone",
            f"restore it from a backup, then {INSPECT}", tuple(sorted(keys)),
        )
    if spoiled and not wanted:
        raise UndoRefused(
            f"{why}: the file was changed since the fix; nothing was undone. The journal holds "
            f"its whole content from before the fix of {records.header.when}",
            f"{records.header.undoing(name)} --whole-file"
            "   # later changes to the file are lost",
            tuple(sorted(keys)),
        )
    return spoiled


class Whole(Struct, frozen=True):
    """Texts to restore. left: the rows as the fix left them."""

    store: Texts
    texts: Mapping[str, str]
    left: list[Image]
    words: str

    @classmethod
    def of(cls, store: Texts, records: Records, spoiled: Mapping[str, str]) -> Self:
        """The texts in a journal."""
        texts = {name: records.fix.texts[name] for name in spoiled}
        rows = [row for name, text in texts.items() for row in store.text_rows(name, text)]
        summary = (
            f"{', '.join(sorted(texts))}: restored to the whole content from before the fix of "
            f"{records.header.when}; later changes to it are lost"
        )
        return cls(store, texts, after(rows, records.fix.current), summary)

    def put_back(self, journal: Journal, records: Records, steps: Sequence[Step]) -> None:
        """Restores the texts, with the intents durable before.

        UndoRefused if one can be read again.
        """
        if records.undo is None:
            journal.begin_undo(steps)
        journal.intend(enumerate(steps))
        try:
            result = [self.store.restore(*text) for text in sorted(self.texts.items())]
        except ReshardError as error:
            raise half_done(journal, error.what) from error
        if WriteResult.CONFLICT in result:
            raise half_done(journal, "another process wrote the file meanwhile")
        for index, _ in enumerate(steps):
            journal.applied(index)
