"""Which column of a frame says what, and all of them under one name and in one form."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, fields
from typing import TYPE_CHECKING, Any

from reshardctl.errors import UsageError

if TYPE_CHECKING:
    from pyspark.sql import Column, DataFrame


@dataclass(frozen=True, slots=True)
class Columns:
    """Names of columns, a dot between a struct's name and its field. `None`: look for it.

    number: the sequence number. sub: the place inside an aggregated record. shard, key, stream,
    arrival: shard id, partition key, stream name or ARN, arrival at Kinesis. order: what tells in
    which order rows came into the sink (a batch id, a time of ingestion); it is never looked for,
    since an order that is only guessed makes disorder out of nothing. "": there is none.
    """

    number: str | None = None
    sub: str | None = None
    shard: str | None = None
    key: str | None = None
    stream: str | None = None
    arrival: str | None = None
    order: str | None = None


KNOWN: Mapping[str, tuple[str, ...]] = {
    "number": ("sequencenumber",),
    "sub": ("subsequencenumber",),
    "shard": ("shardid",),
    "key": ("partitionkey",),
    "stream": ("streamname", "stream", "streamarn"),
    "arrival": ("approximatearrivaltimestamp",),
    "order": (),
}
"""Names as `kinesis-lineage`, qubole/kinesis-sql and awslabs/spark-sql-kinesis-connector write
them, in small letters and without `_`. The first of several that is there is taken."""
OPTIONS = tuple(KNOWN)
WHOLE = ("string", "binary", "bigint", "int", "smallint", "tinyint", "long", "integer")
"""Types that can hold a sequence number without losing a digit of what they were given."""
_WIDE = 38
"""Digits of the longest number by which rows may be ordered."""
_MILLISECONDS = 10**11
"""Seconds beyond the year 5000: such a number counts milliseconds."""


@dataclass(frozen=True, slots=True)
class Mapped:
    """A frame of number, sub, said, key, stream, arrival, order, and which columns they were.

    number STRING; sub BIGINT, 0 where the frame has none; said (the shard that the frame names),
    key and stream STRING; arrival DOUBLE, Unix seconds; order as it is, times as microseconds.
    """

    frame: DataFrame
    names: Mapping[str, str]
    """What was found, by the name of the option; what was not is not in it."""


def mapped(frame: DataFrame, columns: Columns) -> Mapped:
    """UsageError where a column is missing, ambiguous, or of a type that has lost digits."""
    from pyspark.sql import functions as F  # noqa: N812

    names = {
        option.name: found
        for option in fields(columns)
        if (found := _found(frame, option.name, getattr(columns, option.name))) is not None
    }
    if "number" not in names:
        raise UsageError(
            f"no column holds sequence numbers; there are {_listed(frame)}",
            "name it: --column number=NAME",
        )
    types = {option: _type(frame, name) for option, name in names.items()}
    _check_number(names["number"], types["number"])

    paths = {option: _quoted(frame, name) for option, name in names.items()}

    def column(option: str) -> Column:
        return F.col(paths[option]) if option in paths else F.lit(None).cast("string")

    return Mapped(
        frame.select(
            column("number").cast("string").alias("number"),
            _sub(paths).alias("sub"),
            column("shard").cast("string").alias("said"),
            column("key").cast("string").alias("key"),
            column("stream").cast("string").alias("stream"),
            _arrival(paths, types.get("arrival", "")).alias("arrival"),
            _order(paths, types.get("order", "")).alias("order"),
        ),
        names,
    )


def _found(frame: DataFrame, option: str, said: str | None) -> str | None:
    if said == "":
        return None
    if said is not None:
        return _said(frame, option, said)
    for word in KNOWN[option]:
        fitting = [str(name) for name in frame.columns if name.replace("_", "").lower() == word]
        if len(fitting) > 1:
            raise UsageError(
                f"several columns may be the {option}: {', '.join(fitting)}",
                f"say which one: --column {option}={fitting[0]}",
            )
        if fitting:
            return fitting[0]
    return None


def _said(frame: DataFrame, option: str, said: str) -> str:
    """A column by name: exactly, else whatever the case, else a field of a struct."""
    exact = [str(name) for name in frame.columns if name == said]
    loose = exact or [str(name) for name in frame.columns if name.lower() == said.lower()]
    if len(loose) == 1:
        return loose[0]
    if len(loose) > 1:
        raise UsageError(
            f"--column {option}={said}: several columns have this name: {', '.join(loose)}",
            "rename one of them",
        )
    if "." in said and _field(frame, said) is not None:
        return said
    raise UsageError(
        f"--column {option}={said}: there is no such column; there are {_listed(frame)}",
        f"name one of them, or none: --column {option}=",
    )


def _listed(frame: DataFrame) -> str:
    return ", ".join(frame.columns) or "none"


def _field(frame: DataFrame, name: str) -> Any:
    """The type of a column, or of a field inside structs; `None` where it is not."""
    if name in frame.columns:
        return frame.schema[name].dataType
    kind: Any = frame.schema
    for part in name.split("."):
        inside = {f.name.lower(): f.dataType for f in getattr(kind, "fields", ())}
        kind = inside.get(part.lower())
    return kind


def _type(frame: DataFrame, name: str) -> str:
    return str(_field(frame, name).simpleString())


def _quoted(frame: DataFrame, name: str) -> str:
    if name in frame.columns:
        return f"`{name}`"
    return ".".join(f"`{part}`" for part in name.split("."))


def _check_number(name: str, kind: str) -> None:
    if kind not in WHOLE:
        raise UsageError(
            f"column {name} is of type {kind}, which has not kept the 56 digits of a number",
            "write sequence numbers as text, or name another column: --column number=NAME",
        )


def _sub(paths: Mapping[str, str]) -> Column:
    """Zero where it says nothing; the connector of awslabs writes -1 for a plain record."""
    from pyspark.sql import functions as F  # noqa: N812

    if "sub" not in paths:
        return F.lit(0).cast("bigint")
    given = F.expr(f"try_cast({paths['sub']} AS bigint)")
    return F.greatest(F.coalesce(given, F.lit(0)), F.lit(0).cast("bigint"))


def _arrival(paths: Mapping[str, str], kind: str) -> Column:
    from pyspark.sql import functions as F  # noqa: N812

    if "arrival" not in paths:
        return F.lit(None).cast("double")
    quoted = paths["arrival"]
    if kind in ("timestamp", "timestamp_ntz"):
        # A time without a zone is Coordinated Universal Time, as everything of AWS is.
        instant = f"cast({quoted} AS timestamp)" if kind == "timestamp" else (
            f"to_utc_timestamp(cast({quoted} AS timestamp), current_timezone())"
        )  # fmt: skip
        return F.expr(f"unix_micros({instant}) / 1000000.0D")
    number = f"try_cast({quoted} AS double)"
    counted = f"if(abs({number}) > {_MILLISECONDS}D, {number} / 1000.0D, {number})"
    if kind != "string":
        return F.expr(counted)
    text = f"unix_micros(try_cast({quoted} AS timestamp)) / 1000000.0D"
    return F.expr(f"coalesce({counted}, {text})")


def _order(paths: Mapping[str, str], kind: str) -> Column:
    """As it sorts; times as whole microseconds, which survive every time zone on their way.

    Files of text have numbers and times as text: batch 9 comes before batch 10.
    """
    from pyspark.sql import functions as F  # noqa: N812

    if "order" not in paths:
        return F.lit(None).cast("string")
    quoted = paths["order"]
    if kind.startswith("timestamp"):
        return F.expr(f"unix_micros(cast({quoted} AS timestamp))")
    if kind == "string":
        moment = f"cast(unix_micros(try_cast({quoted} AS timestamp)) AS string)"
        return F.expr(f"coalesce({_padded(quoted)}, {_padded(moment)}, {quoted})")
    return F.expr(f"cast({quoted} AS bigint)" if kind in ("int", "smallint", "tinyint") else quoted)


def _padded(text: str) -> str:
    """SQL of whole numbers that sort as text; NULL of anything else."""
    return f"if({text} rlike '^[0-9]{{1,{_WIDE}}}$', lpad({text}, {_WIDE}, '0'), NULL)"
