"""Parts of a picture: only the selected shards, and a count of what was left out."""

from __future__ import annotations

import json

import pytest

from reshardctl.model import shard_id
from reshardctl.render.graph.chart import DrawnShards
from tests.unit.render.formats import DRAWN
from tests.unit.render.graph.drawing import losses, parsed, rects
from tests.unit.render.graph.samples import CREATED, LIFE, report_on, wide_case
from tests.unit.render.graph.test_formats import SPLIT
from tests.unit.render.graph.written import draw, draw_several
from tests.unit.render.samples import report_of

WIDE = report_on(wide_case(24))
SPLIT_REPORT = report_of("a-both", "initial=LATEST&release=3.5.1")


def drawn(form: str, report, **selection) -> str:
    lineage, now = report.snapshot.lineage, report.snapshot.now
    return draw(form, lineage, now, report, DrawnShards(**selection))


def shards_in(markup: str) -> set[str]:
    return {shard for shard, _ in rects(parsed(markup))}


def test_only_bad_keeps_the_lost_children():
    """0 has ended and 1 is read on: 2 and 3 are what KCL never reads (tests/cases, a-both)."""
    svg = drawn("svg", SPLIT_REPORT, only_bad=True)
    assert shards_in(svg) == {shard_id(2), shard_id(3)}
    assert "2 shards not drawn" in svg and "stalls not drawn" not in svg
    head = SPLIT.splitlines()
    assert drawn("text", SPLIT_REPORT, only_bad=True).splitlines() == [
        head[0].replace("1 closed   ", "0 closed   2 shards not drawn   ")
        .replace("3 open", "2 open"),
        *head[1:4],
        "2   open   no position   unread 14m59s   ✗ stalls",
        "3   open   no position   unread 14m59s   ✗ stalls",
    ]


@pytest.mark.parametrize("form", DRAWN)
def test_named_shards_in_every_format(form):
    """24 is a child of 0 that is drawn without its parent."""
    out = drawn(form, WIDE, shards=(shard_id(24), shard_id(1)))
    assert shard_id(24) in out or "24" in out
    for number in (2, 25):
        assert shard_id(number) not in out
    if form == "svg":
        assert shards_in(out) == {shard_id(1), shard_id(24)}
    if form == "json":
        told = json.loads(out)
        assert [shard["id"] for shard in told["shards"]] == [shard_id(1), shard_id(24)]
        assert told["edges"] == []


def test_losses_that_are_not_drawn_are_counted():
    every = len(losses(parsed(drawn("svg", WIDE))))
    (lost, *_) = losses(parsed(drawn("svg", WIDE)))
    for form in ("svg", "html", "text"):
        assert f"{every - 1} losses or stalls not drawn" in drawn(form, WIDE, shards=(lost,))
        assert f"{every} losses or stalls not drawn" in drawn(form, WIDE, shards=(shard_id(1),))


def test_since_begins_there_without_the_shards_that_had_closed():
    """Half of the roots split in the second hour, the others merged after 2.5 hours."""
    case = wide_case(24)
    since = CREATED + 2 * 3600.0
    svg = drawn("svg", WIDE, since=since)
    assert float(parsed(svg).attrib["data-since"]) == since
    assert shards_in(svg) == {
        shard_id(s["id"]) for s in case.stream["shards"] if s.get("close", LIFE) > 2 * 3600
    }


def test_a_shard_is_bad_if_it_is_bad_for_one_of_several():
    fine = report_of("a-both", "initial=TRIM_HORIZON&release=3.5.1")
    reports = [("fine", fine), ("etl", SPLIT_REPORT)]
    svg = draw_several(
        "svg", fine.snapshot.lineage, fine.snapshot.now, reports, DrawnShards(only_bad=True)
    )
    assert {shard_id(2), shard_id(3)} <= shards_in(svg)
    assert svg.count("data-consumer=") == 2
