"""For code scanning: SARIF 2.1.0 (OASIS Standard, errata 01), one run with all rules.

A result is a finding; its level is `error`, `warning` or `note`. Its locations are logical ones
(section 3.33): shards below their stream, because a table of positions is no file. GitHub's code
scanning shows only results with a file and a line, and drops these: use the `github` format
there, and this one where logical locations are read.

`partialFingerprints` (3.27.17) hash rule, stream, consumer and shards, not the sentences: the
same finding keeps its fingerprint from run to run. SARIF knows no writes, so that a plan and the
dry run of an undo are the results of the rows as they are, and a fix and an undo those of the rows
as they are afterwards.

Several consumers are one run each, their results at the line that names the consumer. A suppressed
finding is a result with a suppression (3.27.23): viewers hide it and keep its reason.
"""

from __future__ import annotations

import json
from collections.abc import Iterable
from hashlib import sha256
from typing import Any

from reshardctl import __version__
from reshardctl.diagnosis.rules import RULES, Finding, Severity
from reshardctl.diagnosis.rules.pages import Page, pages
from reshardctl.errors import ReshardError
from reshardctl.exit import Exit
from reshardctl.model.times import instant
from reshardctl.render.content.report_json import exit_json
from reshardctl.render.content.roundup import remarks
from reshardctl.render.document import Document
from reshardctl.render.escape import escape, indented, time_json
from reshardctl.render.subjects import Subject, of_audit, of_report, report_now
from reshardctl.report.audit import AuditReport
from reshardctl.report.report import Report
from reshardctl.report.results import Entry, Fixed, Planned, Roundup, Undoing

Object = dict[str, Any]

SCHEMA = "https://docs.oasis-open.org/sarif/sarif/v2.1.0/errata01/os/schemas/sarif-schema-2.1.0.json"
LEVELS = {Severity.ERROR: "error", Severity.WARNING: "warning", Severity.INFO: "note"}
FINGERPRINT = "reshardctl/v1"
"""Its name ends in the version of how it is made, as section 3.27.17 asks."""


def write(document: Document[Any]) -> str:
    """One log; ASCII throughout."""
    log = {"$schema": SCHEMA, "version": "2.1.0", "runs": _runs(document)}
    return indented(log)


def _runs(document: Document[Any]) -> list[Object]:
    code, verbose = document.context.exit, document.context.verbose
    match document.result:
        case Report() | Planned() | Fixed() | Undoing() as result:
            report = report_now(result)
            if report is None:
                note = _notification("note", "the store holds no position")
                return [_bare(code, True, [note]) | {"results": []}]
            return [_run(of_report(report), code, verbose)]
        case AuditReport() as audit:
            return [_run(of_audit(audit), code, verbose)]
        case Roundup(entries):
            return [_of_entry(entry, verbose) for entry in entries]
        case ReshardError() as failure:
            return [_failed(failure)]
        case other:
            raise TypeError(f"{type(other).__name__} is not shown as SARIF")


def fingerprint(subject: Subject, finding: Finding) -> str:
    """SHA-256 in hexadecimal over rule, stream, subject (without its options) and shards."""
    parts = [finding.code, subject.stream.arn, *subject.identity, sorted(finding.shards)]
    return sha256(json.dumps(parts).encode("ascii")).hexdigest()


def _run(subject: Subject, code: Exit, verbose: bool) -> Object:
    run = _bare(code, True, [_notification("note", remark) for remark in subject.remarks])
    run["invocations"][0]["endTimeUtc"] = instant(subject.taken)
    scope = "reshardctl/audit" if subject.kind == "sink" else "reshardctl"
    identity = escape(f"{scope}/{subject.stream.arn}/{subject.name}/")
    return run | {
        "automationDetails": {"id": identity},
        "results": _results(subject, subject.findings, verbose),
    }


def _failed(failure: ReshardError) -> Object:
    """A run without results that was not successful: not the same as one that found nothing."""
    text = "; ".join(part for part in (failure.what, failure.next) if part)
    return _bare(failure.exit, False, [_notification("error", text)])


def _of_entry(entry: Entry, verbose: bool) -> Object:
    """The run of one consumer among several."""
    if entry.failure is not None:
        run = _failed(entry.failure)
        run["automationDetails"] = {"id": escape(f"reshardctl/{entry.stream}/{entry.name}/")}
    else:
        assert entry.report is not None and entry.hidden is not None
        run = _run(of_report(entry.report), entry.exit, verbose)
        hidden = _results(of_report(entry.hidden), entry.hidden.findings, verbose)
        for result, (_, by) in zip(hidden, entry.sifted.hidden, strict=True):
            why = {"kind": "external", "status": "accepted", "justification": escape(by.why)}
            run["results"].append(result | {"suppressions": [why]})
        for result in run["results"]:
            _locate(result, entry)
    notes = [_notification("note", line) for line in remarks(entry)]
    run["invocations"][0]["toolExecutionNotifications"] += notes
    return run


def _locate(result: Object, entry: Entry) -> None:
    """File and line besides shard or store: what shows results needs them."""
    result["properties"]["name"] = escape(entry.name)
    if entry.origin is None:
        return
    file, line = entry.origin
    physical = {
        "artifactLocation": {"uri": escape(file).replace("\\", "/")},
        "region": {"startLine": line},
    }
    for location in result["locations"]:
        location["physicalLocation"] = physical


def _bare(code: Exit, successful: bool, notifications: list[Object]) -> Object:
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


def _results(subject: Subject, findings: Iterable[Finding], verbose: bool) -> list[Object]:
    codes = [rule.code for rule in RULES]
    return [_result(subject, finding, codes.index(finding.code), verbose) for finding in findings]


def _result(subject: Subject, finding: Finding, index: int, verbose: bool) -> Object:
    deadline = finding.deadline
    starts = None if deadline is None else deadline.starts
    return {
        "ruleId": finding.code,
        "ruleIndex": index,
        "level": LEVELS[finding.severity],
        "message": {"text": escape(" ".join(subject.sentences(finding, verbose)))},
        "locations": _locations(subject, finding),
        "partialFingerprints": {FINGERPRINT: fingerprint(subject, finding)},
        "properties": {
            subject.kind: escape(subject.name),
            "shards": [escape(shard) for shard in finding.shards],
            "lossFrom": time_json(starts),
        },
    }


def _locations(subject: Subject, finding: Finding) -> list[Object]:
    """One location a shard; the consumer's store, or the sink, where there is no shard."""
    if not finding.shards:
        return [_logical(subject.name, subject.name, subject.kind)]
    return [
        _logical(shard, f"{subject.stream.arn}/{shard}", "shard") for shard in finding.shards
    ]


def _logical(name: str, qualified: str, kind: str) -> Object:
    """One location: `kind` is free where none of the standard's own fits (3.33.7)."""
    location = {"name": escape(name), "fullyQualifiedName": escape(qualified), "kind": kind}
    return {"logicalLocations": [location]}


def _notification(level: str, text: str) -> Object:
    """Something that has to be said beside the results."""
    return {"level": level, "message": {"text": escape(text)}}
