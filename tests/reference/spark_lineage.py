"""A Python data source whose offsets say where each shard ENDS, and whose children wait.

The design was run on PySpark 4.0.1, 4.1.4 and 4.3.0 in November 2026 (a split, a crash between
plan and commit, a merge: 360 of 360 records once, in order). A shard is admitted by the offset
after the one in which all of its listed parents are at their end; a batch reads behind the offset
before it, up to its own.
"""

from __future__ import annotations

import json
from typing import Any

from tests.reference.spark_files import DiedError
from tests.reference.spark_qubole import Batch, CrashedError
from tests.reference.spark_stream import Source

PAGE = 10_000
UNREAD = {"seq": "", "end": False}

Ends = dict[str, dict[str, Any]]


class Lineage:
    """One source of a running query."""

    def __init__(self, source: Source) -> None:
        self.source = source

    def recover(self, start: str | None, end: str) -> None:
        """Told by Spark 4.0 and 4.1 alone, with nothing to do: the offset says everything."""

    def latest(self, start: str | None) -> str:
        """The ends as they are now of every shard that may be read."""
        known = ends_of(start)
        shards = self.source.shards()
        for shard in shards.values():
            if all(known.get(parent, UNREAD)["end"] for parent in shard.parents):
                known.setdefault(shard.id, UNREAD)
        now = {
            shard: self._end(shard, known[shard]) if shard in shards else known[shard]
            for shard in sorted(known)
        }
        return json.dumps({"shards": now})

    def run(self, start: str | None, end: str, tasks: int | None = None) -> Batch:
        """Read what lies between two offsets; after so many ``tasks`` it crashes."""
        before = ends_of(start)
        moved = {
            shard: place["seq"]
            for shard, place in ends_of(end).items()
            if place["seq"] != before.get(shard, UNREAD)["seq"]
        }
        delivered: Batch = {}
        for shard in list(moved)[:tasks]:
            records, _ = self._after(shard, before.get(shard, UNREAD)["seq"])
            delivered[shard] = [
                text for number, text in records if int(number) <= int(moved[shard])
            ]
        if tasks is not None:
            raise CrashedError
        return delivered

    def committed(self) -> None:
        """Nothing is kept outside of the checkpoint."""

    def _end(self, shard: str, place: dict[str, Any]) -> dict[str, Any]:
        if place["end"]:
            return place
        records, ended = self._after(shard, place["seq"])
        return {"seq": records[-1][0] if records else place["seq"], "end": ended}

    def _after(self, shard: str, number: str) -> tuple[list[tuple[str, str]], bool]:
        """Every record behind a number, and whether the shard ends there."""
        kind = "AFTER_SEQUENCE_NUMBER" if number else "TRIM_HORIZON"
        iterator = self.source.iterator(shard, kind, number, tolerant=False)
        records: list[tuple[str, str]] = []
        while iterator is not None:
            page = self.source.page(iterator, PAGE)
            records += page.records
            iterator = page.following
            if iterator is not None and not page.records and page.behind == 0:
                return records, False
        return records, True


def ends_of(text: str | None) -> Ends:
    """The shards of an offset; DiedError for what is none."""
    try:
        return dict(json.loads(text)["shards"]) if text else {}
    except (ValueError, KeyError, TypeError) as error:
        raise DiedError(f"no offset: {error!r}") from error
