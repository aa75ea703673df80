"""JUnit XML against what Jenkins' schema allows.

The elements and attributes below are those of junit-10.xsd (jenkinsci/xunit-plugin,
types/model/xsd), of which only the ones named here may appear; whole documents of every case were
also validated against that file with an XSD validator, in November 2026.
"""

from __future__ import annotations

from xml.etree.ElementTree import Element, fromstring

import pytest

from reshardctl.diagnosis.rules import STARTS
from reshardctl.errors import HalfDone
from reshardctl.render.context import Context
from reshardctl.report.results import Fixed, Saved, Undoing
from tests.support.grouped import by_case
from tests.unit.render.formats import FORMATS
from tests.unit.render.samples import (
    SHOWN,
    by_name,
    context,
    every_expectation,
    report_of,
    then,
    with_row,
)

JUNIT = FORMATS["junit"]
OPTIONS = "initial=LATEST&release=3.5.1"

ALLOWED = {
    "testsuites": {"testsuite"},
    "testsuite": {"testsuite", "properties", "testcase", "system-out", "system-err"},
    "properties": {"property"},
    "testcase": {"skipped", "error", "failure", "system-out", "system-err"},
    "property": set(), "skipped": set(), "error": set(), "failure": set(), "system-out": set(),
    "system-err": set(),
}  # fmt: skip
"""Element → elements that it may hold."""
REQUIRED = {
    "testsuite": {"name", "tests", "failures", "errors"}, "testcase": {"name"},
    "property": {"name", "value"},
}  # fmt: skip
OPTIONAL = {
    "testsuites": {"name", "time", "tests", "failures", "errors"},
    "testsuite": {"group", "time", "skipped", "timestamp", "hostname", "id", "package"},
    "testcase": {"time", "classname", "group"},
    "skipped": {"type", "message"}, "error": {"type", "message"}, "failure": {"type", "message"},
}  # fmt: skip
MIXED = {"skipped", "error", "failure", "system-out", "system-err"}
"""Elements that may hold text."""


def read(shown: str) -> Element:
    """The root of a document that fits the schema and counts itself right."""
    assert shown.isascii() and shown.endswith("</testsuites>\n")
    root = fromstring(shown.encode("ascii"))  # noqa: S314 - our own
    assert root.tag == "testsuites"
    for element in root.iter():
        assert {child.tag for child in element} <= ALLOWED[element.tag], element.tag
        needed, more = REQUIRED.get(element.tag, set()), OPTIONAL.get(element.tag, set())
        assert needed <= set(element.keys()) <= needed | more, element.tag
        if element.tag not in MIXED:
            assert not (element.text or "").strip()
        assert not (element.tail or "").strip()
    for suite in root:
        assert count(suite, "tests") == len(list(suite.iter("testcase")))
        for kind in ("failures", "errors"):
            assert count(suite, kind) == len(list(suite.iter(kind[:-1])))
    for kind in ("tests", "failures", "errors"):
        assert count(root, kind) == sum(count(suite, kind) for suite in root)
    return root


def count(element: Element, kind: str) -> int:
    """What an attribute counts."""
    return int(element.attrib[kind])


def codes(suite: Element, kind: str) -> set[str]:
    """Codes of the cases that hold such an element."""
    return {case.attrib["name"][:6] for case in suite if case.find(kind) is not None}


@by_name
def test_every_rule_is_a_case_of_one_suite(name):
    report = report_of(name)
    (suite,) = read(JUNIT.inspect(report, context(report)))
    assert suite.get("name") == report.snapshot.locator.text
    cases = [case.get("name") for case in suite.iter("testcase")]
    assert cases == [f"{rule.code} {rule.name}" for rule in STARTS]
    assert len({case.get("classname") for case in suite.iter("testcase")}) == 1
    assert codes(suite, "system-out") == {
        f.code for f in report.findings if f.severity == 1
    } - codes(suite, "failure")


@by_case(every_expectation(), SHOWN)
def test_failures_are_what_the_case_says(case, expect, options):
    report = report_of(case.name, options)
    (suite,) = read(JUNIT.inspect(report, context(report)))
    assert codes(suite, "failure") == set(expect.findings)
    assert codes(suite, "skipped") == {"RSH401", "RSH403", "RSH901"}


def test_what_no_report_can_show_is_skipped_and_not_passed():
    """RSH401 and RSH901 end a command with exit codes 4 and 3; their pages say so."""
    seen = {f.code for name in SHOWN for f in report_of(name).findings}
    assert not seen & {"RSH401", "RSH901"}


def test_a_failure_says_it_all():
    report = report_of("a-both", OPTIONS)
    (suite,) = read(JUNIT.inspect(report, context(report)))
    (failure,) = suite.iter("failure")
    assert failure.get("type") == "error"
    assert failure.attrib["message"].startswith("2, 3: the parents have ended")
    assert failure.text is not None
    assert "Loss from 2026-11-22T00:10:01Z at the earliest.\n" in failure.text
    assert failure.text.endswith(
        "Fix: start 2, 3 at TRIM_HORIZON; skips nothing, re-reads nothing."
    )


def test_rows_are_a_suite_of_their_own():
    report = report_of("a-both", OPTIONS)
    steps, after = report.decision.steps, then(report)
    names = ["create shardId-000000000002", "create shardId-000000000003"]
    saved = Saved("o.plan", "0f" * 32)
    rules, planned = read(JUNIT.plan(report, context(report), saved=saved))
    assert count(rules, "failures") == 1
    assert [case.get("name") for case in planned.iter("testcase")] == names
    assert planned.get("skipped") == "2"
    written, now = read(JUNIT.fixed(Fixed(report, after, steps, "/j", 1), context(report)))
    assert [case.get("name") for case in written.iter("testcase")] == names
    assert (written.get("skipped"), now.get("failures")) == ("0", "0")
    assert written.find("properties/property[@name='journal']").get("value") == "/j"
    dry, before = read(JUNIT.undo(Undoing(report, after, steps, "/j"), context(report)))
    assert (dry.get("skipped"), before.get("failures")) == ("2", "1")
    (done,) = read(JUNIT.undo(Undoing(report, None, steps, "/j", 1), context(report)))
    assert done.get("skipped") == "0"


def test_a_store_that_holds_nothing_passes_no_rule():
    report = report_of("j-latest", "initial=LATEST", bootstrap=True)
    rules, _ = read(JUNIT.plan(report, Context()))
    assert rules.get("skipped") == rules.get("tests") == str(len(STARTS))


def test_a_failure_to_look_is_an_error_not_a_failure():
    root = read(JUNIT.error(HalfDone("stopped", "resume", "/j"), Context()))
    assert (root.get("errors"), root.get("failures")) == ("1", "0")
    (found,) = root.iter("error")
    assert (found.get("type"), found.text) == ("HalfDone", "stopped\nresume\njournal /j")


@pytest.mark.parametrize("text,shown", [
    ("]]><failure/>", "]]><failure/>"), ('"/><x a="', '"/><x a="'), ("&amp;&#0;", "&amp;&#0;"),
    ("\x1b[31m\x00", "\\x1b[31m\\x00"), ("\ud800\uffff", "\\ud800\\uffff"), ("中", "中"),
])
def test_texts_of_rows_come_back_as_texts(text, shown):
    """XML 1.0 section 2.2: no control characters, no surrogates, not U+FFFF."""
    report = report_of("a-both", OPTIONS, items=with_row("k", text))
    (suite,) = read(JUNIT.inspect(report, context(report)))
    assert shown in "".join(suite.itertext())


def test_jenkins_takes_the_table_for_one_class():
    """What stands before the last dot would be a package to it."""
    report = report_of("a-both", "release=3.5.1")
    (suite,) = read(JUNIT.inspect(report, context(report)))
    assert suite.find("testcase").get("classname") == "reshardctl.kcl.orders-app"
