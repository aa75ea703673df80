"""What may happen to a sink: rows lost, doubled, disordered, foreign, faulty. Each place is drawn
from the seed and written down as it is made."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field, replace
from random import Random

from tests.proof.damaged_sinks.history import History
from tests.proof.damaged_sinks.rows import Place, Row


@dataclass
class Making:
    """A sink before it is written. lost: records taken away; added, moved: idents of rows."""

    history: History
    rng: Random
    rows: list[Row] = field(default_factory=list)
    lost: set[Place] = field(default_factory=set)
    faults: dict[int, str] = field(default_factory=dict)

    def __post_init__(self) -> None:
        self.rows = list(self.history.rows)

    def young(self) -> list[Row]:
        """Rows of records that the stream still has, oldest first."""
        kept = (row for row in self.rows if row.record and row.ident not in self.faults)
        return sorted((r for r in kept if r.arrival >= self.history.horizon), key=_record)

    def by_shard(self) -> dict[str, list[Row]]:
        """Young rows of each shard, oldest first."""
        found: dict[str, list[Row]] = defaultdict(list)
        for row in self.young():
            found[row.shard].append(row)
        return dict(found)

    def lose(self, rows: Iterable[Row]) -> None:
        """Every copy of these records goes."""
        records = {row.record for row in rows if row.record}
        self.lost |= records
        self.rows = [r for r in self.rows if r.record not in records or r.ident in self.faults]

    def add(self, row: Row, fault: str = "") -> Row:
        """A row with an ident of its own."""
        made = replace(row, ident=max(r.ident for r in self.rows) + 1)
        self.rows.append(made)
        if fault:
            self.faults[made.ident] = fault
        return made

    def put(self, row: Row) -> None:
        """Changes the row of this ident."""
        self.rows = [row if r.ident == row.ident else r for r in self.rows]

    def last_batch(self) -> int:
        return max(row.batch for row in self.rows)


def _record(row: Row) -> Place:
    assert row.record is not None
    return row.record


Damage = Callable[[Making], None]


def lose_single(making: Making) -> None:
    """One record in the middle of its shard."""
    roomy = [rows for rows in making.by_shard().values() if len(rows) > 6]
    making.lose([making.rng.choice(making.rng.choice(roomy)[2:-2])])


def lose_range(making: Making) -> None:
    """Four records of one shard, one behind the other."""
    rows = max(making.by_shard().values(), key=len)
    at = making.rng.randrange(1, len(rows) - 5)
    making.lose(rows[at : at + 4])


def lose_tail(making: Making) -> None:
    """The last two records of a closed shard that has children."""
    rows = making.rng.choice(_families(making))[0]
    making.lose(rows[-2:])


def lose_head(making: Making) -> None:
    """The first record of a child."""
    rows = making.rng.choice(_families(making))[1]
    making.lose(rows[:1])


def lose_shard(making: Making) -> None:
    """All that the stream still has of one shard, and what the sink has had of it before."""
    shards = sorted(making.by_shard().items(), key=lambda pair: (len(pair[1]), pair[0]))
    shard = shards[0][0]
    making.lose([row for row in making.rows if row.shard == shard and row.record])


def lose_old(making: Making) -> None:
    """Three records that retention has taken from the stream."""
    old = [r for r in making.rows if r.record and r.arrival < making.history.horizon]
    making.lose(making.rng.sample(old, 3))


def double_once(making: Making) -> None:
    """One record twice, in the same batch."""
    making.add(making.rng.choice(making.young()))


def double_many(making: Making) -> None:
    """One record six times, in later and later batches."""
    row = making.rng.choice(making.young())
    for turn in range(5):
        making.add(replace(row, batch=row.batch + turn))


def replay_batch(making: Making) -> None:
    """A whole batch again, three batches later."""
    batches: dict[int, list[Row]] = defaultdict(list)
    for row in making.young():
        batches[row.batch].append(row)
    wanted = min(3, max(map(len, batches.values())))
    batch = making.rng.choice([b for b, rows in sorted(batches.items()) if len(rows) >= wanted])
    for row in batches[batch]:
        making.add(replace(row, batch=row.batch + 3))


def child_first(making: Making) -> None:
    """A key's last record in a parent comes after its records in the child."""
    pairs = [
        (rows[i], rows[i + 1]) for rows in _by_key(making).values()
        for i in range(len(rows) - 1) if rows[i].shard != rows[i + 1].shard
    ]  # fmt: skip
    earlier, later = making.rng.choice(pairs)
    making.put(replace(earlier, batch=later.batch + 2))


def within_shard(making: Making) -> None:
    """Two records of a key and a shard change places."""
    pairs = [
        (rows[i], rows[i + 1]) for rows in _by_key(making).values()
        for i in range(len(rows) - 1)
        if rows[i].shard == rows[i + 1].shard and rows[i].batch != rows[i + 1].batch
    ]  # fmt: skip
    one, other = making.rng.choice(pairs)
    making.put(replace(one, batch=other.batch))
    making.put(replace(other, batch=one.batch))


def other_stream(making: Making) -> None:
    """Rows whose column for the stream names another one."""
    for row in making.rng.sample(making.young(), 2):
        making.add(replace(row, record=None, stream="payments"), "other stream")


def other_incarnation(making: Making) -> None:
    """A shard of this id, and a number older than the stream by a week."""
    row = making.rng.choice(making.young())
    week = 7 * 86_400
    older = int(row.number or 0) - (week << 148) - (week << 36)
    making.add(replace(row, record=None, number=str(older)), "other incarnation")


def just_before(making: Making) -> None:
    """Rows of the stream that had this name until four seconds before this one was made."""
    born = making.history.created - 4
    for older in (0, making.rng.randrange(1, 300)):
        row = making.rng.choice(making.young())
        number = int(row.number or 0) & ~((2**36 - 1) << 148) & ~((2**36 - 1) << 36)
        number |= (born - older) << 148 | born << 36
        making.add(replace(row, record=None, number=str(number)), "other incarnation")


def unknown_shard(making: Making) -> None:
    """A shard that no listing has had yet."""
    row = making.rng.choice(making.young())
    past = len(making.history.table["shards"]) + 100
    number = int(row.number or 0)
    number = number & ~(15 << 144) & ~((2**32 - 1) << 4) | (past & 15) << 144 | past << 4
    shard = f"shardId-{past:012d}"
    making.add(replace(row, record=None, shard=shard, number=str(number)), "unknown shard")


def not_its_shard(making: Making) -> None:
    """The column for the shard says another of this stream's shards than the number does."""
    row = making.rng.choice(making.young())
    others = sorted(making.history.listed - {row.shard})
    making.add(replace(row, record=None, shard=making.rng.choice(others)), "not its shard")


def faulty_numbers(making: Making) -> None:
    """null, nothing, text, and a number with one digit less and one more than Kinesis gives."""
    for fault, spelled in (
        ("no number", [None, ""]),
        ("not numeric", ["not-a-number", "{0:.20}x{0:.35}", " {0}", "{0} ", "NaN", "4.96E+55"]),
        ("odd length", ["{0:.55}", "{0}7"]),
    ):
        for spelling in spelled:
            row = making.rng.choice(making.young())
            number = spelling.format(row.number) if spelling else spelling
            making.add(replace(row, record=None, number=number), fault)


def _by_key(making: Making) -> dict[str, list[Row]]:
    """Young rows by key, oldest first, those that are there once."""
    copies: dict[Place, int] = defaultdict(int)
    for row in making.young():
        copies[_record(row)] += 1
    found: dict[str, list[Row]] = defaultdict(list)
    for row in making.young():
        if copies[_record(row)] == 1:
            found[row.key].append(row)
    return dict(sorted(found.items()))


def _families(making: Making) -> list[tuple[list[Row], list[Row]]]:
    """(parent's rows, child's rows), both of three records or more."""
    by_shard = making.by_shard()
    found = []
    for child in making.history.table["shards"]:
        for parent in child["parents"]:
            pair = tuple(by_shard.get(f"shardId-{n:012d}", []) for n in (parent, child["id"]))
            if min(map(len, pair)) >= 3:
                found.append((pair[0], pair[1]))
    return found


LOSSES: tuple[Damage, ...] = (lose_single, lose_range, lose_tail, lose_head, lose_shard)
DOUBLES: tuple[Damage, ...] = (double_once, double_many, replay_batch)
DISORDER: tuple[Damage, ...] = (child_first, within_shard)
FOREIGN: tuple[Damage, ...] = (
    other_stream, other_incarnation, just_before, unknown_shard, not_its_shard,
)  # fmt: skip
EVERYTHING: tuple[Damage, ...] = (*LOSSES, *DISORDER, *DOUBLES, *FOREIGN, faulty_numbers)


def inject(history: History, seed: int, damages: Iterable[Damage]) -> Making:
    """All of a right consumer's rows, with these damages at places of the seed's choosing."""
    making = Making(history, Random(seed * 7919 + 1))
    for damage in damages:
        damage(making)
    return making
