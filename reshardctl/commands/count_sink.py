"""Counts a sink with Spark: session, columns, progress, results."""

from __future__ import annotations

import logging
import os
import re
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

from msgspec import Struct
from msgspec.structs import replace

from reshardctl.codec.argv import given
from reshardctl.commands.exclusions import require_compatible
from reshardctl.commands.observer import SILENT, Observer
from reshardctl.commands.requests import Sink
from reshardctl.errors import CannotTell, ReshardError, UsageError

if TYPE_CHECKING:
    from reshardctl.auditing.facts import Facts
    from reshardctl.commands.requests import Account
    from reshardctl.kinesis.fast import Reach
    from reshardctl.lineage import Lineage
    from reshardctl.report.audit import Keys

LONG = {
    "sequence_number": "number", "sub_sequence_number": "sub", "shard_id": "shard",
    "partition_key": "key", "approximate_arrival_timestamp": "arrival",
}
"""Columns may be called as the source calls them as well."""
MASTER = re.compile(r"local(-cluster)?(\[[^\]]+\])?$|yarn$|(spark|k8s|mesos)://.")
"""What spark-submit accepts (Spark's "Master URLs")."""


class Counted(Struct, frozen=True):
    """What Spark has counted, and its frames."""

    audited: Any
    observer: Observer = SILENT

    @property
    def facts(self) -> Facts:
        """The facts that a report is made from."""
        facts: Facts = self.audited.facts
        return facts

    def keys(self) -> Keys:
        """The partition keys that lack most records."""
        from reshardctl.spark.audit.audit import most_missing

        with (
            _told("the keys of missing records cannot be counted"),
            self.observer.spark_works("counting the keys of missing records", self._tasks),
        ):
            return most_missing(self.audited)

    def save(self, path: str) -> str:
        """Writes the faulty rows, and returns where they are."""
        from reshardctl.spark.audit.audit import save

        with (
            _told(f"--rows {path} cannot be written"),
            self.observer.spark_works(f"writing rows to {path}", self._tasks),
        ):
            return path if save(self.audited, path) else ""

    def _tasks(self) -> tuple[int, int] | None:
        from reshardctl.spark.session import tasks

        return tasks(self.audited.unusable.sparkSession)


@contextmanager
def _told(what: str) -> Iterator[None]:
    """Turns Spark's own failures, of which there are many kinds, into one of ours."""
    try:
        yield
    except ReshardError:
        raise
    except Exception as error:
        from reshardctl.spark.functions import full_message, line_and_cause
        from reshardctl.spark.hadoop_owners import next_step

        raise CannotTell(
            f"{what}: {line_and_cause(full_message(error)) or type(error).__name__}",
            next_step(full_message(error)) or "run this again with --debug FILE and look there",
        ) from error


def check(sink: Sink, rows: str | None) -> None:
    """UsageError for options that cannot be used, before anything is called or started."""
    from reshardctl.spark.audit.audit import check as check_rows
    from reshardctl.spark.audit.audit import is_local
    from reshardctl.spark.session import check as check_remote

    columns_of(sink.columns)
    require_compatible(given(sink), "--master")
    if sink.master is not None and not MASTER.match(sink.master):
        raise UsageError(
            f"--master {sink.master} is no master of Spark",
            "write it as local[*], spark://HOST:PORT, yarn or k8s://HOST:PORT",
        )
    if sink.remote is not None:
        check_remote(sink.remote)
    if rows is not None:
        if sink.remote is not None and is_local(rows):
            raise UsageError(
                f"--rows {rows}: with --remote, Spark writes where its server runs",
                "give a URL, as in --rows s3a://bucket/prefix",
            )
        check_rows(rows)


def check_installed(sink: Sink) -> None:
    """UsageError without PySpark 3.5 or later, or what it needs to read a stream.

    It is called before anything is asked of AWS.
    """
    from reshardctl.spark.session import check_arrow, check_release

    check_release()
    if sink.against:
        check_arrow()


def columns_of(texts: Sequence[str]) -> Any:
    """Reads `number=seqNo` and the like. UsageError for anything else."""
    from reshardctl.spark.audit.columns import OPTIONS, Columns

    names: dict[str, str] = {}
    for text in texts:
        name, joint, column = text.partition("=")
        option = LONG.get(name, name)
        if not joint or option not in OPTIONS:
            raise UsageError(
                f"--column {text!r} names no column of ours",
                f"write it as number=NAME; known are {', '.join(OPTIONS)}",
            )
        if option in names:
            raise UsageError(f"--column {name} is named twice", "leave one of them out")
        names[option] = column
    return Columns(**names)


def count(
    sink: Sink, lineage: Lineage, account: Account, observer: Observer,
    since: float | None = None, until: float | None = None,
) -> Counted:
    """Counts what the sink holds. UsageError, CannotTell for what cannot be read."""
    from reshardctl.spark.audit import audit_path
    from reshardctl.spark.session import tasks

    reach = reach_of(account, sink, lineage.stream.region) if sink.against else None
    spark = started(sink, observer)
    with observer.spark_works(
        f"reading {sink.path}" + (" and the stream" if sink.against else ""), lambda: tasks(spark)
    ):
        counted = audit_path(
            spark, sink.path, sink.form, lineage=lineage, columns=columns_of(sink.columns),
            stream=None if reach is None else (reach, lineage.stream.arn), since=since,
            until=until,
        )
    facts = replace(counted.facts, since=since, until=until)
    return Counted(replace(counted, facts=facts), observer)


def started(sink: Sink, observer: Observer) -> Any:
    """The `SparkSession` that counts the sink. CannotTell where none can be made."""
    from reshardctl.spark.session import is_small, session

    keep_traces_away()
    observer.phase("starting Spark", logged=True)
    return session(master=sink.master, remote=sink.remote, small=is_small(sink.path))


def keep_traces_away() -> None:
    """Silences py4j, which logs the stack of whatever a Ctrl-C interrupts to stderr.

    The exception itself says what failed.
    """
    root = logging.getLogger()
    if not root.handlers:
        root.addHandler(logging.NullHandler())


def reach_of(account: Account, sink: Sink, region: str) -> Reach:
    """How Spark's tasks reach the stream in its region, which may be another than the account's.

    A profile is a name on this machine: it is passed through the environment, which tasks of
    another machine do not share.
    """
    from reshardctl.commands.connect import endpoints_of
    from reshardctl.kinesis.fast import Reach

    if account.profile is not None:
        if sink.remote is not None or not (sink.master or "local").startswith("local"):
            raise UsageError(
                "--profile names credentials of this machine, and Spark reads the stream on others",
                "give the cluster a role, or --role-arn",
            )
        os.environ["AWS_PROFILE"] = account.profile
    return Reach(region, endpoints_of(account.endpoints).get("kinesis"), account.role)
