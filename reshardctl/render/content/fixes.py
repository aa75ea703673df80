"""Several consumers, fixed together: a line for each, and plain values that JSON can hold."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from reshardctl.errors import HalfDone
from reshardctl.exit import Exit
from reshardctl.planning.plan import Plan
from reshardctl.render.content.report_json import error_json, exit_json, report_json
from reshardctl.render.context import Context
from reshardctl.render.document import Json
from reshardctl.render.escape import ascii_only, escape
from reshardctl.render.sheet import Sheet
from reshardctl.render.words import command, count, once_stopped
from reshardctl.report.results import ConsumerFix, Fixes, Saved


def document(fixes: Fixes, written: Sequence[Json | None]) -> Json:
    """The document without its schema and exit code. written: of each consumer, or null."""
    saved = fixes.saved
    return {
        "dry_run": fixes.dry_run,
        "saved": None if saved is None else {"path": saved.path, "sha256": saved.digest},
        "consumers": [
            {
                "name": each.name, "stream": each.stream, "exit": exit_json(each.exit),
                "plan": None if each.report is None else report_json(each.report, each.exit),
                "fix": fix,
                "error": None if each.failure is None else error_json(each.failure),
            }
            for each, fix in zip(fixes.consumers, written, strict=True)
        ],
    }


def summary(fixes: Fixes) -> Iterator[str]:
    """A line for each consumer: planned, wrote, refused, half done, failed, or nothing to do."""
    width = max(len(each.name) for each in fixes.consumers)
    for each in fixes.consumers:
        yield f"{each.name:{width}}  {_outcome(each, fixes.dry_run)}"
    if fixes.saved is not None:
        yield f"plans saved to {fixes.saved.path}"


def last_lines(sheet: Sheet, fixes: Fixes) -> None:
    """The line of each consumer, and after a dry run the command that writes all saved plans."""
    for line in map(escape, summary(fixes)):
        sheet.raw(f"{ascii_only(line) if sheet.context.ascii else line}\n")
    if fixes.dry_run and fixes.saved is not None:
        sheet.command(*_applying(fixes, fixes.saved, sheet.context))


def _applying(fixes: Fixes, saved: Saved, context: Context) -> tuple[list[str], str]:
    """The command that writes all saved plans, and its condition."""
    planned = [
        each.report.snapshot for each in fixes.consumers
        if each.report is not None and isinstance(each.report.decision, Plan)
    ]
    argv = ["--plan", saved.path, *context.suggested_command]
    first, *_ = planned
    if "--live" in argv or not all(snapshot.locator.stop_words for snapshot in planned):
        return command("fix", *argv), ""
    more = [word for word in first.locator.stop_words if word not in argv]
    return command("fix", *argv, *more), once_stopped(first)


def _outcome(each: ConsumerFix, dry_run: bool) -> str:
    """What came of a consumer. Why it failed is on stderr."""
    if isinstance(each.failure, HalfDone):
        return f"half done: see {each.failure.journal or 'above'}"
    if each.failure is not None:
        refused = each.failure.exit is Exit.REFUSED
        return f"{'refused' if refused else 'failed'}, nothing was written"
    if each.fixed is not None:
        left = "" if each.exit is Exit.OK else "; shards are left, see above"
        return f"wrote {count(each.fixed.written, 'step')}, journal {each.fixed.journal}{left}"
    if each.report is not None and isinstance(each.report.decision, Plan):
        return "planned" if dry_run else "planned, not written"
    return "nothing to write" if each.exit is Exit.OK else "no plan"
