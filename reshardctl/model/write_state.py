"""What became of a write: how its call ended, and what its row says now.

An answer may be lost, and a process may be killed between a write and its record: then only the row
tells. Values are compared as DynamoDB compares them: numbers by value (it answers "0.000023" for a
stored "2.3E-5"), sets without order.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Sequence
from decimal import Decimal, InvalidOperation
from enum import Enum

from reshardctl.errors import INSPECT, AnswerLost, ReshardError
from reshardctl.model import (
    AttributeValue,
    Create,
    Delete,
    Image,
    Step,
    Update,
    Write,
    changed,
    writes_by_row,
)

Get = Callable[[Sequence[str]], dict[str, Image | None]]
"""Keys → their rows as they are now, `None` for an absent one; see `Store.get`."""


class WriteState(Enum):
    """The state of a row compared with the images before and after a write."""

    APPLIED = "landed"
    """The row is as the write leaves it, in every attribute that the write touches."""
    PENDING = "as before"
    """The row is as it was read, in every attribute that the write touches or guards."""
    CONFLICT = "moved"
    """Neither: another process wrote the row."""


class WriteResult(Enum):
    """How a guarded step ended."""

    APPLIED = "done"
    """All writes of the step are in place."""
    CONFLICT = "moved"
    """A guard did not hold; nothing of the step was written."""


def same(first: AttributeValue | None, second: AttributeValue | None) -> bool:
    """Whether two attribute values are equal to DynamoDB; `None` is an absent attribute."""
    if first is None or second is None:
        return first is second
    ((kind, body),) = first.items()
    ((other_kind, other_body),) = second.items()
    if kind != other_kind:
        return False
    match kind:
        case "N":
            return number(body) == number(other_body)
        case "NS":
            return {number(text) for text in body} == {number(text) for text in other_body}
        case "SS" | "BS":
            return set(body) == set(other_body)
        case "L":
            return len(body) == len(other_body) and all(map(same, body, other_body))
        case "M":
            return body.keys() == other_body.keys() and all(
                same(body[name], other_body[name]) for name in body
            )
        case _:
            return bool(body == other_body)


def number(text: str) -> Decimal | str:
    """A number attribute by value; its own text if it is no number."""
    try:
        return Decimal(text)
    except (InvalidOperation, ValueError):
        return text


def touched(write: Write) -> frozenset[str]:
    """The attributes that a write sets, removes or increments; for a delete, all of the row."""
    match write.change:
        case Create(attributes):
            return frozenset(attributes)
        case Delete():
            return frozenset(write.before.attributes if write.before else ())
        case Update(values, remove, add):
            return frozenset(values) | frozenset(remove) | frozenset(add or ())


def differing(image: Image, other: Image, volatile_attributes: Collection[str] = ()) -> list[str]:
    """Names of the attributes in which two images of a row differ, without the volatile ones."""
    names = (set(image.attributes) | set(other.attributes)) - set(volatile_attributes)
    return sorted(n for n in names if not same(image.attributes.get(n), other.attributes.get(n)))


def write_state(
    write: Write, now: Image | None, volatile_attributes: Collection[str] = ()
) -> WriteState:
    """The state of one write, given its row as it is now.

    volatile_attributes: attributes that the consumer changes by itself.
    """
    match reached([write], now, volatile_attributes):
        case 1:
            return WriteState.APPLIED
        case 0:
            return WriteState.PENDING
        case _:
            return WriteState.CONFLICT


def write_states(
    steps: Iterable[Step], now: dict[str, Image | None], volatile_attributes: Collection[str] = ()
) -> list[list[WriteState]]:
    """The state of every write, per step and write; `now` has every named row.

    Steps may write a row several times: a write that a later one overwrote is APPLIED too.
    """
    steps = list(steps)
    chains = writes_by_row(steps)
    in_place = {key: reached(chain, now[key], volatile_attributes) for key, chain in chains.items()}
    seen = dict.fromkeys(chains, 0)
    result = []
    for step in steps:
        row = []
        for write in step.writes:
            row.append(_at(seen[write.key], in_place[write.key]))
            seen[write.key] += 1
        result.append(row)
    return result


def _at(index: int, in_place: int | None) -> WriteState:
    if in_place is None:
        return WriteState.CONFLICT
    return WriteState.APPLIED if index < in_place else WriteState.PENDING


def reached(
    chain: Sequence[Write], now: Image | None, volatile_attributes: Collection[str] = ()
) -> int | None:
    """How many of a row's writes, in their order, are in place; `None` if another process wrote it.

    An exact match goes first. Then counters may have grown further and `volatile_attributes` may
    hold anything, because a consumer renews its rows without changing their meaning.
    """
    return _found(chain, now, volatile_attributes)[0]


def wrote_later(
    chain: Sequence[Write], other: Sequence[Write], now: Image | None,
    volatile_attributes: Collection[str] = (),
) -> bool | None:
    """Whether the row tells that the other writes of it came later than these; `None`: it does not.

    Clocks differ between machines, and are set back. Where both are in place, the row is to the
    letter as the last of them left it: counters grow.
    """
    own, exact = _found(chain, now, volatile_attributes)
    theirs, exactly = _found(other, now, volatile_attributes)
    if not theirs:
        return None if own is None else False
    if own is None:
        return True
    if own == 0:
        return False  # these begin from what the others left
    return None if exact == exactly else exactly


def _found(
    chain: Sequence[Write], now: Image | None, volatile_attributes: Collection[str]
) -> tuple[int | None, bool]:
    """What `reached` answers, and whether every attribute is as it was written."""
    states = [chain[0].before]
    for write in chain:
        states.append(changed(states[-1], write))
    names = frozenset().union(*(touched(write) | set(write.guard) for write in chain))
    counters = {n for w in chain if isinstance(w.change, Update) for n in w.change.add or ()}
    fixed, loose = names - counters - set(volatile_attributes), counters & names
    for index in reversed(range(len(states))):
        if _alike(now, states[index], names, ()):
            return index, True
    for index in reversed(range(len(states))):
        if _alike(now, states[index], fixed, loose):
            return index, False
    return None, False


def _alike(
    now: Image | None, then: Image | None, exact: Collection[str], grown: Collection[str]
) -> bool:
    if now is None or then is None:
        return now is then
    return all(
        same(now.attributes.get(name), then.attributes.get(name)) for name in exact
    ) and all(_at_least(now.attributes.get(name), then.attributes.get(name)) for name in grown)


def _at_least(now: AttributeValue | None, then: AttributeValue | None) -> bool:
    if now is None or then is None or "N" not in now or "N" not in then:
        return same(now, then)
    current, least = number(now["N"]), number(then["N"])
    if isinstance(current, str) or isinstance(least, str):
        return current == least
    return current >= least


def applied(step: Step, get: Get) -> bool:
    """Whether a step whose answer was lost is in place, judged from its rows.

    get: reads rows by key. Returns False where every row is as before the step. Raises AnswerLost
    where the rows cannot be read, and where they are neither as before nor as written.
    """
    try:
        rows = get([write.key for write in step.writes])
    except ReshardError as error:
        raise AnswerLost(
            f"{step.title}: the answer was lost, and then reading failed: {error.what}", error.next
        ) from None
    stands = {write_state(write, rows[write.key]) for write in step.writes}
    if stands == {WriteState.APPLIED}:
        return True
    if stands == {WriteState.PENDING}:
        return False
    moved = [w.key for w in step.writes if write_state(w, rows[w.key]) is WriteState.CONFLICT]
    raise AnswerLost(
        f"{step.title}: the answer was lost, and someone else has written since: "
        f"{', '.join(moved) or 'only some rows are as written'}",
        INSPECT,
    )
