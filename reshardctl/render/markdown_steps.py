"""The steps of a runbook, for every decision, with their commands."""

from __future__ import annotations

import re
import shlex
from collections.abc import Sequence

from reshardctl.diagnosis.rules import Severity
from reshardctl.planning.plan import Ask, NoSafePlan, Nothing, Plan
from reshardctl.render.answer_commands import answers
from reshardctl.render.context import Context
from reshardctl.render.markdown_words import code, prose
from reshardctl.render.question_effects import explained
from reshardctl.render.text_findings import tally
from reshardctl.render.words import accepting, command, elsewhere, sentence, shortened
from reshardctl.report.changes import all_residuals
from reshardctl.report.forecast import retention_advice
from reshardctl.report.report import Report
from reshardctl.report.results import Saved

_CONFIGURED = re.compile(r"[\w.-]+\Z", re.ASCII)
"""A name in reshardctl.toml; a locator has a colon."""
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
    again: Task = ("Inspect again.", [command("inspect", *context.suggested_command)])
    if report.snapshot.foreseen is not None:
        return _before_a_reshard(report, context)
    match report.decision:
        case Plan():
            looks = _watched(report, context)
            return [*_understand(report), *_apply(report, context, saved), *looks, again]
        case Nothing():
            return [*_understand(report), *_accept(report, context), again]
        case Ask() as ask:
            look_up = (
                f"Find out {' and '.join(map(code, ask.options))}: the plan depends on it, and the "
                "store does not record it. "
                f"Do not guess. {_answered(report, ask)}Then one of:"
            )
            wanted = [
                command(context.verb, "--dry-run", *arguments, *context.sink)
                for arguments in answers(report, ask, context.suggested_command)
            ]
            return [*_understand(report), (look_up, wanted), again]
        case NoSafePlan(why, ways):
            reason = prose(sentence(shortened(why, context.verbose)))
            outs: list[Task] = [(f"Way out: {prose(sentence(way))}", []) for way in ways]
            return [*_understand(report), (f"There is no plan: {reason}", []), *outs, again]


def _answered(report: Report, ask: Ask) -> str:
    """What each answer changes."""
    return "".join(f"With {prose(sentence(line))} " for line in explained(report, ask))


def _watchable(report: Report) -> bool:
    return report.snapshot.locator.spec.watchable


def _watched(report: Report, context: Context) -> list[Task]:
    look = [*command("inspect", *context.suggested_command), "--watch", "60s"]
    return [(WATCH, [look])] if _watchable(report) else []


def _before_a_reshard(report: Report, context: Context) -> list[Task]:
    now = command("inspect", *context.suggested_command)
    return [
        *_understand(report),
        ("List the findings that exist without the reshard, and fix them first.", [now]),
        ("Reshard the stream; `--wait` waits until that is complete.", [[*now, "--wait", "15m"]]),
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


def _apply(report: Report, context: Context, saved: Saved | None) -> list[Task]:
    path = plan_file(report, context, saved)
    save = command(
        context.verb, "--dry-run", "--out", path, *context.suggested_command, *context.sink
    )
    apply = command("fix", "--plan", path, *elsewhere(context.suggested_command))
    if not _watchable(report):
        apply = [*apply, "--assume-stopped"]
    reached = elsewhere(context.suggested_command)
    either = [
        command("undo", "--list"), command("fix", "--resume", "JOURNAL", *reached),
        command("undo", "JOURNAL", *reached),
    ]
    see: Task = ("Save the plan, and compare it with the table below.", [save])
    if saved is not None:
        digest = code(saved.digest)
        see = (f"Keep the plan: {code(saved.path)}, SHA-256 {digest}.", [])
    return [
        STOP if _watchable(report) else STOP_UNSEEN,
        (KEEP, _backup(report)),
        see,
        (APPLY, [apply]),
        (HALF_DONE, either),
        ("Start the application again. It continues from the positions below.", []),
    ]


def plan_file(report: Report, context: Context, saved: Saved | None) -> str:
    """Where the plan is, or is to be: here, under the consumer's name or that of its store.

    Consumers of several streams can share a table, and a directory may be one on S3.
    """
    if saved is not None:
        return saved.path
    word = "".join(context.suggested_command[:1])
    target = report.snapshot.locator.target.rstrip("/").rpartition("/")[2]
    return f"{word if _CONFIGURED.match(word) else target}.plan"


def _backup(report: Report) -> Sequence[Sequence[str]]:
    """The commands of an on-demand backup of a DynamoDB table, whose storage AWS charges for."""
    snapshot = report.snapshot
    if snapshot.store.get("medium") != "dynamodb":
        return []
    table, parts = snapshot.locator.target, snapshot.store.get("arn", "").split(":")
    region = ["--region", shlex.quote(parts[3])] if len(parts) > 4 else []
    name = shlex.quote(f"{table}-before-fix")
    arguments = ["aws", "dynamodb", "create-backup", "--table-name", shlex.quote(table)]
    return [[*arguments, "--backup-name", name, *region]]


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
