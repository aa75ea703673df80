"""Policies: which line the operator wants, and what it may cost."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace

from reshardctl.lineage import Lineage
from reshardctl.model import DONE, START, TIP, Cut, Frontier, Rank, ShardId, Span, TargetFrontier
from reshardctl.model.times import When

HOUR = 3600.0
EVERYTHING = 1e12
"""Seconds beyond any stream's retention: a limit that takes what has no known width, too."""


@dataclass(frozen=True, slots=True)
class Accept:
    """What the operator accepts. skip, reread: seconds of stream time a shard; disorder: any."""

    skip: float = 0.0
    reread: float = HOUR
    disorder: bool = False


UNASKED = Accept()
"""What a plan may cost that is written without a question, and what calls for a plan at all."""
ANY_PRICE = Accept(reread=EVERYTHING, disorder=True)
"""The limit of a plan for which none was named: it skips nothing, and what else it costs is asked
about where it is written."""


@dataclass(frozen=True, slots=True)
class Policy:
    """A line to want. `skips`: the line may lie right of what is processed; that is its point.

    when: the time that a policy by time is about, as it was asked for. since: the same in Unix
    seconds, once it is resolved; places: then, where every shard that was open at it stood.
    notes: what was to be said when it was resolved.
    """

    name: str
    skips: bool = False
    when: When | None = None
    since: float | None = None
    places: Mapping[ShardId, Cut] = field(default_factory=dict)
    notes: tuple[str, ...] = field(default=(), compare=False)

    @property
    def text(self) -> str:
        """As `--policy` takes it."""
        timed = self.name == AT_TIMESTAMP.name and self.when is not None
        return f"{self.name}={self.when.text}" if timed and self.when else self.name

    @property
    def unresolved(self) -> bool:
        """Whether reading the stream has to turn its time into numbers first."""
        return self.name in (LATEST.name, AT_TIMESTAMP.name) and self.since is None

    def frontier(self, lineage: Lineage, processed: Frontier) -> TargetFrontier:
        """The line wanted, for every shard of which anything is known."""
        if self.name == LOSSLESS.name:
            return {shard: span.lo for shard, span in processed.items()}
        if self.name == LATEST_AT_START.name:
            return {shard: _tip(lineage, shard, self.places.get(shard)) for shard in processed}
        assert not self.unresolved, "a time is resolved to numbers before anything is planned"
        return {shard: self._at_its_time(lineage, shard, span) for shard, span in processed.items()}

    def _at_its_time(self, lineage: Lineage, shard: ShardId, span: Span) -> Cut:
        """Where the shard stood at the policy's time. What closed before it is over, what opened
        since starts at its beginning; a shard of neither kind that was not looked at stays."""
        if shard not in lineage:
            return DONE
        if shard in self.places:
            return self._not_behind(self.places[shard], span)
        assert self.since is not None
        opened, closed = lineage.opened_at(shard), lineage.closed_at(shard)
        if opened is not None and opened >= self.since:
            return START
        return DONE if closed is not None and closed <= self.since else span.lo

    def _not_behind(self, cut: Cut, span: Span) -> Cut:
        """Inside the record of the place the stored position is as good as it and re-reads less.
        `latest` never moves back: what is processed by now is processed. Only a mark for the tip as
        of each start is pinned."""
        if cut.rank is span.lo.rank is Rank.INSIDE and cut.number == span.lo.number:
            return cut if span.lo.sub < 0 else span.lo
        if self.name == LATEST.name and cut < span.lo != TIP:
            return span.lo
        return cut


def _tip(lineage: Lineage, shard: ShardId, last: Cut | None) -> Cut:
    """Every open shard at its tip as of the next start, every closed one over; last: its last
    record, where that is known."""
    if shard in lineage and lineage.is_open(shard):
        return TIP
    return DONE if last is None else replace(DONE, text=last.text)


LOSSLESS = Policy("lossless")
"""Skip nothing, re-read as little as possible: the low end of every span."""
LATEST = Policy("latest", skips=True, when=When("now", ago=0.0))
"""The plan's own time: skip what is there, miss nothing from now on."""
AT_TIMESTAMP = Policy("at-timestamp", skips=True)
"""A time that the operator names."""
LATEST_AT_START = Policy("latest-at-start", skips=True)
"""The store's own mark for the tip, resolved at each start."""

POLICIES = {p.name: p for p in (LOSSLESS, LATEST, AT_TIMESTAMP, LATEST_AT_START)}
