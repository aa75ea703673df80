"""A plan as text: the change by shard, the exact writes, what is so afterwards, the way back."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

from reshardctl.model import ShardId, Step
from reshardctl.planning.effects import Effect, Harm
from reshardctl.planning.plan import Ask, NoSafePlan, Nothing, Plan
from reshardctl.planning.policy import UNASKED
from reshardctl.planning.prices import worthwhile
from reshardctl.render.content.findings import asked, going, left_alone, phrases
from reshardctl.render.content.report import (
    ask,
    notes,
    retention_advice_first,
    shown_notes,
    subject,
    ways_on,
)
from reshardctl.render.content.verdict import verdict
from reshardctl.render.content.writes import writes
from reshardctl.render.costs import cost, left_words, price_words, skipped_words, widest
from reshardctl.render.sheet import LABEL, Part, Sheet
from reshardctl.render.words import (
    CLIENTS,
    REDACTED,
    SCRIPT,
    accepting,
    beside_a_file,
    capital,
    command,
    count,
    of_files,
    once_stopped,
    plan_words,
    sentence,
    shards,
    shortened,
    take_back,
    vouched,
    writing,
)
from reshardctl.report.changes import (
    Action,
    Changed,
    all_residuals,
    by_position,
    changes,
    codes,
    costs_after,
    counted,
    lists,
)
from reshardctl.report.report import Report
from reshardctl.report.results import Fixed, Planned

SIGNS = {
    Action.CREATE: ("+", "green"), Action.MOVE: ("~", "yellow"),
    Action.KEEP: ("~", "yellow"), Action.DELETE: ("-", "red"),
}
LEGEND = "skips: never read; re-reads: read twice; a time: what arrived within it"
"""What the last two columns of the table mean, where they say more than `nothing`."""
ROWS = 40
"""Lines of the table by shard; `-v` shows all."""
ASKED = 3
"""Changes that a question names before it says how many more there are."""
BESIDE = "in the same batch"
"""Why a position is written on whose shard there is no finding, where a file holds those of all."""
ALIKE = 3
"""Shards with the same change that have a line each; more than these share one."""


def plan(sheet: Sheet, report: Report) -> None:
    """The decision, whatever it is."""
    match report.decision:
        case Plan() as decided:
            _plan(sheet, report, decided)
        case Nothing():
            sheet.line(("Nothing to write.", "bold"), _why_nothing(report))
            residuals(sheet, report)
        case Ask() as open_question:
            sheet.line(("No plan yet: ", "bold"), f"{asked(open_question)}.")
        case NoSafePlan(why, ways):
            sheet.line(("No plan: ", "bold"), sentence(shortened(why, sheet.context.verbose)))
            for way in ways:
                if not going(report, way, sheet.context.suggested_command):
                    _way_out(sheet, way)
    if not isinstance(report.decision, Nothing) or shown_notes(report, sheet.context.verbose):
        sheet.blank()
    notes(sheet, report)


def _way_out(sheet: Sheet, way: str) -> None:
    """What it ends with may be a value that is longer than any line: a starting position."""
    text, _, value = way.rpartition(" ")
    if text and len(value) > sheet.width - 2:
        sheet.line(f"way out: {text}", indent=2)
        sheet.whole(value, indent=4)
    else:
        sheet.line(f"way out: {way}", indent=2)


def _why_nothing(report: Report) -> str:
    if left := all_residuals(report):
        if not any(each.flag for each in left):
            return " Nothing that reshardctl may write mends this:"
        return " What could be fixed costs more than is accepted:"
    if report.options.policy.names_shards:
        return " The store holds the positions that were given already; others were left alone."
    if _accepted(report):
        return " What the next start skips is within --accept; without that it may be mended."
    if any(f.effects for f in report.findings):
        return " No write improves the next start; reshardctl inspect lists what remains."
    doubt = "" if report.snapshot.verified else ", if these positions are of this stream"
    return f" The next start already follows policy {report.options.policy.name}{doubt}."


def _accepted(report: Report) -> bool:
    """Whether a loss calls for no plan only because the operator accepts it."""
    accept = report.options.accept
    return accept is not None and any(
        effect.harm is Harm.SKIPPED
        and worthwhile(effect, UNASKED) and not worthwhile(effect, accept)
        for finding in report.findings for effect in finding.effects
    )


def _plan(sheet: Sheet, report: Report, decided: Plan) -> None:
    changed = changes(report, decided.steps)
    _table(sheet, report, changed, decided)
    sheet.blank()
    writes(sheet, decided.steps)
    _lists(sheet, changed)
    if running := plan_words(decided.steps):
        sheet.labelled(("running", "bold"), running, indent=2)
    _after(sheet, report, decided)
    _costs(sheet, report, decided)
    residuals(sheet, report)
    back = "reshardctl undo JOURNAL"
    if of_files(sheet.context.suggested_command) and report.snapshot.locator.medium in CLIENTS:
        back = f"bash {SCRIPT} undo"
    sheet.labelled(("undo", "bold"), f"{back}   # {undo_words(changed)}", indent=2)
    sheet.blank()
    sheet.line((counts(changed), "bold"), "  " + price_words(decided) + left_words(decided))


def _lists(sheet: Sheet, changed: Iterable[Changed]) -> None:
    """What becomes of a row that lists shards, such as kinsumer's ShardCache."""
    for row in lists(changed):
        line = f"{row.shard}: {row.now or '–'} → {row.after or '–'} ({row.write.why})"
        sheet.line(shortened(line, sheet.context.verbose), indent=2 + LABEL)


def _table(sheet: Sheet, report: Report, changed: list[Changed], decided: Plan) -> None:
    """Shard by shard, many alike in one line: now, after, why, what it skips and re-reads.

    A position that a new file only repeats is shown where a finding is about its shard.
    """
    left, findings, verbose = costs_after(decided), codes(report, changed), sheet.context.verbose
    changed = by_position(changed, also=findings)
    alike: dict[tuple[tuple[str, str], tuple[str, ...]], list[ShardId]] = {}
    for row in changed:
        own = left.get(row.shard, [])
        prices = ("", "") if row.of_many else (
            widest(own, Harm.SKIPPED), widest(own, Harm.REREAD)
        )
        why = findings.get(row.shard) or _reason(report, row, verbose)
        cells = _position(row.now, verbose), _position(row.after, verbose), why, *prices
        alike.setdefault((sign_of(row), cells), []).append(row.shard)
    rows = together(alike, verbose)
    heads = ["", "shard", "now", "after", "why", "skips", "re-reads"]
    several = any(row.part for row in changed) or len(rows) < len(changed)
    shown_rows(sheet, heads, rows, right=2, wraps=("shard", "why") if several else ("why",))
    if any(cell not in ("", "nothing") for row in rows for cell in row[-2:]):
        sheet.line((LEGEND, "dim"), indent=2)


def sign_of(row: Changed) -> tuple[str, str]:
    """What stands before a row of the table, and its color."""
    return ("=", "dim") if row.repeated else SIGNS[row.action]


def together(
    alike: Mapping[tuple[tuple[str, str], tuple[str, ...]], Sequence[ShardId]], verbose: bool
) -> list[list[Part]]:
    """A line for each shard; more than ALIKE of the same cells share one. alike: by the cells."""
    rows: list[list[Part]] = []
    for ((sign, color), cells), group in alike.items():
        many = len(group) > ALIKE and not verbose
        for part in [group] if many else [[shard] for shard in group]:
            named = shortened(shards(part, verbose), verbose)
            rows.append([(f"{sign}{len(part)}" if many else sign, color), named, *cells])
    return rows


def shown_rows(
    sheet: Sheet, heads: Sequence[str], rows: Sequence[Sequence[Part]], *, right: int = 0,
    wraps: Sequence[str],
) -> None:
    """The first ROWS lines of such a table; `-v` shows all."""
    shown = rows if sheet.context.verbose else rows[:ROWS]
    sheet.table(heads, shown, right=right, wraps=wraps)
    if hidden := len(rows) - len(shown):
        sheet.line(f"and {hidden} more; -v shows them", indent=2)


def _reason(report: Report, row: Changed, verbose: bool) -> str:
    """Why a row is written on whose shard there is no finding; of many shards, once."""
    policy = report.options.policy
    if row.of_many:  # what is done to a file, the writes below say
        return ""
    if policy.skips:
        return policy.name
    return BESIDE if row.part else shortened(row.write.why, verbose)


def _position(position: str | None, verbose: bool) -> str:
    """AFTER_SEQUENCE_NUMBER 4968…3154 as AFTER 4968…3154: a table has no room for more."""
    if position is None:
        return "–"
    return shortened(position if verbose else position.replace("_SEQUENCE_NUMBER ", " "), verbose)


def _after(sheet: Sheet, report: Report, decided: Plan) -> None:
    """Write what the simulation of the planned rows still shows."""
    effects = [e for run in decided.after for e in run]
    stalled = {e.shard for e in effects if e.harm is Harm.STALLED and e.certain}
    lineage = report.snapshot.lineage
    opened = lineage.open_count()
    read = opened - sum(lineage.is_open(s) for s in stalled if s is not None and s in lineage)
    if any(e.harm is Harm.CRASHES for e in effects):
        read = 0
    sheet.labelled(
        ("after", "bold"),
        f"{read} of {count(opened, 'open shard')} will be read (verified by simulation)",
        indent=2,
    )
    for line in remaining(effects, sheet.context.verbose):
        sheet.line(line, indent=2 + LABEL)


def remaining(effects: Iterable[Effect], verbose: bool) -> list[str]:
    """One line for every kind of effect with the shards that have it.

    That a shard was read out of order is not told of one that will be.
    """
    told = list(effects)
    mixed = {e.shard for e in told if e.harm is Harm.DISORDERED and not e.past}
    groups: dict[tuple[str, str], list[ShardId]] = {}
    for e in told:
        if e.harm is Harm.DISORDERED and e.past and e.shard in mixed:
            continue
        key = (cost(e), "" if e.certain or e.gone else " (possible)")
        groups.setdefault(key, []).extend([e.shard] if e.shard else [])
    return [
        f"{shards(dict.fromkeys(group), verbose) or 'the consumer'}: {harm}{possible}"
        for (harm, possible), group in groups.items()
    ]


def _costs(sheet: Sheet, report: Report, decided: Plan) -> None:
    """What a skipping policy gives up, against skipping nothing."""
    if not decided.costs:
        return
    policy = report.options.policy
    what = f"policy {policy.name} skips"
    if policy.names_shards:
        what = "the positions that were given skip"
    sheet.labelled(("costs", "bold"), f"{what} intentionally:", indent=2)
    for line in remaining(decided.costs, sheet.context.verbose):
        sheet.line(line, indent=2 + LABEL)


def residuals(sheet: Sheet, report: Report) -> None:
    """Shards left alone, each with the flag that would mend it."""
    for residual in all_residuals(report):
        sheet.labelled(
            ("left", "bold"), shortened(left_alone(residual), sheet.context.verbose), indent=2
        )


def undo_words(changed: Iterable[Changed]) -> str:
    """What the way back does."""
    numbers = counted(row for row in changed if not row.part)
    back = []
    if made := numbers[Action.CREATE]:
        back.append(f"delete {count(made, 'created row')}")
    if moved := numbers[Action.MOVE] + numbers[Action.KEEP]:
        back.append(f"put back {count(moved, 'row')}")
    if gone := numbers[Action.DELETE]:
        back.append(f"write {count(gone, 'deleted row')} again")
    return ", ".join(back)


def counts(changed: Iterable[Changed]) -> str:
    """How many of each action: `Plan: 2 to create, 1 to move, 0 to delete.`.

    Positions, whatever rows hold them, and lists of shards.
    """
    listed = list(changed)
    positions = by_position(listed)
    numbers = counted([*positions, *(row for row in lists(listed) if row not in positions)])
    kept = f", {numbers[Action.KEEP]} to complete" if numbers[Action.KEEP] else ""
    return (
        f"Plan: {numbers[Action.CREATE]} to create, {numbers[Action.MOVE]} to move{kept}, "
        f"{numbers[Action.DELETE]} to delete."
    )


def _by_hand(report: Report) -> str:
    """What comes of a command for who has files alone."""
    if report.snapshot.locator.medium not in CLIENTS:
        return "where the store may be written"
    return f"then, where the store may be written: bash {SCRIPT}"


def not_written(sheet: Sheet, planned: Planned) -> None:
    """Write that nothing was written, and the command that writes the plan."""
    report, saved = planned.report, planned.saved
    said = isinstance(report.decision, Nothing)
    if not said or all_residuals(report):
        sheet.blank()
    if not said:
        also = f" Saved {saved.path} (sha256 {saved.digest[:8]}…)." if saved else ""
        sheet.line(f"Nothing was written.{also}")
    retention_advice_first(sheet, report)
    context = sheet.context
    if report.options.redacted:
        sheet.line(REDACTED)
        return
    if isinstance(report.decision, Plan):
        anew = once_stopped(
            report.snapshot, "a new fix in its place" if report.interrupted else ""
        )
        argv = [*vouched(report, context.suggested_command), *context.sink, *planned.how]
        if saved is not None:
            argv = ["--plan", saved.path, *beside_a_file(context.suggested_command), *planned.how]
        if of_files(argv):
            sheet.command(writing(report, argv), _by_hand(report))
        else:
            sheet.command(command(context.verb, *argv), anew)
    elif flags := [r.flag for r in all_residuals(report) if r.flag]:
        argv = [*accepting(context.suggested_command, flags), *context.sink]
        sheet.command(command(context.verb, "--dry-run", *argv), "see what that would write")
    elif isinstance(report.decision, Ask):
        ask(sheet, report, report.decision)
    ways_on(sheet, report)


def written(sheet: Sheet, outcome: Fixed) -> None:
    """What an applied plan wrote, and what inspect says of the rows now."""
    changed = changes(outcome.before, outcome.steps)
    sheet.fields(*subject(sheet.context, outcome.before))
    sheet.blank()
    sheet.labelled(("journal", "bold"), outcome.typed or outcome.journal, indent=2)
    for phrase in phrases(by_position(changed), sheet.context.verbose):
        sheet.labelled(("wrote", "bold"), shortened(phrase, sheet.context.verbose), indent=2)
    _lists(sheet, changed)
    if outcome.recognised:
        was = "was" if outcome.recognised == 1 else "were"
        sheet.line(
            f"{count(outcome.recognised, 'step')} {was} in place already", indent=2 + LABEL
        )
    residuals(sheet, outcome.after)
    for caveat in outcome.after.caveats:
        sheet.line(f"Note: {caveat}.", indent=2)
    sheet.blank()
    snapshot, journal = outcome.before.snapshot, outcome.typed or outcome.journal
    back = take_back(snapshot, journal, sheet.context.suggested_command)
    sheet.command(back, once_stopped(snapshot, "undoes this fix"))
    sheet.blank()
    rows = count(sum(not row.part for row in changed), "row")
    sheet.line((f"Done. {rows} written and read back.", "bold"), f"  {now(outcome)}")


def now(outcome: Fixed) -> str:
    """The verdict after a fix; what the fix itself skipped is no longer seen in the rows."""
    decision, said = outcome.before.decision, verdict(outcome.after, "OK now")
    if not isinstance(decision, Plan) or not decision.costs:
        return said
    skipped = capital(f"{skipped_words(decision)} skipped on purpose.")
    return f"{said.replace('; nothing is skipped.', '.', 1)} {skipped}"


def brief(report: Report, steps: Iterable[Step]) -> str:
    """`Start 2, 3 at TRIM_HORIZON; set 1 to 4963…0412`: a plan in a line, for who has seen it."""
    said = phrases(by_position(changes(report, steps)), verbose=False)
    more = [f"and {count(len(said) - ASKED, 'more change')}"] if len(said) > ASKED else []
    return capital(shortened("; ".join([*said[:ASKED], *more])))
