"""Several consumers as plain values that JSON can hold."""

from __future__ import annotations

from reshardctl.diagnosis.rules.suppressions import Suppression
from reshardctl.render.documents import (
    Json,
    error_json,
    exit_json,
    report_document,
    report_json,
)
from reshardctl.render.json_text import time_json
from reshardctl.report.results import Entry, Roundup, behind


def roundup_document(shown: Roundup) -> Json:
    """Every consumer with its own report or error, in the order of the file."""
    return {
        "exit": exit_json(shown.exit),
        "counts": {
            **shown.counts(), "consumers": len(shown.entries),
            "suppressed": shown.suppressed(), "unjudged": len(shown.unjudged()),
        },
        "consumers": [_entry(entry) for entry in shown.entries],
    }


def _entry(entry: Entry) -> Json:
    """One consumer; `report` and `error` are as in a document of their own, one of them null."""
    report = entry.report
    return {
        **_named(entry),
        "exit": exit_json(entry.exit),
        "behind_seconds": None if report is None else behind(report),
        "report": None if report is None else report_json(report, entry.exit),
        "error": None if entry.failure is None else error_json(entry.failure),
        "suppressed": _suppressed(entry),
        "expired": [_suppression(suppression) for suppression in entry.sifted.expired],
        "unused": [_suppression(suppression) for suppression in entry.sifted.unused],
    }


def _named(entry: Entry) -> Json:
    """What tells a consumer from the others."""
    origin = entry.origin
    return {
        "name": entry.name, "stream": entry.stream,
        "origin": None if origin is None else {"file": origin[0], "line": origin[1]},
    }


def _suppressed(entry: Entry) -> list[Json]:
    """Findings that are hidden, each with what hides it."""
    if entry.hidden is None:
        return []
    findings = report_document(entry.hidden)["findings"]
    return [
        {"finding": finding, "by": _suppression(by)}
        for finding, (_, by) in zip(findings, entry.sifted.hidden, strict=True)
    ]


def _suppression(suppression: Suppression) -> Json:
    return {
        "rule": suppression.rule, "shards": sorted(suppression.shards),
        "until": time_json(suppression.until),
        **({"day": suppression.day} if suppression.day else {}),
        "why": suppression.why, "origin": suppression.origin,
    }
