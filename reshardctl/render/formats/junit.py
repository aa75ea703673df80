r"""For dashboards of tests: JUnit XML as Jenkins' junit-10 schema has it.

A suite is a consumer, a case is a rule. Rules without a finding pass and are listed, so that a
dashboard shows how much was looked at; findings at warning or above are failures, leftovers pass
and are told in `system-out`. A rule that this command does not look at is skipped, never passed.
A plan, a fix and an undo have a suite more, of the rows: a row that was written, or was already
in place, passes; one that was only planned is skipped.

A suite of an audit is a sink; what the stream alone would tell is skipped where the stream was not
read. Of several consumers each is a suite by its own name, and a rule whose findings are all
suppressed is skipped.

In ASCII with character references; what XML 1.0 cannot hold is spelled out, as in `\x1b`.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any
from xml.etree.ElementTree import Element, SubElement, indent, tostring

from reshardctl.diagnosis.rules import Finding, Severity
from reshardctl.errors import HalfDone, ReshardError
from reshardctl.model.times import instant
from reshardctl.render.content.findings import title
from reshardctl.render.costs import cost, worst
from reshardctl.render.document import Document, Rows, Subject
from reshardctl.render.escape import escape
from reshardctl.render.words import count, shards, shortened


def write(document: Document[Any]) -> str:
    """All suites under one root, with their numbers."""
    verbose = document.context.verbose
    return _text([
        _rows(part, verbose) if isinstance(part, Rows) else _rules(part, verbose)
        for part in document.suites()
    ])


def _failed(subject: Subject, failure: ReshardError) -> Element:
    """A suite of one case that could not be carried out."""
    suite = _suite(subject.name, None)
    classname = _class("reshardctl", subject.called) if subject.called else "reshardctl"
    case = SubElement(suite, "testcase", classname=classname, name="judged")
    error = SubElement(case, "error", type=type(failure).__name__, message=escape(failure.what))
    journal = f"journal {failure.journal}" if isinstance(failure, HalfDone) else ""
    error.text = _lines([failure.what, failure.next, journal])
    return suite


def _rules(subject: Subject, verbose: bool) -> Element:
    """A suite with a case for each rule. One that could not be judged is a case with an error."""
    if subject.failure is not None:
        return _failed(subject, subject.failure)
    suite = _suite(subject.called or subject.name, subject.taken)
    if (stream := subject.stream) is not None:
        _properties(suite, {"stream": stream.arn, "created": instant(stream.created)})
    library, target = subject.group
    classname = _class("reshardctl", subject.called) if subject.called else _class(
        f"reshardctl.{library}", target
    )
    for check in subject.checks:
        case = SubElement(
            suite, "testcase", classname=classname, name=f"{check.code} {check.name}"
        )
        findings = [finding for finding in subject.findings if finding.code == check.code]
        if findings:
            _findings(case, subject, findings, verbose)
        elif check.skipped:
            SubElement(case, "skipped", message=_lines(check.skipped))
    SubElement(suite, "system-out").text = _lines(subject.told)
    return suite


def _findings(case: Element, subject: Subject, findings: list[Finding], verbose: bool) -> None:
    """Several findings of a rule are one failure: Jenkins reads the first only."""
    grave = [finding for finding in findings if finding.severity > Severity.INFO]
    text = _lines(
        line for finding in grave or findings
        for line in [f"{finding.severity} {title(finding)}", *subject.sentences(finding, verbose)]
    )
    if not grave:
        SubElement(case, "system-out").text = text
        return
    lead = shortened(_lead(grave[0]), verbose)
    kind = str(grave[0].severity)
    SubElement(case, "failure", type=kind, message=escape(lead)).text = text


def _lead(finding: Finding) -> str:
    gravest = worst(finding.effects)
    named = f"{shards(finding.shards)}: " if finding.shards else ""
    return f"{named}{finding.what}" + (f" ({cost(gravest)})" if gravest else "")


def _rows(rows: Rows, verbose: bool) -> Element:
    """Every row as a case."""
    suite = _suite(f"{rows.name} {rows.verb}", rows.taken)
    library, target = rows.group
    classname = f"{_class(f'reshardctl.{library}', target)}.{rows.verb}"
    for row in rows.changed:
        key = f"{row.write.key} {row.shard}" if row.part else row.write.key
        name = escape(shortened(f"{row.action} {key}", verbose=True))
        case = SubElement(suite, "testcase", classname=classname, name=name)
        if not rows.done:
            SubElement(case, "skipped", message="planned; nothing was written")
        now, then = (shortened(position or "-", verbose) for position in (row.now, row.after))
        SubElement(case, "system-out").text = _lines([f"{now} -> {then}", row.write.why])
    written = sum(not row.part for row in rows.changed)
    SubElement(suite, "system-out").text = count(written, "row")
    if rows.facts:
        _properties(suite, rows.facts)
    return suite


def _class(package: str, name: str) -> str:
    """Jenkins takes what stands before the last dot for a package."""
    return f"{package}." + escape(name).replace(".", "_")


def _suite(name: str, taken: float | None) -> Element:
    """A suite without cases. taken: Unix seconds at which its subject was read, if it was."""
    suite = Element("testsuite", name=escape(name))
    if taken is not None:
        suite.set("timestamp", instant(taken))
    return suite


def _properties(suite: Element, values: Mapping[str, str]) -> None:
    """At the top of the suite, where readers look for them."""
    holder = Element("properties")
    for name, value in values.items():
        SubElement(holder, "property", name=name, value=escape(value))
    suite.insert(0, holder)


def _lines(texts: Iterable[str]) -> str:
    """Made harmless, one below the other."""
    return "\n".join(escape(text) for text in texts if text)


def _text(suites: Sequence[Element]) -> str:
    """All suites under one root, with their numbers."""
    root = Element("testsuites", name="reshardctl")
    for suite in suites:
        for name, kind in (("tests", "testcase"), ("failures", "failure"), ("errors", "error"),
                           ("skipped", "skipped")):
            suite.set(name, str(len(list(suite.iter(kind)))))
    for name in ("tests", "failures", "errors"):
        root.set(name, str(sum(int(suite.get(name, "0")) for suite in suites)))
    root.extend(suites)
    indent(root)
    text: bytes = tostring(root, encoding="us-ascii", xml_declaration=True)
    return text.decode("ascii") + "\n"
