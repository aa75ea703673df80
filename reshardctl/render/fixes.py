"""What a fix of several consumers came to, as it is shown: a line for each, and a document."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace

from reshardctl.errors import HalfDone, ReshardError
from reshardctl.exit import Exit
from reshardctl.planning.plan import Plan
from reshardctl.render import WRITERS
from reshardctl.render.content import data_of
from reshardctl.render.content.report_json import Json, error_json, exit_json, report_json
from reshardctl.render.context import Context
from reshardctl.render.document import Document
from reshardctl.render.escape import ascii_only, escape, indented
from reshardctl.render.words import count
from reshardctl.report.report import Report
from reshardctl.report.results import Fixed, Saved

SCHEMA = "reshardctl/fixes/1"
FORMATS = ("text", "concise", "json", "diff")


@dataclass(frozen=True, slots=True)
class ConsumerFix:
    """What came of one consumer.

    report: what its plan was made from; `None` if it could not be judged. fixed: what was written.
    failure: why nothing was written, or not everything. exit: of a `fix` of this consumer alone.
    """

    name: str
    stream: str
    report: Report | None
    fixed: Fixed | None
    failure: ReshardError | None
    exit: Exit


@dataclass(frozen=True, slots=True)
class Fixes:
    """What came of several consumers, in the order in which they were named.

    exit: the worst of all. saved: the file that holds all plans, if one was named.
    """

    consumers: tuple[ConsumerFix, ...]
    exit: Exit
    dry_run: bool
    saved: Saved | None


def write(fixes: Fixes, form: str, context: Context) -> str:
    """The outcomes in one of `FORMATS`, as whole lines."""
    if form == "json":
        return indented(document(fixes))
    rows = form == "diff"  # the plans have shown them: what came of them is comments
    writer = WRITERS["concise" if rows else form]
    shown = "".join(
        writer(Document(each.fixed, replace(context, name=each.name)))
        for each in fixes.consumers if each.fixed is not None
    )
    lines = [escape(line) for line in _summary(fixes)]
    if context.ascii:
        lines = [ascii_only(line) for line in lines]
    lines = [*shown.split("\n")[:-1], *lines]
    return "".join(f"# {line}\n" if rows else f"{line}\n" for line in lines)


def document(fixes: Fixes) -> Json:
    """Every consumer with its plan, what was written, and the failure; each may be null."""
    saved = fixes.saved
    return {
        "schema": SCHEMA,
        "exit": exit_json(fixes.exit),
        "dry_run": fixes.dry_run,
        "saved": None if saved is None else {"path": saved.path, "sha256": saved.digest},
        "consumers": [_consumer(each) for each in fixes.consumers],
    }


def _consumer(each: ConsumerFix) -> Json:
    return {
        "name": each.name, "stream": each.stream, "exit": exit_json(each.exit),
        "plan": None if each.report is None else report_json(each.report, each.exit),
        "fix": None if each.fixed is None else data_of(each.fixed, each.exit),
        "error": None if each.failure is None else error_json(each.failure),
    }


def _summary(fixes: Fixes) -> Iterator[str]:
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
