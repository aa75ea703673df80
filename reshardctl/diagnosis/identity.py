"""Whose rows these are: what is told of numbers that are not this stream's, and of what is unknown.

`consumers/sequence_numbers.py` decides it; this finds the words, with the other stream's name where
the account has it.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass

from reshardctl.consumers.sequence_numbers import Origin
from reshardctl.diagnosis.evidence import Snapshot
from reshardctl.errors import WrongStream
from reshardctl.model import ShardId, decode
from reshardctl.model.phrases import listed

NAMED = 5
"""Streams that an error names before it counts the rest."""


AMBIGUOUS = (
    "the store holds no sequence number, so nothing shows that its positions belong to this stream "
    "and not to an earlier one of its name or to another stream"
)


@dataclass(frozen=True, slots=True)
class Foreign:
    """Whose a stored number is that is not this stream's.

    stream: the ARN of the stream of this account that it is of, "" if that is not known.
    """

    origin: Origin
    stream: str = ""

    @property
    def words(self) -> str:
        """Whose it is; follows "of"."""
        if self.stream:
            return f"stream {self.stream.rpartition('/')[2]}"
        if self.origin is Origin.EARLIER:
            return "an earlier stream of this name or of another stream"
        return "another stream"


def foreign_streams(
    snapshot: Snapshot, origins: Mapping[ShardId, Origin | None], texts: Mapping[ShardId, str]
) -> Mapping[ShardId, Foreign]:
    """The shards whose stored number is not this stream's. origins, texts: of every shard."""
    return {
        shard: Foreign(whose, _stream(snapshot, texts[shard])) for shard, whose in origins.items()
        if whose in (Origin.EARLIER, Origin.ELSEWHERE)
    }


def _stream(snapshot: Snapshot, text: str) -> str:
    decoded = decode(text)
    return "" if decoded is None else snapshot.born.get(decoded.epoch, "")


def made_since(snapshot: Snapshot) -> bool:
    """Whether the store is younger than the stream, so that no earlier stream's rows are in it."""
    made_at = snapshot.made_at
    return made_at is not None and made_at > snapshot.lineage.stream.created


def unverified(snapshot: Snapshot) -> Iterator[str]:
    """The note on numbers of which Kinesis could not be asked whose they are."""
    if not snapshot.verified:
        yield (
            "not verified that the positions are of this stream: Kinesis could not be asked "
            "(kinesis:GetShardIterator)"
        )


@contextmanager
def naming(foreign: Mapping[ShardId, Foreign]) -> Iterator[None]:
    """A WrongStream of the body names the streams to which the rows belong, where one is known."""
    try:
        yield
    except WrongStream as error:
        if streams := sorted({each.words for each in foreign.values() if each.stream}):
            error.what = f"{error.what}. Its numbers are of {listed(streams, NAMED)}"
        raise
