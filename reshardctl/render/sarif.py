"""For code scanning: SARIF 2.1.0 (OASIS Standard, errata 01), one run with all rules.

A result is a finding; its level is `error`, `warning` or `note`. Its locations are logical ones
(section 3.33): shards below their stream, because a table of positions is no file. GitHub's code
scanning shows only results with a file and a line, and drops these: use the `github` format
there, and this one where logical locations are read.

`partialFingerprints` (3.27.17) hash rule, stream, consumer and shards, not the sentences: the
same finding keeps its fingerprint from run to run. SARIF knows no writes, so that a plan and the
dry run of an undo are the results of the rows as they are, and a fix and an undo those of the rows
as they are afterwards.
"""

from __future__ import annotations

import json
from hashlib import sha256
from typing import Any

from reshardctl import __version__
from reshardctl.diagnosis.report import Report
from reshardctl.diagnosis.rules import RULES, Finding, Severity
from reshardctl.diagnosis.rules.pages import Page, pages
from reshardctl.errors import ReshardError
from reshardctl.exit import Exit
from reshardctl.model import ShardId
from reshardctl.model.times import instant
from reshardctl.render.context import Context
from reshardctl.render.documents import exit_json
from reshardctl.render.escape import escape
from reshardctl.render.outcomes import Fixed, Saved, Undoing
from reshardctl.render.plain import sentences

Object = dict[str, Any]

SCHEMA = "https://docs.oasis-open.org/sarif/sarif/v2.1.0/errata01/os/schemas/sarif-schema-2.1.0.json"
LEVELS = {Severity.ERROR: "error", Severity.WARNING: "warning", Severity.INFO: "note"}
FINGERPRINT = "reshardctl/v1"
"""Its name ends in the version of how it is made, as section 3.27.17 asks."""


def inspect(report: Report, context: Context) -> str:
    """A result for every finding."""
    return document(_run(report, context))


def plan(
    report: Report, context: Context, *,
    dry_run: bool = True,  # noqa: ARG001 - as every format
    saved: Saved | None = None,  # noqa: ARG001
) -> str:
    """The results of the rows as they are: their messages say what fix would write."""
    return document(_run(report, context))


def fixed(outcome: Fixed, context: Context) -> str:
    """The results of the rows after the fix."""
    return document(_run(outcome.after, context))


def undo(undoing: Undoing, context: Context) -> str:
    """The results of the rows as they are: before a dry run, after an undo."""
    report = undoing.now if undoing.written is None else undoing.after
    if report is None:
        note = notification("note", "the store holds no position")
        return document(bare(context.exit, True, [note]) | {"results": []})
    return document(_run(report, context))


def error(failure: ReshardError, context: Context) -> str:  # noqa: ARG001 - as every format
    """A run without results that was not successful: not the same as one that found nothing."""
    said = "; ".join(part for part in (failure.what, failure.next) if part)
    return document(bare(failure.exit, False, [notification("error", said)]))


def fingerprint(report: Report, finding: Finding) -> str:
    """SHA-256 in hexadecimal over rule, stream, consumer (without its options) and shards."""
    snapshot = report.snapshot
    stream, locator = snapshot.lineage.stream, snapshot.locator
    store = snapshot.store.get("arn", locator.target)
    parts = [finding.code, stream.arn, locator.consumer, store, sorted(finding.shards)]
    return sha256(json.dumps(parts).encode("ascii")).hexdigest()


def _run(report: Report, context: Context) -> Object:
    notes = [notification("note", note) for note in report.notes]
    run = bare(context.exit, True, notes)
    run["invocations"][0]["endTimeUtc"] = instant(report.snapshot.now)
    stream, locator = report.snapshot.lineage.stream, report.snapshot.locator
    identity = escape(f"reshardctl/{stream.arn}/{locator.text}/")
    return run | {
        "automationDetails": {"id": identity},
        "results": [_result(report, finding, context) for finding in report.findings],
    }


def bare(code: Exit, successful: bool, notifications: list[Object]) -> Object:
    """A run without results. Findings are no failure of the run (3.20.14)."""
    return {
        "tool": {
            "driver": {
                "name": "reshardctl",
                "version": __version__,
                "rules": [_rule(page) for page in pages()],
            }
        },
        "invocations": [{
            "executionSuccessful": successful,
            "exitCode": int(code),
            "exitCodeDescription": exit_json(code)["name"],
            "toolExecutionNotifications": notifications,
        }],
    }


def _rule(page: Page) -> Object:
    """A reportingDescriptor (3.49): the page of the rule is its help."""
    parts = [f"{section.title}\n\n{section.text}" for section in page.sections]
    return {
        "id": page.code,
        "name": page.name,
        "shortDescription": {"text": page.summary},
        "fullDescription": {"text": page.sections[0].text},
        "help": {"text": "\n\n".join([page.summary, *parts])},
    }


def _result(report: Report, finding: Finding, context: Context) -> Object:
    codes = [rule.code for rule in RULES]
    said = " ".join(sentences(report, finding, context.verbose))
    deadline = finding.deadline
    starts = None if deadline is None else deadline.starts
    return {
        "ruleId": finding.code,
        "ruleIndex": codes.index(finding.code),
        "level": LEVELS[finding.severity],
        "message": {"text": escape(said)},
        "locations": _locations(report, finding),
        "partialFingerprints": {FINGERPRINT: fingerprint(report, finding)},
        "properties": {
            "consumer": escape(report.snapshot.locator.text),
            "shards": [escape(shard) for shard in finding.shards],
            "lossFrom": None if starts is None else instant(starts),
        },
    }


def _locations(report: Report, finding: Finding) -> list[Object]:
    """One location a shard; the consumer's store where a finding is about no shard."""
    if not finding.shards:
        return [logical(report.snapshot.locator.text, report.snapshot.locator.text, "consumer")]
    return [_shard(report, shard) for shard in finding.shards]


def _shard(report: Report, shard: ShardId) -> Object:
    return logical(shard, f"{report.snapshot.lineage.stream.arn}/{shard}", "shard")


def logical(name: str, qualified: str, kind: str) -> Object:
    """One location: `kind` is free where none of the standard's own fits (3.33.7)."""
    place = {"name": escape(name), "fullyQualifiedName": escape(qualified), "kind": kind}
    return {"logicalLocations": [place]}


def notification(level: str, text: str) -> Object:
    """Something that has to be said beside the results."""
    return {"level": level, "message": {"text": escape(text)}}


def document(run: Object) -> str:
    """The log of one run; ASCII throughout."""
    log = {"$schema": SCHEMA, "version": "2.1.0", "runs": [run]}
    return json.dumps(log, indent=2, allow_nan=False, ensure_ascii=True) + "\n"
