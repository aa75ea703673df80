"""What holds for every view of every case, at every width."""

from __future__ import annotations

import re

import pytest
from msgspec.structs import replace

from reshardctl.diagnosis.rules.base import Severity
from reshardctl.model import Image
from reshardctl.render.content.findings import left_open
from reshardctl.report.report import Report, make
from tests.unit.render.formats import FORMATS
from tests.unit.render.samples import CASES, STORED, context, report_of

pytestmark = pytest.mark.long

ANSI = re.compile(r"\x1b\[[0-9;]*m")
EMOJI = re.compile("[\U0001f000-\U0001ffff\u2600-\u26ff\u2705\u274c]")


_SHOWN: dict[tuple, dict[str, str]] = {}


def views(report: Report, **wanted) -> dict[str, str]:
    """Both views as text, laid out once for all tests."""
    key = (id(report), *sorted(wanted.items()))
    if key not in _SHOWN:
        text = FORMATS["text"]
        _SHOWN[key] = {
            "inspect": text.inspect(report, context(report, **wanted)),
            "plan": text.plan(report, context(report, **wanted)),
        }
    return _SHOWN[key]


@pytest.fixture(scope="module")
def reports() -> dict[str, Report]:
    broken = [name for name in STORED if not name.startswith("healthy")]
    found = {name: report_of(name) for name in (*broken, "healthy-split-cleaned")}
    skipping = {f"{n}-skip": report_of(n, policy="latest-at-start") for n in ("a-both", "b", "h")}
    return found | skipping


@pytest.mark.parametrize("width", [60, 80, 100, 200])
def test_no_line_is_wider_than_asked_or_than_100(reports, width):
    for name, report in reports.items():
        for view, shown in views(report, width=width).items():
            for line in shown.splitlines():
                assert len(line) <= min(width, 100), (name, view, line)


def test_a_verbose_view_keeps_to_the_width_but_for_whole_words(reports):
    for report in reports.values():
        for shown in views(report, width=80, verbose=True).values():
            for line in shown.splitlines():
                assert len(line) <= 80 or len(line.split()) == 1, line


def test_no_line_ends_in_blanks_and_none_is_empty_twice(reports):
    for report in reports.values():
        for shown in views(report).values():
            assert not re.search(r"[ \t]\n", shown)
            assert "\n\n\n" not in shown
            assert shown.endswith("\n") and not shown.endswith("\n\n")


def test_ascii_is_ascii_and_says_the_same(reports):
    for name, report in reports.items():
        plain, rich = views(report, ascii=True), views(report)
        for view, shown in plain.items():
            assert shown.isascii(), name
            assert _words(shown) == _words(rich[view]), name


def _words(text: str) -> list[str]:
    """Words only, in no order: `…` takes three columns in ASCII, so lines end elsewhere, also those
    of a column beside others."""
    return sorted(re.findall(r"[A-Za-z]{2,}", text))


def test_colour_adds_nothing_but_colour(reports):
    for report in reports.values():
        plain, colored = views(report), views(report, color=True)
        for view, shown in colored.items():
            assert "\x1b[" in shown
            assert ANSI.sub("", shown) == plain[view]
            assert "\x1b" not in plain[view]


def test_every_sign_has_its_word(reports):
    for report in reports.values():
        for line in views(report)["inspect"].splitlines():
            for sign, word in (("✗", "error"), ("!", "warning")):
                if sign in line:
                    assert line.startswith(f"  {sign} {word}"), line


def test_no_emoji_and_no_exclamation(reports):
    for report in reports.values():
        for shown in views(report).values():
            assert not EMOJI.search(shown)
            assert "!" not in shown.replace("  ! warning", "")


def test_a_dry_run_says_that_nothing_was_written(reports):
    for report in reports.values():
        assert "Nothing was written." in views(report)["plan"]
        before = FORMATS["text"].plan(report, context(report), dry_run=False)
        assert "Nothing was written." not in before


def test_the_last_lines_count_what_is_shown(reports):
    """Or say that all is well, which counts no info."""
    for report in reports.values():
        shown = views(report, verbose=True)["inspect"]
        grave = any(finding.severity > Severity.INFO for finding in report.findings)
        assert bool(re.search(r"(?m)^OK\b", shown)) == (not grave)
        if not grave:
            continue
        for word, many in (("error", "errors"), ("warning", "warnings"), ("info", "info")):
            seen = len(re.findall(rf"^  [✗!·] {word}  RSH", shown, re.MULTILINE))
            said = re.search(rf"(?m)(?:^|, |: )(\d+) (?:{word}|{many})\b", shown)
            assert seen == (int(said[1]) if said else 0), shown


def test_what_the_locator_leaves_open_is_named(reports):
    for report in reports.values():
        shown, each = " ".join(views(report)["inspect"].split()), left_open(report)
        said = f"for each value of {each}"
        assert (said in shown) == bool(each)


def test_every_finding_at_warning_or_above_has_a_fix_line(reports):
    for report in reports.values():
        shown = views(report)["inspect"]
        grave = sum(f.severity > 1 for f in report.findings)
        assert len(re.findall(r"(?m)^    fix      \S", shown)) == grave


@pytest.mark.parametrize("form", FORMATS)
def test_the_same_snapshot_gives_the_same_bytes(form):
    """DESIGN's promise; rows and attributes in another order are the same snapshot."""
    for name in STORED:
        items = CASES[name].items()
        turned = [dict(reversed(item.items())) for item in reversed(items)]
        one = report_of(name, "release=3.5.1")
        other = report_of(name, "release=3.5.1", items=turned)
        for view in ("inspect", "plan"):
            show, wanted = getattr(FORMATS[form], view), context(one, verbose=True)
            assert show(one, wanted) == show(other, wanted)


def test_a_long_plan_names_what_it_hides(reports):
    report = reports["a-both"]
    steps = report.decision.steps * 30
    many = replace(report, decision=replace(report.decision, steps=steps))
    shown = FORMATS["text"].plan(many, context(many))
    assert "and 28 more steps; -v shows all" in shown and shown.count("leases of 2, 3") == 2
    whole = FORMATS["text"].plan(many, context(many, verbose=True))
    assert whole.count("leases of 2, 3") == 30


def test_a_view_of_no_rows_that_parse(reports):
    """A table of nothing but foreign rows is empty, and says so before there is a report."""
    from reshardctl.errors import EmptyCheckpoint

    report = reports["a-both"]
    foreign = Image("x", {"leaseKey": {"S": "x"}, "entityType": {"S": "LEADER"}})
    snapshot = type(report.snapshot)(
        report.snapshot.locator, report.snapshot.lineage, (foreign,), {}, report.snapshot.now
    )
    with pytest.raises(EmptyCheckpoint) as failure:
        make(snapshot, report.options)
    shown = FORMATS["text"].error(failure.value, context(report))
    assert shown.startswith("empty: kcl://orders-app was read, and holds no position\n")
    assert "--bootstrap" in shown
