"""`F`: the functions of pyspark.sql, imported at the first call. Modules load without PySpark.

Spark's message about a failure is reduced to one line. py4j writes `An error occurred while calling
o40.load.`, then a colon and the exceptions of Java, each with its class before its message and its
stack below.

Digits from the middle of a number are extracted as SQL; a number of layout v2 has 56. A substring
of text is found by walking over its characters, one of bytes is copied: that, and not the cast, was
two thirds of the cost.

A small table of the driver's rows is written into the query as text: for `createDataFrame` Spark
starts Python processes to hand the rows on, which takes longer than a small audit's own work.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from math import isfinite
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession


class _Functions:
    def __getattr__(self, name: str) -> Any:
        from pyspark.sql import functions

        return getattr(functions, name)


F = _Functions()


SMALL = 200
"""Rows that are written into a query; parsing more takes longer than Python processes."""
_PLAIN = re.compile(r"[\w.~-]*", re.ASCII)


def table_of(spark: SparkSession, rows: Sequence[Sequence[Any]], schema: str) -> DataFrame:
    """A table of rows that the driver has. schema: DDL; no type has a comma or a blank."""
    values = [[_literal(cell) for cell in row] for row in rows]
    if len(rows) > SMALL or not all(cell for row in values for cell in row):
        return spark.createDataFrame(rows, schema)
    columns = [column.split() for column in schema.split(", ")]
    cast = ", ".join(f"CAST(_{at} AS {kind}) `{name}`" for at, (name, kind) in enumerate(columns))
    listed = ", ".join(f"({', '.join(row)})" for row in values or [["NULL"] * len(columns)])
    names = ", ".join(f"_{at}" for at in range(len(columns)))
    text = f"SELECT {cast} FROM VALUES {listed} AS t({names})"  # noqa: S608
    return spark.sql(text if rows else f"{text} WHERE false")


def _literal(cell: str | float | bool | None) -> str:
    """As SQL; "" for text that would have to be quoted."""
    if isinstance(cell, str):
        return f"'{cell}'" if _PLAIN.fullmatch(cell) else ""
    if isinstance(cell, float):
        return f"{cell!r}D" if isfinite(cell) else ""
    return "NULL" if cell is None else str(cell)


LONGEST = 300
_CAUSE = "Caused by: "
_CALL = re.compile(r"An error occurred while calling \S+")
_CLASSES = re.compile(r"^(?::\s*)?(?:(?:[\w$]+\.)+[\w$]*(?:Exception|Error)\b:?\s*)+")


def full_message(error: Any) -> str:
    """The complete message."""
    java = getattr(error, "java_exception", None)
    return str(error) if java is None else f"{error}\n{java}"


def line(text: str) -> str:
    """The first line with a message; Java class names are removed if more is left."""
    for text_line in text.splitlines():
        bare = _CLASSES.sub("", text_line.strip()) or text_line.strip().removeprefix(": ")
        if bare and not _CALL.match(bare) and not bare.endswith(":"):
            return bare[:LONGEST]
    return ""


def line_and_cause(text: str) -> str:
    """That line, and below it the innermost cause: `Task failed …: No space left on device`."""
    said = line(text)
    below = [each for each in text.splitlines() if each.startswith(_CAUSE)]
    cause = _CLASSES.sub("", below[-1].removeprefix(_CAUSE))[:LONGEST] if below else ""
    return said if cause in said else f"{said}: {cause}"


def whole(name: str, first: int, count: int) -> str:
    """SQL: BIGINT of `count` digits from byte `first` (1-based) on; NULL if it is no number."""
    return (
        f"try_cast(cast(substring(cast({name} AS binary), {first}, {count}) AS string) AS bigint)"
    )
