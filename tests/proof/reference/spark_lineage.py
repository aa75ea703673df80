"""The project's own source `kinesis-lineage`: offsets are where each shard ENDS, children wait.

Written from the rules of its offsets as docs/source.md has them, knows nothing of the package:

- An offset holds a mark for every shard that was begun: `seq`, the last record, and `end`, whether
  the shard is read to its end; `from`, where it begins by time and has met no record; `tip`, a time
  as of which nothing lay behind `seq`. Beside them the stream's name and the time of its creation.
- A shard gets its mark one batch after all its listed parents have `end`. A listed shard above one
  that has a mark had its turn. startingPosition counts in the first batch alone.
- What retention has taken, or another stream of the same name, kills it unless failOnDataLoss is
  false: then it goes on with what is left.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from typing import Any

from tests.proof.reference.spark_files import DiedError
from tests.proof.reference.spark_qubole import Batch, CrashedError
from tests.proof.reference.spark_release import Options
from tests.proof.reference.spark_stream import Shard, Source

PAGE = 10_000
CLOSED = Shard("", (), open=False)
LISTED_LATE = 60.0  # a shard that closed so long before a start by time holds nothing behind it

Mark = dict[str, Any]
Marks = dict[str, Mark]


class Lineage:
    """One source of a running query; ``now`` is the clock in epoch seconds."""

    def __init__(self, source: Source, options: Options, now: Callable[[], float]) -> None:
        self.source, self.options, self.now = source, options, now
        self.fails = options.fails is not False
        self.named = json.loads(options.starting) if options.starting[:1] == "{" else {}
        self.kind, _, at = ("JSON" if self.named else options.starting).partition(":")
        self.since = int(at) / 1000 if at else 0.0

    def recover(self, start: str | None, end: str) -> None:
        """Told by Spark 4.0 and 4.1 alone, with nothing to do: the offset says everything."""

    def latest(self, start: str | None) -> str:
        """The ends as they are now of every shard that may be read."""
        created, retention = self._stream()
        if start is None or not ends_of(start):
            return self._spelled(self._opened(), created)
        marks = self._checked(start, created, retention)
        for shard in self._entering(marks):
            marks[shard] = {"seq": "", "end": False}
        ahead = {shard: self._ahead(shard, mark) for shard, mark in marks.items()}
        text = self._spelled(ahead, created)
        old = {shard: mark.get("tip", 0.0) for shard, mark in marks.items() if not mark["end"]}
        due = any(self.now() - tip > retention / 4 for tip in old.values() if tip)
        same = {s: _bare(m) for s, m in ahead.items()} == {s: _bare(m) for s, m in marks.items()}
        return start if same and not due and ends_of(start) == marks else text

    def run(self, start: str | None, end: str, tasks: int | None = None) -> Batch:
        """Read what lies between two offsets; after so many ``tasks`` it crashes."""
        of_it = start is not None and _head(start)["created"] == _head(end)["created"]
        before = ends_of(start) if of_it else {}
        moved = [s for s, mark in ends_of(end).items() if _bare(mark) != _bare(before.get(s))]
        delivered: Batch = {}
        for shard in moved[:tasks]:
            mark = ends_of(end)[shard]
            if mark["end"] and self.source.shards().get(shard, CLOSED).open:
                raise DiedError(f"{shard} is open, and never comes to its end")
            first = start is None or not ends_of(start)
            begin = self._first(shard, mark) if first else _begin(before.get(shard))
            if begin is not None:
                delivered[shard] = list(self._between(shard, begin, mark))
        if tasks is not None:
            raise CrashedError
        return delivered

    def committed(self) -> None:
        """Nothing is kept outside of the checkpoint."""

    # what the next offset holds

    def _opened(self) -> Marks:
        """The first batch: LATEST reads nothing and pins every shard."""
        found: Marks = {}
        for shard in self.source.shards().values():
            over = all(found.get(parent, {}).get("end") for parent in shard.parents)
            if self.kind == "LATEST":
                last = [number for number, _ in self._after(shard.id, ("TRIM_HORIZON", ""))[0]]
                seq = last[-1] if last and shard.open else ""
                found[shard.id] = {"seq": seq, "end": not shard.open, "tip": self.now()}
            elif self.kind == "AT_TIMESTAMP":
                if shard.end and _second(shard.end) + LISTED_LATE < self.since:
                    found[shard.id] = {"seq": "", "end": True}
                elif over:
                    found[shard.id] = {"seq": "", "end": False, "from": self.since}
            elif not shard.parents:
                found[shard.id] = {"seq": "", "end": False}
        if self.kind == "LATEST":
            return found
        return {shard: self._ahead(shard, mark) for shard, mark in found.items()}

    def _entering(self, marks: Marks) -> list[str]:
        shards = self.source.shards()
        had: set[str] = set()
        todo = [p for s in marks if s in shards for p in shards[s].parents]
        while todo:
            shard = todo.pop()
            had.add(shard)
            todo += shards[shard].parents
        over = had - marks.keys() | {shard for shard, mark in marks.items() if mark["end"]}
        return [
            shard.id for shard in shards.values()
            if shard.id not in marks and shard.id not in had and over.issuperset(shard.parents)
        ]

    def _ahead(self, shard: str, mark: Mark) -> Mark:
        listed = self.source.shards().get(shard)
        if mark["end"] or listed is None:
            return mark
        if not listed.open:
            return {name: one for name, one in mark.items() if name != "tip"} | {"end": True}
        records, _ = self._after(shard, _begin(mark))
        if not records:
            return {**mark, "tip": self.now()}
        return {"seq": records[-1][0], "end": False, "tip": self.now()}

    def _spelled(self, marks: Marks, created: float) -> str:
        shards = {shard: marks[shard] for shard in sorted(marks)}
        whole = {"shards": shards, "stream": self.source.stream, "created": created}
        return json.dumps(whole)

    # what it dies of

    def _checked(self, start: str, created: float, retention: float) -> Marks:
        """The marks to go on from. DiedError for an offset of something else, and for losses."""
        marks, head, shards = ends_of(start), _head(start), self.source.shards()
        if head["stream"] not in ("", self.source.stream):
            raise DiedError(f"the checkpoint is of stream {head['stream']}")
        if head["created"] is not None and abs(head["created"] - created) > 1:
            self._lost("the stream was created again")
            return {shard.id: _unread() for shard in shards.values() if not shard.parents}
        horizon = self.now() - retention
        for shard, mark in marks.items():
            if mark["end"]:
                continue
            if shard not in shards:
                self._lost(f"{shard} is not listed any more")
                marks[shard] = {"seq": mark["seq"], "end": True}
            elif _stands(mark) < horizon and not self._holds(shard, mark["seq"]):
                self._lost(f"{shard} stands before what is left")
        for shard in self._entering(marks):
            if gone := [p for p in shards[shard].named if p not in {*shards, *marks}]:
                self._lost(f"{gone} came and went unread")
        return marks

    def _lost(self, what: str) -> None:
        if self.fails:
            raise DiedError(what)

    # what is read

    def _first(self, shard: str, mark: Mark) -> tuple[str, str] | None:
        """Where the first batch reads a shard from: by the options alone, so that it can run again.
        """
        if (self.named or {shard: self.kind}).get(shard, "LATEST") == "LATEST":
            return None
        if self.kind == "AT_TIMESTAMP":
            passed = mark["end"] and not mark["seq"] and "from" not in mark
            return None if passed else (self.kind, str(int(self.since * 1000)))
        return ("TRIM_HORIZON", "")

    def _between(self, shard: str, begin: tuple[str, str], mark: Mark) -> Iterator[str]:
        for number, text in self._after(shard, begin, tolerant=not self.fails)[0]:
            if not mark["end"] and int(number) > int(mark["seq"] or 0):
                return
            yield text

    def _after(
        self, shard: str, begin: tuple[str, str], *, tolerant: bool = False
    ) -> tuple[list[tuple[str, str]], bool]:
        """Every record behind a place, and whether the shard ends there."""
        iterator = self.source.iterator(shard, *begin, tolerant=tolerant)
        records: list[tuple[str, str]] = []
        while iterator is not None:
            page = self.source.page(iterator, PAGE)
            records += page.records
            iterator = page.following
            if iterator is not None and not page.records and page.behind == 0:
                return records, False
        return records, True

    def _holds(self, shard: str, number: str) -> bool:
        """Whether the record of the mark can still be read: then nothing behind it is gone."""
        if not number:
            return False
        iterator = self.source.iterator(shard, "AT_SEQUENCE_NUMBER", number, tolerant=False)
        records = self.source.page(iterator, 1).records if iterator else []
        return bool(records) and records[0][0] == number

    # the stream

    def _stream(self) -> tuple[float, float]:
        """Its creation and its retention, in seconds."""
        answer = self.source.client.describe_stream_summary(StreamName=self.source.stream)
        summary = answer["StreamDescriptionSummary"]
        created = summary["StreamCreationTimestamp"].timestamp()
        return created, summary["RetentionPeriodHours"] * 3600.0


def ends_of(text: str | None) -> Marks:
    """The shards of an offset; DiedError for what the source refuses."""
    if not text:
        return {}
    try:
        whole = json.loads(text)
        if unknown := set(whole) - {"shards", "stream", "created", "retention"}:
            raise DiedError(f"no offset: {unknown}")
        marks = dict(whole["shards"])
        for shard, mark in marks.items():
            _refused(shard, mark)
    except (ValueError, KeyError, TypeError) as error:
        raise DiedError(f"no offset: {error!r}") from error
    return marks


def _refused(shard: str, mark: Mark) -> None:
    if not isinstance(mark["end"], bool) or set(mark) - {"seq", "end", "from", "tip"}:
        raise DiedError(f"{shard}: {mark}")
    if mark["seq"] and int(mark["seq"]) >> 4 & 0xFFFFFFFF != int(shard[8:]):
        raise DiedError(f"{shard}: {mark['seq']} is a number of another shard")


def _head(text: str) -> dict[str, Any]:
    ends_of(text)
    whole = json.loads(text)
    return {"stream": whole.get("stream", ""), "created": whole.get("created")}


def _unread() -> Mark:
    return {"seq": "", "end": False}


def _bare(mark: Mark | None) -> Mark | None:
    """Without the note that changes nothing."""
    return None if mark is None else {name: one for name, one in mark.items() if name != "tip"}


def _begin(mark: Mark | None) -> tuple[str, str]:
    """An iterator's type and value behind a mark."""
    if mark is not None and mark["seq"]:
        return ("AFTER_SEQUENCE_NUMBER", mark["seq"])
    if mark is not None and "from" in mark:
        return ("AT_TIMESTAMP", str(int(mark["from"] * 1000)))
    return ("TRIM_HORIZON", "")


def _stands(mark: Mark) -> float:
    """The last moment before which nothing is owed; for ever where the mark tells none."""
    times = [mark[name] for name in ("from", "tip") if name in mark]
    times += [float(_second(mark["seq"]))] if mark["seq"] else []
    return max(times, default=float("inf"))


def _second(number: str) -> int:
    """The time in a sequence number: 36 bits above the shard's 32 and the version's 4."""
    return int(number) >> 36 & (1 << 36) - 1
