"""Assigns rows to the shards of a stream, and says why some cannot be.

Numbers stay text: 56 digits are too many for every number type of Spark (DECIMAL has 38), and text
of one width compares as numbers do. The shard is in the low 36 bits of a number, and those bits of
the powers of ten from 10^36 on are all zero: so the last 36 digits suffice, in two halves that a
BIGINT holds. No Python function is called for a row, and a good row is recognised by cheap means: a
regular expression costs as much as all the rest.

The shards are a small table. Time is divided into slots: at most two hundred a shard and twenty
thousand in all.
"""

from __future__ import annotations

from collections.abc import Iterator
from math import floor
from typing import TYPE_CHECKING

from msgspec import Struct

from reshardctl.auditing.facts import Fault
from reshardctl.lineage import Lineage
from reshardctl.model import HASH_SPACE, Shard, ShardId, decode, index_of, shard_id
from reshardctl.spark.audit.columns import Mapped
from reshardctl.spark.functions import F, table_of, whole

if TYPE_CHECKING:
    from pyspark.sql import Column, DataFrame, SparkSession


DIGITS = 56
"""Digits of every number of layout v2 and v1: 186 bits, of which the first is set."""
_LATER = "~"
"""Sorts after every number."""
_PREFIX = 2 << 184
LOWEST, BEYOND = str(_PREFIX), str(3 << 184)
"""All decodable numbers are between them (model/shards.py)."""
_HASH_DIGITS = len(str(HASH_SPACE - 1))
LEAST, MOST = "0".zfill(_HASH_DIGITS), str(HASH_SPACE - 1)
"""The first and the last hash key."""


class KnownShard(Struct, frozen=True):
    """A shard that is listed, or that a listed one names as its parent.

    number: its index, `None` if its id has another form. low, beyond: texts of one width; every
    record's number is at least `low` and less than `beyond`. least, most: its hash keys, padded
    alike. opened, closed: Unix seconds.
    """

    id: ShardId
    number: int | None
    low: str
    beyond: str
    least: str = ""
    most: str = ""
    opened: float | None = None
    closed: float | None = None


class Known(Struct, frozen=True):
    """All shards; a shard's index in `shards` is its `at` in frames.

    width: digits to which numbers are padded. decodable: whether numbers name their shard; an
    emulator's may not. floor: no number of this incarnation is less. newest: the highest listed
    index. Indices count up without a gap, so each below it was a shard's: for one that is neither
    listed nor named any more, `at` is its index after the others.
    """

    shards: tuple[KnownShard, ...]
    width: int
    decodable: bool
    floor: str
    newest: int

    def id(self, at: int) -> ShardId:
        """The shard at an index; behind those in `shards` the unlisted one with that number."""
        count = len(self.shards)
        return self.shards[at].id if at < count else shard_id(at - count)

    def head(self, at: int) -> str:
        """The first digits of a listed shard's first number."""
        return self.shards[at].low[: self.width - 36]


def known(lineage: Lineage) -> Known:
    """The listed shards in the lineage's order, then the unlisted ones that they name."""
    listed = [lineage[shard] for shard in lineage]
    width = max([DIGITS, *(len(n) for shard in listed for n in (shard.start, shard.end or ""))])
    decodable = all(_says_its_shard(shard) for shard in listed)
    floor = _floor(lineage, listed, decodable).zfill(width)
    shards = [_known(lineage, shard, width, decodable) for shard in listed]
    shards += _unlisted(lineage, listed, width, floor)
    return Known(tuple(shards), width, decodable, floor, lineage.newest_index())


def _says_its_shard(shard: Shard) -> bool:
    number = decode(shard.start)
    return number is not None and number.index is not None and number.shard == index_of(shard.id)


def _floor(lineage: Lineage, listed: list[Shard], decodable: bool) -> str:
    """The least number; a root's first is 3 s older than StreamCreationTimestamp (recorded)."""
    if not decodable:
        return min((shard.start for shard in listed), key=int, default="0")
    epochs = [number.epoch for shard in listed if (number := decode(shard.start))]
    return str(_PREFIX | min([int(lineage.stream.created) - 3, *epochs]) << 148)


def _known(lineage: Lineage, shard: Shard, width: int, decodable: bool) -> KnownShard:
    beyond = _LATER
    if shard.end is not None:
        # No record has the EndingSequenceNumber; an emulator's may be the last record's.
        beyond = shard.end.zfill(width) + ("" if decodable else _LATER)
    return KnownShard(
        shard.id, index_of(shard.id), shard.start.zfill(width), beyond,
        _padded(shard.hash_start), _padded(shard.hash_end),
        lineage.opened_at(shard.id), lineage.closed_at(shard.id),
    )  # fmt: skip


def _unlisted(
    lineage: Lineage, listed: list[Shard], width: int, floor: str
) -> Iterator[KnownShard]:
    """Expired parents, which ended before their first child began."""
    children: dict[ShardId, list[Shard]] = {}
    for shard in listed:
        for parent in shard.parents:
            if parent not in lineage:
                children.setdefault(parent, []).append(shard)
    for parent in sorted(children):
        first = min(children[parent], key=lambda shard: int(shard.start))
        yield KnownShard(
            parent, index_of(parent), floor, first.start.zfill(width),
            _padded(min(shard.hash_start for shard in children[parent])),
            _padded(max(shard.hash_end for shard in children[parent])),
            None, lineage.opened_at(first.id),
        )  # fmt: skip


def _padded(hash_key: int) -> str:
    return str(hash_key).zfill(_HASH_DIGITS)


A_SHARD = 200
IN_ALL = 20_000
LADDER = (
    1.0, 5.0, 10.0, 30.0, 60.0, 300.0, 600.0, 1800.0, 3600.0, 10800.0, 21600.0, 43200.0,
    86400.0, 604800.0, 2592000.0, 31536000.0, 315360000.0,
)  # fmt: skip
"""Widths in seconds; the smallest sufficient one is taken."""
_DAY = 86_400.0
_PIECE = 7
_PIECES = DIGITS // _PIECE
_LOW36 = (1 << 36) - 1


class Slots(Struct, frozen=True):
    """Of one shard: `count` slots of `seconds` each, the first from the Unix second `since`."""

    since: float
    seconds: float
    count: int

    def begin(self, slot: int) -> float:
        """The Unix second at which the slot begins."""
        return self.since + slot * self.seconds


def slots(
    known: Known, created: float, taken: float, span: tuple[float, float] | None
) -> tuple[Slots, ...]:
    """Slots of each shard, then of unlisted ones; span: the sink's first and last arrival."""
    most = max(1, min(A_SHARD, IN_ALL // max(1, len(known.shards))))
    earliest, latest = created - _DAY, taken + _DAY
    if span is not None:
        earliest, latest = max(earliest, span[0]), min(latest, span[1])
    lives = [(shard.opened, shard.closed) for shard in known.shards]
    return tuple(_slots(*life, earliest, latest, most) for life in [*lives, (None, None)])


def _slots(
    opened: float | None, closed: float | None, earliest: float, latest: float, most: int
) -> Slots:
    # Arrivals are up to 2.5 s later than the times in the numbers, by which a shard closes.
    since = earliest if opened is None else max(earliest, opened - 10)
    until = latest if closed is None else min(latest, closed + 10)
    length = max(0.0, until - since)
    fitting = [width for width in LADDER if length / width + 1 <= most]
    seconds = fitting[0] if fitting else max(LADDER[-1], length)
    first = floor(since / seconds)
    return Slots(first * seconds, seconds, max(1, floor(until / seconds) - first + 1))


def span(frame: DataFrame) -> tuple[int, tuple[float, float] | None]:
    """How many rows; the first and the last arrival, `None` if no row has one."""
    (row,) = frame.agg(
        F.count("*").alias("rows"), F.min("arrival").alias("first"), F.max("arrival").alias("last")
    ).collect()  # fmt: skip
    if row["first"] is None:
        return row["rows"], None
    return row["rows"], (float(row["first"]), float(row["last"]))


def slot() -> Column:
    """A row's slot, INT, clamped, by its `time` and its shard's `since`, `seconds`, `slots`."""
    counted = F.floor((F.col("time") - F.col("since")) / F.col("seconds"))
    inside = F.least(F.greatest(counted, F.lit(0)), F.col("slots") - 1)
    return inside.cast("int")


def time_in(name: str, width: int) -> Column:
    """The second in a number of layout v2, bits 36 to 71; NULL for any other.

    The number is eight pieces of seven digits. 10^7j modulo 2^72 is a 2^36 + b: the sum of eight
    products of 24 and 36 bits stays below 2^63, and the carry of the b's is added to the a's.
    """
    upper, lower = [], []
    for index in range(_PIECES):
        first = width - (index + 1) * _PIECE + 1
        piece = whole(name, first, _PIECE)
        weight = 10 ** (_PIECE * index) % (1 << 72)
        upper.append(f"{piece} * {weight >> 36}L")
        lower.append(f"{piece} * {weight & _LOW36}L")
    last = whole(name, width - _PIECE + 1, _PIECE)
    carried = f"shiftright({' + '.join(lower)}, 36)"
    return F.expr(
        f"if({last} & 15 = 2, cast(({' + '.join(upper)} + {carried}) & {_LOW36}L AS double), NULL)"
    )


HALF = 18
"""Digits that a BIGINT holds with room to spare."""
HEAD = DIGITS - 2 * HALF
"""Digits before the two halves; mostly those of the shard's first number."""
_LOW18 = (1 << 18) - 1
_WEIGHT = 10**HALF & _LOW36
"""10^18 is a multiple of 2^18: of the upper half only its 18 low bits reach the 36 wanted."""
_NUMERIC = r"^[0-9]+\z"


def laid(sink: Mapped, known: Known, lineage: Lineage, cut: tuple[Slots, ...]) -> DataFrame:
    """Returns at INT, shard, number, place, sub, key, arrival, order, slot INT, fault STRING, etc.

    at: which shard (`Known.id`). place: the number at one width. upper, lower: BIGINT, its last 36
    digits if numbers are decodable; base: those that upper has in the shard's first number. head: a
    usable number's digits before these, NULL if they are the shard's own. fault: NULL if the row
    belongs to `shard`. slot: by arrival if the sink has that, else by the time in the number. One
    broadcast, no shuffle.
    """
    shards = F.broadcast(_table(sink.frame.sparkSession, known, cut))
    if known.decodable:
        rows = _decoded(sink.frame).join(shards, F.col("in_number") == F.col("index"), "left")
        rows, fault = _older(rows, known, cut[-1]), _fault_decoded(known, lineage)
    else:
        rows = _padded_numbers(sink.frame, known.width)
        rows = rows.join(shards, F.col("said") == F.col("shard"), "left")
        fault = _fault_padded(known, lineage)
    when = F.col("arrival") if "arrival" in sink.names else time_in("place", known.width)
    return rows.withColumns({"time": when, "fault": fault}).select(
        "at", "shard", "number", "place", "sub", "key", "arrival", "order", "least", "most",
        "upper", "lower", "base", _head().alias("head"), slot().alias("slot"), "fault",
    )  # fmt: skip


def _table(spark: SparkSession, known: Known, cut: tuple[Slots, ...]) -> DataFrame:
    """One row a shard, as small as the lineage."""
    rows = [
        (at, shard.number, shard.id, shard.low, shard.beyond, shard.low[:HEAD],
         shard.least, shard.most, slots.since, slots.seconds, slots.count,
         int(shard.low[HEAD : HEAD + HALF]) if known.decodable else None)
        for at, (shard, slots) in enumerate(zip(known.shards, cut, strict=False))
    ]  # fmt: skip
    return table_of(
        spark, rows,
        "at INT, index BIGINT, shard STRING, low STRING, beyond STRING, own STRING,"
        " least STRING, most STRING, since DOUBLE, seconds DOUBLE, slots INT, base BIGINT",
    )  # fmt: skip


def _decoded(rows: DataFrame) -> DataFrame:
    """Adds upper, lower and in_number: the shard that the number names, valid for good rows."""
    upper, lower = (whole("number", first, HALF) for first in (HEAD + 1, HEAD + HALF + 1))
    bits = f"((upper & {_LOW18}) * {_WEIGHT} + (lower & {_LOW36})) & {_LOW36}"
    # Spark analyses the whole plan at each call.
    rows = rows.withColumns({"upper": F.expr(upper), "lower": F.expr(lower)})
    rows = rows.withColumns({"bits": F.expr(bits), "place": F.col("number")})
    named = F.expr("if((bits & 15) IN (1, 2), shiftright(bits, 4), NULL)")
    return rows.withColumn("in_number", named)


def _padded_numbers(rows: DataFrame, width: int) -> DataFrame:
    """Adds place, for an emulator's numbers, whose digits mean nothing."""
    number, nothing = F.col("number"), F.lit(None).cast("bigint")
    fits = (F.octet_length(number) <= width) & number.rlike(_NUMERIC)
    rows = rows.withColumn("place", F.when(fits, F.lpad(number, width, "0")))
    return rows.withColumns({"upper": nothing, "lower": nothing})


def _older(rows: DataFrame, known: Known, slots: Slots) -> DataFrame:
    """Adds shards that are not listed any more, whose rows a sink may still have."""
    in_number = F.col("in_number")
    was = F.col("at").isNull() & (in_number < known.newest)
    filled = {
        "at": (in_number + len(known.shards)).cast("int"), "shard": _id(in_number),
        "low": F.lit(known.floor), "beyond": F.lit(BEYOND),
        "least": F.lit(LEAST), "most": F.lit(MOST), "since": F.lit(slots.since),
        "seconds": F.lit(slots.seconds), "slots": F.lit(slots.count),
    }  # fmt: skip
    return rows.withColumns(
        {name: F.when(was, value).otherwise(F.col(name)) for name, value in filled.items()}
    )


def _id(index: Column) -> Column:
    return F.concat(F.lit("shardId-"), F.lpad(index.cast("string"), 12, "0"))


def _head() -> Column:
    own = F.coalesce(F.startswith(F.col("place"), F.col("own")), F.lit(False))
    return F.when(F.col("fault").isNull() & ~own, F.substring("place", 1, HEAD))


def _digits() -> Column:
    """Whether a number has 56 digits and nothing else.

    unhex refuses blanks, signs and points, the casts to BIGINT the remaining letters.
    """
    number = F.col("number")
    begins = F.coalesce(F.startswith(number, F.col("own")), F.lit(False))
    head = begins | F.substring(number, 1, HEAD).rlike(_NUMERIC)
    cast = F.col("upper").isNotNull() & F.col("lower").isNotNull()
    return (F.octet_length(number) == DIGITS) & cast & F.unhex(number).isNotNull() & head


def _fault_decoded(known: Known, lineage: Lineage) -> Column:
    number, named, shard = F.col("number"), F.col("said"), F.col("shard")
    inside = (number >= F.col("low")) & (number < F.col("beyond"))
    agreed = named.isNull() | (named == shard)
    in_number = F.when((number >= LOWEST) & (number < BEYOND), F.col("in_number"))
    good = shard.isNotNull() & inside & _digits() & agreed & ~_other_stream(lineage)
    return (
        F.when(good, None)
        .when(number.isNull() | (number == ""), Fault.NO_NUMBER)
        .when(~number.rlike(_NUMERIC), Fault.NOT_NUMERIC)
        .when(F.octet_length(number) != DIGITS, Fault.ODD_LENGTH)
        .when(_other_stream(lineage), Fault.OTHER_STREAM)
        .when(in_number.isNull(), Fault.UNKNOWN_SHARD)
        .when(number < known.floor, Fault.OTHER_INCARNATION)
        .when(named.isNotNull() & (named != _id(F.col("in_number"))), Fault.NOT_ITS_SHARD)
        .when(shard.isNull(), Fault.UNKNOWN_SHARD)
        .otherwise(Fault.NOT_ITS_SHARD)
    )


def _fault_padded(known: Known, lineage: Lineage) -> Column:
    """The fault by the shard column, which only the ends of the shards can contradict."""
    number, padded = F.col("number"), F.col("place")
    return (
        F.when(number.isNull() | (number == ""), Fault.NO_NUMBER)
        .when(padded.isNull() & ~number.rlike(_NUMERIC), Fault.NOT_NUMERIC)
        .when(padded.isNull(), Fault.ODD_LENGTH)
        .when(_other_stream(lineage), Fault.OTHER_STREAM)
        .when(F.col("shard").isNull(), Fault.UNKNOWN_SHARD)
        .when(padded < known.floor, Fault.OTHER_INCARNATION)
        .when((padded < F.col("low")) | (padded >= F.col("beyond")), Fault.NOT_ITS_SHARD)
    )


def _other_stream(lineage: Lineage) -> Column:
    """Whether the row names another stream, by name or ARN."""
    stream = F.col("stream")
    ours = stream.isin(lineage.stream.name, lineage.stream.arn, "")
    return stream.isNotNull() & ~ours
