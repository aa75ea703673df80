"""Findings, what a rule sees, and the findings that an operator accepts."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from enum import IntEnum
from typing import Any, Generic, TypeVar

from msgspec import Struct, field

from reshardctl.diagnosis.evidence import Earlier, Foreign, Watched
from reshardctl.lineage import Lineage
from reshardctl.model import Anomaly, AnomalyKind, Cause, Frontier, ShardId, Simulation
from reshardctl.planning.effects import Deadline, Effect, Harm, StreamState


class Severity(IntEnum):
    """How grave a finding is.

    error: certain loss, stall or crash at the next start. warning: possible loss, re-reads,
    disorder. info: leftovers.
    """

    INFO = 1
    WARNING = 2
    ERROR = 3

    def __str__(self) -> str:
        return self.name.lower()


class Finding(Struct, frozen=True):
    """A coded difference between what is processed and what the consumer will do.

    what: one sentence. costs: one sentence, "" where it costs nothing. when: the options under
    which it holds, "" where it holds under all.
    """

    code: str
    name: str
    severity: Severity
    shards: tuple[ShardId, ...]
    what: str
    costs: str = ""
    effects: tuple[Effect, ...] = ()
    deadline: Deadline | None = None
    when: str = ""
    helps: str = ""
    """What helps besides a fix, "" where a fix suffices."""


class View(Struct, frozen=True):
    """One candidate's next start, read-only.

    findings: of all other rules, for the last one; None before they have looked. foreign: the
    shards whose stored numbers are not this stream's.
    """

    state: StreamState
    processed: Frontier
    simulation: Simulation
    effects: Sequence[Effect]
    anomalies: Sequence[Anomaly]
    recreated: bool
    watched: Watched | None = None
    earlier: Earlier | None = None
    findings: Sequence[Finding] | None = None
    foreign: Mapping[ShardId, Foreign] = field(default_factory=dict)

    @property
    def lineage(self) -> Lineage:
        """The stream's shards."""
        return self.state.lineage

    def harmed(self, harm: Harm, *causes: Cause | None) -> list[Effect]:
        """Effects of a kind, of any cause or of the given ones."""
        return [e for e in self.effects if e.harm is harm and (not causes or e.cause in causes)]

    def anomalies_of(self, *kinds: AnomalyKind) -> list[Anomaly]:
        """Anomalies of these kinds."""
        return [o for o in self.anomalies if o.kind in kinds]


class Found(Struct, frozen=True):
    """What a rule has found: a `Finding` without the rule's code and name.

    deadline: `None` for that of its effects.
    """

    severity: Severity
    shards: tuple[ShardId, ...]
    what: str
    costs: str = ""
    effects: tuple[Effect, ...] = ()
    deadline: Deadline | None = None
    helps: str = ""


Seen = TypeVar("Seen")
"""What a rule sees: a `View` of a start, or a sink (`rules.sinks`)."""


class Rule(Struct, Generic[Seen], frozen=True):
    """One code.

    wanted_by: names of policies that ask for what it finds. last: it looks at what no other
    explains.
    """

    code: str
    name: str
    look: Callable[[Seen], Iterator[Found]]
    wanted_by: frozenset[str] = frozenset()
    last: bool = False

    def match(self, seen: Seen) -> Iterator[Finding]:
        """Its findings."""
        for f in self.look(seen):
            yield Finding(
                self.code, self.name, f.severity, f.shards, f.what, f.costs, f.effects,
                f.deadline or Deadline.of_all(e.deadline for e in f.effects), helps=f.helps,
            )

    @property
    def of_a_sink(self) -> bool:
        """Whether it looks at a sink, for `audit`, and not at a consumer's next start."""
        return "Sink" in self.look.__annotations__.values()

    @property
    def page(self) -> str:
        """Its documentation: `pages/CODE.md`."""
        from importlib import resources  # five milliseconds, and few commands show a page

        page = resources.files(__package__) / "pages" / f"{self.code}.md"
        return page.read_text(encoding="utf-8")


REGISTERED: list[Rule[Any]] = []
"""Every rule of the families that are loaded; `rules/__init__.py` loads all of them."""

Look = Callable[[Seen], Iterator[Found]]


def rule(
    code: str, name: str, *, wanted_by: frozenset[str] = frozenset(), last: bool = False
) -> Callable[[Look[Seen]], Look[Seen]]:
    """Makes a function the rule of this code: it takes a `View` or a `Sink`, and yields `Found`."""

    def registered(look: Look[Seen]) -> Look[Seen]:
        REGISTERED.append(Rule(code, name, look, wanted_by, last))
        return look

    return registered


def elsewhere(code: str, name: str) -> None:
    """A rule that finds nothing: what it is about ends the command with an error."""

    @rule(code, name)
    def found_elsewhere(_view: View) -> Iterator[Found]:
        return iter(())


def by_certainty(effects: Iterable[Effect]) -> Severity:
    """An error if any effect is certain, else a warning."""
    return Severity.ERROR if any(e.certain for e in effects) else Severity.WARNING


def shards_of(harmed: Iterable[Effect | Anomaly]) -> tuple[ShardId, ...]:
    """The shards concerned, each once, in order."""
    return tuple(dict.fromkeys(f.shard for f in harmed if f.shard is not None))


def of_effects(
    effects: Sequence[Effect], what: str, costs: str, severity: Severity | None = None,
    helps: str = "",
) -> Iterator[Found]:
    """One finding over all the effects, none if there are none."""
    if effects:
        yield Found(
            by_certainty(effects) if severity is None else severity, shards_of(effects), what,
            costs, tuple(effects), helps=helps,
        )


def of_anomalies(
    anomalies: Sequence[Anomaly], severity: Severity, what: str, costs: str = "", helps: str = "",
) -> Iterator[Found]:
    """One finding over all the anomalies, none if there are none."""
    if anomalies:
        yield Found(severity, shards_of(anomalies), what, costs, helps=helps)


def merged(parts: Mapping[str, Sequence[Finding]]) -> list[Finding]:
    """Findings of several candidates as one list; those of some candidates only say `when`.

    Of those that differ in words, the gravest counts, and what most candidates say of it.
    """
    every = list(parts)
    seen: dict[tuple[str, tuple[ShardId, ...]], list[tuple[str, Finding]]] = {}
    for label, findings in parts.items():
        for finding in findings:
            seen.setdefault((finding.code, finding.shards), []).append((label, finding))
    out = []
    for shown in seen.values():
        most = max(finding.severity for _, finding in shown)
        grave = [finding for _, finding in shown if finding.severity is most]
        ((words, _),) = Counter((f.what, f.costs) for f in grave).most_common(1)
        worst = next(f for f in grave if (f.what, f.costs) == words)
        labels = [label for label, _ in shown]
        out.append(worst if len(labels) == len(every) else _only_when(worst, labels))
    return sorted(out, key=lambda f: (-f.severity, f.code, f.shards))


def _only_when(finding: Finding, labels: Sequence[str]) -> Finding:
    return Finding(
        finding.code, finding.name, finding.severity, finding.shards, finding.what,
        finding.costs, finding.effects, finding.deadline, " or ".join(labels), finding.helps,
    )


class Suppression(Struct, frozen=True):
    """`[[suppress]]`: findings that are accepted for a reason and until a date.

    shards: their ids, none for every shard. until: the Unix second at which it ends, `None` for no
    end. origin: `reshardctl.toml:31`. day: the day in UTC at whose end it ends, as `2026-12-31`, if
    the file gives a day; `""` if it gives a time.
    """

    consumer: str
    rule: str
    shards: frozenset[str]
    until: float | None
    why: str
    origin: str
    day: str = ""

    def covers(self, finding: Finding) -> bool:
        """Whether it covers the finding.

        A suppression that names shards does not cover a finding about further shards.
        """
        if finding.code != self.rule:
            return False
        return not self.shards or (bool(finding.shards) and self.shards >= set(finding.shards))

    def beyond(self, finding: Finding) -> tuple[ShardId, ...]:
        """Further shards of a finding on shards that it names; none if it covers the finding."""
        if finding.code != self.rule or self.shards.isdisjoint(finding.shards):
            return ()
        return tuple(shard for shard in finding.shards if shard not in self.shards)


class Sifted(Struct, frozen=True):
    """Findings parted by suppressions.

    kept: findings that count. hidden: the others, each with what hides it. expired: suppressions
    that covered a kept finding until they ended. unused: those that cover none.
    """

    kept: tuple[Finding, ...] = ()
    hidden: tuple[tuple[Finding, Suppression], ...] = ()
    expired: tuple[Suppression, ...] = ()
    unused: tuple[Suppression, ...] = ()


def sift(
    findings: Iterable[Finding], suppressions: Iterable[Suppression], now: float
) -> Sifted:
    """Part findings by suppressions, as of `now` (Unix seconds); their order is kept."""
    kept: list[Finding] = []
    hidden: list[tuple[Finding, Suppression]] = []
    owned = list(suppressions)
    used: set[int] = set()
    expired: list[Suppression] = []
    for finding in findings:
        covering = [index for index, suppression in enumerate(owned) if suppression.covers(finding)]
        used.update(covering)
        valid = [owned[index] for index in covering if _holds(owned[index], now)]
        if valid:
            hidden.append((finding, valid[0]))
            continue
        kept.append(finding)
        expired += [owned[index] for index in covering if owned[index] not in expired]
    unused = tuple(suppression for index, suppression in enumerate(owned) if index not in used)
    return Sifted(tuple(kept), tuple(hidden), tuple(expired), unused)


def _holds(suppression: Suppression, now: float) -> bool:
    return suppression.until is None or now < suppression.until
