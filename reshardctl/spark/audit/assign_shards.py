"""Assigns rows to the shards of a stream, and says why some cannot be.

Numbers stay text: 56 digits are too many for every number type of Spark (DECIMAL has 38), and text
of one width compares as numbers do. The shard is in the low 36 bits of a number, and those bits of
the powers of ten from 10^36 on are all zero: so the last 36 digits suffice, in two halves that a
BIGINT holds. No Python function is called for a row, and a good row is recognised by cheap means: a
regular expression costs as much as all the rest.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from reshardctl.auditing.facts import Fault
from reshardctl.lineage import Lineage
from reshardctl.spark.audit.columns import Mapped
from reshardctl.spark.audit.digits import whole
from reshardctl.spark.audit.shard_table import BEYOND, DIGITS, LEAST, LOWEST, MOST, Known
from reshardctl.spark.audit.slots import Slots, slot, time_in
from reshardctl.spark.functions import F

if TYPE_CHECKING:
    from pyspark.sql import Column, DataFrame, SparkSession

HALF = 18
"""Digits that a BIGINT holds with room to spare."""
HEAD = DIGITS - 2 * HALF
"""Digits before the two halves; mostly those of the shard's first number."""
_LOW36 = (1 << 36) - 1
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
        rows = _padded(sink.frame, known.width)
        rows = rows.join(shards, F.col("said") == F.col("shard"), "left")
        fault = _fault_padded(known, lineage)
    when = F.col("arrival") if "arrival" in sink.names else time_in("place", known.width)
    return rows.withColumn("time", when).withColumn("fault", fault).select(
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
    return spark.createDataFrame(
        rows,
        "at INT, index BIGINT, shard STRING, low STRING, beyond STRING, own STRING,"
        " least STRING, most STRING, since DOUBLE, seconds DOUBLE, slots INT, base BIGINT",
    )


def _decoded(rows: DataFrame) -> DataFrame:
    """Adds upper, lower and in_number: the shard that the number names, valid for good rows."""
    upper, lower = (whole("number", first, HALF) for first in (HEAD + 1, HEAD + HALF + 1))
    bits = f"((upper & {_LOW18}) * {_WEIGHT} + (lower & {_LOW36})) & {_LOW36}"
    rows = rows.withColumn("upper", F.expr(upper)).withColumn("lower", F.expr(lower))
    rows = rows.withColumn("bits", F.expr(bits)).withColumn("place", F.col("number"))
    named = F.expr("if((bits & 15) IN (1, 2), shiftright(bits, 4), NULL)")
    return rows.withColumn("in_number", named)


def _padded(rows: DataFrame, width: int) -> DataFrame:
    """Adds place, for an emulator's numbers, whose digits mean nothing."""
    number, nothing = F.col("number"), F.lit(None).cast("bigint")
    fits = (F.octet_length(number) <= width) & number.rlike(_NUMERIC)
    rows = rows.withColumn("place", F.when(fits, F.lpad(number, width, "0")))
    return rows.withColumn("upper", nothing).withColumn("lower", nothing)


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
