"""Policies: the frontier that the operator wants, and what it may cost.

Positions that the operator gives are kept as they were asked for.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from msgspec import Struct, field

from reshardctl.lineage import Lineage
from reshardctl.model import (
    DONE,
    START,
    TIP,
    Basis,
    Cut,
    Frontier,
    Rank,
    ShardId,
    Span,
    TargetFrontier,
)
from reshardctl.model.times import When, instant


class GivenPosition(Struct, frozen=True):
    """One shard's position as the operator gives it.

    where: the file and its line or entry, or the option. cut: `None` where the file says that the
    stored text names no place. basis, text: as in `StoredPosition` (as_given.py).
    """

    where: str
    shard: ShardId
    cut: Cut | None
    basis: Basis = Basis.STORED
    text: str | None = None


class GivenPositions(Struct, frozen=True):
    """What was asked for. back: seconds by which every position is to be moved back.

    arn, created: the stream that the positions are of, if their source names it. whole: they are
    all positions of an earlier time, in which shards may be named that have expired since.
    """

    positions: tuple[GivenPosition, ...] = ()
    back: float | None = None
    arn: str | None = None
    created: float | None = None
    whole: bool = False
    source: str = ""


HOUR = 3600.0
EVERYTHING = 1e12
"""Seconds beyond any stream's retention: as a limit, it includes effects of unknown width."""


class Accept(Struct, frozen=True):
    """What the operator accepts. skip, reread: seconds of stream time per shard; disorder: any.

    names_skip: whether `skip` was named, which then limits what a policy skips on purpose, too.
    """

    skip: float = 0.0
    reread: float = HOUR
    disorder: bool = False
    names_skip: bool = False


UNASKED = Accept()
"""What a plan may cost without a question, and what the rows may cost without a plan."""
ANY_PRICE = Accept(reread=EVERYTHING, disorder=True)
"""The limit of a plan for which none was given: it skips nothing, and consent to its other costs is
asked for before the write."""


class Policy(Struct, frozen=True):
    """Which frontier to want. `skips`: the frontier may lie right of what is processed, on purpose.

    when: the time of a policy by time, as it was given. since: the same in Unix seconds, once
    resolved; places: then, the position at it of every shard that was open. notes: remarks made
    when it was resolved. given: positions that the operator gives, until they are resolved to
    `places`. shifts: whether `places` were reckoned from the stored positions (`--shift`).
    """

    name: str
    skips: bool = False
    when: When | None = None
    since: float | None = None
    places: Mapping[ShardId, Cut] = field(default_factory=dict)
    notes: tuple[str, ...] = ()
    given: GivenPositions | None = None
    shifts: bool = False

    @property
    def text(self) -> str:
        """The value of `--policy`."""
        timed = self.name == AT_TIMESTAMP.name and self.when is not None
        return f"{self.name}={self.when.text}" if timed and self.when else self.name

    def lasting(self, argv: Sequence[str]) -> tuple[str, ...]:
        """The arguments, in which `at-timestamp=-90m` becomes the time that it was resolved to.

        A command that is run later then means what was shown.
        """
        if self.when is None or self.when.ago is None or self.since is None:
            return tuple(argv)
        fixed = f"{self.name}={instant(self.since)}"
        return tuple(fixed if word == f"{self.name}={self.when.text}" else word for word in argv)

    @property
    def unresolved(self) -> bool:
        """Whether the stream has to be read first, to turn its time into numbers."""
        timed = self.name in (LATEST.name, AT_TIMESTAMP.name) and self.since is None
        return timed or self.given is not None

    @property
    def names_shards(self) -> bool:
        """Whether it moves the shards in `places` alone, and every other one is left alone."""
        return self.name == POSITIONS.name

    def frontier(self, lineage: Lineage, processed: Frontier) -> TargetFrontier:
        """The frontier wanted, for every shard of which anything is known."""
        if self.name == LOSSLESS.name:
            return {shard: span.lo for shard, span in processed.items()}
        if self.name == LATEST_AT_START.name:
            ends = self.places
            return {shard: _tip(lineage, shard, ends.get(shard, DONE)) for shard in processed}
        if self.names_shards:
            return {shard: self.places.get(shard, span.lo) for shard, span in processed.items()}
        assert not self.unresolved, "a time is resolved to numbers before anything is planned"
        return {shard: self._at_its_time(lineage, shard, span) for shard, span in processed.items()}

    def takes_as_over(self, lineage: Lineage, shard: ShardId) -> bool:
        """Whether nothing of a closed shard is to be read, whatever is stored of it."""
        if self.name == LATEST_AT_START.name:
            return True
        if shard in self.places:
            return self.places[shard] == DONE
        closed = lineage.closed_at(shard)
        return self.since is not None and closed is not None and closed <= self.since

    def _at_its_time(self, lineage: Lineage, shard: ShardId, span: Span) -> Cut:
        """The shard's position at the policy's time.

        A shard that closed before is over, one that opened since starts at its beginning; any other
        that was not looked at stays where it is.
        """
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
        """The cut, unless the stored position is as good and re-reads less.

        It is inside the same record. `latest` never moves back: what is processed by now is
        processed. Only a position for the tip of each start is pinned.
        """
        if cut.rank is span.lo.rank is Rank.INSIDE and cut.number == span.lo.number:
            return cut if span.lo.sub < 0 else span.lo
        if self.name == LATEST.name and cut < span.lo != TIP:
            return span.lo
        return cut


def _tip(lineage: Lineage, shard: ShardId, end: Cut) -> Cut:
    """The tip as of the next start for an open shard, the end for a closed one."""
    return TIP if shard in lineage and lineage.is_open(shard) else end


LOSSLESS = Policy("lossless")
"""Skips nothing and re-reads as little as possible: the low end of every span."""
LATEST = Policy("latest", skips=True, when=When("now", ago=0.0))
"""The time of the plan: skips what is there, misses nothing from now on."""
AT_TIMESTAMP = Policy("at-timestamp", skips=True)
"""A time that the operator gives."""
LATEST_AT_START = Policy("latest-at-start", skips=True)
"""The store's own value for the tip, resolved at each start."""
POSITIONS = Policy("positions", skips=True)
"""The positions that the operator gives; no value of `--policy`."""

POLICIES = {p.name: p for p in (LOSSLESS, LATEST, AT_TIMESTAMP, LATEST_AT_START)}
