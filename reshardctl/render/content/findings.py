"""Findings in plain sentences, with their `fix` lines and with what a forecast or a watch assumed.

The sentences are for formats without room for a picture, and not escaped yet. A `fix` line says
what would be written, or why nothing is.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Sequence

from msgspec.structs import replace

from reshardctl.codec.argv import with_value
from reshardctl.diagnosis.evidence import Watched
from reshardctl.diagnosis.rules import Finding, Severity
from reshardctl.model import ShardId
from reshardctl.model.phrases import listed
from reshardctl.model.times import duration
from reshardctl.planning.decision import Answer
from reshardctl.planning.plan import Ask, Decision, NoSafePlan, Plan, Residual
from reshardctl.render.costs import absolute, cost, priced
from reshardctl.render.sheet import LABEL, Sheet
from reshardctl.render.words import (
    about,
    accepting,
    count,
    judged,
    only_if,
    sentence,
    shards,
    shortened,
)
from reshardctl.report.changes import (
    Action,
    Changed,
    Mending,
    all_residuals,
    changes,
    costs_after,
    mending,
    shards_written,
)
from reshardctl.report.report import Report, question, told

INDENT = 4
STEPS = 3
"""Steps that the line of a finding names."""
NOT_BEGUN = "not begun"
"""What kinsumer's rows hold instead of a position."""


_TYPED = re.compile(
    r"(?P<flag>--probe)|(?P<option>--policy|--accept) (?P<value>\S+[\w])"
    r"|\b(?P<name>allow|initial|release|sink)=(?P<given>[\w.-]+)"
)
"""What a way out says to type, as it is typed: on the command line or in the locator."""


class Fixes:
    """The `fix` lines of a report's findings; the first one says why there is no plan."""

    def __init__(self, sheet: Sheet, report: Report) -> None:
        self._sheet, self._report, self._verbose = sheet, report, sheet.context.verbose
        decision = report.decision
        steps = decision.steps if isinstance(decision, Plan) else ()
        self._changes = {row.shard: row for row in changes(report, steps)}
        self._left = costs_after(decision)
        self._explained = ""

    def show(self, finding: Finding) -> None:
        """Write the lines for one finding."""
        repair = mending(self._report, finding)
        if repair.writes:
            self._writes(finding, repair)
            return
        report, decision = self._report, self._report.decision
        reasons = own_reasons(report, finding, repair)
        undecided = not reasons and isinstance(decision, Ask | NoSafePlan)
        if undecided and self._explained:
            reasons = [f"same as for {self._explained} above"]
        if isinstance(decision, NoSafePlan):
            decision = replace(decision, ways_out=tuple(self._without_command(decision)))
        self._fix(*(reasons or decision_reasons(decision, finding, asked)))
        if undecided:
            self._explained = self._explained or finding.code

    def _without_command(self, decision: NoSafePlan) -> Iterator[str]:
        """The ways out that no command at the end of the report takes."""
        for way in decision.ways_out:
            if not going(self._report, way, self._sheet.context.suggested_command):
                yield way

    def _fix(self, *lines: str) -> None:
        first, *others = [shortened(line, self._verbose) for line in lines]
        if self._report.snapshot.foreseen is not None:
            first = f"afterwards: {first}"
        self._sheet.labelled(("fix", "bold"), first, indent=INDENT)
        for line in others:
            self._sheet.line(line, indent=INDENT + LABEL)

    def _writes(self, finding: Finding, repair: Mending) -> None:
        changed = [
            self._changes[shard] for w in repair.writes
            for shard in shards_written(self._report, w) if shard in finding.shards
        ]
        self._fix("; ".join([*phrases(changed, self._verbose), self._costs(changed)]))
        for effect in repair.remains:
            named = shards((effect.shard,), self._verbose) if effect.shard else "the consumer"
            self._sheet.line(f"remains: {named} {cost(effect)}", indent=INDENT + LABEL)
        for residual in repair.residuals:
            self._sheet.line(left_alone(residual), indent=INDENT + LABEL)

    def _costs(self, changed: Iterable[Changed]) -> str:
        return priced(e for row in changed for e in self._left.get(row.shard, ()))


def own_reasons(report: Report, finding: Finding, repair: Mending) -> list[str]:
    """Why no row is written for a finding itself; none where that depends on the decision.

    What is mended by files and rows of no shard, such as commits of Spark, has the plan's steps.
    """
    if repair.mended:
        if any(mending(report, other).writes for other in report.findings if other != finding):
            return ["fixed by the fixes of the other findings"]
        assert isinstance(report.decision, Plan)
        return [listed(report.decision.steps, STEPS, lambda step: step.title)]
    if repair.residuals:
        return [left_alone(residual) for residual in repair.residuals]
    if finding.effects and all(e.past or e.gone for e in finding.effects):
        return [f"none: this has already happened. {finding.helps}".rstrip(". ")]
    return []


def decision_reasons(
    decision: Decision, finding: Finding, question: Callable[[Ask], str]
) -> list[str]:
    """Why the decision writes nothing for a finding. question: what an open one is called."""
    match decision:
        case Ask() as ask:
            return [f"none yet: {question(ask)}"]
        case NoSafePlan(why, ways):
            helps = [sentence(finding.helps)] if finding.helps else []
            unsaid = _without_what(why, finding)
            return [f"none: {unsaid}", *(f"way out: {way}" for way in ways), *helps]
        case _:
            return [f"none: {finding.helps or 'no known write improves this'}"]


def _without_what(why: str, finding: Finding) -> str:
    """A decision's reason without the cause that the finding beside it has told already."""
    head, _, cause = why.partition(": ")
    return head if cause and (cause in finding.what or cause in finding.costs) else why


def phrases(changed: Iterable[Changed], verbose: bool) -> list[str]:
    """`start 2, 3 at TRIM_HORIZON`, `set 15 back to 4963…0412`, `complete the row of 2`."""
    groups: dict[tuple[Action, str | None, bool], list[ShardId]] = {}
    for row in changed:
        groups.setdefault((row.action, row.after, row.part), []).append(row.shard)
    return [
        _phrase(action, position, part, shards(group, verbose))
        for (action, position, part), group in groups.items()
    ]


def _phrase(action: Action, position: str | None, part: bool, named: str) -> str:
    if position is None and action is not Action.DELETE:
        return f"{'write' if action is Action.CREATE else 'rewrite'} {named}"
    bare = position == NOT_BEGUN
    match action:
        case Action.CREATE:
            return f"write {named} as {position}" if bare else f"start {named} at {position}"
        case Action.MOVE:
            return f"mark {named} as {position}" if bare else f"set {named} to {position}"
        case Action.KEEP if part:
            return f"read {named} from {position}"
        case Action.KEEP:
            return f"complete the row of {named}, which stays at {position}"
        case Action.DELETE:
            return f"delete the row of {named}"


def left_alone(residual: Residual) -> str:
    """Why a shard is not mended, and the flag that would mend it, or else what helps."""
    named = shards((residual.shard,))
    if residual.why:
        ways = "".join(f"; way out: {way}" for way in residual.ways_out)
        return f"{named} is not mended and {cost(residual.costs)}: {residual.why}{ways}"
    flag = residual.flag or "no flag"
    return f"{named} is left alone, because its fix {cost(residual.costs)}; {flag} accepts that"


def located(report: Report, answer: Answer, suggested_command: Sequence[str]) -> list[str]:
    """The arguments with an answer in the locator."""
    text = report.snapshot.locator.text
    if text.startswith("snapshot:"):  # the command names the store that it was taken of
        text = "".join(suggested_command[:1])
    return [told(text, answer) if word == text else word for word in suggested_command]


def ways_out(report: Report) -> list[str]:
    """What can be done where no plan is made, or where shards are left out of one."""
    decision = report.decision
    ways = decision.ways_out if isinstance(decision, NoSafePlan) else ()
    left = [way for residual in all_residuals(report) for way in residual.ways_out]
    return list(dict.fromkeys([*ways, *left]))


def going(report: Report, way: str, suggested_command: Sequence[str]) -> list[str]:
    """The arguments that take a way out; none where it is not an option of this command."""
    typed = _TYPED.search(way)
    if typed is None:
        return []
    if typed["flag"]:
        return [*suggested_command, typed["flag"]]
    if typed["option"] == "--accept":
        return accepting(suggested_command, [typed[0]])
    if typed["option"]:
        return with_value(suggested_command, typed["option"], typed["value"])
    name, value = typed["name"], typed["given"]
    if name == "allow" and (allowed := report.snapshot.locator.options.get(name)):
        value = f"{allowed},{value}"
    return located(report, ((name, value),), suggested_command)


def asked(ask: Ask) -> str:
    """What has to be said before there is a plan; the commands that say it come last."""
    if ask.options == ("recreated",):
        return (
            "it depends on whether the stream was deleted and recreated, or another stream is "
            "meant; see below"
        )
    return f"it depends on {ask.named}, which the store does not record; see below"


def supposed(report: Report) -> str:
    """`if split=7 were done now`; "" where nothing is supposed."""
    forecast = report.snapshot.foreseen
    if forecast is None:
        return ""
    names = [str(reshard) for reshard in forecast.reshards]
    done = [f"a reshard to {word}" if word.isdigit() else word for word in names]
    return f"if {', then '.join(done)} were done now"


def locator_words(report: Report) -> str:
    """The locator, followed by the reshards that a forecast supposes."""
    forecast = report.snapshot.foreseen
    text = report.snapshot.locator.text
    return text if forecast is None else f"{text} [if {forecast.words()}]"


def happening(report: Report, verbose: bool = False) -> str:
    """Which shards the reshard closes and opens: `7 closes; 12, 13 open`."""
    forecast = report.snapshot.foreseen
    if forecast is None or not forecast.born:
        return "nothing changes, because the stream already has these shards"
    brief = [shard for shard in forecast.born if not forecast.lineage.is_open(shard)]
    parts = [_verb(forecast.closes, verbose, "closes", "close"),
             _verb(_stay(report), verbose, "opens", "open")]
    if brief:
        parts.append(f"{_verb(tuple(brief), verbose, 'opens', 'open')} in between, for seconds")
    return "; ".join(parts)


def _stay(report: Report) -> tuple[ShardId, ...]:
    forecast = report.snapshot.foreseen
    assert forecast is not None
    return tuple(shard for shard in forecast.born if forecast.lineage.is_open(shard))


def _verb(ids: tuple[ShardId, ...], verbose: bool, singular: str, plural: str) -> str:
    return f"{shards(ids, verbose)} {singular if len(ids) == 1 else plural}"


def already_so(report: Report, finding: Finding, verbose: bool) -> str:
    """Whether the finding is there without the reshard, as a sentence; "" if it is not."""
    now = None if report.already is None else report.already.get(finding.code)
    if now is None:
        return ""
    same = [shard for shard in finding.shards if shard in now]
    if len(same) == len(finding.shards):
        return "This is already the case without the reshard."
    return f"Already the case for {shards(same, verbose)} without the reshard." if same else ""


def is_already(report: Report, finding: Finding) -> bool:
    """Whether all of the finding is there without the reshard."""
    now = (report.already or {}).get(finding.code)
    return now is not None and set(finding.shards) <= now


def new_ones(report: Report) -> str:
    """How many of a forecast's findings are there without the reshard, as a sentence."""
    grave = [f for f in report.findings if f.severity > Severity.INFO]
    same = sum(is_already(report, f) for f in grave)
    if not grave:
        return ""
    if not same:
        return "None of it is the case without the reshard."
    number = "All of it" if same == len(grave) else str(same)
    return f"{number} already the case without the reshard."


def left_open(report: Report) -> str:
    """`initial and release`: what the locator leaves open; each of their values was judged."""
    given = report.snapshot.locator.options
    values: dict[str, set[str]] = {}
    for one in report.judged:
        for name, value in one.candidate.options.items():
            values.setdefault(name, set()).add(value)
    return " and ".join(n for n, held in values.items() if n not in given and len(held) > 1)


def what_was_judged(report: Report, verbose: bool = False) -> str:
    """A start after a reshard, or a start and what ran.

    Of a plain start what the locator does not say and only one value fits; all of it if `verbose`.
    """
    candidates = [j.candidate for j in report.judged]
    if not candidates:
        return ""
    if report.snapshot.foreseen is not None:
        return (
            f"First start after that reshard with {judged(candidates)}. A consumer that keeps "
            "running starts the children itself, as far as its rows permit."
        )
    start = f"Next start with {judged(candidates)}"
    watched = report.snapshot.watched
    if watched is not None:
        return f"{start}. The watch: {seen(watched)}."
    if verbose:
        return f"{start}; whether it runs was not checked."
    given, first = report.snapshot.locator.options, candidates[0].options
    inferred = [
        f"{name}={value}" for name, value in first.items()
        if name not in given and all(c.options.get(name) == value for c in candidates)
    ]
    return f"Next start with {', '.join(inferred)}." if inferred else ""


def seen(watched: Watched) -> str:
    """How many rows changed during a watch, in one sentence without its full stop."""
    length = duration(watched.seconds)
    if not watched.runs:
        return f"no row was renewed in {length} ({watched.excluded})"
    renewed = sum(row.renewed for row in watched.shards.values())
    moved = sum(row.moved for row in watched.shards.values())
    return (
        f"in {length} {renewed} of {count(len(watched.shards), 'row')} were renewed, "
        f"{moved} advanced"
    )


def title(finding: Finding) -> str:
    """`RSH203 child-not-started`."""
    return f"{finding.code} {finding.name}"


def sentences(report: Report, finding: Finding, verbose: bool = False) -> list[str]:
    """What it is, what it costs, under which options, by when, and the fix: one sentence each."""
    forecast = [f"forecast, {supposition}" if (supposition := supposed(report)) else "",
                already_so(report, finding, verbose)]
    parts = [*forecast, about(finding, verbose), finding.costs]
    if only := only_if(report, finding):
        parts.append(f"only if {only}")
    if finding.deadline is not None and finding.effects:
        parts.append(absolute(finding.effects, finding.deadline))
    parts.append(f"Fix: {remedy(report, finding, verbose)}")
    return [sentence(shortened(part, verbose)) for part in parts if part]


def remedy(report: Report, finding: Finding, verbose: bool) -> str:
    """What fix would write for it, or why it writes nothing."""
    repair = mending(report, finding)
    if repair.writes:
        return _written(report, finding, repair, verbose)
    return "; ".join(own_reasons(report, finding, repair) or decision_reasons(
        report.decision, finding, lambda ask: f"{ask.needs}: {question(report, ask)}"
    ))


def _written(report: Report, finding: Finding, repair: Mending, verbose: bool) -> str:
    decision = report.decision
    assert isinstance(decision, Plan)
    changed = [
        row for row in changes(report, decision.steps)
        if row.shard in finding.shards and row.write in repair.writes
    ]
    costs = costs_after(decision)
    price = priced(e for row in changed for e in costs.get(row.shard, ()))
    more = [left_alone(residual) for residual in repair.residuals]
    return "; ".join([*phrases(changed, verbose), price, *more])
