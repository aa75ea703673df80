"""What a notebook displays of an `Inspection`."""

from __future__ import annotations

import re
from html import unescape

from reshardctl import Inspection
from reshardctl.diagnosis.rules import RULES
from reshardctl.errors import UsageError
from reshardctl.exit import Exit
from reshardctl.report.results import Entry, Roundup
from tests.unit.render.samples import report_of

EVIL = "<script>alert(1)</script>\u202e\"'&"


def entry(name: str, **more) -> Entry:
    report = report_of("a-both")
    return Entry(name, "orders", report.snapshot.locator, (), Exit.FINDINGS, **more)


def shown(*entries: Entry) -> list[str]:
    """The page inside the frame of each consumer, as a browser reads the attribute."""
    inspection = Inspection(Roundup(entries, Exit.FINDINGS), (), alone=len(entries) == 1)
    one = r'<iframe srcdoc="([^"]*)" sandbox="" style="[^"]*"></iframe>'
    markup = inspection._repr_html_()
    assert re.fullmatch(rf"{one}(\n{one})*", markup), "frames in which nothing may run"
    return [unescape(source) for source in re.findall(one, markup)]


def test_a_page_has_the_findings_and_the_picture():
    (page,) = shown(entry("kcl://orders-app", report=report_of("a-both")))
    (name,) = (rule.name for rule in RULES if rule.code == "RSH203")
    assert f"RSH203 {name}</h3>" in page
    assert page.count("<svg ") >= 2 and "will not be read" in page
    assert "default-src 'none'" in page and "<script" not in page


def test_a_clean_report_says_so():
    (page,) = shown(entry("kcl://orders-app", report=report_of("healthy-roots")))
    assert "No findings." in page and "</h3>" not in page


def test_each_of_several_consumers_has_its_page_and_so_has_a_failure():
    first, second = shown(
        entry("one", report=report_of("a-both")),
        entry("two", failure=UsageError("the table is missing", "name another")),
    )
    assert "<h1>one</h1>" in first and "<h1>two</h1>" not in first
    assert "<h1>two</h1>" in second and "<svg" not in second
    assert "The table is missing." in second and "Name another." in second


def test_names_and_failures_are_text_and_no_markup():
    pages = shown(
        entry(EVIL, report=report_of("a-both")),
        entry("two", failure=UsageError(EVIL, EVIL)),
    )
    for page in pages:
        assert "<script" not in page and "\u202e" not in page
        assert page.count("&lt;script&gt;") >= 2
