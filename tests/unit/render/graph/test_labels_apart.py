"""Labels: none overlaps another, losses are labelled first, the zone and the retention are said."""

from __future__ import annotations

from itertools import combinations, pairwise

import pytest

from reshardctl.model import shard_id
from tests.unit.render.graph.drawing import SVG, losses, parsed, rects
from tests.unit.render.graph.samples import hot_key_case, report_on, wide_case
from tests.unit.render.graph.written import draw, draw_stream
from tests.unit.render.samples import CASES

WIDTH_OF_A_LETTER = 0.6
"""As a share of the height, in the fonts of the pictures at most."""
REPORTS = {
    "4": report_on(wide_case(4)), "8-hot-key": report_on(hot_key_case()),
    "40": report_on(wide_case(24)), "400": report_on(wide_case(232)),
}  # fmt: skip


def picture(report):
    return parsed(draw("svg", report))


def axis_rows(svg) -> dict[str, list[tuple[float, float, str]]]:
    """Left end, right end and text of the labels in each row of the time axis."""
    rows: dict[str, list[tuple[float, float, str]]] = {}
    for text in svg.iter(f"{SVG}text"):
        if text.attrib.get("text-anchor") == "middle":
            half = len(text.text) * 11 * WIDTH_OF_A_LETTER / 2
            x = float(text.attrib["x"])
            rows.setdefault(text.attrib["y"], []).append((x - half, x + half, text.text))
    return rows


@pytest.mark.parametrize("age", [0, 0.97, 1, 1.2, 3, 30, 300], ids=lambda age: f"{age}-days")
def test_labels_of_the_time_axis_do_not_overlap(age):
    """Of every step between ticks: dates, clock times, `now` and the retention limit."""
    case = CASES["a-both"]
    svg = parsed(draw_stream("svg", case, case.now + age * 86400.0))
    rows = axis_rows(svg)
    assert rows
    for row in rows.values():
        assert "now" in [text for _, _, text in row]
        assert all(a[1] < b[0] for a, b in pairwise(sorted(row)))


def test_the_retention_limit_is_drawn_where_it_lies_in_the_picture():
    """24 hours before now; the stream was created 30 hours before."""
    case = CASES["a-both"]
    now = case.stream["created"] + 30 * 3600.0
    svg = parsed(draw_stream("svg", case, now))
    since, until = (float(svg.attrib[f"data-{end}"]) for end in ("since", "until"))
    assert since < now - 86400 < until
    (limit,) = (e for e in svg.iter(f"{SVG}line") if e.attrib.get("class") == "limit")
    (today,) = (e for e in svg.iter(f"{SVG}line") if e.attrib.get("class") == "now")
    left = min(r.x for _, r in rects(svg))
    share = (float(limit.attrib["x1"]) - left) / (float(today.attrib["x1"]) - left)
    assert share == pytest.approx((now - 86400 - since) / (until - since), abs=1e-4)
    assert any(text == "retention limit" for row in axis_rows(svg).values() for *_, text in row)


@pytest.mark.parametrize("form", ["svg", "html"])
def test_the_zone_and_the_retention_are_said(form):
    """The stream keeps records for 24 hours, and it is 06:00 on the 21st."""
    report = REPORTS["40"]
    out = draw(form, report)
    assert "Times are UTC. Records from before 2026-11-20T06:00:00Z have expired " in out
    assert "(retention 1d)." in out


@pytest.mark.parametrize("report", REPORTS.values(), ids=REPORTS)
def test_labels_beside_the_boxes_do_not_overlap(report):
    svg = picture(report)
    right = max(r.x + r.width for _, r in rects(svg))
    spans = []
    for text in svg.iter(f"{SVG}text"):
        if float(text.attrib["x"]) > right and "style" in text.attrib:
            size = float(text.attrib["style"].removeprefix("font-size:").removesuffix("px"))
            base = float(text.attrib["y"])
            spans.append((base - 0.72 * size, base, text.text))
            width = len(text.text) * size * WIDTH_OF_A_LETTER
            assert float(text.attrib["x"]) + width <= float(svg.attrib["width"]) + 1
    assert spans
    assert all(a[1] <= b[0] + 0.01 for a, b in pairwise(sorted(spans)))


def test_the_loss_of_a_single_hash_key_is_labelled():
    svg = picture(REPORTS["8-hot-key"])
    (text,) = (t for t in svg.iter(f"{SVG}text") if t.text.startswith("7 · ✗ never read"))
    box = losses(svg)[shard_id(7)]
    assert float(text.attrib["y"]) == pytest.approx(box.y + box.height / 2, abs=6)
    assert text.attrib["class"] == "bad"


def test_texts_of_the_heading_stand_apart():
    svg = picture(REPORTS["400"])
    rows = sorted({
        float(t.attrib["y"]) for t in svg.iter(f"{SVG}text") if float(t.attrib["y"]) < 60
    })  # fmt: skip
    assert all(b - a >= 12 for a, b in combinations(rows, 2))
