"""The other formats, read back: the same shards and the same edges as the listing."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from importlib.resources import files

import networkx
import pytest
from jsonschema import Draft202012Validator

from tests.unit.render.formats import DRAWN
from tests.unit.render.graph.drawing import dot_edges, edges, listed, lives, mermaid_edges
from tests.unit.render.graph.samples import by_drawn, lineage_on, report_on, wide_case
from tests.unit.render.graph.written import draw
from tests.unit.render.samples import CASES, by_name, report_of

SCHEMA = json.loads(files("reshardctl.render.graph").joinpath("graph.schema.json").read_text())
VALIDATOR = Draft202012Validator(SCHEMA)

SPLIT = """\
orders   us-east-1   ACTIVE   3 open, 1 closed   2026-11-21T00:25:00Z
kcl://orders-app?initial=LATEST&release=3.5.1
✗ 2 stalls: 2, 3

0   closed 00:10   SHARD_END ─┬─ 2   open           no position   unread 14m59s   ✗ stalls
                              └─ 3   open           no position   unread 14m59s   ✗ stalls
1   open           4968…7410     unread 17m20s
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


def drawn(form: str, case) -> str:
    return draw(form, lineage_on(case), float(case.now))


@by_drawn(wide_case(9))
def test_edges_are_those_of_the_listing(case):
    assert dot_edges(drawn("dot", case)) == edges(case)
    assert mermaid_edges(drawn("mermaid", case)) == edges(case)
    graph = networkx.parse_graphml(drawn("graphml", case))
    assert set(graph.edges) == edges(case)
    told = json.loads(drawn("json", case))
    assert {(e["parent"], e["child"]) for e in told["edges"]} == edges(case)
    unlisted = {parent for parent, _ in edges(case)} - set(listed(case))
    assert set(told["expired"]) == unlisted
    assert set(graph) == {*listed(case), *unlisted}


@by_drawn(wide_case(9))
def test_graphml_knows_when_a_shard_lived(case):
    graph = networkx.parse_graphml(drawn("graphml", case))
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
    out = draw("json", report.snapshot.lineage, report.snapshot.now, report)
    VALIDATOR.validate(json.loads(out))
    told = {s["id"]: s["position"] for s in json.loads(out)["shards"]}
    assert {i: p["stored"] for i, p in told.items() if p["stored"] is not None} == {
        i: p for i, p in report.positions.items() if i in told
    }


def test_a_lineage_alone_fits_the_schema():
    Draft202012Validator.check_schema(SCHEMA)
    out = json.loads(drawn("json", wide_case(9)))
    VALIDATOR.validate(out)
    assert out["consumer"] is None and {s["position"] for s in out["shards"]} == {None}


def test_the_text_of_a_split():
    report = report_of("a-both", "initial=LATEST&release=3.5.1")
    assert draw("text", report.snapshot.lineage, report.snapshot.now, report) == SPLIT


def test_the_text_of_a_merge():
    assert drawn("text", wide_case(6)) == MERGE


@pytest.mark.parametrize(
    "name,options,said",
    [
        ("foreign-rows", "release=2.7.2", "✗ crashes at its start: KCL 2.7.2"),
        ("row-no-counter", "", "✗ may crash at its start: KCL"),
        ("foreign-rows", "release=3.5.1", ""),
    ],
)
def test_a_consumer_that_dies_is_said_so(name, options, said):
    """KCL 2.7.2 dies of rows that 3.5.1 keeps beside its leases, and of leases it cannot read;
    3.5.1 does not."""
    report = report_of(name, options)
    for form in ("text", "svg", "html"):
        shown = draw(form, report.snapshot.lineage, report.snapshot.now, report)
        words = said if form == "text" else said.removeprefix("✗ ")
        assert words in shown and ("at its start" in shown) is bool(said)


def test_parents_that_are_not_listed_are_expired():
    """Case j-trimmed and its like: retention took the parent; the child still names it."""
    found = [c for c in CASES.values() if {p for p, _ in edges(c)} - set(listed(c))]
    assert found
    for case in found:
        gone = {parent for parent, _ in edges(case)} - set(listed(case))
        text, dot, mermaid = (drawn(form, case) for form in ("text", "dot", "mermaid"))
        svg, page = drawn("svg", case), drawn("html", case)
        for shard in gone:
            number = int(shard.removeprefix("shardId-"))
            assert any(line.split()[:2] == [str(number), "expired"] for line in text.splitlines())
            assert f'"{shard}" [label="{number}\\nexpired", style=dashed];' in dot
            assert f's{number}["{number}<br/>expired"]:::expired' in mermaid
            assert f"<td>{number}</td><td>expired</td>" in page
            assert f"{number} (expired)" in svg and f'data-shard="{shard}"' not in svg
        graph = networkx.parse_graphml(drawn("graphml", case))
        assert {s for s, life in graph.nodes(data="life") if life == "expired"} == gone


def test_the_same_bytes_whatever_the_seed():
    """Sets and dicts in another order draw nothing else."""
    code = (
        "import sys; sys.path[:0] = ['.']\n"
        "from tests.unit.render.formats import DRAWN\n"
        "from tests.unit.render.graph.samples import report_on, wide_case\n"
        "from tests.unit.render.graph.written import draw\n"
        "r = report_on(wide_case(9))\n"
        "for f in DRAWN: sys.stdout.buffer.write(\n"
        "    draw(f, r.snapshot.lineage, r.snapshot.now, r).encode())\n"
    )
    seed = str(int(os.environ.get("PYTHONHASHSEED") == "1") + 1)
    out = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, check=True, timeout=120,
        env={**os.environ, "PYTHONHASHSEED": seed},
    ).stdout
    report = report_on(wide_case(9))
    here = "".join(
        draw(form, report.snapshot.lineage, report.snapshot.now, report) for form in DRAWN
    )
    assert out == here.encode()
