"""Rows laid to the shards of a stream, and why some cannot be.

Numbers stay text: 56 digits are too many for every number type of Spark (DECIMAL has 38), and
text of one width compares as numbers do. The shard is in the low 36 bits of a number, and of the
powers of ten from 10^36 on those bits are all zero: the last 36 digits tell, in two halves that a
BIGINT holds. No function of Python is called for a row.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from reshardctl.audit.facts import Fault
from reshardctl.lineage import Lineage
from reshardctl.spark.audit.columns import Mapped
from reshardctl.spark.audit.known import BEYOND, DIGITS, LOWEST, Known
from reshardctl.spark.audit.slots import Slots, slot, time_in

if TYPE_CHECKING:
    from pyspark.sql import Column, DataFrame, SparkSession

HALF = 18
"""Digits that a BIGINT holds with room to spare."""
_LOW36 = (1 << 36) - 1
_LOW18 = (1 << 18) - 1
_WEIGHT = 10**HALF & _LOW36
"""10^18 is a multiple of 2^18: of the upper half only its 18 low bits reach the 36 wanted."""
NUMERIC = r"^[0-9]+\z"


def laid(found: Mapped, known: Known, lineage: Lineage, cut: tuple[Slots, ...]) -> DataFrame:
    """at INT, shard, number, place, sub, key, arrival, order, slot INT, fault STRING.

    at: which shard, by its place among the known ones. place: the number at one width, NULL where
    there is none. fault: NULL where the row belongs to `shard`. slot: of its time, by arrival if
    the sink has that, else by the time in the number. One broadcast of the shards, no shuffle.
    """
    from pyspark.sql import functions as F  # noqa: N812

    rows = found.frame.withColumn("place", _place(known.width))
    shards = F.broadcast(_table(rows.sparkSession, known, cut))
    if known.decodable:
        rows = rows.withColumn("in_number", _index_in(known.width))
        joined = rows.join(shards, F.col("in_number") == F.col("index"), "left")
    else:
        rows = rows.withColumn("in_number", F.lit(None).cast("bigint"))
        joined = rows.join(shards, F.col("said") == F.col("shard"), "left")
    when = F.col("arrival") if "arrival" in found.names else time_in("place", known.width)
    return joined.withColumn("time", when).select(
        "at", "shard", "number", "place", "sub", "key", "arrival", "order", "least", "most",
        slot().alias("slot"), _fault(known, lineage).alias("fault"),
    )  # fmt: skip


def _table(spark: SparkSession, known: Known, cut: tuple[Slots, ...]) -> DataFrame:
    """A line a shard, as small as the lineage."""
    rows = [
        (at, one.number, one.id, one.low, one.beyond, one.least, one.most,
         slots.since, slots.seconds, slots.count)
        for at, (one, slots) in enumerate(zip(known.shards, cut, strict=True))
    ]  # fmt: skip
    return spark.createDataFrame(
        rows,
        "at INT, index BIGINT, shard STRING, low STRING, beyond STRING, least STRING, most STRING,"
        " since DOUBLE, seconds DOUBLE, slots INT",
    )


def _place(width: int) -> Column:
    """Digits are told by a regular expression: a cast would take blanks, signs and points."""
    from pyspark.sql import functions as F  # noqa: N812

    number = F.col("number")
    length = F.octet_length(number)
    padded = F.when(length == width, number).otherwise(F.lpad(number, width, "0"))
    return F.when((length <= width) & number.rlike(NUMERIC), padded)


def half(name: str, width: int, behind: int) -> str:
    """SQL of the 18 digits before the last `behind`, as BIGINT."""
    return f"try_cast(substring({name}, {width - behind - HALF + 1}, {HALF}) AS bigint)"


def _index_in(width: int) -> Column:
    """The shard that a number says it is of, NULL where it is not of Kinesis' layout."""
    from pyspark.sql import functions as F  # noqa: N812

    low, high = half("place", width, 0), half("place", width, HALF)
    bits = f"(({high} & {_LOW18}) * {_WEIGHT} + ({low} & {_LOW36})) & {_LOW36}"
    least, beyond = LOWEST.zfill(width), BEYOND.zfill(width)
    return F.expr(
        f"if(place >= '{least}' AND place < '{beyond}' AND ({bits}) & 15 IN (1, 2),"
        f" shiftright({bits}, 4), NULL)"
    )


def _fault(known: Known, lineage: Lineage) -> Column:
    from pyspark.sql import functions as F  # noqa: N812

    number, place, said = F.col("number"), F.col("place"), F.col("said")
    outside = (place < F.col("low")) | (place >= F.col("beyond"))
    other = F.col("shard").isNull() & F.col("in_number").isNotNull() & _other_than_said()
    return (
        F.when(number.isNull() | (number == ""), Fault.NO_NUMBER)
        .when(place.isNull() & ~number.rlike(NUMERIC), Fault.NOT_NUMERIC)
        .when(place.isNull() | _cut(known), Fault.ODD_LENGTH)
        .when(_other_stream(lineage), Fault.OTHER_STREAM)
        .when(_decoded(known) & (place < known.floor), Fault.OTHER_INCARNATION)
        .when(other, Fault.NOT_ITS_SHARD)
        .when(F.col("shard").isNull(), Fault.UNKNOWN_SHARD)
        .when(said.isNotNull() & (said != F.col("shard")), Fault.NOT_ITS_SHARD)
        .when(outside, Fault.NOT_ITS_SHARD)
    )


def _cut(known: Known) -> Column:
    """Whether digits are short of those that every number of this stream has."""
    from pyspark.sql import functions as F  # noqa: N812

    short = F.octet_length(F.col("number")) < DIGITS
    return short if known.decodable else F.lit(False)


def _decoded(known: Known) -> Column:
    """Whether a row is known to be of some shard, listed or not."""
    from pyspark.sql import functions as F  # noqa: N812

    return F.col("in_number" if known.decodable else "shard").isNotNull()


def _other_than_said() -> Column:
    from pyspark.sql import functions as F  # noqa: N812

    digits = F.lpad(F.col("in_number").cast("string"), 12, "0")
    return F.col("said").isNotNull() & (F.col("said") != F.concat(F.lit("shardId-"), digits))


def _other_stream(lineage: Lineage) -> Column:
    """A name, or an ARN; nothing said is no contradiction."""
    from pyspark.sql import functions as F  # noqa: N812

    stream = F.col("stream")
    ours = stream.isin(lineage.stream.name, lineage.stream.arn, "")
    return stream.isNotNull() & ~ours
