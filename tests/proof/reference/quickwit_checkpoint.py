"""Quickwit's checkpoints: positions, their order, and which change follows which.

Written from `quickwit-proto/src/types/position.rs` and `quickwit-metastore/src/checkpoint.rs` of
0.8.2 and 0.9.0, in which they are the same.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

Rank = tuple[int, bytes]


@dataclass(frozen=True, slots=True)
class Mark:
    """A position by the letter. kind: 0 beginning, 1 offset, 2 end without offset, 3 end with."""

    kind: int
    offset: str = ""

    @classmethod
    def of(cls, text: str) -> Mark:
        """A stored text: nothing, an offset, or `~` and perhaps an offset."""
        if not text:
            return cls(0)
        if text == "~":
            return cls(2)
        return cls(3, text[1:]) if text.startswith("~") else cls(1, text)

    @property
    def text(self) -> str:
        """As it is stored."""
        return {0: "", 1: self.offset, 2: "~", 3: f"~{self.offset}"}[self.kind]

    @property
    def rank(self) -> Rank:
        """Beginning, then offsets by their bytes, then the ends."""
        return self.kind, self.offset.encode()

    @property
    def is_end(self) -> bool:
        """Whether the Kinesis source panics over it."""
        return self.kind > 1

    def __str__(self) -> str:
        names = {0: "Beginning", 1: f"Offset({self.offset})", 2: "Eof", 3: f"Eof({self.offset})"}
        return f"Position::{names[self.kind]}"


class DeltaError(Exception):
    """A change that does not follow."""


def _incompatible(shard: str, stands: Mark, begins: Mark) -> DeltaError:
    return DeltaError(
        f"incompatible checkpoint delta at partition `{shard}`: end position is `{stands}` "
        f"(inclusive), whereas delta starts at `{begins}` (exclusive)"
    )


@dataclass(slots=True)
class Delta:
    """What one batch has read: per shard the open end and the closed end."""

    shards: dict[str, tuple[Mark, Mark]] = field(default_factory=dict)

    def record(self, shard: str, begins: Mark, ends: Mark) -> None:
        """Add what one answer held; DeltaError where it does not begin where the last ended."""
        if begins.rank >= ends.rank:
            raise DeltaError(
                f"empty or negative delta at partition `{shard}`: {begins} >= {ends}"
            )
        known = self.shards.get(shard)
        if known is not None and known[1] != begins:
            raise _incompatible(shard, known[1], begins)
        self.shards[shard] = (known[0] if known else begins, ends)

    def applied(self, stored: Mapping[str, str]) -> dict[str, str]:
        """The checkpoint after it. One shard that stands further refuses all of it; `ends` is
        looked at by nobody."""
        for shard, (begins, _) in sorted(self.shards.items()):
            if shard in stored and Mark.of(stored[shard]).rank > begins.rank:
                raise _incompatible(shard, Mark.of(stored[shard]), begins)
        return {**stored, **{shard: ends.text for shard, (_, ends) in self.shards.items()}}
