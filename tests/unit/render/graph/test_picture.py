"""The picture's geometry: time across, hash keys down, and what the real consumer does in it."""

from __future__ import annotations

import re

import pytest

from reshardctl.model import shard_id
from reshardctl.render.graph import text
from tests.support.grouped import by_case
from tests.unit.render.graph.docs_picture import PAGE, PICTURE, chart, picture
from tests.unit.render.graph.drawing import SVG, listed, lives, parsed, ranges, rects, shades
from tests.unit.render.graph.samples import (
    by_drawn,
    report_on,
    wide_case,
)
from tests.unit.render.graph.written import draw, draw_stream
from tests.unit.render.samples import CASES, SHOWN, every_expectation, report_of

NEWEST = "initial=LATEST&release=3.5.1"


def svg_of(report):
    return parsed(draw("svg", report))


@by_drawn(wide_case(6), wide_case(60))
def test_one_rectangle_a_shard_where_it_lived(case):
    svg = parsed(draw_stream("svg", case))
    found = rects(svg)
    assert sorted(shard for shard, _ in found) == sorted(listed(case))
    since, until = (float(svg.attrib[f"data-{end}"]) for end in ("since", "until"))
    lived, held = lives(case), ranges(case)
    left = min(r.x for _, r in found)
    second = (max(r.x + r.width for _, r in found) - left) / (until - since)
    top = min(r.y for _, r in found)
    space = (max(r.y + r.height for _, r in found) - top) / float(
        max(high for _, high in held.values()) - min(low for low, _ in held.values())
    )
    first = min(low for low, _ in held.values())
    for shard, rect in found:
        opened, closed = (max(moment, since) for moment in lived[shard])
        assert rect.x == pytest.approx(left + (opened - since) * second, abs=0.01)
        assert rect.width == pytest.approx((closed - opened) * second, abs=0.01)
        low, high = held[shard]
        assert rect.y == pytest.approx(top + float(low - first) * space, abs=0.01)
        assert rect.height == pytest.approx(float(high - low) * space, abs=0.01)
    assert since <= min(closed for _, closed in lived.values()) and until == case.now


def test_the_axes_say_where_things_are():
    """Shard 1 begins at half of the hash space, shard 0 closed ten minutes past midnight."""
    svg = parsed(draw_stream("svg", CASES["a-both"]))
    found = dict(rects(svg))
    axis = {t.text: t.attrib for t in svg.iter(f"{SVG}text") if t.attrib.get("class") == "axis"}
    zero, one = found[shard_id(0)], found[shard_id(1)]
    assert float(axis["1/2"]["y"]) - float(axis["0"]["y"]) == pytest.approx(one.y - zero.y)
    assert float(axis["1/2"]["y"]) == pytest.approx(one.y + 4)
    assert float(axis["00:10"]["x"]) == pytest.approx(zero.x + zero.width, abs=0.01)
    assert float(axis["now"]["x"]) == pytest.approx(one.x + one.width, abs=0.01)
    assert float(svg.attrib["height"]) > one.y + one.height


def test_eight_hundred_shards_keep_a_row_each():
    found = rects(parsed(draw_stream("svg", wide_case(460))))
    assert len(found) > 800
    assert min(rect.height for _, rect in found) >= 8


def test_a_year_of_life_does_not_press_a_reshard_flat():
    case = CASES["a-both"]
    svg = parsed(draw_stream("svg", case, case.stream["created"] + 300 * 86400.0))
    assert rects(svg)
    since = float(svg.attrib["data-since"])
    assert since >= case.stream["created"] - 3


def test_the_line_runs_through_the_stored_places():
    """0 is read to its end, 2 and 3 were never begun, 1 stands at its record of second 460."""
    svg = svg_of(report_of("a-both", NEWEST))
    (line,) = (p for p in svg.iter(f"{SVG}polyline") if p.attrib["class"] == "line")
    points = [tuple(map(float, p.split(","))) for p in line.attrib["points"].split()]
    found = dict(rects(svg))
    one, two, three = (found[shard_id(i)] for i in (1, 2, 3))
    created = CASES["a-both"].stream["created"]
    since, until = (float(svg.attrib[f"data-{end}"]) for end in ("since", "until"))
    at = one.x + (created + 460 - since) / (until - since) * one.width
    assert [p[0] for p in points] == pytest.approx([two.x, two.x, at, at], abs=0.01)
    assert [p[1] for p in points] == pytest.approx(
        [two.y, three.y + three.height, one.y, one.y + one.height], abs=0.01
    )
    owed = shades(svg, "unread")
    assert set(owed) == {shard_id(i) for i in (1, 2, 3)}
    assert owed[shard_id(1)].x == pytest.approx(at, abs=0.01)


def test_red_is_what_the_real_consumer_never_read():
    """State a: KCL 1.15.3, 2.7.2 and 3.5.1 never created the children's leases."""
    svg = svg_of(report_of("a-both", NEWEST))
    found = dict(rects(svg))
    assert shades(svg, "lost") == {shard_id(i): found[shard_id(i)] for i in (2, 3)}


@by_case(every_expectation(), SHOWN)
def test_colours_say_what_the_real_consumer_delivers(case, expect, options):
    """Record by record: nothing red was delivered, and what is owed and in no red was."""
    svg = svg_of(report_of(case.name, options))
    if expect.dies:
        assert [t for t in svg.iter(f"{SVG}text") if t.attrib.get("class") == "crash"]
        return
    lost, may, owed = (shades(svg, kind) for kind in ("lost", "may", "unread"))
    horizon = case.stream["created"] + case.stream.get("trim", 0)
    for shard in listed(case):
        given = expect.delivers.get(shard, ())
        for _, payload, arrived in case.records[shard]:
            x = across(svg, arrived)
            if shard in lost and inside(lost[shard], x):
                assert payload not in given
            elif shard in owed and shard not in may and inside(owed[shard], x):
                assert payload in given or arrived < horizon
    assert not set(lost) & set(may)


def across(svg, moment: float) -> float:
    """Pixels at which a moment lies, by the ends of the time axis."""
    since, until = (float(svg.attrib[f"data-{end}"]) for end in ("since", "until"))
    boxes = [rect for _, rect in rects(svg)]
    left, right = min(r.x for r in boxes), max(r.x + r.width for r in boxes)
    return left + (moment - since) / (until - since) * (right - left)


def inside(rect, x: float) -> bool:
    return rect.x + 0.01 < x < rect.x + rect.width - 0.01


def test_without_a_consumer_there_is_no_line():
    case = CASES["a-both"]
    svg = parsed(draw_stream("svg", case))
    assert not list(svg.iter(f"{SVG}polyline"))
    assert not any(shades(svg, kind) for kind in ("unread", "perhaps", "lost", "may"))


def test_every_shard_has_its_numbers():
    svg = svg_of(report_of("a-both", NEWEST))
    titles = [g.find(f"{SVG}title").text for g in svg.iter(f"{SVG}g")]
    assert len(titles) == 4
    assert "shardId-000000000002   open" in titles[2] and "no position" in titles[2]
    assert "✗ never read" in titles[2] and "RSH203" in titles[2]
    assert f"hash keys 0 to {(1 << 126) - 1} (25 %)" in titles[2]


@pytest.mark.parametrize("form", ["svg", "html"])
def test_nothing_comes_from_elsewhere(form):
    """No script, no link, no address but the name of SVG's own namespace."""
    report = report_on(wide_case(20))
    out = draw(form, report)
    assert out.isascii()
    assert not re.search(r"<(script|link|img|iframe|image|use|foreignObject)\b|@import", out)
    assert not re.search(r"\b(src|on\w+)\s*=", out)
    assert all(link.startswith(("#loss-", "#part-")) for link in re.findall(r'href="([^"]*)"', out))
    assert set(re.findall(r"url\(([^)]*)\)", out)) <= {
        "#reshard-unread", "#reshard-perhaps", "#reshard-may"
    }
    assert set(re.findall(r"https?://[^\s\"<]*", out)) == {"http://www.w3.org/2000/svg"}
    assert "prefers-color-scheme:dark" in out
    assert ("default-src 'none'" in out) is (form == "html")


def test_the_page_has_a_row_a_shard():
    case = wide_case(20)
    report = report_on(case)
    page = draw("html", report)
    body = page.partition("<tbody>")[2].partition("</tbody>")[0]
    assert body.count("<tr") == len(case.shards)
    assert body.count('<tr class="bad">') == len(shades(svg_of(report), "lost"))


AGAIN = "run: python -m tests.unit.render.graph.docs_picture"


def test_the_picture_of_the_pages_is_up_to_date():
    assert PICTURE.read_text(encoding="utf-8") == picture(), AGAIN


def test_the_text_of_the_page_is_what_is_printed():
    assert text.draw(chart()) in PAGE.read_text(encoding="utf-8")
