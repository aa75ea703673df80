"""The other formats, read back: the shards and the edges of the listing; text fits its width."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from importlib.resources import files

import networkx
import pytest
from jsonschema import Draft202012Validator

from reshardctl.diagnosis.rules import Severity
from reshardctl.render.graph import labels
from reshardctl.render.graph.chart import LOSING, chart_of
from tests.support.covering import in_turn
from tests.unit.render.formats import DRAWN
from tests.unit.render.graph.drawing import dot_edges, edges, listed, lives, mermaid_edges
from tests.unit.render.graph.samples import by_drawn, hot_key_case, report_on, wide_case
from tests.unit.render.graph.written import draw, draw_several, draw_stream
from tests.unit.render.samples import CASES, by_name, report_of

SCHEMA = json.loads(files("reshardctl.render.graph").joinpath("graph.schema.json").read_text())
VALIDATOR = Draft202012Validator(SCHEMA)

WIDTHS = (40, 47, 60, 72, 80, 100, 120, 160, 200)
REPORTS = [
    *(report_of(name, "initial=LATEST&release=3.5.1") for name in CASES if "a-both" in name),
    report_on(hot_key_case()), report_on(wide_case(24)), report_on(wide_case(100)),
]  # fmt: skip

SPLIT = """\
orders   us-east-1   ACTIVE   3 open, 1 closed   2026-11-21T00:25:00Z
kcl://orders-app?initial=LATEST&release=3.5.1
✗ 2 never read: 2, 3

0   closed 00:10   SHARD_END ─┬─ 2   open           no position   unread 14m59s   ✗ never read
                              └─ 3   open           no position   unread 14m59s   ✗ never read
1   open           4968…7410     unread 17m20s
"""

NARROW = """\
orders   us-east-1   ACTIVE   3 open, 1
  closed   2026-11-21T00:25:00Z
kcl://orders-app?initial=LATEST&release=
  3.5.1
✗ 2 never read: 2, 3

0  closed 00:10  SHARD_END
├─ 2  open  no position  unread 14m59s
│    ✗ never read
└─ 3  open  no position  unread 14m59s
     ✗ never read
1  open  4968…7410  unread 17m20s
"""

MERGE = """\
orders   us-east-1   ACTIVE   7 open, 4 closed   2026-11-21T06:00:00Z

0   closed 01:00 ─┬─ 6    open
                  └─ 7    open
2   closed 02:30 ─┐
3   closed 02:30 ─┴─ 8    open
4   closed 01:06 ─┬─ 9    open
                  └─ 10   open
1    open
5    open
"""


@by_drawn(wide_case(9))
def test_edges_are_those_of_the_listing(case):
    assert dot_edges(draw_stream("dot", case)) == edges(case)
    assert mermaid_edges(draw_stream("mermaid", case)) == edges(case)
    graph = networkx.parse_graphml(draw_stream("graphml", case))
    assert set(graph.edges) == edges(case)
    told = json.loads(draw_stream("json", case))
    assert {(e["parent"], e["child"]) for e in told["edges"]} == edges(case)
    unlisted = {parent for parent, _ in edges(case)} - set(listed(case))
    assert set(told["expired"]) == unlisted
    assert set(graph) == {*listed(case), *unlisted}


@by_drawn(wide_case(9))
def test_graphml_knows_when_a_shard_lived(case):
    graph = networkx.parse_graphml(draw_stream("graphml", case))
    opened = {one: graph.nodes[one]["life"] == "open" for one in listed(case)}
    assert opened == {s["ShardId"]: "EndingSequenceNumber" not in s["SequenceNumberRange"]
                      for s in case.shards}  # fmt: skip
    assert set(lives(case)) == set(opened)
    for shard in case.shards:
        node, keys = graph.nodes[shard["ShardId"]], shard["HashKeyRange"]
        assert (node["hash_start"], node["hash_end"]) == (
            keys["StartingHashKey"], keys["EndingHashKey"]
        )


@by_name
def test_every_case_fits_the_schema(name):
    if name == "recreated":
        return
    report = report_of(name)
    out = draw("json", report)
    VALIDATOR.validate(json.loads(out))
    told = {s["id"]: s["position"] for s in json.loads(out)["shards"]}
    assert {i: p["stored"] for i, p in told.items() if p["stored"] is not None} == {
        i: p for i, p in report.positions.items() if i in told
    }


def test_a_lineage_alone_fits_the_schema():
    Draft202012Validator.check_schema(SCHEMA)
    out = json.loads(draw_stream("json", wide_case(9)))
    VALIDATOR.validate(out)
    assert out["consumer"] is None and {s["position"] for s in out["shards"]} == {None}


def test_the_text_of_a_merge():
    assert draw_stream("text", wide_case(6)) == MERGE


@pytest.mark.parametrize(
    "name,options,said",
    [
        ("foreign-rows", "release=2.7.2", "✗ crashes at its start, so no shard is read: KCL 2.7.2"),
        ("row-no-counter", "", "✗ may crash at its start: KCL"),
        ("foreign-rows", "release=3.5.1", ""),
    ],
)
def test_a_consumer_that_dies_is_said_so(name, options, said):
    """KCL 2.7.2 dies of rows that 3.5.1 keeps beside its leases, and of leases it cannot read;
    3.5.1 does not."""
    report = report_of(name, options)
    for form in ("text", "svg", "html"):
        shown = draw(form, report)
        words = said if form == "text" else said.removeprefix("✗ ")
        assert words in shown and ("at its start" in shown) is bool(said)


def test_parents_that_are_not_listed_are_expired():
    """Case j-trimmed and its like: retention took the parent; the child still names it."""
    found = [c for c in CASES.values() if {p for p, _ in edges(c)} - set(listed(c))]
    assert found
    for case in found:
        gone = {parent for parent, _ in edges(case)} - set(listed(case))
        text, dot, mermaid = (draw_stream(form, case) for form in ("text", "dot", "mermaid"))
        svg, page = draw_stream("svg", case), draw_stream("html", case)
        for shard in gone:
            number = int(shard.removeprefix("shardId-"))
            assert any(line.split()[:2] == [str(number), "expired"] for line in text.splitlines())
            assert f'"{shard}" [label="{number}\\nexpired", style=dashed];' in dot
            assert f's{number}["{number}<br/>expired"]:::expired' in mermaid
            assert f"<td>{number}</td><td>expired</td>" in page
            assert f"{number} (expired)" in svg and f'data-shard="{shard}"' not in svg
        graph = networkx.parse_graphml(draw_stream("graphml", case))
        assert {s for s, life in graph.nodes(data="life") if life == "expired"} == gone


def test_the_same_bytes_whatever_the_seed():
    """Sets and dicts in another order draw nothing else."""
    code = (
        "import sys; sys.path[:0] = ['.']\n"
        "from tests.unit.render.formats import DRAWN\n"
        "from tests.unit.render.graph.samples import report_on, wide_case\n"
        "from tests.unit.render.graph.written import draw\n"
        "r = report_on(wide_case(9))\n"
        "for f in DRAWN: sys.stdout.buffer.write(draw(f, r).encode())\n"
    )
    seed = str(int(os.environ.get("PYTHONHASHSEED") == "1") + 1)
    out = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, check=True, timeout=120,
        env={**os.environ, "PYTHONHASHSEED": seed},
    ).stdout
    report = report_on(wide_case(9))
    assert out == "".join(draw(form, report) for form in DRAWN).encode()


def cells(text: str) -> set[str]:
    """The words of a text, without its lines and the marks of its forks."""
    return set(re.findall(r"[^\s─┬┐┘┴┼└├│]+", text))


@pytest.mark.parametrize(("report", "width"), in_turn(REPORTS, WIDTHS, every=3))
def test_no_line_is_wider_than_the_terminal(report, width):
    text = draw("text", report, width=width)
    assert max(map(len, text.splitlines())) <= width
    if width >= 60:
        assert cells(text) == cells(draw("text", report))


@pytest.mark.parametrize("width", WIDTHS)
def test_nor_with_several_consumers(width):
    report = REPORTS[0]
    named = [(name, report) for name in ("fraud", "etl", "search")]
    text = draw_several("text", named, width=width)
    assert max(map(len, text.splitlines())) <= width
    told = re.sub(r"[\s│]+", " ", text).count("never read")
    assert told == 9, "both shards of each, and how many in its head"


@pytest.mark.parametrize(("width", "text"), [(None, SPLIT), (95, SPLIT), (40, NARROW)])
def test_the_text_of_a_split_has_children_below_their_parents_where_there_is_no_room(width, text):
    assert draw("text", report_of("a-both", "initial=LATEST&release=3.5.1"), width=width) == text


@by_name
def test_a_shard_has_a_cross_where_inspect_has_an_error_of_its_loss(name):
    """An error is a certain loss at the next start, also one with some options (Severity)."""
    report = report_of(name)
    chart = chart_of(report.snapshot.lineage, report.snapshot.now, report)
    grave = {box.shard for box in chart.boxes if box.loss and box.loss.grave}
    errors = [found for found in report.findings if found.severity is Severity.ERROR]
    told = {shard for found in errors for shard in found.shards}
    assert grave <= told | {effect.shard for found in errors for effect in found.effects}
    if not chart.crash:
        assert grave >= {
            effect.shard for found in errors for effect in found.effects
            if effect.harm in LOSING and effect.certain and not effect.gone
        } & {box.shard for box in chart.boxes}


@pytest.mark.parametrize(("name", "said"), [
    ("d2", " if initial=LATEST or AT_TIMESTAMP"), ("full-split-unseen", " with some options"),
])  # fmt: skip
def test_a_loss_names_the_options_that_it_depends_on(name, said):
    """Children without a lease are made at the start position, by some releases alone."""
    report = report_of(name)
    shown = draw("text", report).splitlines()
    assert shown[2] == "✗ 2 losses with some options: 2, 3"
    assert sum("✗ skips" in line and line.endswith(said) for line in shown) == 2


def test_parents_of_a_merge_are_joined_where_there_is_no_room():
    """A listing whose merged parents have no parents of their own, and one of them no lease."""
    report = report_of("full-merge-coparent-lost", "initial=LATEST&release=3.5.1")
    lines = draw("text", report, width=50).splitlines()
    (first, second, child) = [n for n, line in enumerate(lines) if re.match("0  |1  |└─ 2  ", line)]
    assert lines[first].endswith(" ─┐") and lines[second].endswith(" ─┘") and second < child
    assert max(map(len, lines)) <= 50


@pytest.mark.parametrize(("text", "shown"), [
    (f"AFTER_SEQUENCE_NUMBER 4968{'0' * 48}8178", "AFTER_SEQUENCE_NUMBER 4968…8178"),
    ("finished without a number", "finished without a number"),
])  # fmt: skip
def test_a_position_is_not_cut_to_something_longer(text, shown):
    assert labels.spelled(text) == shown
