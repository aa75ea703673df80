"""Judges from a sample of a table's rows whose positions it holds."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from enum import IntEnum
from typing import Any

from reshardctl.consumers.spec import Spec
from reshardctl.lineage import Lineage
from reshardctl.model import Image, ShardId, decode, index_of, is_number, shard_id

SLACK = 60
"""Seconds by which clocks and creation times may differ."""


class Confidence(IntEnum):
    """How certain it is that the positions are this stream's."""

    NONE = 0
    """They are another stream's, or of an earlier one of its name."""
    POSSIBLE = 1
    """No number shows it; shards of these ids are in the stream."""
    LIKELY = 2
    """Every number lies within the life of its shard."""
    STRONG = 3
    """And one has the very second at which its shard began, as a number of a stream created in the
    same second would."""
    CERTAIN = 4
    """The keys name the stream."""

    def __str__(self) -> str:
        return self.name.lower()


@dataclass(frozen=True, slots=True)
class Evidence:
    """What a sample shows.

    rows, others: rows of this stream as far as keys tell, and of others. numbers, fitting, exact:
    sequence numbers; those within the life of their shard; those with the second at which it began.
    known: rows that name a shard of the stream. named: whether keys name the stream.
    """

    rows: int = 0
    others: int = 0
    numbers: int = 0
    fitting: int = 0
    exact: int = 0
    known: int = 0
    named: bool = False

    @property
    def confidence(self) -> Confidence:
        """How certain the sample makes it."""
        if self.named:
            return Confidence.CERTAIN
        if self.numbers > self.fitting:
            return Confidence.NONE
        if self.exact:
            return Confidence.STRONG
        if self.numbers:
            return Confidence.LIKELY
        return Confidence.POSSIBLE if self.known else Confidence.NONE

    def sentence(self) -> str:
        """The evidence, as a sentence."""
        if self.named:
            return f"the keys of its rows ({self.rows} in the sample) name the stream"
        if self.numbers > self.fitting:
            wrong = self.numbers - self.fitting
            return f"of {self.numbers} sequence numbers {wrong} are not this stream's"
        if self.exact:
            return (
                f"{self.fitting} of {self.numbers} sequence numbers lie within the lives of their "
                f"shards of this stream, {self.exact} with the very second at which it began"
            )
        if self.numbers:
            return (
                f"all sequence numbers ({self.numbers}) lie within the lives of their shards of "
                "this stream"
            )
        if self.known:
            return (
                f"no sequence number tells; shards that {self.known} rows name are in this stream, "
                "as in many others"
            )
        return "no number and no shard of this stream" if self.rows else "no rows"


@dataclass(frozen=True, slots=True)
class Table:
    """A table whose key is that of a known library, with the evidence of its sample."""

    name: str
    library: Spec
    evidence: Evidence

    @property
    def locator(self) -> str:
        """The locator to use, "" where the table's name cannot be an application's."""
        ending = self.library.table_ending
        if not self.name.endswith(ending):
            return ""
        return f"{self.library.table_scheme}://{self.name.removesuffix(ending)}"


@dataclass(frozen=True, slots=True)
class Found:
    """The result of a search. looked: number of tables; unread: table → why it was not read."""

    lineage: Lineage
    now: float
    tables: tuple[Table, ...]
    looked: int
    unread: tuple[tuple[str, str], ...] = ()

    def matching(self) -> list[Table]:
        """Tables that may hold this stream's positions, the most certain first, then by name."""
        able = [t for t in self.tables if t.evidence.confidence is not Confidence.NONE]
        return sorted(able, key=lambda t: (-t.evidence.confidence, t.name))

    def others(self) -> list[Table]:
        """Tables that hold others'."""
        none = [t for t in self.tables if t.evidence.confidence is Confidence.NONE]
        return sorted(none, key=lambda t: t.name)


def weigh(library: Spec, rows: Sequence[Image], lineage: Lineage, now: float) -> Evidence:
    """Judge a sample. now: Unix seconds."""
    stream = lineage.stream
    named_by = [(row, library.names_stream(row, stream)) for row in rows]
    own = [row for row, answer in named_by if answer is not False]
    named = any(answer for _, answer in named_by)
    numbers = [number for row in own for number in _numbers(row)]
    fitting = [number for number in numbers if _fits(lineage, number, now)]
    exact = [number for number in fitting if _exact(lineage, number)]
    known = [row for row in own if _shards(row) & _ids(lineage)]
    return Evidence(
        len(own), len(rows) - len(own), len(numbers), len(fitting), len(exact), len(known), named
    )


def _numbers(row: Image) -> Iterator[str]:
    """Every text or number of a row that has the form of a sequence number."""
    for value in _texts(row.attributes.values()):
        if is_number(value) and decode(value) is not None:
            yield value


def _texts(values: Iterable[Any]) -> Iterator[str]:
    for value in values:
        if isinstance(value, str):
            yield value
        elif isinstance(value, dict):
            yield from _texts(value.values())
        elif isinstance(value, list):
            yield from _texts(value)


def _shards(row: Image) -> set[str]:
    """The shards that a row names in its key or its attributes."""
    texts = [row.key, *_texts(row.attributes.values())]
    return {text.rpartition(":")[2] for text in texts if "shardId-" in text}


def _ids(lineage: Lineage) -> frozenset[str]:
    return frozenset(str(shard) for shard in lineage)


def _fits(lineage: Lineage, number: str, now: float) -> bool:
    """Whether a record of this stream may have the number: within the life of its shard."""
    decoded = decode(number)
    assert decoded is not None
    shard = shard_id(decoded.shard)
    if not lineage.stream.created - SLACK <= decoded.time <= now + SLACK:
        return False
    if shard not in lineage:
        return decoded.shard < _oldest(lineage)
    life = lineage[shard]
    if int(number) < int(life.start):
        return False
    return life.end is None or int(number) <= int(life.end)


def _oldest(lineage: Lineage) -> int:
    """Index of the oldest listed shard; older ones have expired."""
    return min((index_of(shard) or 0 for shard in lineage), default=0)


def _exact(lineage: Lineage, number: str) -> bool:
    """Whether the number has its shard's own epoch, to the second."""
    decoded = decode(number)
    assert decoded is not None
    shard: ShardId = shard_id(decoded.shard)
    began = decode(lineage[shard].start) if shard in lineage else None
    return began is not None and began.epoch == decoded.epoch
