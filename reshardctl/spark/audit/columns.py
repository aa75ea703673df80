"""Finds the columns of a frame and gives them one name and form."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from msgspec import Struct
from msgspec.structs import fields

from reshardctl.errors import UsageError
from reshardctl.spark.functions import F

if TYPE_CHECKING:
    from pyspark.sql import Column, DataFrame


class Columns(Struct, frozen=True):
    """Names of columns; a dot separates a struct from its field; `None`: find it; "": none.

    Attributes:
        number: The sequence number.
        sub: The index inside an aggregated record.
        shard: The shard id.
        key: The partition key.
        stream: The stream's name or ARN.
        arrival: The arrival at Kinesis.
        order: The order of arrival in the sink (a batch id, a time of ingestion). It is never
            guessed: a wrong one would show disorder that does not exist.
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
them, in lower case and without `_`. The first that exists is taken."""
OPTIONS = tuple(KNOWN)
_TEXT = ("string", "varchar", "char")
_INTEGERS = ("bigint", "int", "smallint", "tinyint")
_NUMBERS = (*_INTEGERS, "decimal", "double", "float")
_TIMES = ("timestamp", "timestamp_ntz")
WHOLE = (*_TEXT, "binary", *_INTEGERS)
"""Types that can hold a sequence number without losing a digit."""
TYPES: Mapping[str, tuple[str, ...]] = {
    "sub": (*_TEXT, *_NUMBERS),
    "shard": (*_TEXT, "binary"),
    "key": (*_TEXT, "binary", *_NUMBERS),
    "stream": (*_TEXT, "binary", *_NUMBERS),
    "arrival": (*_TEXT, *_NUMBERS, *_TIMES),
    "order": (*_TEXT, *_NUMBERS, *_TIMES, "binary", "date", "boolean"),
}


class Mapped(Struct, frozen=True):
    """A frame of number, sub, said, key, stream, arrival, order, and which columns they were.

    number STRING; sub BIGINT, 0 if the frame has none; said (the shard that the frame names), key
    and stream STRING; arrival DOUBLE, Unix seconds; order as it is, times as microseconds.
    """

    frame: DataFrame
    names: Mapping[str, str]
    """Columns found, by the name of the option."""


def mapped(frame: DataFrame, columns: Columns) -> Mapped:
    """Find the columns; raises UsageError for a missing, ambiguous or lossy one."""
    names = {
        option.name: chosen
        for option in fields(columns)
        if (chosen := _column_of(frame, option.name, getattr(columns, option.name))) is not None
    }
    if "number" not in names:
        raise UsageError(
            f"no column holds sequence numbers; there are {_listed(frame)}",
            "name it: --column number=NAME",
        )
    types = {option: _word(frame, option, name) for option, name in names.items()}
    paths = {option: _quoted(frame, name) for option, name in names.items()}

    def column(option: str) -> Column:
        return F.col(paths[option]) if option in paths else F.lit(None).cast("string")

    return Mapped(
        frame.select(
            column("number").cast("string").alias("number"),
            _sub(paths).alias("sub"),
            F.nullif(column("shard").cast("string"), F.lit("")).alias("said"),
            column("key").cast("string").alias("key"),
            column("stream").cast("string").alias("stream"),
            _arrival(paths, types.get("arrival", "")).alias("arrival"),
            _order(paths, types.get("order", "")).alias("order"),
        ),
        names,
    )


def _column_of(frame: DataFrame, option: str, named: str | None) -> str | None:
    if named == "":
        return None
    if named is not None:
        return _named_column(frame, option, named)
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


def _named_column(frame: DataFrame, option: str, named: str) -> str:
    """A column by name: exactly, else ignoring case, else a field of a struct."""
    loose = [str(name) for name in frame.columns if name.lower() == named.lower()]
    exact = [name for name in loose if name == named]
    if len(loose) > 1 and (len(exact) != 1 or not _minds_case(frame)):
        raise UsageError(
            f"--column {option}={named}: several columns have this name: {', '.join(loose)}",
            "rename one of them",
        )
    if loose:
        return (exact or loose)[0]
    if "." in named and _path(frame, named) is not None:
        return named
    raise UsageError(
        f"--column {option}={named}: there is no such column; there are {_listed(frame)}",
        f"name one of them, or none: --column {option}=",
    )


def _minds_case(frame: DataFrame) -> bool:
    return bool(frame.sparkSession.conf.get("spark.sql.caseSensitive") == "true")


def _listed(frame: DataFrame) -> str:
    return ", ".join(frame.columns) or "none"


def _path(frame: DataFrame, name: str) -> tuple[tuple[str, ...], Any] | None:
    """A column, or a field inside structs, as they spell themselves, and its type."""
    if name in frame.columns:
        return (name,), frame.schema[name].dataType
    path: list[str] = []
    kind: Any = frame.schema
    for part in name.split("."):
        fields_ = [f for f in getattr(kind, "fields", ()) if f.name.lower() == part.lower()]
        chosen = [f for f in fields_ if f.name == part] or fields_
        if len(chosen) != 1:
            return None
        path.append(chosen[0].name)
        kind = chosen[0].dataType
    return tuple(path), kind


def _word(frame: DataFrame, option: str, name: str) -> str:
    """The column's type as one word; raises UsageError if it cannot hold what is wanted."""
    path_and_type = _path(frame, name)
    kind = "" if path_and_type is None else str(path_and_type[1].simpleString())
    word = re.split(r"[^a-z_]", kind)[0]
    if option == "number":
        _check_number(name, kind, word)
    elif word not in TYPES[option]:
        raise UsageError(
            f"--column {option}={name}: it is of type {kind[:60]}, which holds no {option}",
            f"name another one, or none: --column {option}=",
        )
    return word


def _quoted(frame: DataFrame, name: str) -> str:
    path_and_type = _path(frame, name)
    parts = (name,) if path_and_type is None else path_and_type[0]
    return ".".join("`" + part.replace("`", "``") + "`" for part in parts)


def _check_number(name: str, kind: str, word: str) -> None:
    if word not in WHOLE:
        raise UsageError(
            f"column {name} is of type {kind}, which cannot hold the 56 digits of a number",
            "write sequence numbers as text, or name another column: --column number=NAME",
        )


def _sub(paths: Mapping[str, str]) -> Column:
    """The index, 0 if there is none; the connector of awslabs writes -1 for a plain record."""
    if "sub" not in paths:
        return F.lit(0).cast("bigint")
    given = F.expr(f"try_cast({paths['sub']} AS bigint)")
    return F.greatest(F.coalesce(given, F.lit(0)), F.lit(0).cast("bigint"))


def _arrival(paths: Mapping[str, str], kind: str) -> Column:
    """The arrival in Unix seconds, from any unit; NULL for impossible times."""
    if "arrival" not in paths:
        return F.lit(None).cast("double")
    quoted = paths["arrival"]
    if kind in _TIMES:
        return F.expr(f"{_micros(quoted, kind)} / 1000000.0D")
    number = f"try_cast({quoted} AS double)"
    # Beyond the year 5000 it counts milliseconds, microseconds, nanoseconds; NaN is the greatest.
    counted = (
        f"CASE WHEN {number} > 9e18D THEN NULL WHEN {number} > 1e17D THEN {number} / 1e9D "
        f"WHEN {number} > 1e14D THEN {number} / 1e6D WHEN {number} > 1e11D THEN {number} / 1e3D "
        f"WHEN {number} >= 0D THEN {number} END"
    )
    if kind in _TEXT:
        counted = f"coalesce({counted}, {_micros(quoted, kind)} / 1000000.0D)"
    return F.expr(counted)


def _order(paths: Mapping[str, str], kind: str) -> Column:
    """The order as it sorts; times as whole microseconds, which no time zone changes.

    Text files have numbers and times as text: batch 9 comes before batch 10.
    """
    if "order" not in paths:
        return F.lit(None).cast("string")
    quoted = paths["order"]
    if kind in _TIMES:
        return F.expr(_micros(quoted, kind))
    if kind in _INTEGERS:
        return F.expr(f"cast({quoted} AS bigint)")
    if kind in ("double", "float"):
        return F.expr(f"if(isnan({quoted}), NULL, cast({quoted} AS double))")
    return F.expr(_sorted(f"cast({quoted} AS string)") if kind in _TEXT else quoted)


def _micros(quoted: str, kind: str) -> str:
    """SQL of a time's Unix microseconds; a time without a zone is UTC, whatever the session's."""
    if kind == "timestamp":
        return f"unix_micros({quoted})"
    if kind == "timestamp_ntz":
        return (
            f"(unix_date(cast({quoted} AS date)) * 86400000000L + hour({quoted}) * 3600000000L + "
            f"minute({quoted}) * 60000000L + "
            f"cast(extract(SECOND FROM {quoted}) * 1000000 AS bigint))"
        )
    # Text with a zone is invalid with another one after it.
    zoned = f"try_cast(concat({quoted}, 'Z') AS timestamp)"
    return f"unix_micros(coalesce({zoned}, try_cast({quoted} AS timestamp)))"


def _sorted(text: str) -> str:
    """SQL of text that sorts as the numbers (shifted above zero) or times that it spells."""
    number = f"try_cast({text} AS decimal(37, 9)) + cast(1e27 AS decimal(37, 9))"
    moment = f"{_micros(text, 'string')} + {10**17}L"
    return (
        f"CASE WHEN translate({text}, 'AN', 'an') IN ('', 'nan') THEN NULL ELSE coalesce("
        f"'0' || lpad(cast({number} AS string), 40, '0'), "
        f"if({text} rlike '^[0-9]{{28,60}}$', '1' || lpad({text}, 60, '0'), NULL), "
        f"'2' || lpad(cast({moment} AS string), 20, '0'), '3' || {text}) END"
    )
