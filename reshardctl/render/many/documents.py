"""Several consumers as plain values that JSON can hold."""

from __future__ import annotations

from typing import Any

from reshardctl.diagnosis.rules.suppressions import Suppression
from reshardctl.model.times import instant
from reshardctl.render.documents import report_document
from reshardctl.render.json import error_json, exit_json, report_json
from reshardctl.render.many.roundup import Entry, Roundup, behind

Document = dict[str, Any]


def roundup_document(shown: Roundup) -> Document:
    """Every consumer with its own report or error, in the order of the file."""
    return {
        "exit": exit_json(shown.exit),
        "counts": {
            **shown.counts(), "consumers": len(shown.entries),
            "suppressed": shown.suppressed(), "unjudged": len(shown.unjudged()),
        },
        "consumers": [entry_document(entry) for entry in shown.entries],
    }


def entry_document(entry: Entry) -> Document:
    """One consumer; `report` and `error` are as in a document of their own, one of them null."""
    report = entry.report
    return {
        **named(entry),
        "exit": exit_json(entry.exit),
        "behind_seconds": None if report is None else behind(report),
        "report": None if report is None else report_json(report, entry.exit),
        "error": None if entry.failure is None else error_json(entry.failure),
        "suppressed": suppressed(entry),
        "expired": [_suppression(one) for one in entry.sifted.expired],
        "unused": [_suppression(one) for one in entry.sifted.unused],
    }


def named(entry: Entry) -> Document:
    """What tells a consumer from the others."""
    origin = entry.origin
    return {
        "name": entry.name, "stream": entry.stream,
        "origin": None if origin is None else {"file": origin[0], "line": origin[1]},
    }


def suppressed(entry: Entry) -> list[Document]:
    """Findings that are hidden, each with what hides it."""
    if entry.hidden is None:
        return []
    found = report_document(entry.hidden)["findings"]
    return [
        {"finding": one, "by": _suppression(by)}
        for one, (_, by) in zip(found, entry.sifted.hidden, strict=True)
    ]


def _suppression(one: Suppression) -> Document:
    return {
        "rule": one.rule, "shards": sorted(one.shards),
        "until": None if one.until is None else instant(one.until),
        "why": one.why, "origin": one.origin,
    }
