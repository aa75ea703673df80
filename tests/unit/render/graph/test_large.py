"""Pictures of many shards: finished ones are left out, and an overview leads to each loss."""

from __future__ import annotations

import re

from msgspec.structs import replace

from reshardctl.model import shard_id
from reshardctl.render.graph.chart import DrawnShards
from reshardctl.report.report import RepairOptions, make
from tests.unit.render.graph.drawing import losses, parsed, rects
from tests.unit.render.graph.samples import lineage_on, report_on, wide_case
from tests.unit.render.graph.written import draw, draw_several

CASE = wide_case(232)


def drawn(form: str, report=None, **selection) -> str:
    report = report or report_on(CASE)
    lineage, now = report.snapshot.lineage, report.snapshot.now
    return draw(form, lineage, now, report, DrawnShards(**selection))


def finished() -> set[str]:
    """The shards at SHARD_END, without the parents of children that have no row."""
    rows = {item["leaseKey"]["S"]: item["checkpoint"]["S"] for item in CASE.items()}
    kept = {
        shard_id(parent) for shard in CASE.stream["shards"] for parent in shard.get("parents", ())
        if shard_id(shard["id"]) not in rows and len(shard["parents"]) == 1
    }
    return {shard for shard, position in rows.items() if position == "SHARD_END"} - kept


def test_finished_shards_of_many_are_left_out_and_counted():
    every = {shard_id(shard["id"]) for shard in CASE.stream["shards"]}
    svg = drawn("svg")
    assert {shard for shard, _ in rects(parsed(svg))} == every - finished()
    assert len(finished()) > 80
    for form in ("svg", "html", "text"):
        assert f"{len(finished())} finished shards are not drawn." in drawn(form)
    assert "232 open, 174 closed" in svg


def test_few_selected_or_unjudged_shards_are_all_drawn():
    assert "not drawn" not in drawn("svg", report_on(wide_case(24)))
    alone = draw("svg", lineage_on(CASE), float(CASE.now))
    assert len(rects(parsed(alone))) == len(CASE.shards)
    (one, *_) = finished()
    assert [shard for shard, _ in rects(parsed(drawn("svg", shards=(one,))))] == [one]


def test_the_table_of_the_page_has_every_shard():
    body = drawn("html").partition("<tbody>")[2].partition("</tbody>")[0]
    assert body.count("<tr") == len(CASE.shards)


def test_the_overview_links_to_every_loss_and_part():
    page = drawn("html")
    overview, _, rest = page.partition('class="reshard overview"')[2].partition("</svg>")
    targets = re.findall(r'<a href="#([^"]+)"', overview)
    assert len([t for t in targets if t.startswith("loss-")]) == len(losses(parsed(drawn("svg"))))
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


def several(form: str) -> str:
    """Two consumers that stand alike: what each has finished, both have."""
    report = report_on(CASE)
    lineage, now = report.snapshot.lineage, report.snapshot.now
    return draw_several(form, lineage, now, [("fraud", report), ("etl", report)])


def test_what_every_consumer_has_finished_is_left_out():
    every = {shard_id(shard["id"]) for shard in CASE.stream["shards"]}
    assert {shard for shard, _ in rects(parsed(several("svg")))} == every - finished()
    for form in ("svg", "html", "text"):
        assert f"{len(finished())} finished shards are not drawn." in several(form)
    body = several("html").partition("<tbody>")[2].partition("</tbody>")[0]
    assert body.count("<tr") == len(CASE.shards)


def test_what_one_consumer_has_not_finished_is_drawn():
    """The second has the row of one root, so nothing of the others is known to be read."""
    report = report_on(CASE)
    lineage, now = report.snapshot.lineage, report.snapshot.now
    new = make(replace(report.snapshot, images=report.snapshot.images[:1]), RepairOptions())
    svg = draw_several("svg", lineage, now, [("fraud", report), ("new", new)])
    assert len(rects(parsed(svg))) > len(CASE.shards) - len(finished())


def test_the_overview_of_several_links_to_every_loss_and_part():
    page = several("html")
    overview, _, rest = page.partition('class="reshard overview"')[2].partition("</svg>")
    targets = re.findall(r'<a href="#([^"]+)"', overview)
    assert len([t for t in targets if t.startswith("loss-")]) == len(losses(parsed(several("svg"))))
    assert len([t for t in targets if t.startswith("part-")]) == 16
    assert all(rest.count(f'id="{target}"') == 1 for target in targets)
    assert overview.index("processed") < overview.index("data-overview")
