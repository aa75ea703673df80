"""Parts of a picture: of many shards the finished ones are left out, or only some are asked for."""

from __future__ import annotations

import json
import re

import pytest
from msgspec.structs import replace

from reshardctl.model import shard_id
from reshardctl.render.graph.chart import DrawnShards
from reshardctl.report.report import RepairOptions, make
from tests.unit.render.formats import DRAWN
from tests.unit.render.graph.drawing import losses, parsed, rects
from tests.unit.render.graph.samples import CREATED, LIFE, report_on, wide_case
from tests.unit.render.graph.test_formats import SPLIT
from tests.unit.render.graph.written import draw, draw_several, draw_stream
from tests.unit.render.samples import report_of

CASE = wide_case(232)


def drawn(form: str, report=None, **selection) -> str:
    return draw(form, report or report_on(CASE), selection=DrawnShards(**selection))


def finished() -> set[str]:
    """The shards at SHARD_END, without the parents of children that have no row."""
    rows = {item["leaseKey"]["S"]: item["checkpoint"]["S"] for item in CASE.items()}
    kept = {
        shard_id(parent) for shard in CASE.stream["shards"] for parent in shard.get("parents", ())
        if shard_id(shard["id"]) not in rows and len(shard["parents"]) == 1
    }
    return {shard for shard, position in rows.items() if position == "SHARD_END"} - kept


def several(form: str) -> str:
    """Two consumers that stand alike: what each has finished, both have."""
    return draw_several(form, [("fraud", report_on(CASE)), ("etl", report_on(CASE))])


one_and_several = pytest.mark.parametrize("draws", [drawn, several], ids=["one", "several"])


@one_and_several
def test_finished_shards_of_many_are_left_out_and_counted(draws):
    """Of several consumers what each has finished; the table of the page has every shard."""
    every = {shard_id(shard["id"]) for shard in CASE.stream["shards"]}
    svg = draws("svg")
    assert {shard for shard, _ in rects(parsed(svg))} == every - finished()
    assert len(finished()) > 80
    for form in ("svg", "html", "text"):
        assert f"{len(finished())} finished shards are not drawn." in draws(form)
    assert "232 open, 174 closed" in svg
    body = draws("html").partition("<tbody>")[2].partition("</tbody>")[0]
    assert body.count("<tr") == len(CASE.shards)


def test_few_selected_or_unjudged_shards_are_all_drawn():
    assert "not drawn" not in drawn("svg", report_on(wide_case(24)))
    alone = draw_stream("svg", CASE)
    assert len(rects(parsed(alone))) == len(CASE.shards)
    (one, *_) = finished()
    assert [shard for shard, _ in rects(parsed(drawn("svg", shards=(one,))))] == [one]


@one_and_several
def test_the_overview_links_to_every_loss_and_part(draws):
    page = draws("html")
    overview, _, rest = page.partition('class="reshard overview"')[2].partition("</svg>")
    targets = re.findall(r'<a href="#([^"]+)"', overview)
    assert len([t for t in targets if t.startswith("loss-")]) == len(losses(parsed(draws("svg"))))
    assert len([t for t in targets if t.startswith("part-")]) == 16
    assert all(rest.count(f'id="{target}"') == 1 for target in targets)
    heights = [float(h) for h in re.findall(r'data-overview=.*?height="([\d.]+)"', overview)]
    assert heights and min(heights) >= 4
    assert overview.index("processed") < overview.index("data-overview")


def test_a_small_page_has_no_overview():
    assert "overview\"" not in drawn("html", report_on(wide_case(4)))


def test_sizes_and_paper_need_no_script():
    page = drawn("html")
    assert "<script" not in page and "default-src 'none'; style-src 'unsafe-inline'" in page
    assert re.findall(r'name="zoom" id="(\w+)"', page) == ["fit", "full", "twice"]
    assert "@media print" in page and "prefers-color-scheme:dark" in page


def test_what_one_consumer_has_not_finished_is_drawn():
    """The second has the row of one root, so nothing of the others is known to be read."""
    report = report_on(CASE)
    new = make(replace(report.snapshot, images=report.snapshot.images[:1]), RepairOptions())
    svg = draw_several("svg", [("fraud", report), ("new", new)])
    assert len(rects(parsed(svg))) > len(CASE.shards) - len(finished())


WIDE = report_on(wide_case(24))
SPLIT_REPORT = report_of("a-both", "initial=LATEST&release=3.5.1")


def shards_in(markup: str) -> set[str]:
    return {shard for shard, _ in rects(parsed(markup))}


def test_only_bad_keeps_the_lost_children():
    """0 has ended and 1 is read on: 2 and 3 are what KCL never reads (tests/cases, a-both)."""
    svg = drawn("svg", SPLIT_REPORT, only_bad=True)
    assert shards_in(svg) == {shard_id(2), shard_id(3)}
    assert "2 shards not drawn" in svg and "losses not drawn" not in svg
    head = SPLIT.splitlines()
    assert drawn("text", SPLIT_REPORT, only_bad=True).splitlines() == [
        head[0].replace("1 closed   ", "0 closed   2 shards not drawn   ")
        .replace("3 open", "2 open"),
        *head[1:4],
        "2   open   no position   unread 14m59s   ✗ never read",
        "3   open   no position   unread 14m59s   ✗ never read",
    ]


def test_where_no_shard_is_bad_the_head_counts_all_of_them():
    report = report_of("healthy-split-cleaned", "initial=LATEST&release=3.5.1")
    (head, *rest) = drawn("text", report, only_bad=True).splitlines()
    assert "   3 open, 1 closed   none of 4 drawn   " in head and rest[1:] == [""]


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
        assert f"{every - 1} losses not drawn" in drawn(form, WIDE, shards=(lost,))
        assert f"{every} losses not drawn" in drawn(form, WIDE, shards=(shard_id(1),))


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
    svg = draw_several("svg", reports, selection=DrawnShards(only_bad=True))
    assert {shard_id(2), shard_id(3)} <= shards_in(svg)
    assert svg.count("data-consumer=") == 2
