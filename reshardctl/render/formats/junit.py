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

from reshardctl.diagnosis.rules import SINKS, STARTS, Finding, Severity
from reshardctl.errors import HalfDone, ReshardError
from reshardctl.model import Step
from reshardctl.model.times import instant
from reshardctl.planning.plan import Plan
from reshardctl.render.content.audit import quoted, total
from reshardctl.render.content.findings import title
from reshardctl.render.content.report import tally
from reshardctl.render.content.roundup import hidden, remarks
from reshardctl.render.context import Context
from reshardctl.render.document import Document
from reshardctl.render.escape import escape
from reshardctl.render.subjects import Subject, of_audit, of_report, report_now
from reshardctl.render.words import cost, count, shards, shortened, worst
from reshardctl.report.audit import AuditReport
from reshardctl.report.changes import changes
from reshardctl.report.report import Report
from reshardctl.report.results import Entry, Fixed, Planned, Roundup, Undoing

ELSEWHERE = {
    "RSH401": "not checked: fix and undo check it before they write",
    "RSH901": "never a finding: a failed read ends the command with exit code 3",
}
"""Rules that no report can match."""
UNWATCHED = {"RSH403": "not checked: inspect --watch checks it"}
UNJUDGED = "not checked: the store holds no position"
OF_STREAM = "not checked: audit without --alone checks it"
OF_CONSUMER = "not checked: audit --consumer checks it"
OF_ORDER = "not checked: name the column with the order of the rows (--column order=COLUMN)"


def write(document: Document[Any]) -> str:
    """All suites under one root, with their numbers."""
    context = document.context
    match document.result:
        case Report() as report:
            suites = [_of_report(report, context)]
        case Planned() | Fixed() | Undoing() as result:
            suites = _with_rows(result, context)
        case AuditReport() as audit:
            suites = [_of_audit(audit, context)]
        case Roundup(entries):
            suites = [_of_entry(entry, context) for entry in entries]
        case ReshardError() as failure:
            suites = [_failed(failure)]
        case other:
            raise TypeError(f"{type(other).__name__} is not shown as JUnit XML")
    return _text(suites)


def _with_rows(result: Planned | Fixed | Undoing, context: Context) -> list[Element]:
    """The suite of the rows, and that of the rules on the rows as they are now."""
    now = report_now(result)
    rules = [] if now is None else [_of_report(now, context)]
    if isinstance(result, Planned):
        report, saved = result.report, result.saved
        steps = report.decision.steps if isinstance(report.decision, Plan) else ()
        rows = _rows("plan", report, steps, context, done=False)
        if saved is not None:
            _properties(rows, {"plan": saved.path, "sha256": saved.digest})
        return [*rules, rows]
    if isinstance(result, Fixed):
        rows = _rows("fix", result.before, result.steps, context, done=True)
    else:
        done = result.written is not None
        rows = _rows("undo", result.now, result.steps, context, done)
    _properties(rows, {"journal": result.journal})
    return [rows, *rules]


def _failed(failure: ReshardError) -> Element:
    """A suite of one case that could not be carried out."""
    suite = _suite("reshardctl", None)
    case = SubElement(suite, "testcase", classname="reshardctl", name="judged")
    error = SubElement(case, "error", type=type(failure).__name__, message=escape(failure.what))
    journal = f"journal {failure.journal}" if isinstance(failure, HalfDone) else ""
    error.text = _lines([failure.what, failure.next, journal])
    return suite


def _of_report(report: Report, context: Context) -> Element:
    """Every rule on a consumer as a case."""
    skipped = ELSEWHERE if report.snapshot.watched is not None else ELSEWHERE | UNWATCHED
    if not report.judged:
        skipped = {rule.code: UNJUDGED for rule in STARTS} | skipped
    rules = [(rule.code, rule.name) for rule in STARTS]
    suite = _rules(of_report(report), _class(report), rules, skipped, context)
    SubElement(suite, "system-out").text = _lines([tally(report), *report.notes])
    return suite


def _of_audit(report: AuditReport, context: Context) -> Element:
    """Every rule on a sink as a case."""
    skipped: dict[str, str] = {}
    if not report.against_stream:
        skipped |= {"RSH501": OF_STREAM, "RSH508": OF_STREAM}
    if report.stored is None:
        skipped |= {"RSH506": OF_CONSUMER, "RSH507": OF_CONSUMER}
    if all(sink.disordered is None for sink in report.facts.shards.values()):
        skipped["RSH503"] = OF_ORDER
    subject = of_audit(report)
    form = escape(report.facts.form).replace(".", "_")
    rules = [(rule.code, rule.name) for rule in SINKS]
    suite = _rules(subject, f"reshardctl.auditing.{form}", rules, skipped, context)
    ways = [f"{' '.join(quoted(way))}   ({way.why})" for way in report.ways]
    SubElement(suite, "system-out").text = _lines(
        [total(report), *subject.remarks, *ways]
    )
    return suite


def _of_entry(entry: Entry, context: Context) -> Element:
    """One consumer among several. One that could not be judged is a case with an error."""
    if entry.failure is not None:
        suite = _failed(entry.failure)
    else:
        assert entry.report is not None
        suite = _of_report(entry.report, context)
    suite.set("name", escape(entry.name))
    for case in suite.iter("testcase"):
        # Jenkins takes what stands before the last dot for a package.
        case.set("classname", "reshardctl." + escape(entry.name).replace(".", "_"))
    _hide(suite, entry)
    return suite


def _hide(suite: Element, entry: Entry) -> None:
    """A rule whose findings are all suppressed did not pass."""
    cases = {(case.get("name") or "").partition(" ")[0]: case for case in suite.iter("testcase")}
    kept = {finding.code for finding in entry.sifted.kept}
    for code in dict.fromkeys(finding.code for finding, _ in entry.sifted.hidden):
        why = [escape(hidden(f, by)) for f, by in entry.sifted.hidden if f.code == code]
        if code not in kept:
            SubElement(cases[code], "skipped", message="\n".join(why))
    out = suite.find("system-out")
    if out is not None and (more := [escape(line) for line in remarks(entry)]):
        out.text = "\n".join([out.text or "", *more])


def _rules(
    subject: Subject, classname: str, rules: Iterable[tuple[str, str]],
    skipped: Mapping[str, str], context: Context,
) -> Element:
    """A suite of a case for each rule. rules: code and name. skipped: why one was not judged."""
    suite = _suite(subject.name, subject.taken)
    stream = subject.stream
    _properties(suite, {"stream": stream.arn, "created": instant(stream.created)})
    for code, name in rules:
        case = SubElement(suite, "testcase", classname=classname, name=f"{code} {name}")
        findings = [finding for finding in subject.findings if finding.code == code]
        if findings:
            _findings(case, subject, findings, context.verbose)
        elif code in skipped:
            SubElement(case, "skipped", message=skipped[code])
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


def _rows(
    verb: str, report: Report, steps: Iterable[Step], context: Context, done: bool
) -> Element:
    """Every row as a case."""
    changed = changes(report, steps)
    suite = _suite(f"{report.snapshot.locator.text} {verb}", report.snapshot.now)
    for row in changed:
        key = f"{row.write.key} {row.shard}" if row.part else row.write.key
        name = escape(shortened(f"{row.action} {key}", verbose=True))
        case = SubElement(suite, "testcase", classname=f"{_class(report)}.{verb}", name=name)
        if not done:
            SubElement(case, "skipped", message="planned; nothing was written")
        now, then = (
            shortened(position or "-", context.verbose) for position in (row.now, row.after)
        )
        SubElement(case, "system-out").text = _lines([f"{now} -> {then}", row.write.why])
    SubElement(suite, "system-out").text = count(sum(not row.part for row in changed), "row")
    return suite


def _class(report: Report) -> str:
    """Jenkins takes what stands before the last dot for a package."""
    locator = report.snapshot.locator
    return f"reshardctl.{locator.consumer}." + escape(locator.target).replace(".", "_")


def _suite(name: str, taken: float | None) -> Element:
    """A suite without cases. taken: Unix seconds at which its subject was read, if it was."""
    suite = Element("testsuite", name=escape(name))
    if taken is not None:
        suite.set("timestamp", instant(taken))
    return suite


def _properties(suite: Element, values: dict[str, str]) -> None:
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
