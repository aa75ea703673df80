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
from hashlib import sha256
from typing import Any

from reshardctl import __version__
from reshardctl.diagnosis.rules import RULES, Finding, Severity
from reshardctl.diagnosis.rules.pages import Page, pages
from reshardctl.exit import Exit
from reshardctl.model.times import instant
from reshardctl.render.content.report_json import exit_json
from reshardctl.render.document import Document, Subject
from reshardctl.render.escape import escape, indented, time_json

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
    runs = [_run(subject, code, verbose) for subject in document.subjects()]
    note = _notification("note", "the store holds no position")
    return runs or [_bare(code, True, [note]) | {"results": []}]


def fingerprint(subject: Subject, finding: Finding) -> str:
    """SHA-256 in hexadecimal over rule, stream, subject (without its options) and shards."""
    parts = [finding.code, _arn(subject), *subject.identity, sorted(finding.shards)]
    return sha256(json.dumps(parts).encode("ascii")).hexdigest()


def _run(subject: Subject, code: Exit, verbose: bool) -> Object:
    """One that failed has no results: that is not the same as one that found nothing."""
    code = code if subject.exit is None else subject.exit
    notes = [_notification("note", remark) for remark in subject.remarks]
    scope = "reshardctl/audit" if subject.kind == "sink" else "reshardctl"
    identity = {"id": escape(f"{scope}/{_arn(subject)}/{subject.name}/")}
    if (failure := subject.failure) is not None:
        text = "; ".join(part for part in (failure.what, failure.next) if part)
        run = _bare(failure.exit, False, [_notification("error", text), *notes])
        return run | {"automationDetails": identity} if subject.place else run
    run = _bare(code, True, notes)
    if subject.taken is not None:
        run["invocations"][0]["endTimeUtc"] = instant(subject.taken)
    results = [_result(subject, finding, verbose) for finding in subject.findings]
    for finding, reason in subject.suppressed:
        why = {"kind": "external", "status": "accepted", "justification": escape(reason)}
        results.append(_result(subject, finding, verbose) | {"suppressions": [why]})
    return run | {"automationDetails": identity, "results": results}


def _arn(subject: Subject) -> str:
    return subject.place if subject.stream is None else subject.stream.arn


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


def _result(subject: Subject, finding: Finding, verbose: bool) -> Object:
    deadline = finding.deadline
    starts = None if deadline is None else deadline.starts
    return {
        "ruleId": finding.code,
        "ruleIndex": [rule.code for rule in RULES].index(finding.code),
        "level": LEVELS[finding.severity],
        "message": {"text": escape(" ".join(subject.sentences(finding, verbose)))},
        "locations": _locations(subject, finding),
        "partialFingerprints": {FINGERPRINT: fingerprint(subject, finding)},
        "properties": {
            subject.kind: escape(subject.name),
            "shards": [escape(shard) for shard in finding.shards],
            "lossFrom": time_json(starts),
            **({"name": escape(subject.called)} if subject.called else {}),
        },
    }


def _locations(subject: Subject, finding: Finding) -> list[Object]:
    """One location a shard; the consumer's store, or the sink, where there is no shard.

    Of several consumers with the file and line that name each: what shows results needs them.
    """
    places = [
        _logical(shard, f"{_arn(subject)}/{shard}", "shard") for shard in finding.shards
    ] or [_logical(subject.name, subject.name, subject.kind)]
    if subject.origin is None:
        return places
    file, line = subject.origin
    physical = {
        "artifactLocation": {"uri": escape(file).replace("\\", "/")},
        "region": {"startLine": line},
    }
    return [{**place, "physicalLocation": physical} for place in places]


def _logical(name: str, qualified: str, kind: str) -> Object:
    """One location: `kind` is free where none of the standard's own fits (3.33.7)."""
    location = {"name": escape(name), "fullyQualifiedName": escape(qualified), "kind": kind}
    return {"logicalLocations": [location]}


def _notification(level: str, text: str) -> Object:
    """Something that has to be said beside the results."""
    return {"level": level, "message": {"text": escape(text)}}
