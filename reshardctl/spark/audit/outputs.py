"""Results of an audit's frames: the offending rows as tables, the most affected keys."""

from __future__ import annotations

import os
import shutil
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

from reshardctl.errors import UsageError
from reshardctl.model.files import on_this_machine
from reshardctl.report.audit import Keys
from reshardctl.spark.functions import F

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

    from reshardctl.spark.audit.audit import Audited

MOST = 20
"""Number of keys that are named."""


def is_local(directory: str) -> bool:
    """Whether the directory is on this machine, not a URL."""
    return on_this_machine(directory) == directory


def check(directory: str) -> None:
    """Raises UsageError unless a local directory is new and can be made."""
    if not is_local(directory):
        return
    path = Path(directory)
    if path.exists() or path.is_symlink():
        raise UsageError(f"--rows {directory}: is there already", "name a new directory")
    try:
        with tempfile.TemporaryFile(dir=path.parent):
            pass
    except OSError as error:
        what = f"--rows {directory}: {error.strerror}"
        raise UsageError(what, "name another directory") from None


def save(audited: Audited, directory: str) -> tuple[str, ...]:
    """Writes Parquet tables `missing`, `doubled`, `disordered`, `unusable`; returns their names.

    Empty ones are left out. A local directory is created whole or not at all, for its owner only:
    0700, 0600. Below a URL each table is complete once Spark's `_SUCCESS` is there.
    """
    frames = dict(_frames(audited))
    if not is_local(directory):
        for name, frame in frames.items():
            frame.write.mode("errorifexists").parquet(f"{directory.rstrip('/')}/{name}")
        return tuple(frames)
    path = Path(directory).absolute()
    partial = Path(tempfile.mkdtemp(dir=path.parent, prefix=f".{path.name}."))
    try:
        for name, frame in frames.items():
            frame.write.mode("errorifexists").parquet(f"file://{partial}/{name}")
        _own(partial)
        partial.rename(path)
    except BaseException:
        shutil.rmtree(partial, ignore_errors=True)
        raise
    return tuple(frames)


def most_missing(audited: Audited, most: int = MOST) -> Keys:
    """The partition keys with most missing records; equal counts by name."""
    if audited.missing is None or not any(c.missing for c in audited.facts.compared.values()):
        return Keys(())
    counted = audited.missing.groupBy("partition_key").agg(F.count("*").alias("missing"))
    first = counted.orderBy(F.desc("missing"), "partition_key").limit(most).collect()
    others = counted.count() - len(first) if len(first) == most else 0
    return Keys(tuple((row["partition_key"] or "", row["missing"]) for row in first), others)


def _frames(audited: Audited) -> Iterator[tuple[str, DataFrame]]:
    facts = audited.facts
    if audited.missing is not None and any(c.missing for c in facts.compared.values()):
        yield "missing", audited.missing
    if any(s.doubled for s in facts.shards.values()):
        yield "doubled", audited.doubled
    if audited.disordered is not None and any(s.disordered for s in facts.shards.values()):
        yield "disordered", audited.disordered
    if facts.unusable:
        yield "unusable", audited.unusable


def _own(path: Path) -> None:
    """Restricts access: Spark creates files by the umask, in a folder that was private."""
    for folder, _, files in os.walk(path):
        Path(folder).chmod(0o700)
        for name in files:
            (Path(folder) / name).chmod(0o600)
