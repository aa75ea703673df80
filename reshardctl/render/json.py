"""For programs: one JSON document a call, in a fixed order of members and in ASCII.

Sequence numbers are strings (a double cannot hold them), times are ISO 8601 in UTC, lengths of
time are seconds. `report.schema.json` beside this file describes the documents. Members are
only ever added.
"""

from __future__ import annotations

import json
from typing import Any

from reshardctl.diagnosis.report import Report
from reshardctl.errors import HalfDone, ReshardError
from reshardctl.exit import Exit
from reshardctl.render.context import Context
from reshardctl.render.documents import report_document, steps_document
from reshardctl.render.outcomes import Fixed, Saved, Undoing

REPORT = "reshardctl/report/1"
FIX = "reshardctl/fix/1"
UNDO = "reshardctl/undo/1"
ERROR = "reshardctl/error/1"


def inspect(report: Report, context: Context) -> str:
    """A report."""
    return _text(report_json(report, context.exit))


def plan(
    report: Report, context: Context, *, dry_run: bool = True, saved: Saved | None = None
) -> str:
    """A report, with the file that its plan was saved in."""
    return _text(plan_json(report, context.exit, saved, dry_run))


def fixed(outcome: Fixed, context: Context) -> str:
    """The report before, what was written, the report after."""
    return _text(fixed_json(outcome, context.exit))


def undo(undoing: Undoing, context: Context) -> str:
    """The steps of an undo, with the reports before and after."""
    return _text(undo_json(undoing, context.exit))


def error(failure: ReshardError, context: Context) -> str:  # noqa: ARG001 - as every format
    """A failure with its exit code."""
    return _text(error_json(failure))


def exit_json(code: Exit) -> dict[str, Any]:
    """{"code": 4, "name": "refused"}."""
    return {"code": int(code), "name": code.name.lower().replace("_", "-")}


def report_json(report: Report, code: Exit) -> dict[str, Any]:
    """Everything that a report holds."""
    return {"schema": REPORT, "exit": exit_json(code), **report_document(report)}


def plan_json(
    report: Report, code: Exit, saved: Saved | None = None, dry_run: bool = True
) -> dict[str, Any]:
    """The same, `dry_run`, and `saved`: the plan's file and SHA-256, or null."""
    file = None if saved is None else {"path": saved.path, "sha256": saved.digest}
    return {**report_json(report, code), "dry_run": dry_run, "saved": file}


def fixed_json(outcome: Fixed, code: Exit) -> dict[str, Any]:
    """An applied plan."""
    return {
        "schema": FIX,
        "exit": exit_json(code),
        "journal": outcome.journal,
        "written_steps": outcome.written,
        "recognised_steps": outcome.recognised,
        "steps": steps_document(outcome.steps),
        "before": report_document(outcome.before),
        "after": report_document(outcome.after),
    }


def undo_json(undoing: Undoing, code: Exit) -> dict[str, Any]:
    """An undo; `written_steps` is null for a dry run, `after` where no position is left."""
    return {
        "schema": UNDO,
        "exit": exit_json(code),
        "journal": undoing.journal,
        "of_plan": undoing.of_plan,
        "written_steps": undoing.written,
        "kept": list(undoing.kept),
        "steps": steps_document(undoing.steps),
        "before": report_document(undoing.now),
        "after": None if undoing.after is None else report_document(undoing.after),
    }


def error_json(failure: ReshardError) -> dict[str, Any]:
    """A failure. journal: the file that tells what landed, or null."""
    journal = failure.journal if isinstance(failure, HalfDone) else ""
    return {
        "schema": ERROR,
        "exit": exit_json(failure.exit),
        "what": failure.what,
        "next": failure.next,
        "journal": journal or None,
    }


def _text(document: dict[str, Any]) -> str:
    """ASCII throughout, so that nothing in it can steer a terminal."""
    return json.dumps(document, indent=2, allow_nan=False, ensure_ascii=True) + "\n"
