"""Every result as the values that its JSON document holds, in a fixed order of members.

Sequence numbers are strings (a double cannot hold them), times are ISO 8601 in UTC, lengths of
time are seconds. `report.schema.json` beside this file describes the documents. Members are only
ever added.
"""

from __future__ import annotations

from typing import assert_never

from reshardctl.diagnosis.discovery import Found
from reshardctl.errors import ReshardError
from reshardctl.exit import Exit
from reshardctl.render.content.audit import audit_document, bucket_document
from reshardctl.render.content.journals import (
    Listing,
    Pruning,
    discovery_document,
    journal_document,
    journals_document,
    pruning_document,
)
from reshardctl.render.content.report_json import (
    Json,
    error_json,
    exit_json,
    report_document,
    report_json,
    steps_document,
)
from reshardctl.render.content.roundup import roundup_document
from reshardctl.report.audit import AuditReport
from reshardctl.report.report import Report
from reshardctl.report.results import Fixed, Planned, Roundup, Undoing

Result = (
    Report | Planned | Fixed | Undoing | AuditReport | Roundup | Listing | Pruning | Found
    | ReshardError
)
"""What a command can have to show."""

FIX = "reshardctl/fix/2"
UNDO = "reshardctl/undo/2"
AUDIT = "reshardctl/audit/2"
ROUNDUP = "reshardctl/roundup/2"
JOURNALS = "reshardctl/journals/2"
JOURNAL = "reshardctl/journal/1"
PRUNED = "reshardctl/pruned/1"
DISCOVERY = "reshardctl/discovery/1"


def data_of(result: Result, code: Exit) -> Json:
    """The whole JSON document of a result. code: what the command ends with."""
    match result:
        case Report():
            return report_json(result, code)
        case Planned():
            return _plan(result, code)
        case Fixed():
            return _fix(result, code)
        case Undoing():
            return _undo(result, code)
        case AuditReport():
            buckets = [bucket_document(bucket) for bucket in result.facts.buckets]
            return {**_head(AUDIT, code), **audit_document(result), "buckets": buckets}
        case Roundup():
            return {"schema": ROUNDUP, **roundup_document(result)}
        case Listing(rows=True):
            return {**_head(JOURNAL, code), **journal_document(result)}
        case Listing():
            return {**_head(JOURNALS, code), **journals_document(result)}
        case Pruning():
            return {**_head(PRUNED, code), **pruning_document(result)}
        case Found():
            return {**_head(DISCOVERY, code), **discovery_document(result)}
        case ReshardError():
            return error_json(result)
        case _:
            assert_never(result)


def _head(schema: str, code: Exit) -> Json:
    return {"schema": schema, "exit": exit_json(code)}


def _plan(planned: Planned, code: Exit) -> Json:
    """A report with `dry_run`, and `saved`: the plan's file and SHA-256, or null."""
    saved = planned.saved
    file = None if saved is None else {"path": saved.path, "sha256": saved.digest}
    return {**report_json(planned.report, code), "dry_run": planned.dry_run, "saved": file}


def _fix(outcome: Fixed, code: Exit) -> Json:
    """An applied plan, with the reports before and after."""
    return {
        **_head(FIX, code),
        "journal": outcome.journal,
        "written_steps": outcome.written,
        "recognised_steps": outcome.recognised,
        "steps": steps_document(outcome.steps),
        "before": report_document(outcome.before),
        "after": report_document(outcome.after),
    }


def _undo(undoing: Undoing, code: Exit) -> Json:
    """An undo; `written_steps` is null for a dry run, `after` where no position is left."""
    return {
        **_head(UNDO, code),
        "journal": undoing.journal,
        "of_plan": undoing.of_plan,
        "written_steps": undoing.written,
        "kept": list(undoing.kept),
        "steps": steps_document(undoing.steps),
        "before": report_document(undoing.now),
        "after": None if undoing.after is None else report_document(undoing.after),
    }
