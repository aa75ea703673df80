"""The lineage as it would be after a reshard that has not been made.

An operator names one as `8`, `split=7`, `split=7@HASHKEY` or `merge=3,4`.

Sources: the SplitShard, MergeShards and UpdateShardCount API references; six closed shards and ten
children of public streams (the numbers); and the one recorded UpdateShardCount whose steps are
known, 4 to 3 shards, risingwave#9961 (the short-lived shards).
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence

from msgspec import Struct
from msgspec.structs import replace

from reshardctl.errors import CannotTell, UsageError
from reshardctl.lineage.dag import Lineage
from reshardctl.model import HASH_SPACE, Shard, ShardId, Stream, shard_id, short, time_of
from reshardctl.model.phrases import listed

_COUNT = re.compile(r"\d{1,9}\Z", re.ASCII)
_SHARD = r"(shardId-\d{12,18}|\d{1,12})"
_SPLIT = re.compile(rf"split={_SHARD}(?:@(\d{{1,39}}))?\Z", re.ASCII)
_MERGE = re.compile(rf"merge={_SHARD},{_SHARD}\Z", re.ASCII)
HOW = "it takes a number of shards (8), split=SHARD, split=SHARD@HASHKEY or merge=LOWER,UPPER"


class Count(Struct, frozen=True):
    """UpdateShardCount to that many equal shards."""

    target: int

    def __str__(self) -> str:
        return str(self.target)


class Split(Struct, frozen=True):
    """SplitShard. at: the upper child's first hash key, `None` for the middle."""

    shard: ShardId
    at: int | None = None

    def __str__(self) -> str:
        return f"split={short(self.shard)}" + ("" if self.at is None else f"@{self.at}")


class Merge(Struct, frozen=True):
    """MergeShards. shard: ShardToMerge, the lower one; adjacent: AdjacentShardToMerge."""

    shard: ShardId
    adjacent: ShardId

    def __str__(self) -> str:
        return f"merge={short(self.shard)},{short(self.adjacent)}"


Reshard = Count | Split | Merge


def parse_reshard(text: str) -> Reshard:
    """Reads the value of --if-reshard. Raises UsageError if it names no reshard."""
    if _COUNT.match(text):
        return Count(int(text))
    if match := _SPLIT.match(text):
        return Split(_shard(match[1]), None if match[2] is None else int(match[2]))
    if match := _MERGE.match(text):
        return Merge(_shard(match[1]), _shard(match[2]))
    raise UsageError(f"--if-reshard {text}: no reshard", HOW)


def _shard(text: str) -> ShardId:
    return shard_id(int(text.rpartition("-")[2]))


TAKES = 30
"""Seconds from now until the first shard closes; records arrive until then, and clocks differ."""
MOST = 10_000
"""Largest shard count that UpdateShardCount accepts, unless AWS has raised the limit."""
_LAST_INDEX = (1 << 63) - 1


class Foreseen(Struct, frozen=True):
    """What reshards would make of a lineage.

    closes: shards that are open now and would be closed. born: shards that would be created,
    including those of a few seconds. until: Unix second at which it is over.
    """

    reshards: tuple[Reshard, ...]
    lineage: Lineage
    closes: tuple[ShardId, ...]
    born: tuple[ShardId, ...]
    until: int

    def words(self) -> str:
        """The reshards as the operator asks for them: `split=7, merge=3,4`."""
        return ", ".join(map(str, self.reshards))


def foresee(lineage: Lineage, reshards: Sequence[Reshard], now: float) -> Foreseen:
    """Makes one reshard after the other, beginning now (Unix seconds).

    Raises UsageError for one that the service would refuse, with its reason; CannotTell while the
    stream is not ACTIVE.
    """
    _ready(lineage.stream, reshards)
    making = _Reshaping(lineage, int(now) + TAKES)
    for reshard in reshards:
        match reshard:
            case Count(target):
                making.count(reshard, target)
            case Split(shard, at):
                making.split(reshard, shard, at)
            case Merge(shard, adjacent):
                making.merge(reshard, shard, adjacent)
    return making.done(tuple(reshards))


def _ready(stream: Stream, reshards: Sequence[Reshard]) -> None:
    if stream.status != "ACTIVE":
        raise CannotTell(
            f"stream {stream.name} is {stream.status}: the service would refuse to reshard it "
            "(ResourceInUseException), and which shards it will have is not known yet",
            "wait for it: add --wait 15m",
        )
    if stream.mode == "ON_DEMAND":
        raise _refusal(
            reshards[0], "ValidationException", f"stream {stream.name} is on-demand: it scales "
            "by itself, and nobody else may split or merge its shards",
            "to see what its growing would do, take a snapshot after it has grown",
        )


def _refusal(reshard: Reshard, exception: str, why: str, way: str) -> UsageError:
    return UsageError(
        f"--if-reshard {reshard}: the service would refuse it ({exception}): {why}", way
    )


class _Reshaping:
    """The shards as the steps proceed."""

    def __init__(self, lineage: Lineage, second: int) -> None:
        self._lineage, self._second = lineage, second
        self._open = {shard: lineage[shard] for shard in lineage.open_shards()}
        self._was = dict(self._open)
        self._closed: dict[ShardId, Shard] = {}
        self._free = lineage.newest_index() + 1
        if not self._free:
            raise UsageError(
                "--if-reshard: the stream's shard ids are not shardId- and a number",
                "only a Kinesis stream can be foreseen",
            )

    def split(self, asked: Reshard, shard: ShardId, at: int | None) -> None:
        """SplitShard, in the middle if no key is named. The lower child gets the lower id."""
        parent = self._open_shard(asked, shard)
        key = (parent.hash_start + parent.hash_end + 1) // 2 if at is None else at
        if not parent.hash_start + 1 < key < parent.hash_end:
            raise _refusal(
                asked, "InvalidArgumentException",
                f"hash key {key} is not both greater than one plus the first "
                f"({parent.hash_start}) and less than the last ({parent.hash_end}) of shard "
                f"{short(shard)}", "name a key between them, or none for the middle",
            )
        self._split(parent, key)

    def merge(self, asked: Reshard, shard: ShardId, adjacent: ShardId) -> None:
        """MergeShards; the lower of two neighbours is named first.

        Kinesalite's tests, which also run against AWS, recorded that.
        """
        lower, upper = self._open_shard(asked, shard), self._open_shard(asked, adjacent)
        if lower.hash_end + 1 != upper.hash_start:
            turned = upper.hash_end + 1 == lower.hash_start
            raise _refusal(
                asked, "InvalidArgumentException",
                f"shards {short(shard)} and {short(adjacent)} are not an adjacent pair"
                + (", the lower one first" if turned else ""),
                f"turn them round: --if-reshard {Merge(adjacent, shard)}" if turned
                else self._neighbours(lower),
            )
        self._merge(lower, upper)

    def count(self, asked: Reshard, target: int) -> None:
        """UpdateShardCount, UNIFORM_SCALING.

        Goes up through the hash space: the shard that crosses the next edge is split there, and the
        shards below the edge are merged, two by two.
        """
        self._within_limits(asked, target)
        waiting = sorted(self._open.values(), key=lambda shard: shard.hash_start)
        at = 0
        for number in range(1, target + 1):
            edge = number * HASH_SPACE // target
            whole: Shard | None = None
            while at < len(waiting) and waiting[at].hash_start < edge:
                piece = waiting[at]
                at += 1
                if piece.hash_end >= edge:
                    piece, rest = self._split(piece, edge)
                    at -= 1
                    waiting[at] = rest
                whole = piece if whole is None else self._merge(whole, piece)

    def done(self, reshards: tuple[Reshard, ...]) -> Foreseen:
        """The whole lineage, with the new shards after the old ones."""
        all_shards = self._closed | self._open
        born = {name: shard for name, shard in all_shards.items() if name not in self._lineage}
        closes = tuple(shard for shard in self._was if shard in self._closed)
        return Foreseen(
            reshards, Lineage(self._stream(), self._shards(born.values())), closes,
            tuple(sorted(born)), self._last_second(born.values()),
        )

    def _stream(self) -> Stream:
        return replace(self._lineage.stream, open_shards=len(self._open))

    def _shards(self, born: Iterable[Shard]) -> Iterable[Shard]:
        for shard in self._lineage:
            yield self._closed.get(shard) or self._lineage[shard]
        yield from sorted(born, key=lambda shard: shard.id)

    def _last_second(self, born: Iterable[Shard]) -> int:
        return max((_second_of(shard.start) for shard in born), default=self._second)

    def _open_shard(self, asked: Reshard, shard: ShardId) -> Shard:
        if shard in self._open:
            return self._open[shard]
        if shard in self._closed or shard in self._lineage:
            raise _refusal(
                asked, "InvalidArgumentException", f"shard {short(shard)} is closed",
                self._open_shards_words(),
            )
        raise _refusal(
            asked, "ResourceNotFoundException", f"the stream has no shard {short(shard)}",
            self._open_shards_words(),
        )

    def _open_shards_words(self) -> str:
        return f"open shards: {listed(list(self._open), 12, short)}"

    def _neighbours(self, shard: Shard) -> str:
        others = self._open.values()
        pairs = [
            *(Merge(o.id, shard.id) for o in others if o.hash_end + 1 == shard.hash_start),
            *(Merge(shard.id, o.id) for o in others if shard.hash_end + 1 == o.hash_start),
        ]
        return "neighbours: " + ", ".join(map(str, pairs)) if pairs else "it has no neighbour"

    def _within_limits(self, asked: Reshard, target: int) -> None:
        """Refuses what the UpdateShardCount API reference rules out."""
        now = len(self._open)
        least, most = max(1, -(-now // 2)), 2 * now
        way = f"in one step it can go to {least} at least and {min(most, MOST)} at most; "
        if target > MOST:
            raise _refusal(
                asked, "LimitExceededException", f"more than {MOST} shards", way + "AWS can "
                "raise the limit",
            )
        if not least <= target <= most:
            raise _refusal(
                asked, "InvalidArgumentException",
                f"{target} is not between half and double the {now} open shards", way
                + "further in several: give --if-reshard once for each",
            )

    def _split(self, parent: Shard, key: int) -> tuple[Shard, Shard]:
        second = self._close(parent)
        lower = self._open_child((parent,), parent.hash_start, key - 1, second)
        return lower, self._open_child((parent,), key, parent.hash_end, second)

    def _merge(self, lower: Shard, upper: Shard) -> Shard:
        second = max(self._close(lower), self._close(upper))
        return self._open_child((lower, upper), lower.hash_start, upper.hash_end, second)

    def _close(self, shard: Shard) -> int:
        """Closes a shard and returns the second of it, at a number above all that it gave out."""
        second = max(self._second, _second_of(shard.start))
        end = _number(shard, second, _LAST_INDEX)
        del self._open[shard.id]
        self._closed[shard.id] = replace(shard, end=end)
        return second

    def _open_child(self, parents: tuple[Shard, ...], low: int, high: int, closed: int) -> Shard:
        """Opens a child one second after its parents' end, as ten of ten public children did."""
        names = [parent.id for parent in parents]
        adjacent = names[1] if len(names) > 1 else None
        child = Shard(shard_id(self._free), names[0], adjacent, low, high, "", None)
        child = replace(child, start=_number(child, closed + 1, 0))
        self._free += 1
        self._open[child.id] = child
        return child


def _second_of(number: str) -> int:
    return time_of(number) or 0


def _number(shard: Shard, second: int, index: int) -> str:
    """A number of the second layout, as AWS would give it out.

    It exists in a simulation only: no command that writes ever sees one.
    """
    at = int(shard.id.rpartition("-")[2])
    return str(
        2 << 184 | second << 148 | (at & 0xF) << 144 | index << 80 | second << 36 | at << 4 | 2
    )
