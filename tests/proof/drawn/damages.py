"""What befalls a store in an operator's life. Each damage changes rows in place.

A damage draws from its own dice, so that one can be left out and the others stay as they are. It
returns the shards of which it says, with numbers of their own, that unread records were read:
nothing can tell such a row from an honest one.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Mapping, Sequence
from copy import deepcopy
from dataclasses import dataclass
from random import Random
from typing import Any, Protocol

from tests.proof.drawn.states import Rows
from tests.support.case import Case
from tests.support.case_stream import number, shard_name

Value = dict[str, Any]
Forged = Iterable[str]


class Shape(Protocol):
    """How a library's store spells the place of a shard."""

    @property
    def marks(self) -> Sequence[str]:
        """Words that mean a place, or that people take for one."""

    @property
    def apart(self) -> frozenset[str]:
        """Attributes of a row that are its key: a file of rows keeps their type."""

    def shards(self, rows: Rows) -> dict[str, str]:
        """Key of a position's row → its shard's id."""

    def position(self, row: Mapping[str, Any]) -> Value | None:
        """The attribute that holds the place."""

    def place(self, row: dict[str, Any], value: Value | None) -> None:
        """Put it, or take it away."""


@dataclass(frozen=True)
class World:
    """What there is to draw from. backups: the store as it was at earlier moments."""

    case: Case
    shape: Shape
    backups: Sequence[Rows]

    def keys(self, rows: Rows) -> list[str]:
        return sorted(self.shape.shards(rows))

    def place_of(self, key: str, rows: Rows) -> int | None:
        """The number of the row's shard; `None` where its key only looks like a shard's."""
        text = self.shape.shards(rows)[key][-12:]
        return int(text) if text.isdecimal() else None

    def records(self, shard: str) -> list[str]:
        return [n for n, _, _ in self.case.records.get(shard, ())]


TRIES = 6
A_SECOND = 2**148 + 2**36
"""Of a number, in the time at which its shard was made and in its own."""
HOSTILE = (
    "\x1b[2J\x1b]0;x\x07", "a\n::error::b\r\n%0A", "\u202eevil", '=HYPERLINK("http://x")',
    "' OR 1=1 --", "../" * 40, "\u00e9" * 300, "\x00", "{{7*7}}", "$(id)", "<b>&amp;", "",
)
"""Texts that a terminal, a log, a shell, a page or a spreadsheet would obey."""

Damage = Callable[[Random, Rows, World], Forged]


def lose_one(rng: Random, rows: Rows, world: World) -> Forged:
    """One row is gone."""
    if keys := world.keys(rows):
        del rows[rng.choice(keys)]
    return ()


def lose_some(rng: Random, rows: Rows, world: World) -> Forged:
    """Several rows are gone."""
    for key in world.keys(rows):
        if rng.random() < 0.4:
            del rows[key]
    return ()


def lose_children(rng: Random, rows: Rows, world: World) -> Forged:
    """The rows of a shard's children are gone."""
    shards = world.shape.shards(rows)
    parents = sorted(s.id for s in world.case.topology.values() if s.children)
    if parents:
        gone = {shard_name(c) for c in world.case.topology[rng.choice(parents)].children}
        for key in [k for k, shard in shards.items() if shard in gone]:
            del rows[key]
    return ()


def restore(rng: Random, rows: Rows, world: World) -> Forged:
    """The whole store comes from an older backup."""
    if world.backups:
        old = rng.choice(world.backups)
        rows.clear()
        rows.update({key: dict(row) for key, row in old.items()})
    return ()


def restore_some(rng: Random, rows: Rows, world: World) -> Forged:
    """Some rows come from an older backup, over what is there."""
    if world.backups:
        old = rng.choice(world.backups)
        for key in sorted(old):
            if rng.random() < 0.7:
                rows[key] = dict(old[key])
    return ()


def csv(rng: Random, rows: Rows, world: World) -> Forged:
    """Restored from a file without types: every attribute is a string, what was NULL is empty or
    left out, or it is called null."""
    empty = rng.choice(("", "null", None))
    for row in rows.values():
        for name in sorted(row.keys() - world.shape.apart):
            ((kind, body),) = row[name].items()
            if kind == "NULL" and empty is None:
                del row[name]
            elif kind == "NULL":
                row[name] = {"S": empty}
            else:
                row[name] = {"S": body if isinstance(body, str) else json.dumps(body)}
    return ()


def swap(rng: Random, rows: Rows, world: World) -> Forged:
    """Two shards have each other's place. A mark tells nobody whose it was: that shard's is forged.
    """
    keys, shards = world.keys(rows), world.shape.shards(rows)
    if len(keys) <= 1:
        return ()
    one, two = rng.sample(keys, 2)
    first, second = (world.shape.position(rows[key]) for key in (one, two))
    world.shape.place(rows[one], second)
    world.shape.place(rows[two], first)
    now = ((shards[one], second), (shards[two], first))
    return [shard for shard, place in now if not str((place or {}).get("S", "")).isdigit()]


def copy(rng: Random, rows: Rows, world: World) -> Forged:
    """One shard has the number of another's record, but none of a shard that has one of its own:
    such a pair was swapped, as far as anybody can tell."""
    if keys := world.keys(rows):
        key = rng.choice(keys)
        own = world.shape.shards(rows)[key]
        others = [n for s, held in world.case.records.items() if s != own for n, _, _ in held]
        drawn = rng.choice(sorted(others)) if others else None
        if drawn is not None and not _would_swap(rows, world, own, drawn):
            world.shape.place(rows[key], {"S": drawn})
    return ()


def _would_swap(rows: Rows, world: World, own: str, number: str) -> bool:
    """Whether the row of the shard that this number is of holds a number of `own`."""
    mine = world.records(own)
    return any(
        number in world.records(shard)
        and (world.shape.position(rows[key]) or {}).get("S") in mine
        for key, shard in world.shape.shards(rows).items()
    )


def other_stream(rng: Random, rows: Rows, world: World) -> Forged:
    """One number, or all, are of another stream: older or younger, by days or by less.

    A stream that is a little younger gives out numbers that lie between the first and the last
    number of this one's shards.
    """
    life = world.case.now - world.case.stream["created"]
    keys, days = world.keys(rows), rng.choice((-40, -3, 2, 30, life / 3 / 86_400))
    every = rng.random() < 0.3
    chosen = keys if every else rng.sample(keys, min(len(keys), 1))
    created = world.case.stream["created"] + int(days * 86_400)
    for key in chosen:
        index = world.place_of(key, rows)
        if index is None:
            continue
        other = number(created - 3, rng.randrange(1, 900), created + min(500, life // 3), index)
        world.shape.place(rows[key], {"S": other})
    return ()


def twin(rng: Random, rows: Rows, world: World) -> Forged:
    """All places, or some, are of a twin: a stream of the same shards in another region, which was
    made, split and merged some seconds or minutes before this one, or after."""
    seconds = rng.choice((-300, -40, -5, -1, 1, 2, 30, 200))
    theirs = deepcopy(rng.choice((rows, *world.backups)))
    every = rng.random() < 0.5
    for key in world.keys(theirs):
        text = str((world.shape.position(theirs[key]) or {}).get("S", ""))
        if len(text) == 56 and text.isdecimal() and (every or rng.random() < 0.4):
            world.shape.place(theirs[key], {"S": str(int(text) + seconds * A_SECOND)})
            rows[key] = theirs[key]
    return ()


def other_clock(rng: Random, rows: Rows, world: World) -> Forged:
    """A number of the right shard whose time lies in the future, and of no record."""
    if keys := world.keys(rows):
        key = rng.choice(keys)
        index = world.place_of(key, rows)
        shard = None if index is None else world.case.topology.get(index)
        if index is not None and shard is not None:
            epoch = int(shard.start) >> 148 & 0xFFFFFFFFF
            later = world.case.now + rng.choice((3600, 400 * 86_400))
            world.shape.place(rows[key], {"S": number(epoch, 2**40, later, index)})
            return (shard_name(index),)
    return ()


def mistype(rng: Random, rows: Rows, world: World) -> Forged:
    """A number came through a spreadsheet, or through fingers."""
    keys = [k for k in world.keys(rows) if "S" in (world.shape.position(rows[k]) or {})]
    if not keys:
        return ()
    key, way = rng.choice(keys), rng.randrange(9)
    value = world.shape.position(rows[key]) or {}
    text = str(value["S"])
    ways: list[Value] = [
        {"S": text + "\n"}, {"S": " " + text}, {"S": "0" + text}, {"S": text[:-1]},
        {"S": text.lower()}, {"S": "4.96544E+55"}, {"S": text + text[-1:]}, {"S": f'"{text}"'},
        {"N": "49654"} if not text.isdigit() else {"N": text[:38]},
    ]
    world.shape.place(rows[key], ways[way])
    return (world.shape.shards(rows)[key],) if way in (3, 6) else ()


def retype(rng: Random, rows: Rows, world: World) -> Forged:
    """An attribute has another type."""
    if keys := sorted(rows):
        row = rows[rng.choice(keys)]
        if names := sorted(row.keys() - world.shape.apart):
            name = rng.choice(names)
            value: Value = rng.choice((
                {"NULL": True}, {"S": ""}, {"S": "0"}, {"N": "0"}, {"N": "1.5"}, {"BOOL": True},
                {"L": []}, {"M": {}}, {"B": "eA=="}, {"SS": ["x"]}, {"N": str(2**64)},
            ))
            row[name] = value
    return ()


def strip(rng: Random, rows: Rows, world: World) -> Forged:
    """An attribute of one row, or of all, is missing."""
    if keys := sorted(rows):
        names = sorted({n for row in rows.values() for n in row} - world.shape.apart)
        if names:
            name = rng.choice(names)
            for key in keys if rng.random() < 0.4 else [rng.choice(keys)]:
                rows[key].pop(name, None)
    return ()


def edit(rng: Random, rows: Rows, world: World) -> Forged:
    """A place was edited by hand to one of the words that people know."""
    if keys := world.keys(rows):
        key = rng.choice(keys)
        shard = world.shape.shards(rows)[key]
        word = rng.choice((*world.shape.marks, "START", "START", "END"))
        index = world.place_of(key, rows)
        own = None if index is None else world.case.topology.get(index)
        if word in ("START", "END"):
            word = "" if own is None else own.start if word == "START" else own.end or own.start
        world.shape.place(rows[key], {"S": word})
        return (shard,) if word in ("LATEST", "SHARD_END", own.end if own else "") else ()
    return ()


def move(rng: Random, rows: Rows, world: World) -> Forged:
    """A place was moved by hand to another record of the same shard."""
    keys = [k for k in world.keys(rows) if world.records(world.shape.shards(rows)[k])]
    if keys:
        key = rng.choice(keys)
        shard = world.shape.shards(rows)[key]
        world.shape.place(rows[key], {"S": rng.choice(world.records(shard))})
        return (shard,)
    return ()


COMMON: dict[str, tuple[Damage, float]] = {
    "a row lost": (lose_one, 3),
    "rows lost": (lose_some, 2),
    "a family's rows lost": (lose_children, 2),
    "restored from a backup": (restore, 2),
    "half restored": (restore_some, 3),
    "restored from CSV": (csv, 1),
    "places swapped": (swap, 2),
    "another shard's number": (copy, 2),
    "another stream's numbers": (other_stream, 1),
    "a number of another clock": (other_clock, 1),
    "mistyped": (mistype, 2),
    "another type": (retype, 2),
    "an attribute missing": (strip, 1),
    "edited": (edit, 3),
    "moved": (move, 1),
}
"""By name, and how often."""


def damaged(
    seed: str, rows: Rows, world: World, ways: Mapping[str, tuple[Damage, float]],
    only: Sequence[int] | None = None,
) -> tuple[Rows, tuple[str, ...], frozenset[str]]:
    """One or two damages of this seed, of which `only` some: the rows, names, what is forged.

    A damage for which there is nothing to change is drawn again.
    """
    rng = Random(seed)
    count = rng.choice((1, 1, 1, 2))
    table = {key: dict(row) for key, row in sorted(rows.items())}
    forged: set[str] = set()
    done = []
    for place in range(count) if only is None else only:
        dice = Random(f"{seed} {place}")
        for _ in range(TRIES):
            (name,) = dice.choices(sorted(ways), [ways[n][1] for n in sorted(ways)])
            changed = {key: dict(row) for key, row in table.items()}
            false = set(ways[name][0](dice, changed, world))
            if changed != table:
                table, forged = changed, forged | false
                done.append(name)
                break
    return table, tuple(done), frozenset(forged)


def come_home(
    case: Case, rows: Rows, position: str, read: Mapping[str, frozenset[str]]
) -> frozenset[str]:
    """Shards in whose own row a number came to stand of a record that was never read, be it by two
    damages: another shard's number that was swapped into its place says what a read one would."""
    forged = set()
    for key, row in rows.items():
        shard, number = key.rpartition("/")[2], row.get(position, {}).get("S")
        payloads = {p for n, p, _ in case.records.get(shard, ()) if n == number}
        if payloads - read.get(shard, frozenset()):
            forged.add(shard)
    return frozenset(forged)
