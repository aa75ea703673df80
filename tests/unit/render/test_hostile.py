"""Rows that try to steer the terminal, to fake lines, or to flood: none of it comes out raw."""

from __future__ import annotations

import json
import unicodedata
from typing import TypeVar

import pytest

from reshardctl.errors import ReshardError, UsageError
from reshardctl.render.context import Context
from reshardctl.render.escape import ascii_only, escape
from reshardctl.render.formats import write
from reshardctl.report.report import Report
from reshardctl.report.results import Planned
from tests.unit.render.formats import FORMATS
from tests.unit.render.samples import CASES, context, report_of, with_row

T = TypeVar("T")
HOSTILE = (
    "\x1b[2J\x1b]0;owned\x07", "\x9b31m", "line\nerror: RSH999 faked\rmore", "\u202e8934\u202c",
    "\u2066x\u2069", "\u200b\u200d\ufeff", "a\u0301\u0301\u0301\u0489", "\u2028\u2029",
    "\x00\x7f\x85",
    "\ud800", "[red]markup[/red] :warning:", "x" * 5000, "\U000e0041\U000e0042", "\u0600",
)


OPTIONS = "initial=LATEST&release=3.5.1"


def harmless(text: str) -> bool:
    """Whether every character is a visible one or the end of a line."""
    return all(
        c == "\n" or (c.isprintable() and unicodedata.category(c)[0] != "M") for c in set(text)
    )


def infested(text: str) -> list[list[dict]]:
    """Tables in which some text of a row is the hostile one, each field in turn."""
    tables = []
    for attribute in ("checkpoint", "leaseOwner", "pendingCheckpoint", "extra"):
        items = [dict(item) for item in CASES["a-both"].items()]
        items[1][attribute] = {"S": text}
        tables.append(items)
    for attribute in ("parentShardId", "childShardIds"):
        items = [dict(item) for item in CASES["a-both"].items()]
        items[0][attribute] = {"SS": [text]}
        tables.append(items)
    tables += [with_row(text, kind) for kind in ("LEADER", text)]
    whole = dict(CASES["a-both"].items()[1])
    tables.append([*CASES["a-both"].items(), whole | {"leaseKey": {"S": text}}])
    tables.append([*CASES["a-both"].items(), whole | {"leaseKey": {"S": "shardId-" + text}}])
    return tables


def a_third(tables: list[T], number: int) -> list[tuple[int, T]]:
    """Every third table with its place, so that three texts in turn are in all of them."""
    return [(place, table) for place, table in enumerate(tables) if (place + number) % 3 == 0]


@pytest.mark.parametrize("text", HOSTILE, ids=ascii)
def test_no_row_reaches_the_output_raw(text):
    shown = dict.fromkeys(FORMATS, 0)
    number = HOSTILE.index(text)
    for place, items in a_third(infested(text), number):
        judged, turned = judgement(items), (place + number) % 2 == 1
        for form in FORMATS:
            for out in outputs(form, judged, turned):
                assert harmless(out), (form, out)
                if form == "json":
                    json.loads(out)
                shown[form] += 1
    assert min(shown.values()) >= 3


def judgement(items: list[dict]) -> Report | ReshardError:
    try:
        return report_of("a-both", OPTIONS, items=items)
    except ReshardError as error:
        return error


def outputs(form: str, report: Report | ReshardError, turned: bool) -> list[str]:
    """Both views, one of them verbose. turned: the other one, so that over the texts each field is
    in all four."""
    if isinstance(report, ReshardError):
        return [FORMATS[form].error(report, Context())]
    return [
        getattr(FORMATS[form], view)(report, context(report, verbose=verbose, width=60))
        for view, verbose in (("inspect", not turned), ("plan", turned))
    ]


def test_a_line_end_in_a_row_makes_no_line():
    """The grep-able format has exactly one line a finding, whatever the rows hold."""
    for number, text in enumerate(HOSTILE):
        for _, items in a_third(infested(text), number):
            report = judgement(items)
            if isinstance(report, ReshardError):
                continue
            lines = FORMATS["concise"].inspect(report, context(report)).splitlines()
            assert len(lines) == len(report.findings)
            assert all(line.startswith(f"kcl://orders-app?{OPTIONS}: ") for line in lines)


def test_a_flood_is_cut_and_says_so():
    report = report_of("a-both", OPTIONS, items=with_row("k" * 9000, "z" * 9000))
    assert len(FORMATS["text"].inspect(report, context(report))) < 2000
    shown = FORMATS["concise"].inspect(report, context(report))
    assert len(shown) < 4000
    assert "characters)" in shown


def test_errors_are_escaped_too():
    error = UsageError("row \x1b[31m\u202e is odd", "look at \x07 it")
    for name, form in FORMATS.items():
        shown = form.error(error, Context())
        assert harmless(shown), name
    assert "\\x1b[31m\\u202e" in FORMATS["text"].error(error, Context())


@pytest.mark.parametrize(
    "raw,shown",
    [
        ("plain text, 4963…9874", "plain text, 4963…9874"),
        ("\x1b[0m", "\\x1b[0m"),
        ("a\nb\r\tc", "a\\nb\\r\\tc"),
        ("\u202e", "\\u202e"),
        ("\U000e0041", "\\U000e0041"),
        ("e\u0301", "e\\u0301"),
        ("\ud800", "\\ud800"),
        ("中文 é", "中文 é"),
        ("::error file=a::x", ":\\x3aerror file=a::x"),
        ("a ::ERROR", "a :\\x3aERROR"),
        (":::stop-commands::x", "::\\x3astop-commands::x"),
        ("##[error]x", "#\\x23[error]x"),
        ("###vso[task.complete]", "##\\x23vso[task.complete]"),
        ("arn:aws:s3:::errors/a, http://[::1]:80, std::errors, ## [a]", None),
    ],
)
def test_escape(raw, shown):
    assert escape(raw) == (raw if shown is None else shown)


@pytest.mark.parametrize("form", [*FORMATS, "diff"])
@pytest.mark.parametrize("case", ["a-both", "b"])
def test_in_ascii_where_that_is_asked_for(case, form):
    report = report_of(case, OPTIONS)
    wanted = context(report, ascii=True)
    assert write(report, form, wanted).isascii()
    assert write(Planned(report, True), form, wanted).isascii()


def test_ascii_only_spells_out_what_has_no_look_alike():
    assert ascii_only("≤ 12m · 4963…9874 ─┬─ é") == "<= 12m * 4963...9874 -+- \\xe9"
