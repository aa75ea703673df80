"""Signs that a query runs: new batches, commits and log entries. Nothing locks a checkpoint."""

from __future__ import annotations

from collections.abc import Iterable

from reshardctl.model import Image

WATCHED = ("offsets", "commits", "sources", "state", "log")


def signs_of_life(images: Iterable[Image]) -> dict[str, str]:
    """What changes when a batch is planned, run or committed.

    One entry for each folder of the checkpoint: how many files of it were seen, the newest name,
    and the latest time at which one was written.
    """
    newest: dict[str, tuple[int, str, int]] = {}
    for image in images:
        folder = image.key.partition("/")[0]
        if folder not in WATCHED or image.key.endswith("/"):
            continue
        count, name, written = newest.get(folder, (0, "", 0))
        stamp = int(image.attributes.get("modified", {"N": "0"})["N"])
        newest[folder] = (count + 1, max(name, image.key, key=_rank), max(written, stamp))
    return {
        folder: f"{count} files, newest {name}, written {written}"
        for folder, (count, name, written) in newest.items()
    }


def _rank(key: str) -> tuple[int, str]:
    """Batch ids grow in length."""
    return len(key), key


def excluded_by(seconds: float) -> str:
    """What a watch of `seconds` without a new batch rules out."""
    return (
        f"{seconds:g} s without a new batch rules out a query that has records to read and a "
        f"trigger below {seconds:g} s; an idle one, or one with a longer trigger, leaves no trace"
    )
