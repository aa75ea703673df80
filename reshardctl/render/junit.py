"""For dashboards of tests: JUnit XML as Jenkins' junit-10 schema has it.

A suite is a consumer, a case is a rule. Rules without a finding pass and are listed, so that a
dashboard shows how much was looked at; findings at warning or above are failures, leftovers pass
and are told in `system-out`. A rule that this command does not look at is skipped, never passed.
A plan, a fix and an undo have a suite more, of the rows: a row that was written, or was already
in place, passes; one that was only planned is skipped.

In ASCII with character references; what XML 1.0 cannot hold is spelled out, as in `\\x1b`.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from xml.etree.ElementTree import Element, SubElement, indent, tostring

from reshardctl.diagnosis.report import Report
from reshardctl.diagnosis.rules import STARTS, Finding, Rule, Severity, View
from reshardctl.errors import HalfDone, ReshardError
from reshardctl.model import Step
from reshardctl.model.times import instant
from reshardctl.planning.plan import Plan
from reshardctl.render.changes import changes
from reshardctl.render.context import Context
from reshardctl.render.escape import escape
from reshardctl.render.outcomes import Fixed, Saved, Undoing
from reshardctl.render.plain import sentences, title
from reshardctl.render.text_findings import tally
from reshardctl.render.words import cost, count, shards, shortened, worst

ELSEWHERE = {
    "RSH401": "not looked at: the watch of fix and undo looks for it, before they write",
    "RSH901": "not a finding of a report: a read that fails ends the command with exit code 3",
}
"""Rules that no report can match."""
UNWATCHED = {"RSH403": "not looked at: inspect --watch does"}


def inspect(report: Report, context: Context) -> str:
    """One suite."""
    return document([rules_suite(report, context)])


def plan(
    report: Report, context: Context, *,
    dry_run: bool = True,  # noqa: ARG001 - as every format
    saved: Saved | None = None,
) -> str:
    """The suite of inspect, and one with a skipped case for every row to write."""
    steps = report.decision.steps if isinstance(report.decision, Plan) else ()
    planned = _rows("plan", report, steps, context, done=False)
    if saved is not None:
        properties(planned, {"plan": saved.path, "sha256": saved.digest})
    return document([rules_suite(report, context), planned])


def fixed(outcome: Fixed, context: Context) -> str:
    """A case for every row written, and the suite of inspect on the rows as they are now."""
    written = _rows("fix", outcome.before, outcome.steps, context, done=True)
    properties(written, {"journal": outcome.journal})
    return document([written, rules_suite(outcome.after, context)])


def undo(undoing: Undoing, context: Context) -> str:
    """A case for every row put back, and the suite of inspect on the rows as they are now."""
    done = undoing.written is not None
    rows = _rows("undo", undoing.now, undoing.steps, context, done)
    properties(rows, {"journal": undoing.journal})
    now = undoing.after if done else undoing.now
    return document([rows] if now is None else [rows, rules_suite(now, context)])


def error(failure: ReshardError, context: Context) -> str:  # noqa: ARG001 - as every format
    """A suite of one case that could not be carried out."""
    return document([failed_suite(failure)])


def failed_suite(failure: ReshardError) -> Element:
    """One case with an error."""
    suite = _suite("reshardctl", None)
    case = SubElement(suite, "testcase", classname="reshardctl", name="judged")
    found = SubElement(case, "error", type=type(failure).__name__, message=escape(failure.what))
    journal = f"journal {failure.journal}" if isinstance(failure, HalfDone) else ""
    found.text = lines([failure.what, failure.next, journal])
    return suite


def rules_suite(report: Report, context: Context) -> Element:
    """Every rule as a case."""
    suite = _suite(report.snapshot.locator.text, report)
    stream = report.snapshot.lineage.stream
    properties(suite, {"stream": stream.arn, "created": instant(stream.created)})
    for rule in STARTS:
        found = [f for f in report.findings if f.code == rule.code]
        _case(suite, report, rule, found, context)
    SubElement(suite, "system-out").text = lines([tally(report), *report.notes])
    return suite


def _elsewhere(report: Report) -> dict[str, str]:
    return ELSEWHERE if report.snapshot.watched is not None else ELSEWHERE | UNWATCHED


def _case(
    suite: Element, report: Report, rule: Rule[View], found: Sequence[Finding], context: Context
) -> None:
    """One rule. Several findings of it are one failure: Jenkins reads the first only."""
    name = f"{rule.code} {rule.name}"
    case = SubElement(suite, "testcase", classname=_class(report), name=name)
    grave = [f for f in found if f.severity > Severity.INFO]
    if grave:
        lead = shortened(_lead(grave[0]), context.verbose)
        failure = SubElement(case, "failure", type=str(grave[0].severity), message=escape(lead))
        failure.text = lines(line for f in grave for line in _said(report, f, context))
    elif found:
        said = [line for f in found for line in _said(report, f, context)]
        SubElement(case, "system-out").text = lines(said)
    elif rule.code in (elsewhere := _elsewhere(report)):
        SubElement(case, "skipped", message=elsewhere[rule.code])
    elif not report.judged:
        SubElement(case, "skipped", message="not judged: the store holds no position")


def _lead(finding: Finding) -> str:
    gravest = worst(finding.effects)
    named = f"{shards(finding.shards)}: " if finding.shards else ""
    return f"{named}{finding.what}" + (f" ({cost(gravest)})" if gravest else "")


def _said(report: Report, finding: Finding, context: Context) -> list[str]:
    head = f"{finding.severity} {title(finding)}"
    return [head, *sentences(report, finding, context.verbose)]


def _rows(
    verb: str, report: Report, steps: Iterable[Step], context: Context, done: bool
) -> Element:
    """Every row as a case."""
    changed = changes(report, steps)
    suite = _suite(f"{report.snapshot.locator.text} {verb}", report)
    for one in changed:
        key = f"{one.write.key} {one.shard}" if one.part else one.write.key
        name = escape(shortened(f"{one.action} {key}", verbose=True))
        case = SubElement(suite, "testcase", classname=f"{_class(report)}.{verb}", name=name)
        if not done:
            SubElement(case, "skipped", message="planned; nothing was written")
        now, then = (
            shortened(place or "-", context.verbose) for place in (one.now, one.after)
        )
        SubElement(case, "system-out").text = lines([f"{now} -> {then}", one.write.why])
    SubElement(suite, "system-out").text = count(sum(not one.part for one in changed), "row")
    return suite


def _class(report: Report) -> str:
    """Jenkins takes what stands before the last dot for a package."""
    locator = report.snapshot.locator
    return f"reshardctl.{locator.consumer}." + escape(locator.target).replace(".", "_")


def _suite(name: str, report: Report | None) -> Element:
    return bare_suite(name, None if report is None else report.snapshot.now)


def bare_suite(name: str, now: float | None) -> Element:
    """Without cases. now: Unix seconds at which it was looked, if it was."""
    suite = Element("testsuite", name=escape(name))
    if now is not None:
        suite.set("timestamp", instant(now))
    return suite


def properties(suite: Element, values: dict[str, str]) -> None:
    """At the top of the suite, where readers look for them."""
    holder = Element("properties")
    for name, value in values.items():
        SubElement(holder, "property", name=name, value=escape(value))
    suite.insert(0, holder)


def lines(texts: Iterable[str]) -> str:
    """Made harmless, one below the other."""
    return "\n".join(escape(text) for text in texts if text)


def document(suites: Sequence[Element]) -> str:
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
