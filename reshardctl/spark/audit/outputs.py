"""What is taken from an audit's frames: the offending rows as tables, the keys that lack most."""

from __future__ import annotations

import os
import shutil
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

from reshardctl.diagnosis.audit_report import Keys
from reshardctl.errors import UsageError

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

    from reshardctl.spark.audit.audit import Audited

MOST = 20
"""Keys that are named."""


def is_local(place: str) -> bool:
    """Whether it is a directory of this machine: no URL."""
    return "://" not in place and not place.startswith("file:")


def check(place: str) -> None:
    """UsageError unless it is a new directory that can be made, as far as it is of this machine."""
    if not is_local(place):
        return
    path = Path(place)
    if path.exists() or path.is_symlink():
        raise UsageError(f"--rows {place}: is there already", "name a new directory")
    try:
        with tempfile.TemporaryFile(dir=path.parent):
            pass
    except OSError as error:
        raise UsageError(f"--rows {place}: {error.strerror}", "name another directory") from None


def save(found: Audited, place: str) -> tuple[str, ...]:
    """Parquet tables `missing`, `doubled`, `disordered`, `unusable` below it; those that have rows.

    A directory of this machine is there whole or not at all, and its owner's alone: 0700, 0600.
    Below a URL each table is whole once Spark's `_SUCCESS` is there. Returns their names.
    """
    frames = dict(_frames(found))
    if not is_local(place):
        for name, frame in frames.items():
            frame.write.mode("errorifexists").parquet(f"{place.rstrip('/')}/{name}")
        return tuple(frames)
    path = Path(place).absolute()
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


def most_missing(found: Audited, most: int = MOST) -> Keys:
    """The partition keys of missing records, those that lack most first; equal ones by name."""
    from pyspark.sql import functions as F  # noqa: N812

    if found.missing is None or not any(c.missing for c in found.facts.compared.values()):
        return Keys(())
    counted = found.missing.groupBy("partition_key").agg(F.count("*").alias("missing"))
    first = counted.orderBy(F.desc("missing"), "partition_key").limit(most).collect()
    others = counted.count() - len(first) if len(first) == most else 0
    return Keys(tuple((row["partition_key"] or "", row["missing"]) for row in first), others)


def _frames(found: Audited) -> Iterator[tuple[str, DataFrame]]:
    facts = found.facts
    if found.missing is not None and any(one.missing for one in facts.compared.values()):
        yield "missing", found.missing
    if any(one.doubled for one in facts.shards.values()):
        yield "doubled", found.doubled
    if found.disordered is not None and any(one.disordered for one in facts.shards.values()):
        yield "disordered", found.disordered
    if facts.unusable:
        yield "unusable", found.unusable


def _own(path: Path) -> None:
    """Spark makes files as the umask has it; what is around them was ours alone meanwhile."""
    for folder, _, files in os.walk(path):
        Path(folder).chmod(0o700)
        for name in files:
            (Path(folder) / name).chmod(0o600)
