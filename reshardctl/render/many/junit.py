"""For dashboards of tests: one suite a consumer, by its name; suppressed rules are skipped."""

from __future__ import annotations

from dataclasses import replace
from xml.etree.ElementTree import Element, SubElement

from reshardctl.render import junit
from reshardctl.render.context import Context
from reshardctl.render.escape import escape
from reshardctl.render.many.roundup import Entry, Roundup
from reshardctl.render.many.words import hidden, remarks


def roundup(shown: Roundup, context: Context) -> str:
    """A consumer that could not be judged is a suite of one case with an error."""
    return junit.document([_suite(entry, context) for entry in shown.entries])


def _suite(entry: Entry, context: Context) -> Element:
    if entry.failure is not None:
        suite = junit.failed_suite(entry.failure)
    else:
        assert entry.report is not None
        own = replace(context, again=entry.again, exit=entry.exit)
        suite = junit.rules_suite(entry.report, own)
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
        said = [escape(hidden(f, by)) for f, by in entry.sifted.hidden if f.code == code]
        if code not in kept:
            SubElement(cases[code], "skipped", message="\n".join(said))
    out = suite.find("system-out")
    if out is not None and (more := [escape(line) for line in remarks(entry)]):
        out.text = "\n".join([out.text or "", *more])
