"""A judged audit: findings, what is known of every shard, and what cannot be known."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from msgspec import Struct, field

from reshardctl.auditing.coverage import Unknowable, Window, unknowable, windows
from reshardctl.auditing.facts import FAILED, Compared, Facts, InSink
from reshardctl.diagnosis.rules import Finding, Severity, Sink, sink_findings
from reshardctl.lineage import Lineage
from reshardctl.model import Frontier, ShardId


class Stored(Struct, frozen=True):
    """What a consumer's store held before the sink was read.

    consumer: its locator or name. positions: as the store spells them. unread: shards of which its
    next start skips records, or which it never reads.
    """

    consumer: str
    processed: Frontier
    positions: Mapping[ShardId, str] = field(default_factory=dict)
    unread: frozenset[ShardId] = frozenset()


class ShardCoverage(Struct, frozen=True):
    """One shard: what the sink holds of it, what was compared, and what cannot be known."""

    shard: ShardId
    inside: InSink | None = None
    compared: Compared | None = None
    window: Window | None = None
    unknowable: tuple[Unknowable, ...] = ()
    position: str | None = None
    codes: tuple[str, ...] = ()

    @property
    def rows(self) -> int:
        """Rows in the sink."""
        return 0 if self.inside is None else self.inside.rows

    @property
    def missing(self) -> int | None:
        """Missing records; `None` where the stream was not read."""
        return None if self.compared is None else self.compared.missing

    @property
    def extra(self) -> int:
        """Surplus rows."""
        return 0 if self.inside is None else self.inside.extra


class Keys(Struct, frozen=True):
    """Partition keys with most missing records, and the number of others (`None`: not counted)."""

    missing: tuple[tuple[str, int], ...]
    others: int | None = 0


class Way(Struct, frozen=True):
    """A command for the operator to run next, as arguments, and its purpose."""

    arguments: tuple[str, ...]
    why: str


class AuditReport(Struct, frozen=True):
    """One sink, judged.

    saved: the directory to which the offending rows were written, or "". keys: `None` where nobody
    asked for them. lacking: of keys and rows, what was asked for and failed, with the reason. ways:
    next commands, the most urgent first; none for Python callers.
    """

    facts: Facts
    lineage: Lineage
    findings: tuple[Finding, ...]
    coverages: tuple[ShardCoverage, ...]
    stored: Stored | None = None
    keys: Keys | None = None
    saved: str = ""
    lacking: tuple[str, ...] = ()
    notes: tuple[str, ...] = ()
    ways: tuple[Way, ...] = ()

    def counts(self) -> dict[str, int]:
        """Number of findings of each severity."""
        return {
            str(s): sum(f.severity is s for f in self.findings) for s in reversed(Severity)
        }

    @property
    def against_stream(self) -> bool:
        """Whether the stream was read as well."""
        return bool(self.facts.compared)

    @property
    def failed(self) -> tuple[ShardId, ...]:
        """Shards whose read failed before its end; nothing is known of the rest."""
        return failed(self.facts)

    @property
    def missing(self) -> int:
        """Number of the stream's records that are not in the sink."""
        return sum(shard.missing for shard in self.facts.compared.values())

    @property
    def read(self) -> int:
        """Number of the stream's records that were compared."""
        return sum(shard.read for shard in self.facts.compared.values())


def judge_sink(
    facts: Facts, lineage: Lineage, stored: Stored | None = None
) -> AuditReport:
    """Judge what was counted; equal facts give equal reports."""
    sink = Sink(facts, lineage)
    if stored is not None:
        sink = Sink(facts, lineage, stored.processed, stored.consumer, stored.unread)
    findings = tuple(sink_findings(sink))
    return AuditReport(
        facts, lineage, findings, tuple(_standings(facts, lineage, stored, findings)), stored,
        notes=(*facts.notes, *_not_looked_at(facts)),
    )


def failed(facts: Facts) -> tuple[ShardId, ...]:
    """Shards of which a read failed."""
    return tuple(s for s, compared in facts.compared.items() if compared.short.startswith(FAILED))


def _not_looked_at(facts: Facts) -> Iterable[str]:
    """Notes on what was not judged, so that no finding of it is no proof."""
    if torn := failed(facts):
        yield (
            f"of {len(torn):,} shard{'s' if len(torn) > 1 else ''} the read failed: whether more "
            "is missing there could not be told (exit 3)"
        )
    if not facts.compared:
        yield (
            "the stream was not read: whether records are missing was not looked at "
            "(--alone)"
        )
    if facts.shards and all(shard.disordered is None for shard in facts.shards.values()):
        yield (
            "nothing in the sink tells in which order its rows came: the order within keys was "
            "not looked at (--column order=COLUMN)"
        )


def _standings(
    facts: Facts, lineage: Lineage, stored: Stored | None, findings: Iterable[Finding]
) -> Iterable[ShardCoverage]:
    codes: dict[ShardId, list[str]] = {}
    for finding in findings:
        for shard in finding.shards:
            codes.setdefault(shard, []).append(finding.code)
    gaps: dict[ShardId, list[Unknowable]] = {}
    for gap in unknowable(facts, lineage):
        gaps.setdefault(gap.shard, []).append(gap)
    compared = {window.shard: window for window in windows(facts, lineage)}
    positions = {} if stored is None else stored.positions
    gone = [s for s in dict.fromkeys([*facts.shards, *gaps]) if s not in lineage]
    for shard in (*sorted(gone), *lineage):
        yield ShardCoverage(
            shard, facts.shards.get(shard), facts.compared.get(shard), compared.get(shard),
            tuple(gaps.get(shard, ())), positions.get(shard),
            tuple(dict.fromkeys(codes.get(shard, ()))),
        )
