"""What a fix of several consumers came to: a line for each, and the members of its document."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from reshardctl.errors import HalfDone
from reshardctl.exit import Exit
from reshardctl.planning.plan import Plan
from reshardctl.render.content.report_json import error_json, exit_json, report_json
from reshardctl.render.document import Json
from reshardctl.render.words import count
from reshardctl.report.results import ConsumerFix, Fixes


def fixes_document(fixes: Fixes, written: Sequence[Json | None]) -> Json:
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


def fixes_summary(fixes: Fixes) -> Iterator[str]:
    """A line for each consumer: planned, wrote, refused, half done, failed, or nothing to do."""
    width = max(len(each.name) for each in fixes.consumers)
    for each in fixes.consumers:
        yield f"{each.name:{width}}  {_outcome(each, fixes.dry_run)}"
    if fixes.saved is not None:
        yield f"plans saved to {fixes.saved.path}"


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
