"""One row of a sink, as a right consumer would have written it, and what may be done to it."""

from __future__ import annotations

from dataclasses import dataclass

Place = tuple[int, int]
"""A record's place in the stream: its sequence number and, inside an aggregate, its index."""


@dataclass(frozen=True, slots=True)
class Row:
    """`ident` is its own and lies in no column of a source: a test tells rows apart by it.

    record: the place of the record that it is a copy of, `None` for a row that is none of this
    stream's. number: as it is spelled in the sink, `None` for null. arrival: epoch seconds.
    key "", batch -1: the sink does not say it.
    """

    ident: int
    record: Place | None
    shard: str
    number: str | None
    sub: int
    key: str
    data: bytes
    arrival: float
    stream: str
    batch: int
