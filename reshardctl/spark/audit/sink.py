"""Opens a sink by path or name, as a DataFrame of one moment, with the proof of its completeness.

Only Spark is asked, so any file system that it knows works, and any Connect server. Files are
counted before and after, which shows whether the sink was written to.
"""

from __future__ import annotations

import time
from collections.abc import Mapping
from typing import TYPE_CHECKING

from msgspec import Struct
from msgspec.structs import replace

from reshardctl.errors import CannotTell, ReshardError, UsageError
from reshardctl.spark.audit.commits import DELTA_LOG, NONE, Proof, of_delta, of_file_sink
from reshardctl.spark.audit.tables import (
    Files,
    Table,
    changed,
    files_of,
    is_name,
    is_table,
    listed,
    refuse,
    table,
    unread,
)
from reshardctl.spark.functions import F, full_message

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

    from reshardctl.kinesis.fast import Reach
    from reshardctl.lineage import Lineage
    from reshardctl.spark.audit.audit import Audited
    from reshardctl.spark.audit.columns import Columns

FORMS = ("parquet", "delta", "json", "csv", "table")
_ENDINGS: Mapping[str, str] = {
    "parquet": "parquet", "parq": "parquet", "json": "json", "jsonl": "json", "ndjson": "json",
    "csv": "csv",
}  # fmt: skip
_READING: Mapping[str, Mapping[str, str]] = {
    # As text, because an unquoted number of 56 digits would become a DOUBLE.
    "json": {"primitivesAsString": "true"},
    # Columns by name: a file with others is refused.
    "csv": {"header": "true", "enforceSchema": "false"},
    # Of all files, not only one: later columns count too.
    "parquet": {"mergeSchema": "true"},
}


class Sink(Struct, frozen=True):
    """An opened sink. proof: why it holds whole batches only.

    files, table: how a change is noticed; both `None` if its frame is of one version.
    """

    name: str
    form: str
    frame: DataFrame
    proof: Proof = NONE
    files: Files | None = None
    table: Table | None = None


def audit_path(
    spark: SparkSession,
    sink: str,
    form: str | None = None,
    *,
    lineage: Lineage,
    columns: Columns | None = None,
    stream: tuple[Reach, str] | None = None,
    since: float | None = None,
    until: float | None = None,
) -> Audited:
    """Audits a path or a table, see `audit`. form: one of FORMS, `None` to detect it.

    Raises UsageError if it does not exist, CannotTell if it is empty or cannot be read, each with
    the file's name if known.
    """
    from reshardctl.spark.audit.audit import audit
    from reshardctl.spark.audit.columns import Columns

    opened_sink = opened(spark, sink, form)
    oldest = time.time() - lineage.stream.retention
    try:
        audited = audit(
            opened_sink.frame, lineage=lineage, columns=columns or Columns(), stream=stream,
            since=since, until=until, sink=sink, form=opened_sink.form,
            proof=opened_sink.proof.reaching(oldest),
        )  # fmt: skip
        change = _changed(spark, opened_sink, audited.facts.rows)
    except ReshardError:
        raise
    except Exception as error:
        raise unread(sink, error) from error
    return replace(
        audited, facts=replace(audited.facts, changed=change, batch=opened_sink.proof.batch)
    )


def opened(spark: SparkSession, sink: str, form: str | None = None) -> Sink:
    """Opens the sink; raises UsageError and CannotTell like `audit_path`."""
    if form is not None and form not in FORMS:
        raise UsageError(f"--form {form}: there is no such form", f"one of {', '.join(FORMS)}")
    if form == "table" or (form is None and is_table(spark, sink)):
        of = table(spark, sink)
        return Sink(sink, "table", of.frame, table=of)
    if form == "delta" or (form is None and _version(spark, sink) is not None):
        return _delta(spark, sink)
    refuse(spark, sink)
    files = files_of(spark, sink)
    if files is None:
        if is_name(sink) and sink.count(".") > 1:
            table(spark, sink)  # says what is wrong with such a name
        raise UsageError(f"there is no {sink}", "name a path or a table that this Spark can see")
    if not files.count:
        raise CannotTell(
            f"{sink} holds no file of rows",
            "is this the right path? An empty sink would mean that every record is missing",
        )
    kind = form or _form(sink, files)
    return _of_files(spark, sink, kind, files)


def _of_files(spark: SparkSession, sink: str, kind: str, files: Files) -> Sink:
    try:
        frame = spark.read.format(kind).options(**_READING[kind]).load(sink)
        frame.schema  # noqa: B018  on a Connect server, only now is it looked at
        proof = of_file_sink(spark, sink)
    except Exception as error:
        raise unread(sink, error) from error
    return Sink(sink, kind, frame, proof, files)


def _delta(spark: SparkSession, sink: str) -> Sink:
    version = _version(spark, sink)
    if version is None:
        raise UsageError(
            f"{sink} is no Delta table: there is no {DELTA_LOG} with commits in it",
            "leave --form delta out, or name the folder of the table",
        )
    try:
        frame = spark.read.format("delta").option("versionAsOf", version).load(sink)
        frame.schema  # noqa: B018
        proof = of_delta(spark, sink, version)
    except Exception as error:
        if "delta" in full_message(error).lower() and "find" in full_message(error).lower():
            raise _no_delta(spark) from error
        raise unread(sink, error) from error
    return Sink(sink, "delta", frame, proof)


def _no_delta(spark: SparkSession) -> UsageError:
    release = str(spark.version).split(".")
    scala, delta = ("2.12", "3.3.2") if int(release[0]) < 4 else ("2.13", "4.0.0")
    return UsageError(
        f"this Spark {spark.version} has no Delta Lake",
        "give it the package (a release of Delta is made for one release of Spark): "
        f"PYSPARK_SUBMIT_ARGS='--packages io.delta:delta-spark_{scala}:{delta} pyspark-shell'",
    )


def _version(spark: SparkSession, sink: str) -> int | None:
    """The newest version in the log of a Delta table; `None` without a log."""
    name = r"/([0-9]{20})\.(?:json|checkpoint\b)"
    found = listed(spark, f"{sink.rstrip('/')}/{DELTA_LOG}", sink)
    if found is None:
        return None
    # Twenty digits, so that the greatest text is the greatest number.
    version = found.agg(F.max(F.regexp_extract("path", name, 1)).alias("version")).collect()
    return int(version[0]["version"]) if version[0]["version"] else None


def _form(sink: str, files: Files) -> str:
    kinds = {_ENDINGS[ending] for ending in files.endings if ending in _ENDINGS}
    if len(kinds) == 1:
        return kinds.pop()
    endings = ", ".join(f"{count} .{ending}" for ending, count in sorted(files.endings.items()))
    raise UsageError(
        f"{sink}: the format of its files is not known ({endings[:200]})",
        f"name it: --form {'|'.join(FORMS)}",
    )


def _changed(spark: SparkSession, sink: Sink, rows: int) -> str:
    """How the sink changed since it was opened; "" if it did not."""
    if sink.table is not None:
        return changed(spark, sink.name, sink.table, rows)
    after = None if sink.files is None else files_of(spark, sink.name)
    if after == sink.files:
        return ""
    if sink.files is None or after is None:
        return "its files are gone"
    if after.count != sink.files.count:
        return f"it had {sink.files.count} files, and then {after.count}"
    return "files of it were written again"
