"""Rules on what a sink lacks, RSH501, RSH505 and RSH508: whether it is lost, late or unknown."""

from __future__ import annotations

from collections.abc import Iterator
from enum import Enum

from msgspec import Struct

from reshardctl.auditing.coverage import NOT_ASKED, TAKEN, UNLISTED, Unknowable, time_in, unknowable
from reshardctl.auditing.facts import Compared, Record
from reshardctl.diagnosis.rules.base import Found, Severity, rule
from reshardctl.diagnosis.rules.sinks import Sink, behind, covers, in_order, many
from reshardctl.model import ShardId, short
from reshardctl.model.phrases import listed
from reshardctl.model.times import instant
from reshardctl.planning.effects import Deadline

LATE = 600.0
"""Seconds by which other shards' rows may be ahead of records that are still on their way."""


class Why(Enum):
    """Why the missing records of a shard are lost or not: severity and text."""

    PASSED = (Severity.ERROR, "the consumer's stored position comes after them: it will not read "
               "them again")
    PARTLY_PASSED = (Severity.ERROR, "the consumer's stored position comes after the first of "
                     "them: it will not read them again, and has still to read the others")
    HOLE = (Severity.ERROR, "the sink has later records of the same shard")
    PARTLY_HOLE = (Severity.ERROR, "the sink has later records of the same shard than the first of "
                   "them; what is newer than all of these may still be on its way")
    CHILDREN = (Severity.ERROR, "the sink has records of a child already")
    LATE = (Severity.ERROR, "the sink has records of other shards that arrived more than "
            f"{LATE / 60:.0f} minutes later")
    TAIL = (Severity.WARNING, "they are newer than all that the sink has of the shard: lost, or "
            "still on their way")
    UNREAD = (Severity.ERROR, "the consumer's next start skips them, or never reads the shard: see "
              "reshardctl inspect")
    STILL_TO_READ = (Severity.INFO, "the consumer has still to read them: its stored position lies "
                     "before them")

    @property
    def severity(self) -> Severity:
        """An error where they are certainly lost."""
        return self.value[0]

    @property
    def clause(self) -> str:
        """The reason, as a clause."""
        return self.value[1]


class Lack(Struct, frozen=True):
    """The missing records of one shard."""

    compared: Compared
    why: Why


def lacks(sink: Sink) -> Iterator[Lack]:
    """Every shard of which records are missing."""
    facts = sink.facts
    passed = _with_rows_below(sink)
    newest = max((t for held in facts.shards.values() if (t := time_in(held.last))), default=None)
    for shard in sink.lineage:
        compared = facts.compared.get(shard)
        if compared is not None and compared.missing:
            yield Lack(compared, _why(sink, compared, shard in passed, newest))


def _why(sink: Sink, compared: Compared, passed: bool, newest: float | None) -> Why:
    first = compared.first_missing
    span = sink.processed.get(compared.shard) if sink.processed is not None else None
    if span is not None and first is not None:
        if covers(span.lo, first):
            rest = compared.last_missing is not None and behind(span.hi, compared.last_missing)
            unread = compared.shard in sink.unread
            return Why.PARTLY_PASSED if rest and not unread else Why.PASSED
        if compared.shard in sink.unread:
            return Why.UNREAD
        if behind(span.hi, first):
            return Why.STILL_TO_READ
    inside = sink.facts.shards.get(compared.shard)
    if inside is not None and first is not None and _order(first) < _order(inside.last):
        last = compared.last_missing
        newer = last is not None and _order(last) > _order(inside.last)
        return Why.PARTLY_HOLE if newer and sink.lineage.is_open(compared.shard) else Why.HOLE
    if passed:
        return Why.CHILDREN
    arrived = time_in(first)
    late = newest is not None and arrived is not None and newest - arrived > LATE
    return Why.LATE if late else Why.TAIL


def _order(record: Record) -> tuple[int, int]:
    return int(record.number), record.sub


def _with_rows_below(sink: Sink) -> set[ShardId]:
    """Shards that have a descendant with rows in the sink."""
    ancestors: set[ShardId] = set()
    todo = [shard for shard in sink.facts.shards if shard in sink.lineage]
    while todo:
        for parent in sink.lineage.parents(todo.pop()):
            if parent not in ancestors:
                ancestors.add(parent)
                todo.append(parent)
    return ancestors


NAMED = 12
"""Shards that a reason names before it counts the rest."""
MISSING_HELPS = {
    Severity.ERROR: "read them again while the stream has them; listed by audit --rows DIR",
    Severity.WARNING: "look again when the sink has caught up, or name the consumer",
    Severity.INFO: "start the consumer, and look again",
}


@rule("RSH501", "records-missing")
def records_missing(sink: Sink) -> Iterator[Found]:
    """One finding for each severity, over all its shards."""
    all_lacks = list(lacks(sink))
    for severity in (Severity.ERROR, Severity.WARNING, Severity.INFO):
        if such := [lack for lack in all_lacks if lack.why.severity is severity]:
            yield _of_severity(sink, severity, such)


def _of_severity(sink: Sink, severity: Severity, lacking: list[Lack]) -> Found:
    compared = [lack.compared for lack in lacking]
    missing = sum(each.missing for each in compared)
    are = "is" if missing == 1 else "are"
    first = [t for each in compared if (t := time_in(each.first_missing)) is not None]
    last = [t for each in compared if (t := time_in(each.last_missing)) is not None]
    arrived = f", arrived {_stretch(min(first), max(last))}" if first and last else ""
    return Found(
        severity, in_order(sink.lineage, (each.shard for each in compared)),
        f"{many(missing, 'record')} of the stream {are} not in the sink{arrived}",
        _reasons(lacking), deadline=_deadline(sink, compared), helps=MISSING_HELPS[severity],
    )


def _stretch(first: float, last: float) -> str:
    since, until = instant(first), instant(last)
    return f"at {since}" if since == until else f"{since} to {until}"


def _reasons(lacking: list[Lack]) -> str:
    """Every reason once, with its shards if there are several."""
    reasons = list(dict.fromkeys(lack.why for lack in lacking))
    if len(reasons) == 1:
        return reasons[0].clause
    return "; ".join(f"{_shards_of(lacking, why)}: {why.clause}" for why in reasons)


def _shards_of(lacking: list[Lack], why: Why) -> str:
    return listed([short(lack.compared.shard) for lack in lacking if lack.why is why], NAMED)


def _deadline(sink: Sink, compared: list[Compared]) -> Deadline | None:
    """When the first, and when the last, of the records expires."""
    first = [t for each in compared if (t := time_in(each.first_missing)) is not None]
    last = [t for each in compared if (t := time_in(each.last_missing)) is not None]
    if not first or not last:
        return None
    keeps = sink.lineage.stream.retention
    seen = all(each.first_missing and each.first_missing.arrival is not None for each in compared)
    return Deadline(min(first) + keeps, max(last) + keeps, seen)


@rule("RSH505", "shard-without-rows")
def shard_without_rows(sink: Sink) -> Iterator[Found]:
    """A warning where the stream shows records, or the sink is empty; else info."""
    facts = sink.facts
    bare = [shard for shard in sink.lineage if shard not in facts.shards]
    if not facts.rows:
        yield Found(
            Severity.WARNING, (), "the sink holds no row at all",
            helps="check its path, and whether something writes to it",
        )
    full = [s for s in bare if s in facts.compared and facts.compared[s].read]
    if full:
        read = sum(facts.compared[shard].read for shard in full)
        yield Found(
            Severity.WARNING, tuple(full),
            f"the sink has no row, and the stream has {many(read, 'record')}",
            helps="whether the consumer reads them: reshardctl inspect",
        )
    quiet = [shard for shard in bare if shard not in full and not _seen_empty(sink, shard)]
    if quiet and facts.rows:
        yield from _quiet(sink, quiet)


def _quiet(sink: Sink, shards: list[ShardId]) -> Iterator[Found]:
    """Findings of shards of which all that is left was read, and of others."""
    read = [shard for shard in shards if _read_whole(sink, shard)]
    left = [shard for shard in shards if shard not in read]
    if read:
        yield Found(
            Severity.INFO, tuple(read),
            "the sink has no row, and the stream has no record any more",
        )
    if left and sink.facts.compared:
        yield Found(
            Severity.INFO, tuple(left),
            "the sink has no row, and of the stream not all was read that it may have of them",
            helps="without --since and --until all of it is read",
        )
    elif left:
        yield Found(
            Severity.INFO, tuple(left), "the sink has no row: idle, or not read",
            helps="whether they are idle: audit without --alone",
        )


def _read_whole(sink: Sink, shard: ShardId) -> bool:
    """Whether all records that the stream still has of the shard were read."""
    facts, compared = sink.facts, sink.facts.compared.get(shard)
    windowed = facts.since is not None or facts.until is not None
    return compared is not None and not compared.short and not windowed


def _seen_empty(sink: Sink, shard: ShardId) -> bool:
    """Whether the whole shard was read, from its beginning, and had no record."""
    compared = sink.facts.compared.get(shard)
    if compared is None or not compared.whole or compared.short:
        return False
    return compared.ended or compared.tip


CANNOT_BE_KNOWN = {
    TAKEN: "what arrived before the window is gone from the stream: whether the sink missed any of "
    "it cannot be known",
    UNLISTED: "not listed any more: whether the sink missed any of their records cannot be known",
}


@rule("RSH508", "cannot-be-known")
def cannot_be_known(sink: Sink) -> Iterator[Found]:
    """An info for each reason; none if the stream was not read, which the report says by itself."""
    reasons: dict[str, list[Unknowable]] = {}
    for stretch in unknowable(sink.facts, sink.lineage):
        if stretch.why != NOT_ASKED:
            reasons.setdefault(stretch.why, []).append(stretch)
    for why, stretches in reasons.items():
        what = CANNOT_BE_KNOWN.get(why, f"not compared: {why}")
        shards = in_order(sink.lineage, (stretch.shard for stretch in stretches))
        yield Found(Severity.INFO, shards, what)
