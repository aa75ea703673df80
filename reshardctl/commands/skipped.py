"""Saves what a start skips, for whoever reads it beside the application.

Apart from the commands that do so, because `fix` takes the file back if it then writes nothing.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

from reshardctl.commands.observer import Observer
from reshardctl.errors import HalfDone, ReshardError
from reshardctl.model import Step
from reshardctl.render.words import count
from reshardctl.report.report import Report
from reshardctl.snapshot.skipped import save, skipped_of
from reshardctl.stores.named_file import is_regular


def save_skipped(
    path: Path, report: Report, steps: Sequence[Step], observer: Observer
) -> None:
    """Saves what the first start after these steps skips. UsageError if the file exists."""
    found = skipped_of(report, steps)
    save(found, path)
    shards = len({part.records.shard for part in found.intervals})
    many = f"{count(len(found.intervals), 'interval')} of {count(shards, 'shard')}"
    observer.note(f"saved what the next start skips to {path}: {many if shards else 'nothing'}")


@contextmanager
def handing_over(
    path: Path | None, report: Report, steps: Sequence[Step], observer: Observer
) -> Iterator[None]:
    """A context of writes, before which the file is saved; it is removed if all were refused."""
    if path is not None:
        save_skipped(path, report, steps, observer)
    try:
        yield
    except HalfDone:
        raise
    except ReshardError:
        if path is not None and is_regular(path):
            path.unlink(missing_ok=True)
        raise
