"""The formats of a status: the schema, whole cells at every width, hostile texts."""

from __future__ import annotations

import csv
import json
import re
from dataclasses import replace
from importlib.resources import files
from io import StringIO

import pytest
from hypothesis import given
from hypothesis import strategies as st
from jsonschema import Draft202012Validator, ValidationError
from msgspec import structs

from reshardctl.cli.status import StatusColumn
from reshardctl.exit import Exit
from reshardctl.render.content.documents import StatusDocument
from reshardctl.render.content.status import next_start, standing
from reshardctl.render.content.status_json import VERDICTS, status_document
from reshardctl.render.formats import Format, write
from reshardctl.render.grid import Grid, laid_out
from reshardctl.report.status import (
    COLUMNS,
    PositionKind,
    ShardState,
    StatusSelection,
    StoredPosition,
    status_of,
)
from tests.unit.render.samples import CASES, context, report_of, spoilt
from tests.unit.render.status.samples import OPTIONS, status

SCHEMA = json.loads(files("reshardctl.render").joinpath("status.schema.json").read_text("utf-8"))
VALIDATOR = Draft202012Validator(SCHEMA)
FORMATS = [form for form in Format if StatusDocument.has(form.view)]
WIDTHS = (40, 47, 60, 72, 80, 100, 120, 160, 200)
NAMES = (
    "a-both", "c-latest", "c-timestamp", "d1-end-with-sub", "false-end", "foreign-rows",
    "handoff", "row-not-born", "number-expired",
)
"""Cases with every kind of state and position."""


def shown(name: str, form: str, **wanted) -> str:
    found = status(name, options="")
    return write(found, form, replace(context(found.report), **wanted))


def test_the_words_of_the_command_line_are_those_of_the_code():
    assert set(StatusColumn) == set(COLUMNS)


def test_the_schema_is_one_and_its_words_are_the_program_s():
    Draft202012Validator.check_schema(SCHEMA)
    shard = SCHEMA["$defs"]["shard"]["properties"]
    assert set(shard["state"]["enum"]) == set(ShardState)
    assert set(shard["verdict"]["enum"]) == set(VERDICTS)
    kinds = SCHEMA["$defs"]["position"]["properties"]["kind"]["enum"]
    assert set(kinds) == set(PositionKind)


@pytest.mark.parametrize("name", NAMES)
def test_cases_fit_the_schema(name):
    document = json.loads(shown(name, "json"))
    VALIDATOR.validate(document)
    assert document["total_shards"] == len(document["shards"])


def test_the_cases_have_all_but_a_tip_and_a_time():
    found = [row for name in NAMES for row in status(name, options="").rows]
    assert {row.state for row in found} >= {ShardState.OPEN, ShardState.CLOSED, ShardState.UNBORN}
    kinds = {row.position.kind for row in found}
    assert kinds >= {PositionKind.NONE, PositionKind.NUMBER, PositionKind.DONE}


@pytest.mark.parametrize("where", [(), ("shards", 0), ("shards", 0, "position"),
                                   ("shards", 0, "lag"), ("selection",)])  # fmt: skip
def test_a_stray_or_missing_member_is_seen(where):
    for document in spoilt(status_document(status("a-both"), Exit.OK), where):
        with pytest.raises(ValidationError):
            VALIDATOR.validate(document)


NUMBER = "49680000000000000000000000000000000000000000000000000001"
CELLS = st.sampled_from([
    "", "-", "12m", "2026-11-21T00:07:40Z", NUMBER, "ip-10-0-0-7.ec2.internal:6f0c-000000000039",
    "RSH203, RSH208, RSH217", "日本語-worker",
])  # fmt: skip


def joined(text: str) -> str:
    return re.sub(r"\s", "", text)


@given(
    rows=st.lists(
        st.tuples(st.sampled_from(["3", "1200"]), CELLS, CELLS, CELLS, CELLS),
        min_size=1, max_size=4,
    ),
    width=st.sampled_from(WIDTHS), ascii_=st.booleans(),
)
def test_no_cell_is_cut_and_no_number_broken(rows, width, ascii_):
    heads = ["shard", "state", "lag", "owner", "rule"]
    texts = list(laid_out([Grid.of(heads, rows, ascii_)], width))
    side_by_side = len(texts) > len(rows)
    for text, row in zip(texts[side_by_side:], rows, strict=True):
        assert text.count(NUMBER) == row.count(NUMBER)
        for cell in row:
            for piece in re.findall(r"\w+", cell) if cell.isascii() or not ascii_ else []:
                assert piece in text
        if side_by_side and NUMBER not in row and ascii_:
            assert all(len(line) <= width for line in text.splitlines())


@pytest.mark.parametrize("width", [50, 60])
def test_two_lines_for_each_shard_where_one_has_no_room(width):
    lines = shown("a-both", "text", width=width).splitlines()
    head = next(index for index, line in enumerate(lines) if line.startswith("shard "))
    table = lines[head : lines.index("", head)]
    assert len(table) == 2 * (1 + len(status("a-both").rows))
    assert [line.split() for line in table[:4]] == [
        ["shard", "state", "position", "lag"], ["next", "start", "finding", "owner"],
        ["2", "open", "none", "14m"], ["never", "error", "RSH203", "-"],
    ]  # fmt: skip
    assert table[1].index("next") == table[0].index("state")
    assert table[1].index("finding") == table[0].index("position")


@pytest.mark.parametrize("width", WIDTHS)
def test_every_width_shows_every_shard_and_fact(width):
    text = shown("a-both", "text", width=width)
    facts = ("RSH203", "error", "SHARD_END", "17m", "14m", "none", "closed 15m ago",
             "never", "reads from here", "finished")  # fmt: skip
    for fact in facts:
        assert fact in text
    assert max(map(len, text.splitlines())) <= max(width, 60), "only the locator is longer"


@pytest.mark.parametrize("width", WIDTHS)
def test_every_width_has_whole_owners_numbers_and_times_where_they_are_asked_for(width):
    """What is there at 200 columns is there at 40, as UTC or as an age."""
    text = shown("a-both", "text", width=width, verbose=True)
    (number,) = {row.position.number for row in status("a-both", options="").rows} - {""}
    for fact in ("RSH203", "error", "SHARD_END", "w1", "17m20s", "14m59s", "never", number):
        assert fact in text
    assert "00:10:00Z" in text or "closed 15m ago" in text


@pytest.mark.parametrize("name", NAMES)
def test_one_line_for_each_shard_at_80_columns(name):
    """Issue 36: worst first, with what the next start does."""
    lines = shown(name, "text", width=80).splitlines()
    head = next(i for i, line in enumerate(lines) if line.startswith("shard "))
    assert "next start" in lines[head]
    table = lines[head + 1 : lines.index("", head)]
    rows = status(name, options="").rows
    assert len(table) == len(rows) and max(map(len, table)) <= 80
    assert [int(line.split()[0]) for line in table] == [int(row.shard[-12:]) for row in rows]


@pytest.mark.parametrize(("name", "options", "words"), [
    ("a-both", OPTIONS, ["finished", "reads from here", "never", "never"]),
    ("c-latest", OPTIONS, ["reads from here", "reads from here", "waits for 0", "waits for 0"]),
    ("c2", OPTIONS, [*["reads from here"] * 2, *["from its beginning"] * 2]),
    ("e2", OPTIONS, [*["reads from here"] * 2, *["waits for 0, then from its tip"] * 2]),
    ("healthy-split-cleaned", OPTIONS, ["finished", *["reads from here"] * 3]),
    ("false-end", OPTIONS, ["finished", "never", "reads from here", "reads from here"]),
    ("row-not-born", OPTIONS, ["finished", *["reads from here"] * 3, "not read"]),
    ("healthy-latest-roots", OPTIONS, ["from its tip"] * 2),
    ("latest-closed-root", OPTIONS,
     ["perhaps never", "reads from here", *["from its beginning"] * 2]),
    ("full-merge-coparent-lost", "", ["reads from here", *["depends on options"] * 2]),
    ("full-merge-coparent-lost", OPTIONS, ["reads from here", "perhaps never", "waits for 0"]),
    ("timestamp-sentinel", "", ["finished", "from a time", *["reads from here"] * 2]),
])  # fmt: skip
def test_what_the_next_start_does(name, options, words):
    """Of each shard, in their order. A parent that was cleaned up is not called lost."""
    rows = status(name, options, sort="shard").rows
    assert [next_start(row) for row in rows] == words


def test_a_bound_is_never_shown_too_low():
    """14m59s at most is not 14m at most."""
    (line,) = [line for line in shown("masked-hole", "text").splitlines() if line[:2] == "3 "]
    assert "≤ 15m" in line


HOSTILE = "\x1b[2J\n=HYPERLINK(1)\u202e"


@pytest.mark.parametrize("form", FORMATS)
def test_text_of_the_store_is_harmless(form):
    items = CASES["a-both"].items()
    items[1] = {**items[1], "leaseOwner": {"S": HOSTILE}}
    items.append({**items[1], "leaseKey": {"S": HOSTILE}, "checkpoint": {"S": HOSTILE}})
    report = report_of("a-both", "initial=LATEST&release=3.5.1", items=items)
    found = status_of(report, report.findings, StatusSelection())
    for wanted in (context(report), context(report, width=200, ascii=True)):
        text = write(found, form, wanted)
        assert not any((ord(c) < 32 and c != "\n") or c in "\x7f\u202e" for c in text)
        assert not wanted.ascii or text.isascii()


def test_a_cell_that_a_spreadsheet_would_run():
    items = CASES["a-both"].items()
    items[1] = {**items[1], "leaseOwner": {"S": "=HYPERLINK(1)"}}
    report = report_of("a-both", "initial=LATEST&release=3.5.1", items=items)
    text = write(status_of(report, report.findings, StatusSelection()), "csv", context(report))
    owners = {row["owner"] for row in csv.DictReader(StringIO(text))}
    assert "'=HYPERLINK(1)" in owners


def test_the_same_status_gives_the_same_bytes():
    for form in FORMATS:
        assert shown("false-end", form) == shown("false-end", form)


def test_colours():
    assert "\x1b[31m2 " in shown("a-both", "text", color=True, width=120)
    assert "\x1b" not in shown("a-both", "text", width=120)


@pytest.mark.parametrize(("name", "options", "told"), [
    ("row-no-checkpoint", "release=1.15.3", "✗ crashes at its start, so no shard is read: KCL"),
    ("row-no-counter", "", "✗ may crash at its start: KCL"), ("a-both", "", None),
])  # fmt: skip
@pytest.mark.parametrize("by_worker", [False, True])
def test_a_crash_stands_above_the_rows_though_its_finding_names_a_shard(
    name, options, told, by_worker
):
    """Runs of KCL 1.15.3: the worker dies at one row, and reads the shards of no other either."""
    found = status(name, options, by_worker=by_worker)
    lines = write(found, "text", context(found.report)).splitlines()
    crashes = [line for line in lines if line.startswith("✗")]
    assert bool(told) is bool(crashes) and all(line.startswith(told or "") for line in crashes)
    head = next(n for n, line in enumerate(lines) if line.startswith(("shard ", "worker ")))
    assert all(lines.index(line) < head for line in crashes)


def test_where_no_shard_is_bad_all_are_counted():
    """0 was cleaned up, which is a leftover of RSH205."""
    found = status("healthy-split-cleaned", only_bad=True)
    shown = write(found, "text", context(found.report))
    assert shown.splitlines()[-1] == "4 shards: 1 info, 3 ok; none shown."
    found = status("healthy-split-cleaned", only_bad=True, shards=("1", "2"))
    shown = write(found, "text", context(found.report))
    assert shown.splitlines()[-1] == "2 of 4 shards: 2 ok; none shown."


@pytest.mark.parametrize("verbose", [False, True])
def test_a_worker_lags_as_its_worst_shard_does(verbose):
    """A bound stays one, and is rounded alike: 14m59s at most is not 14m."""
    def lags(by_worker: bool) -> str:
        found = status("masked-hole", options="", shards=("3",), by_worker=by_worker)
        shown = write(found, "text", context(found.report, verbose=verbose, width=200))
        (line,) = [x for x in shown.splitlines() if x.startswith("-  " if by_worker else "3 ")]
        return " ".join(re.findall(r"≤ \w+", line)[:1])

    assert lags(by_worker=True) == lags(by_worker=False) != ""


@pytest.mark.parametrize(("stored", "shown"), [
    (f"finished ({NUMBER})", "finished (4968…0001)"), (f"~{NUMBER}", "~4968…0001"),
    ("SHARD_END", "SHARD_END"), ("x" * 25, "done"),
])  # fmt: skip
def test_an_end_is_shown_as_it_is_stored(stored, shown):
    """kinsumer's and Quickwit's, as inspect and graph show them; numbers are shortened."""
    (row, *_) = status("a-both").rows
    found = standing(structs.replace(row, position=StoredPosition(PositionKind.DONE, stored)), 0.0)
    assert found["position"] == shown
