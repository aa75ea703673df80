"""What a shard iterator says: a shard, the least number to return, and when it was issued."""

from __future__ import annotations

from dataclasses import dataclass

from reshardctl.testing.errors import invalid
from reshardctl.testing.shards import Shard
from reshardctl.testing.stream import Stream
from reshardctl.testing.tokens import TokenError, seal, unseal


@dataclass(frozen=True, slots=True)
class Position:
    """One iterator. `issued` is epoch seconds."""

    region: str
    name: str
    created: int
    shard: int
    number: int
    issued: float

    @classmethod
    def at(cls, stream: Stream, shard: Shard, number: int, now: float) -> Position:
        """An iterator on this shard that is issued now."""
        return cls(stream.region, stream.name, stream.created, shard.number, number, now)

    @classmethod
    def opened(cls, text: str) -> Position:
        """The iterator behind an opaque text; InvalidArgumentException if there is none."""
        try:
            fields = unseal("ShardIterator", text)
        except TokenError:
            invalid("Invalid ShardIterator.")
        region, name, created, shard, number, issued = fields["at"]
        return cls(region, name, created, shard, int(number), issued)

    def sealed(self) -> str:
        """The opaque text."""
        fields = [self.region, self.name, self.created, self.shard, str(self.number), self.issued]
        return seal("ShardIterator", {"at": fields})
