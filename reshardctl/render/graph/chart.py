"""What every picture draws: a box a shard, the edges between them, and a consumer's place in each.

Made once from a lineage, the time and, where a consumer was named, its report. All shards are
drawn, or named ones, the bad ones, or those since a time; finished shards are left out of a picture
of many, so that the others have room.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence

from msgspec import Struct
from msgspec.structs import replace

from reshardctl.consumers.base import Candidate
from reshardctl.diagnosis.rules import Severity
from reshardctl.lineage import Lineage
from reshardctl.model import Cut, ShardId, Span, Stream
from reshardctl.planning.effects import Effect, Harm, StreamState, has_unread, moment
from reshardctl.planning.plan import processed_frontier
from reshardctl.render.words import only_with
from reshardctl.report.next_start import crash_of
from reshardctl.report.report import Report, case_of

LOSING = (Harm.SKIPPED, Harm.STALLED)


WIDEST = 40
"""Characters of options in a label."""
SOME = "with some options"
"""What stands there instead of more."""


class Loss(Struct, frozen=True):
    """Stream time that the next start will not read. `since`, `until`: Unix seconds.

    certain: whichever candidate starts, and whatever was processed. Else it may come to that.
    only: `if initial=LATEST`: when it is certain, where that depends on options; "" for always or
    never.
    """

    effect: Effect
    since: float
    until: float
    certain: bool
    only: str = ""

    @property
    def grave(self) -> bool:
        """Whether it is certain with some options, as is an error of a report."""
        return self.certain or bool(self.only)


class DrawnPosition(Struct, frozen=True):
    """Where the consumer stands in a shard. stored: as the store spells it, `None` if absent.

    since: the Unix second up to which it is processed, certainly; perhaps: possibly. From there
    to the end of the shard's life it is unread. `None` for both where nothing is.
    codes: of the findings that name the shard. bad: whether one is an error or a warning.
    """

    stored: str | None
    processed: Span | None
    since: float | None
    perhaps: float | None
    loss: Loss | None
    codes: tuple[str, ...]
    bad: bool = False

    def unread(self, until: float) -> float:
        """Seconds of stream time unread at most."""
        return 0.0 if self.since is None else max(0.0, until - self.since)


class Box(Struct, frozen=True):
    """A listed shard as a rectangle: hash keys `low` to `high`, both inclusive, and its life.

    opened, closed: Unix seconds; `closed` is now for an open shard. expired: the parents that are
    not listed any more.
    """

    shard: ShardId
    open: bool
    opened: float
    closed: float
    low: int
    high: int
    parents: tuple[ShardId, ...]
    expired: tuple[ShardId, ...]
    position: DrawnPosition | None = None

    @property
    def unread_since(self) -> float | None:
        """The Unix second up to which it is processed, certainly; `None` if nothing is unread."""
        return None if self.position is None else self.position.since

    @property
    def loss(self) -> Loss | None:
        """What the next start will not read of it, or may not."""
        return None if self.position is None else self.position.loss

    @property
    def surely_loses(self) -> bool:
        """Whether the next start will not read all of it, for certain."""
        return self.loss is not None and self.loss.certain


class Chart(Struct, frozen=True):
    """boxes: parents before children. expired: parents that are named but not listed any more.

    edges: parent and child, in the order of the children. consumer: a locator, or "".
    crash: that the whole consumer crashes at its start, or may, and why; or "".
    since: the Unix second at which a picture begins, if it was chosen. hidden, hidden_open,
    hidden_losses: how many shards, open ones and losses were left out by a selection. folded: how
    many finished shards were.
    """

    stream: Stream
    now: float
    boxes: tuple[Box, ...]
    expired: tuple[ShardId, ...]
    edges: tuple[tuple[ShardId, ShardId], ...]
    consumer: str = ""
    crash: str = ""
    positions: Mapping[ShardId, str] | None = None
    since: float | None = None
    hidden: int = 0
    hidden_open: int = 0
    hidden_losses: int = 0
    folded: int = 0


def chart_of(lineage: Lineage, now: float, report: Report | None = None) -> Chart:
    """The chart of a stream at `now` (Unix seconds), with a consumer's line where given."""
    places = {} if report is None else _places(lineage, now, report)
    boxes = tuple(_box(lineage, shard, now, places.get(shard)) for shard in lineage)
    edges = tuple((parent, box.shard) for box in boxes for parent in box.parents)
    expired = tuple(dict.fromkeys(parent for box in boxes for parent in box.expired))
    if report is None:
        return Chart(lineage.stream, now, boxes, expired, edges)
    return Chart(
        lineage.stream, now, boxes, expired, edges, report.snapshot.locator.text, crash_of(report),
        report.positions,
    )


def _box(lineage: Lineage, shard: ShardId, now: float, position: DrawnPosition | None) -> Box:
    listed = lineage[shard]
    opened = _opened(lineage, shard)
    closed = now if listed.open else lineage.closed_at(shard)
    parents = tuple(dict.fromkeys(listed.parents))
    return Box(
        shard, listed.open, opened, max(opened, now if closed is None else closed),
        listed.hash_start, listed.hash_end, parents,
        tuple(parent for parent in parents if parent not in lineage), position,
    )


def _opened(lineage: Lineage, shard: ShardId) -> float:
    """Unix second at which the shard opened.

    Where its sequence numbers cannot be decoded (emulators): when its parents closed, or the
    stream's creation.
    """
    if (opened := lineage.opened_at(shard)) is not None:
        return opened
    ends = (lineage.closed_at(parent) for parent in lineage.parents(shard))
    return max((e for e in ends if e is not None), default=lineage.stream.created)


def _places(lineage: Lineage, now: float, report: Report) -> dict[ShardId, DrawnPosition]:
    case = case_of(report.snapshot, report.options)
    state = StreamState(lineage, now, report.snapshot.probes)
    line = processed_frontier(case)
    losses = _losses(state, report)
    codes: dict[ShardId, list[str]] = defaultdict(list)
    bad = {s for f in report.findings if f.severity >= Severity.WARNING for s in f.shards}
    for finding in report.findings:
        for shard in finding.shards:
            codes[shard].append(finding.code)
    out: dict[ShardId, DrawnPosition] = {}
    for shard in lineage:
        span = line.get(shard)
        since = perhaps = None
        if span is not None and has_unread(state, shard, span.lo):
            since = _moment(state, shard, span.lo)
            perhaps = max(since, moment(state, shard, span.hi) or since)
        out[shard] = DrawnPosition(
            report.positions.get(shard), span, since, perhaps, losses.get(shard),
            tuple(dict.fromkeys(codes[shard])), shard in bad,
        )
    return out


def _moment(state: StreamState, shard: ShardId, cut: Cut) -> float:
    """When the stream had come to a cut; the shard's beginning where numbers do not tell."""
    known = moment(state, shard, cut)
    return _opened(state.lineage, shard) if known is None else known


def _losses(state: StreamState, report: Report) -> dict[ShardId, Loss]:
    by_shard: dict[ShardId, list[list[Effect]]] = {}
    for index, judged in enumerate(report.judged):
        for effect in judged.effects:
            if effect.harm in LOSING and effect.shard is not None:
                runs = by_shard.setdefault(effect.shard, [[] for _ in report.judged])
                runs[index].append(effect)
    candidates = [judged.candidate for judged in report.judged]
    return {
        shard: _loss(state, shard, runs, candidates) for shard, runs in by_shard.items()
        if shard in state.lineage
    }


def _loss(
    state: StreamState, shard: ShardId, runs: Sequence[list[Effect]],
    candidates: Sequence[Candidate],
) -> Loss:
    """One loss of what the candidates' runs do: what all agree on, else the widest of them."""
    sure = [any(e.certain and not e.gone for e in run) for run in runs]
    certain = all(sure)
    every = [e for run in runs for e in run if not certain or e.certain]
    starts = [_moment(state, shard, e.since) for e in every]
    ends = [moment(state, shard, e.until) or state.now for e in every]
    since, until = (max(starts), min(ends)) if certain else (min(starts), max(ends))
    worst = max(
        [e for e in every if e.certain and not e.gone] or every,
        key=lambda e: (list(Harm).index(e.harm), e.seconds or 0.0),
    )
    some = [each for each, is_sure in zip(candidates, sure, strict=True) if is_sure]
    only = ""
    if some and not certain:
        options = only_with(some, candidates)
        only = f"if {options}" if 0 < len(options) <= WIDEST else SOME
    return Loss(worst, since, max(since, until), certain, only)


class DrawnShards(Struct, frozen=True):
    """Which shards to draw, and from when.

    shards: only these; none means all. only_bad: only shards with a loss, or that an error or a
    warning names. since: a Unix second; only shards that were open at it or later.
    """

    shards: tuple[ShardId, ...] = ()
    only_bad: bool = False
    since: float | None = None


EVERY_SHARD = DrawnShards()


def select(charts: Sequence[Chart], selection: DrawnShards) -> list[Chart]:
    """The charts of one stream with the selected shards only: the same shards in each.

    A shard is bad if it is bad for one of them.
    """
    if selection == EVERY_SHARD:
        return list(charts)
    bad = {box.shard for chart in charts for box in chart.boxes if is_bad(box.position)}
    wanted = frozenset(selection.shards)
    kept = frozenset(
        box.shard for box in charts[0].boxes
        if (not wanted or box.shard in wanted)
        and (not selection.only_bad or box.shard in bad)
        and (selection.since is None or box.open or box.closed > selection.since)
    )
    return [_only(chart, kept, selection.since) for chart in charts]


def is_bad(position: DrawnPosition | None) -> bool:
    """Whether the shard has a loss, or an error or a warning names it."""
    return position is not None and (position.bad or position.loss is not None)


def _only(chart: Chart, kept: frozenset[ShardId], since: float | None) -> Chart:
    boxes = tuple(box for box in chart.boxes if box.shard in kept)
    hidden = [box for box in chart.boxes if box.shard not in kept]
    named = {parent for box in boxes for parent in box.parents}
    return replace(
        chart, boxes=boxes, since=since,
        expired=tuple(shard for shard in chart.expired if shard in named),
        edges=tuple(edge for edge in chart.edges if edge[1] in kept and (
            edge[0] in kept or edge[0] in chart.expired
        )),
        hidden=len(hidden),
        hidden_open=sum(box.open for box in hidden),
        hidden_losses=sum(box.loss is not None for box in hidden),
    )


FROM = 65
"""Shards from which finished ones are left out."""


def folded(chart: Chart) -> Chart:
    """The chart without finished shards, with their number in `folded`.

    A chart of a few shards, of selected ones, or without a consumer stays as it is. So does a
    parent of a shard with a finding: it shows where that one comes from.
    """
    return without(chart, finished([chart])) if chart.consumer else chart


def finished(charts: Sequence[Chart]) -> frozenset[ShardId]:
    """The shards that a picture of these consumers leaves out: finished for each of them.

    charts: of one stream, with the same boxes.
    """
    boxes = charts[0].boxes
    if len(boxes) < FROM or charts[0].hidden:
        return frozenset()
    bad = {box.shard for chart in charts for box in chart.boxes if is_bad(box.position)}
    telling = {parent for box in boxes if box.shard in bad for parent in box.parents}
    every = (
        {box.shard for box in chart.boxes if _finished(box)} for chart in charts
    )
    return frozenset(set.intersection(*every) - telling - bad)


def without(chart: Chart, shards: frozenset[ShardId]) -> Chart:
    """The chart without these shards, which are counted in `folded`."""
    boxes = tuple(box for box in chart.boxes if box.shard not in shards)
    return replace(chart, boxes=boxes, folded=len(chart.boxes) - len(boxes))


def _finished(box: Box) -> bool:
    """Closed, and processed to its end."""
    position = box.position
    return (
        not box.open and position is not None and position.processed is not None
        and position.since is None
    )
