"""What a start skips, as a file: one line for each interval, for a batch that reads exactly that.

Positions are spelled as in a file of `export` (snapshot/positions.py).
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from msgspec import Struct
from msgspec.structs import replace

from reshardctl.codec.strict import (
    JsonPath,
    array,
    boolean,
    members,
    parse,
    string,
    written_moment,
)
from reshardctl.codec.values import AFTER
from reshardctl.errors import UsageError
from reshardctl.model import Cut, Interval, Rank, ShardId, Step, Stream, index_of
from reshardctl.model.cuts import PARTS
from reshardctl.model.times import instant, same_second
from reshardctl.planning.skipped import Skipped, skipped
from reshardctl.render.escape import compact
from reshardctl.report.report import Report, case_of
from reshardctl.snapshot.positions import cut_in, place_of
from reshardctl.stores.named_file import save_private

VERSION = "reshardctl/skipped/1"
NEED = "make one with reshardctl fix CONSUMER --stream STREAM --policy latest --skipped FILE"
_PLACE = ("kind", "number", "sub_number", "time")


class SkippedIntervals(Struct, frozen=True):
    """The intervals of one start. arn, created: the stream's; taken, created: Unix seconds."""

    locator: str
    arn: str
    created: float
    taken: float
    intervals: tuple[Skipped, ...]

    def require_stream(self, stream: Stream) -> None:
        """UsageError if they are another stream's, or an earlier one's of the same name."""
        if self.arn != stream.arn or not same_second(self.created, stream.created):
            raise UsageError(
                f"the intervals are of {self.arn}, created {instant(self.created)}, and not of "
                f"{stream.arn}, created {instant(stream.created)}",
                "read them from their own stream; if it was deleted, its records are gone",
            )


def skipped_of(report: Report, steps: Sequence[Step]) -> SkippedIntervals:
    """What the first start skips after these steps."""
    stream, case = report.snapshot.lineage.stream, case_of(report.snapshot, report.options)
    inside = all(case.consumer.holds_parts(candidate.app) for candidate in case.candidates)
    found = tuple(
        part if inside else replace(part, records=_of_whole_records(part.records))
        for part in skipped(case, steps)
    )
    return SkippedIntervals(
        report.snapshot.locator.text, stream.arn, stream.created, report.snapshot.now, found
    )


def _of_whole_records(records: Interval) -> Interval:
    """The interval of a consumer whose positions lie between records."""
    return replace(records, since=_whole(records.since), until=_whole(records.until))


def _whole(cut: Cut) -> Cut:
    inside = cut.rank is Rank.INSIDE and not cut.by_time and not cut.sub
    return replace(cut, sub=PARTS) if inside else cut


def part_of(cut: Cut) -> int | None:
    """The last user record before a cut inside an aggregated record, -1 for none.

    `None` for a cut between two records.
    """
    if cut.rank is not Rank.INSIDE or cut.by_time or cut.sub >= PARTS:
        return None
    return cut.sub + PARTS - 1 if cut.sub < 0 else cut.sub


def json_text(saved: SkippedIntervals) -> str:
    """The JSON document."""
    return "".join(_json_lines(saved))


def save(saved: SkippedIntervals, path: Path) -> None:
    """Writes a new file, whole or not at all, readable by its owner only; or a pipe."""
    save_private(path, _json_lines(saved), "nothing was saved", "--skipped")


def _json_lines(saved: SkippedIntervals) -> Iterator[str]:
    head = {
        "schema": VERSION, "taken": instant(saved.taken), "consumer": saved.locator,
        "stream": {"arn": saved.arn, "created": instant(saved.created)},
    }
    yield "{"
    for name, value in head.items():
        yield f'"{name}": {compact(value)},\n'
    yield '"intervals": ['
    for number, part in enumerate(saved.intervals):
        entry = {
            "shard": part.records.shard, "after": _place(part.records.since),
            "until": _place(part.records.until), "certain": part.certain,
        }
        yield (",\n" if number else "\n") + compact(entry)
    yield "\n]}\n"


def _place(cut: Cut) -> Mapping[str, Any]:
    time = None if cut.time is None else instant(cut.time)
    place = place_of(cut)
    return {**place, "time": time, **({"sub_number": None} if cut.sub >= PARTS else {})}


def parsed(text: str, name: str) -> SkippedIntervals:
    """Reads what `json_text` wrote. UsageError that names the file, the entry and the reason."""
    path = JsonPath(name, next=NEED)
    body = parse(text, path)
    if not isinstance(body, dict) or body.get("schema") != VERSION:
        path.wrong(f"not intervals of this version ({VERSION})")
    file = members(body, ("schema", "taken", "consumer", "stream", "intervals"), path)
    stream = members(file["stream"], ("arn", "created"), path / "stream")
    entries = array(file["intervals"], path / "intervals")
    found = [_interval(entry, path / "intervals" / n) for n, entry in enumerate(entries)]
    _apart(found, path / "intervals")
    return SkippedIntervals(
        string(file["consumer"], path / "consumer"),
        string(stream["arn"], path / "stream" / "arn"),
        written_moment(stream["created"], path / "stream" / "created"),
        written_moment(file["taken"], path / "taken"),
        tuple(found),
    )


def _interval(value: object, path: JsonPath) -> Skipped:
    entry = members(value, ("shard", "after", "until", "certain"), path)
    shard = string(entry["shard"], path / "shard")
    if index_of(shard) is None:
        (path / "shard").wrong(f"{shard!r} is no shard id")
    since, until = (_cut(entry[name], path / name) for name in ("after", "until"))
    if until <= since:
        path.wrong("it ends before it begins")
    certain = boolean(entry["certain"], path / "certain")
    return Skipped(Interval(ShardId(shard), since, until), certain)


def _cut(value: object, path: JsonPath) -> Cut:
    entry = members(value, _PLACE, path)
    for name in ("kind", "number", "time"):
        if entry[name] is not None:
            string(entry[name], path / name)
    sub = entry["sub_number"]
    if sub is not None and (isinstance(sub, bool) or not isinstance(sub, int)):
        (path / "sub_number").wrong("not a whole number")
    where = f"{path.file}: {path.path}"
    cut = cut_in({**entry, "sub_number": None if sub is None else str(sub)}, where)
    if cut is None:
        (path / "kind").wrong("no place is named")
    return replace(cut, sub=PARTS) if sub is None and entry["kind"] == AFTER else cut


def _apart(found: Sequence[Skipped], path: JsonPath) -> None:
    """UsageError for intervals of one shard that overlap: their records would come twice."""
    last: dict[ShardId, Cut] = {}
    for number, part in enumerate(found):
        before = last.get(part.records.shard)
        if before is not None and not before <= part.records.since:
            (path / number).wrong("it overlaps an earlier one, or comes before it")
        last[part.records.shard] = part.records.until
