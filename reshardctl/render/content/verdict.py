"""The last lines of a report: that all is well, or what is wrong and from when on it is lost.

Where no position is wrong, shards that wait and children that are read from their beginning under
LATEST are told too: somebody may have come for these.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import TypeVar

from reshardctl.diagnosis.rules import Finding, Severity
from reshardctl.model import Rank, ShardId, WillRead, in_birth_order
from reshardctl.planning.case import Judged
from reshardctl.planning.effects import Deadline
from reshardctl.render.content.findings import left_open, new_ones, supposed
from reshardctl.render.costs import absolute
from reshardctl.render.words import ago, count, counted, sentence, shards
from reshardctl.report.changes import fixable
from reshardctl.report.forecast import retention_advice
from reshardctl.report.next_start import Begins, starts_of
from reshardctl.report.report import Report

WAITING = 3
"""Groups of waiting shards that have a line each."""
_STARTS = ("initial", "startingPosition")
"""Options that say where shards without a position begin."""
Same = TypeVar("Same")


def verdict(report: Report, ok: str = "OK") -> str:
    """The last line: that all is well, or what is wrong and from when on records are lost.

    ok: how all is well begins.
    """
    each = left_open(report) if report.snapshot.foreseen is None else ""
    grave = [f for f in report.findings if f.severity > Severity.INFO]
    if grave:
        judged = f"Judged for each value of {each}: " if each else ""
        return judged + "  ".join(filter(None, [tally(report), _loss(report, grave)]))
    if not report.snapshot.verified:
        return "No errors and no warnings, if these positions are of this stream: not verified."
    values = f"for each value of {each}" if each else ""
    ok = " ".join(filter(None, [ok, _limit(report), values, supposed(report)]))
    if outside := left_out(len(report.left_out)):
        return f"{ok}: no errors and no warnings; {outside}."
    if any(one.effects for one in report.judged) or not _all_read(report):
        return f"{ok}: no errors and no warnings."
    late = _read_in_part(report)
    part = f"{shards(late)} only from LATEST or a time on" if late else "nothing is skipped"
    return f"{ok}: every open shard will be read to its end; {part}."


def _limit(report: Report) -> str:
    """`for shards 0, 1`: what was selected, where that leaves findings out; else ""."""
    options = report.options.scope
    if options is None or not report.left_out:
        return ""
    named = [
        f"{what if len(given) == 1 and '-' not in given[0] else f'{what}s'} {', '.join(given)}"
        for what, given in (("shard", options.shards), ("rule", options.rules)) if given
    ]
    named += [f"all rules but {', '.join(options.not_rules)}"] if options.not_rules else []
    return f"for {' and '.join(named)}"


def left_out(number: int) -> str:
    """`2 other findings left out`: how many a selection leaves out; "" for none."""
    return f"{count(number, 'other finding')} left out" if number else ""


def _all_read(report: Report) -> bool:
    """Whether every candidate reads every open shard."""
    lineage, judged = report.snapshot.lineage, report.judged
    opened = [shard for shard in lineage if lineage.is_open(shard)]
    return bool(judged) and all(
        isinstance(one.simulation.fates.get(shard), WillRead) for one in judged for shard in opened
    )


def _read_in_part(report: Report) -> list[ShardId]:
    """Shards that a start reads from LATEST or from a time on, as their rows say."""
    found = {
        shard for one in report.judged for shard, fate in one.simulation.fates.items()
        if isinstance(fate, WillRead)
        and any(cut.rank is Rank.TIP or cut.by_time for cut in (fate.at.lo, fate.at.hi))
    }
    return in_birth_order(found)


def _loss(report: Report, grave: Sequence[Finding]) -> str:
    """From when to when the records of all these findings are lost."""
    lost = [finding for finding in grave if finding.effects and finding.deadline is not None]
    deadline = Deadline.of_all(finding.deadline for finding in lost)
    if deadline is None or report.snapshot.foreseen is not None:
        return ""
    told = absolute([effect for finding in lost for effect in finding.effects], deadline)
    aid = retention_advice(report)
    gains = aid is not None and not aid.urgent(report.snapshot.now)
    later = "; a longer retention period delays it" if gains else ""
    return sentence(f"{told}{later}")


def tally(report: Report) -> str:
    """The sums: `2 errors, 1 warning, 1 info.  3 fixable.`, and what a selection leaves out."""
    if not report.findings:
        return sentence(no_findings(report, supposed(report)))
    forecast = f" {condition_text}" if (condition_text := supposed(report)) else ""
    sentences = [f"{', '.join(counted(report.counts()))}{forecast}."]
    if report.snapshot.foreseen is not None:
        sentences.append(new_ones(report))
    elif (
        not report.options.policy.names_shards  # then no finding is looked at for what mends it
        and any(f.severity > Severity.INFO for f in report.findings)
    ):
        sentences.append(f"{len(fixable(report))} fixable.")
    sentences.append(sentence(left_out(len(report.left_out))))
    return "  ".join(filter(None, sentences))


def no_findings(report: Report, condition: str = "") -> str:
    """`no findings for shards 0, 1; 2 other findings left out`."""
    none = " ".join(filter(None, ["no findings", _limit(report), condition]))
    return "; ".join(filter(None, [none, left_out(len(report.left_out))]))


def remarks_if_healthy(report: Report) -> Iterator[str]:
    """What is so and not wrong; nothing where something is wrong, or only some starts have it."""
    if report.snapshot.foreseen is not None or any(
        finding.severity > Severity.INFO for finding in report.findings
    ):
        return
    yield from _waiting(report)
    early = _children_from_the_beginning(report)
    if early:
        yield (
            f"{shards(early)} {'is' if len(early) == 1 else 'are'} read from the beginning, though "
            "the application starts at LATEST. To start from now instead: fix --policy latest."
        )


def _waiting(report: Report) -> Iterator[str]:
    groups: dict[tuple[ShardId, ...], list[ShardId]] = {}
    for shard, waits_for in _in_every_start(report, _waits).items():
        groups.setdefault(waits_for, []).append(shard)
    for waits_for, held in list(groups.items())[:WAITING]:
        wait = "waits" if len(held) == 1 else "wait"
        yield f"{shards(held)} {wait} until {_closed(report, waits_for)} read to the end."
    if (hidden := len(groups) - WAITING) > 0:
        yield f"And {count(hidden, 'more group')} of shards wait; the command status shows them."


def _closed(report: Report, waits_for: tuple[ShardId, ...]) -> str:
    """`2 (closed 12m ago) is`."""
    lineage = report.snapshot.lineage
    moments = [lineage.closed_at(shard) for shard in waits_for if shard in lineage]
    known = [moment for moment in moments if moment is not None]
    when = f" (closed {ago(max(known), report.snapshot.now)})" if known else ""
    return f"{shards(waits_for)}{when} {'is' if len(waits_for) == 1 else 'are'}"


def _in_every_start(
    report: Report, of: Callable[[Judged], Mapping[ShardId, Same]]
) -> dict[ShardId, Same]:
    """What holds of a shard in every start that is possible."""
    first, *others = [of(judged) for judged in report.judged] or [{}]
    return {
        shard: value for shard, value in first.items()
        if all(other.get(shard) == value for other in others)
    }


def _waits(judged: Judged) -> dict[ShardId, tuple[ShardId, ...]]:
    starts = starts_of(judged, {})
    return {s: start.waits_for for s, start in starts.items() if start.waits_for}


def _children_from_the_beginning(report: Report) -> list[ShardId]:
    """Those of an application that says LATEST."""
    given, lineage = report.snapshot.locator.options, report.snapshot.lineage

    def begun(judged: Judged) -> dict[ShardId, Begins]:
        options = {**given, **judged.candidate.options}
        if "LATEST" not in {options.get(name) for name in _STARTS}:
            return {}
        starts = starts_of(judged, {})
        begins = {s: start.begins for s, start in starts.items() if not start.waits_for}
        return {s: place for s, place in begins.items() if place is Begins.BEGINNING}

    found = _in_every_start(report, begun)
    return [shard for shard in found if shard in lineage and lineage[shard].parents]
