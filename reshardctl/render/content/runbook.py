"""A runbook for one incident: what is wrong, the steps in their order, and the way back.

GitHub-flavoured Markdown to paste into an issue: numbered tasks to tick off with the commands
filled in, a table of the rows before and after, what it costs, and the undo. `docs/runbook.md`
is the same without an incident.

For every decision there are steps with their commands. For several consumers: the table, then the
runbook of each that has findings.
"""

from __future__ import annotations

import shlex
from collections.abc import Iterable, Sequence
from dataclasses import replace

from reshardctl.diagnosis.rules import Severity
from reshardctl.model import ShardId, Step
from reshardctl.model.times import instant
from reshardctl.planning.effects import Harm
from reshardctl.planning.plan import Ask, NoSafePlan, Nothing, Plan
from reshardctl.render.content.findings import (
    already_so,
    going,
    happening,
    left_alone,
    remedy,
    supposed,
)
from reshardctl.render.content.plan import BESIDE, counts, remaining, undo_words
from reshardctl.render.content.questions import answering, choices
from reshardctl.render.content.roundup import (
    HEADS,
    HEADS_OF_MANY,
    failed,
    hidden,
    names_of,
    of_many,
    remarks,
    roundup_row,
    row_of_many,
    searched_lines,
    total,
)
from reshardctl.render.content.undo import nothing
from reshardctl.render.content.verdict import tally
from reshardctl.render.context import Context
from reshardctl.render.costs import absolute, widest
from reshardctl.render.markdown_words import Page, code, prose
from reshardctl.render.words import (
    CLIENTS,
    REDACTED,
    SCRIPT,
    accepting,
    beside_a_file,
    command,
    count,
    inspecting,
    of_files,
    only_if,
    plan_file,
    plan_words,
    sentence,
    shortened,
    take_back,
    vouched,
    write_words,
    writing,
)
from reshardctl.report.changes import all_residuals, changes, codes, costs_after
from reshardctl.report.forecast import retention_advice
from reshardctl.report.report import Report
from reshardctl.report.results import Entry, Fixed, Roundup, Saved, Undoing

Task = tuple[str, Sequence[Sequence[str]]]
"""What to do, and the commands that do it."""

STOP: Task = (
    "Stop every worker of the application and wait for its failover time. `fix` watches for signs "
    "of life and refuses while the application is running.", [],
)
STOP_UNSEEN: Task = (
    "Stop every process that writes the store, and check on its host that it has ended: the store "
    "does not show whether a process is running. `fix` requires `--assume-stopped`, your "
    "confirmation that none is.", [],
)
KEEP = (
    "Back up the store with its own tools: the journal of the fix holds only the rows that the "
    "fix writes."
)
APPLY = (
    "Apply the plan, and write down the name of the journal. `fix` shows the cost and asks for "
    "confirmation; without a terminal it needs `--yes`, and `--accept` if a shard re-reads more "
    "than an hour. Exit code 0: written and read back, nothing is left to do. 1: written; the "
    "output lists what is left. 4: refused, nothing was written; the output gives the reason."
)
HALF_DONE = (
    "Only if `fix` ends with exit code 5, half done: finish the fix or undo it. The list names "
    "the journal."
)
WATCH = "Once the application is running, check that its workers make progress."


def runbook(report: Report, context: Context, saved: Saved | None) -> list[Task]:
    """What to do, in order; it always ends with looking again."""
    again: Task = ("Inspect again.", [inspecting(context.suggested_command)])
    if report.snapshot.foreseen is not None:
        return _before_a_reshard(report, context)
    if report.options.redacted:
        return [*_understand(report), (REDACTED, []), again]
    match report.decision:
        case Plan() if of_files(context.suggested_command):
            return [*_understand(report), *_by_hand(report, context)]
        case Plan():
            looks = _watched(report, context)
            return [*_understand(report), *_apply(report, context, saved), *looks, again]
        case Nothing():
            return [*_understand(report), *_accept(report, context), again]
        case Ask() as ask:
            look_up = (
                f"Find out {' and '.join(map(code, ask.options))}: the plan depends on it, and the "
                f"store does not record it. Do not guess. {_answered(report, ask)}Then one of:"
            )
            argvs = [
                answering(report, ask, choice.answer, context.suggested_command)
                for choice in choices(report, ask)
            ]
            wanted = [command(context.verb, "--dry-run", *a, *context.sink) for a in argvs]
            return [*_understand(report), (look_up, wanted), again]
        case NoSafePlan(why, ways):
            reason = prose(sentence(shortened(why, context.verbose)))
            outs = [_way_out(report, way, context) for way in ways]
            return [*_understand(report), (f"There is no plan: {reason}", []), *outs, again]


def _way_out(report: Report, way: str, context: Context) -> Task:
    argv = going(report, way, context.suggested_command)
    taken = [command(context.verb, "--dry-run", *argv, *context.sink)] if argv else []
    return f"Way out: {prose(sentence(way))}", taken


def _answered(report: Report, ask: Ask) -> str:
    """What each answer changes."""
    known = [choice.line for choice in choices(report, ask) if choice.outcome]
    return "".join(f"With {prose(line)}. " for line in known)


def _back(report: Report, journal: str, context: Context) -> list[str]:
    return take_back(report.snapshot, journal, context.suggested_command)


def _watched(report: Report, context: Context) -> list[Task]:
    look = inspecting(context.suggested_command, "--watch", "60s")
    return [(WATCH, [look])] if report.snapshot.locator.spec.watchable else []


def _before_a_reshard(report: Report, context: Context) -> list[Task]:
    """What to do before a reshard that is only foreseen: mend what is wrong already, then reshard.

    Nothing is applied: the plan is of shards that do not exist yet.
    """
    now = command("inspect", *context.suggested_command)
    then: Task = (
        "Reshard the stream; `--wait` waits until that is complete.", [[*now, "--wait", "15m"]]
    )
    if of_files(context.suggested_command):
        then = ("Reshard the stream, save the files again, and inspect them.", [now])
    return [
        *_understand(report),
        ("List the findings that exist without the reshard, and fix them first.", [now]),
        then,
    ]


def _understand(report: Report) -> list[Task]:
    grave = dict.fromkeys(f.code for f in report.findings if f.severity > Severity.INFO)
    if not grave:
        return []
    read = ("Read what the findings mean.", [command("rule", name) for name in grave])
    return [read, *_in_time(report)]


def _in_time(report: Report) -> list[Task]:
    """Longer retention, where records may expire before this is mended."""
    aid = retention_advice(report)
    if aid is None:
        return []
    longer = [shlex.quote(word) for word in aid.argv()]
    extend = "Only if a deadline is near: extend retention. This costs money; no records are lost."
    return [(extend, [longer])]


def _by_hand(report: Report, context: Context) -> list[Task]:
    """What to do where files show the store, and a script writes it."""
    script = writing(report, vouched(report, context.suggested_command))
    if report.snapshot.locator.medium not in CLIENTS:
        return [STOP_UNSEEN, ("Where the store can be reached, repair it.", [script])]
    return [
        STOP_UNSEEN,
        (KEEP, _backup(report)),
        ("Save the script, and compare it with the table below.", [script]),
        ("Run it where the store may be written. It changes only rows that are as they were read.",
         [["bash", SCRIPT]]),
        ("Only if it fails: take back what was written before.", [["bash", SCRIPT, "undo"]]),
        ("Start the application again. It continues from the positions below.", []),
        ("Save the files again, and inspect them.", [inspecting(context.suggested_command)]),
    ]


def _apply(report: Report, context: Context, saved: Saved | None) -> list[Task]:
    path = _plan_path(report, context, saved)
    argv = vouched(report, context.suggested_command)
    save = command(context.verb, "--dry-run", "--out", path, *argv, *context.sink)
    again = [*beside_a_file(argv), *report.snapshot.locator.stop_words]
    apply = command(context.verb, "--plan", path, *again)
    either = [
        command("undo", "--list"), command("fix", "--resume", "JOURNAL", *again),
        _back(report, "JOURNAL", context),
    ]
    see: Task = ("Save the plan, and compare it with the table below.", [save])
    if saved is not None:
        digest = code(saved.digest)
        see = (f"Keep the plan: {code(saved.path)}, SHA-256 {digest}.", [])
    return [
        STOP_UNSEEN if report.snapshot.locator.stop_words else STOP,
        (KEEP, _backup(report)),
        see,
        (APPLY, [apply]),
        (HALF_DONE, either),
        ("Start the application again. It continues from the positions below.", []),
    ]


def _plan_path(report: Report, context: Context, saved: Saved | None) -> str:
    return plan_file(report, context.suggested_command) if saved is None else saved.path


def _backup(report: Report) -> Sequence[Sequence[str]]:
    """The commands of on-demand backups of DynamoDB tables, whose storage AWS charges for."""
    snapshot, locator = report.snapshot, report.snapshot.locator
    if snapshot.store.get("medium") != "dynamodb":
        return []
    parts = snapshot.store.get("arn", "").split(":")
    region = ["--region", shlex.quote(parts[3])] if len(parts) > 4 else []
    return [
        ["aws", "dynamodb", "create-backup", "--table-name", shlex.quote(shape.name),
         "--backup-name", shlex.quote(f"{shape.name}-before-fix"), *region]
        for shape in locator.spec.tables(locator.target, locator.options)
    ]


def _accept(report: Report, context: Context) -> list[Task]:
    residuals = all_residuals(report)
    if not residuals:
        return [(f"Nothing to write. {tally(report)}", [])]
    flags = [r.flag for r in residuals if r.flag]
    if not flags:
        return [("Nothing to write: no flag accepts the cost of fixing the rest.", [])]
    arguments = [*accepting(context.suggested_command, flags), *context.sink]
    text = "Decide whether fixing the rest is worth its cost; this shows what it would write."
    return [(text, [command(context.verb, "--dry-run", *arguments)])]


def fixed(page: Page, outcome: Fixed) -> None:
    """What was written, what is left to do, and the way back."""
    suggested = page.context.suggested_command
    page.heading(1, f"Fixed: {code(outcome.before.snapshot.locator.text)}")
    page.line(f"Journal: {code(outcome.journal)}")
    if outcome.recognised:
        page.line(f"{count(outcome.recognised, 'step')} in place already.")
    page.heading(2, "Before and after")
    _rows(page, outcome.before, outcome.steps)
    page.heading(2, "Findings now")
    _findings(page, outcome.after)
    page.bullets(f"Note: {prose(sentence(caveat))}" for caveat in outcome.after.caveats)
    page.heading(2, "Steps")
    page.steps([
        ("Start the application again.", []),
        ("Inspect again.", [inspecting(suggested)]),
    ])
    page.heading(2, "Undo")
    page.line("Only before the application saves positions again:")
    page.command(_back(outcome.before, outcome.journal, page.context))


def undo(page: Page, undoing: Undoing) -> None:
    """The rows that an undo puts back, and what is to be done then."""
    suggested, dry = page.context.suggested_command, undoing.written is None
    page.heading(1, ("Undo: " if dry else "Undone: ") + code(undoing.now.snapshot.locator.text))
    kind = "Plan" if undoing.of_plan and dry else "Journal"
    page.line(f"{kind}: {code(undoing.journal)}" + (
        " – nothing was written." if dry and undoing.dry_run else ""
    ))
    if undoing.steps:
        page.heading(2, "Before and after")
        _rows(page, undoing.now, undoing.steps)
    else:
        page.line(nothing(undoing))
    page.bullets(f"Stays: {prose(line)}" for line in undoing.kept)
    page.heading(2, "Findings after the undo")
    if undoing.after is None:
        page.line("The store holds no position.")
    else:
        _findings(page, undoing.after)
    page.heading(2, "Steps")
    back = _back(undoing.now, undoing.journal, page.context)
    wanted = [
        ("Stop every worker of the application.", []), ("Put the rows back.", [back]),
    ] if dry and undoing.steps else []
    page.steps([*wanted, ("Inspect again.", [inspecting(suggested)])])


def runbook_page(page: Page, report: Report, saved: Saved | None = None) -> None:
    """The whole runbook. saved: the file that holds the plan already, if one does."""
    kind = "Runbook" if report.snapshot.foreseen is None else "Forecast"
    page.heading(1, f"{kind}: {code(report.snapshot.locator.text)}")
    if forecast := supposed(report):
        page.line(prose(f"{sentence(forecast)[:-1]}: {happening(report)}. Nothing was resharded."))
    _facts(page, report)
    page.heading(2, "Findings")
    _findings(page, report)
    page.heading(2, "Steps")
    page.steps(runbook(report, page.context, saved))
    if isinstance(report.decision, Plan) and report.snapshot.foreseen is None:
        _planned(page, report, report.decision, saved)
    page.bullets(prose(sentence(left_alone(r))) for r in all_residuals(report))
    notes = [sentence(shortened(note, page.context.verbose)) for note in report.notes]
    page.bullets(f"Note: {prose(note)}" for note in notes)


def _facts(page: Page, report: Report) -> None:
    snapshot = report.snapshot
    stream, opened = snapshot.lineage.stream, snapshot.lineage.open_count()
    page.table(["", ""], [
        ["stream", code(stream.arn)],
        ["created", instant(stream.created)],
        ["shards", f"{opened} open, {len(snapshot.lineage) - opened} closed"],
        ["retention", f"{stream.retention // 3600} h"],
        *([f"store {name}", code(value)] for name, value in sorted(snapshot.store.items())),
        ["read", instant(snapshot.now)],
        ["policy", report.options.policy.name],
    ])


def _findings(page: Page, report: Report) -> None:
    verbose = page.context.verbose
    rows = []
    for finding in report.findings:
        only = only_if(report, finding)
        already = already_so(report, finding, verbose)
        parts = [finding.what, finding.costs, f"only if {only}" if only else "", already]
        by = absolute(finding.effects, finding.deadline) if finding.deadline else ""
        rows.append((finding, parts, by, shortened(remedy(report, finding, verbose), verbose)))
    page.findings(tally(report), "fix", rows)


def _planned(page: Page, report: Report, decided: Plan, saved: Saved | None) -> None:
    """What changes, what that costs, and the way back."""
    changed = changes(report, decided.steps)
    page.heading(2, "Before and after")
    _rows(page, report, decided.steps, decided)
    page.line(counts(changed))
    if running := plan_words(decided.steps):
        page.heading(2, "While the application runs")
        page.line(prose(sentence(running)))
        page.bullets(
            f"{code(row.write.key)}: {prose(write_words(row.write))}"
            for row in changed if not row.part
        )
    page.heading(2, "What it costs")
    left = [e for run in decided.after for e in run]
    costs = remaining([*left, *decided.costs], page.context.verbose)
    page.bullets(prose(line) for line in costs or ["nothing is skipped, nothing is re-read"])
    page.heading(2, "Undo")
    page.line(f"{undo_words(changed).capitalize()}, from the journal:")
    page.command(_back(report, "JOURNAL", page.context))
    page.line("Or, if the journal is lost, from the plan:")
    page.command(_back(report, _plan_path(report, page.context, saved), page.context))


def _rows(page: Page, report: Report, steps: Iterable[Step], decided: Plan | None = None) -> None:
    """Row by row; with why and at which cost where the plan is given."""
    heads = ["row", "", "now", "after"]
    priced = ["why", "skips", "re-reads"] if decided else []
    changed = changes(report, steps)
    findings, costs, rows = codes(report, changed), costs_after(report.decision), []
    for row in changed:
        own = costs.get(row.shard, [])
        why = findings.get(row.shard) or (
            BESIDE if row.part else shortened(row.write.why, page.context.verbose)
        )
        cells = [_name(row.shard), str(row.action), _position(row.now), _position(row.after)]
        more = [prose(why), widest(own, Harm.SKIPPED), widest(own, Harm.REREAD)]
        rows.append([*cells, *more] if decided else cells)
    page.table([*heads, *priced], rows)


def _name(shard: ShardId) -> str:
    return code(shortened(shard, verbose=len(shard) < 60))


def _position(position: str | None) -> str:
    """Whole: a number in a runbook is there to be compared."""
    return "–" if position is None else code(position)


def roundup(page: Page, shown: Roundup) -> None:
    """Headings of a consumer's own runbook are one level down."""
    page.heading(1, "Consumers side by side")
    if of_many(shown):
        page.table(HEADS_OF_MANY, [_row(row_of_many(entry)) for entry in shown.entries])
    else:
        for stream, entries in shown.streams().items():
            name, configured = names_of(stream, entries)
            more = f", configured as {code(configured)}" if configured else ""
            page.heading(2, f"Stream {code(name)}{more}")
            page.table(HEADS, [_row(roundup_row(entry)) for entry in entries])
    for line in searched_lines(shown):
        page.line(prose(line))
    page.line(prose(total(shown)))
    for entry in shown.entries:
        _entry(page, entry)


def _row(row: list[str]) -> list[str]:
    name, *cells = row
    return [code(name), *(prose(cell) for cell in cells)]


def _entry(page: Page, entry: Entry) -> None:
    lines = [
        *(f"Suppressed: {hidden(finding, by)}" for finding, by in entry.sifted.hidden),
        *remarks(entry),
    ]
    if entry.report is not None and entry.report.findings:
        own = replace(
            page.context, suggested_command=entry.suggested_command, exit=entry.exit
        )
        runbook_page(page.part(own), entry.report)
    else:
        if entry.failure is not None:
            why, *others = failed(entry)
            lines = [f"Could not tell: {why}", *others, *lines]
        elif entry.report is not None:
            lines += [f"Note: {caveat}" for caveat in entry.report.caveats]
        if lines:
            page.heading(2, code(entry.name))
    page.bullets(prose(line) for line in lines)
