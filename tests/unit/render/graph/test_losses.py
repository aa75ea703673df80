"""Every loss is seen: in the geometry, the header and the list, and as red pixels in a browser."""

from __future__ import annotations

import re
from collections.abc import Callable
from functools import cache, partial
from itertools import pairwise

import pytest
from msgspec.structs import replace

from reshardctl.model import HASH_SPACE, ShardId, shard_id
from reshardctl.render.graph.chart import Box, chart_of
from reshardctl.render.graph.layout import Layout
from reshardctl.render.graph.losses import LossList, loss_rows, losses_of
from tests.support.case import Case
from tests.unit.render.graph.drawing import SVG, losses, parsed, rects
from tests.unit.render.graph.red_pixels import CHROMIUM, red_pixels
from tests.unit.render.graph.samples import hot_key_case, lineage_on, report_on, wide_case
from tests.unit.render.graph.written import draw, draw_several

LEAST_WIDTH, LEAST_HEIGHT = 8.0, 4.0
SIZES = ("4", "8-hot-key", "40", "400", "49-hot-keys")
WIDE, WIDEST = "900", "4000"
"""896 shards: 512 roots, 128 pairs of children and 128 children of merges. 4,004 shards: 2,288
roots, 572 pairs of children and 572 children of merges."""
MADE: dict[str, Callable[[], Case]] = {
    "4": partial(wide_case, 4), "8-hot-key": hot_key_case, "40": partial(wide_case, 24),
    "400": partial(wide_case, 232), "49-hot-keys": partial(hot_key_case, 49),
    WIDE: partial(wide_case, 512), WIDEST: partial(wide_case, 2288),
}  # fmt: skip


@cache
def case_of(size: str) -> Case:
    """Made by the first test that asks: the widest takes seconds, which no collection should."""
    return MADE[size]()


def without_position(case: Case) -> set[ShardId]:
    """The children of splits without a row: the real KCL never reads them (tests/cases, a-both)."""
    held = {item["leaseKey"]["S"] for item in case.items()}
    children = {
        shard_id(s["id"]) for s in case.stream["shards"] if len(s.get("parents", ())) == 1
    }
    return children - held


def drawn(form: str, case: Case) -> str:
    return draw(form, report_on(case))


@pytest.mark.parametrize("size", SIZES)
def test_every_loss_has_a_box_of_the_least_size_above_the_line(size):
    case = case_of(size)
    svg = parsed(drawn("svg", case))
    assert set(losses(svg, "lost")) == without_position(case)
    lives = dict(rects(svg))
    for shard, box in losses(svg).items():
        assert box.width >= LEAST_WIDTH - 0.002 and box.height >= LEAST_HEIGHT - 0.002
        if box.height > LEAST_HEIGHT + 0.002:
            assert box.y <= lives[shard].y + 0.01
            assert box.y + box.height >= lives[shard].y + lives[shard].height - 0.01
    order = [
        "loss" if "data-loss" in e.attrib else str(e.attrib.get("class")) for e in svg.iter()
        if e.tag in (f"{SVG}rect", f"{SVG}polyline", f"{SVG}line")
    ]
    first_loss = order.index("loss")
    assert not {"line", "halo", "tick", "unread", "perhaps", "life"} & set(order[first_loss:])


def test_a_shard_with_one_hash_key_is_seen_and_stays_inside():
    svg = parsed(drawn("svg", hot_key_case()))
    life, box = dict(rects(svg))[shard_id(7)], losses(svg)[shard_id(7)]
    assert life.height < 0.01 and box.height == pytest.approx(LEAST_HEIGHT)
    assert life.y == pytest.approx(box.y + LEAST_HEIGHT / 2, abs=0.01)


@pytest.mark.parametrize("names", [(), ("fraud", "etl")], ids=["one", "several"])
def test_neighbours_with_one_hash_key_do_not_hide_each_other(names):
    """49 of them: one below the other, around the place where all of them lie."""
    report = report_on(case_of("49-hot-keys"))
    reports = [(name, report) for name in names]
    svg = parsed(draw_several("svg", reports) if names else draw("svg", report))
    found = sorted(losses(svg).values(), key=lambda box: box.y)
    assert len(found) == 49
    assert all(after.y - box.y >= LEAST_HEIGHT - 0.01 for box, after in pairwise(found))
    place = dict(rects(svg))[shard_id(7)].y
    assert found[0].y < place < found[-1].y
    top, bottom = (edge(r for _, r in rects(svg)) for edge in (
        lambda boxes: min(r.y for r in boxes), lambda boxes: max(r.y + r.height for r in boxes)
    ))  # fmt: skip
    assert found[0].y >= top - 0.01 and found[-1].y + LEAST_HEIGHT <= bottom + 0.01


@pytest.mark.parametrize("count", [1, 2], ids=["one", "several"])
def test_a_picture_without_a_page_lists_the_losses_with_links(count):
    report = report_on(case_of("40"))
    names = ["fraud", "etl"][:count]
    reports = [(name, report) for name in names]
    svg = parsed(draw("svg", report) if count == 1 else draw_several("svg", reports))
    links = [a.attrib["href"].removeprefix("#") for a in svg.iter(f"{SVG}a")]
    boxes = {e.attrib["id"] for e in svg.iter(f"{SVG}rect") if "data-loss" in e.attrib}
    assert sorted(links) == sorted([*boxes] * count)
    lowest = max(r.y + r.height for _, r in rects(svg))
    rows = [t for a in svg.iter(f"{SVG}a") for t in a.iter(f"{SVG}text")]
    heights = [float(row.attrib["y"]) for row in rows]
    assert lowest < min(heights) and max(heights) < float(svg.attrib["height"])
    assert all(after > one for one, after in pairwise(heights))
    assert count == 1 or (rows[0].text or "").startswith("fraud: shard ")


HOT = hot_key_case()
CODES = tuple(f"RSH{number}" for number in range(200, 240))


def box_at(number: int, low: int, high: int) -> Box:
    return Box(shard_id(number), True, 0.0, 100.0, low, high, (), ())


def test_a_long_line_of_the_list_goes_on_in_the_next():
    """40 letters of a name, and as many codes as there are: within the picture's width."""
    layout = Layout(0.0, 100.0, 300.0, 64.0)
    loss = losses_of(chart_of(lineage_on(HOT), float(HOT.now), report_on(HOT)))[0]
    loss = replace(loss, position=replace(loss.position, codes=CODES))
    wide = LossList([("n" * 60, loss)], layout)
    svg = parsed(f'<svg xmlns="http://www.w3.org/2000/svg">{"".join(wide.draw(400.0))}</svg>')
    rows = list(svg.iter(f"{SVG}text"))
    assert len(rows) > 1 and len(list(svg.iter(f"{SVG}a"))) == 1
    for row in rows:
        assert float(row.attrib["x"]) + len(row.text or "") * 12 * 0.62 <= layout.size[0]
    assert float(rows[-1].attrib["y"]) < 400.0 + wide.height
    assert "RSH239" in (rows[-1].text or "")


@pytest.mark.parametrize(("others", "free"), [
    ([(0.0, 0.45), (0.55, 1.0)], True), ([(0.0, 0.4999), (0.5001, 1.0)], False), ([], True),
])  # fmt: skip
def test_spread_boxes_leave_the_losses_of_large_shards_free(others, free):
    """Twenty shards of one hash key in the middle need 80 pixels of 1,000."""
    layout = Layout(0.0, 100.0, 1000.0, 64.0)
    middle = HASH_SPACE // 2
    small = [box_at(n, middle + n, middle + n) for n in range(20)]
    large = [box_at(100 + n, int(a * HASH_SPACE), int(b * HASH_SPACE) - 1)
             for n, (a, b) in enumerate(others)]  # fmt: skip
    placed = loss_rows([*small, *large], layout)
    tops = sorted(placed[box.shard][0] for box in small)
    assert all(after - top >= LEAST_HEIGHT - 0.01 for top, after in pairwise(tops))
    covered = [
        (top, box) for top in tops for box in large
        if top + LEAST_HEIGHT > placed[box.shard][0] + 0.01
        and top < sum(placed[box.shard]) - 0.01
    ]
    assert (covered == []) is free


def test_more_than_a_hundred_losses_are_counted_below_the_list():
    svg = parsed(drawn("svg", case_of(WIDE)))
    listed = len(list(svg.iter(f"{SVG}a")))
    last = [t.text for t in svg.iter(f"{SVG}text")][-1]
    assert (listed, last) == (100, f"and {len(losses(svg)) - 100} more")


@pytest.mark.parametrize("key", [0, HASH_SPACE - 1], ids=["first", "last"])
def test_the_least_size_does_not_leave_the_picture(key):
    """The first and the last hash keys, too, where a shard has no other."""
    layout = Layout(0.0, 100.0, 1000.0, 64.0)
    top, height = loss_rows([box_at(0, key, key)], layout)[shard_id(0)]
    assert height == pytest.approx(LEAST_HEIGHT)
    assert layout.y(0) <= top and top + height <= layout.y(HASH_SPACE)


@pytest.mark.parametrize("form", ["svg", "html", "text"])
def test_the_header_counts_them(form):
    head = drawn(form, case_of("40"))[:2000 if form == "text" else 12000]
    assert f"{len(without_position(case_of('40')))} never read" in head


def test_the_page_lists_them_first_with_links_to_their_boxes():
    page = drawn("html", case_of("40"))
    links = re.findall(r'<li><a href="#([^"]+)">shard (\d+)</a>', page.partition("<svg")[0])
    assert {shard_id(int(number)) for _, number in links} == set(losses(picture_in(page)))
    for target, number in links:
        (box,) = re.findall(rf'<rect id="{target}"[^>]*data-loss="([^"]*)"', page)
        assert box == shard_id(int(number))


def picture_in(page: str):
    inside = page[page.index('<div class="picture'):]
    inside = inside[inside.index("<svg "):]
    return parsed(inside[: inside.index("</svg>") + 6])


def test_the_text_lists_at_most_a_dozen():
    head = drawn("text", case_of("400")).splitlines()[2]
    assert head.startswith(f"✗ {len(without_position(case_of('400')))} never read: ")
    assert len(re.findall(r"\d+, ", head)) == 12 and head.endswith("more")


def test_several_consumers_show_the_losses_of_each():
    report = report_on(case_of("8-hot-key"))
    reports = [("fraud", report), ("etl", report)]
    svg = parsed(draw_several("svg", reports))
    assert set(losses(svg)) == {shard_id(7)}
    assert losses(svg)[shard_id(7)].height >= LEAST_HEIGHT
    assert "fraud   kcl://orders-app?initial=LATEST&release=3.5.1   1 never read" in draw_several(
        "text", reports
    )
    page = draw_several("html", reports)
    assert page.count('<a href="#loss-7">7</a>') == 2
    assert "fraud: 1 never read" in page and 'id="loss-7"' in page


@pytest.mark.interop
@pytest.mark.skipif(CHROMIUM is None, reason="no chromium on this machine")
@pytest.mark.parametrize("dark", [False, True], ids=["light", "dark"])
@pytest.mark.parametrize("scale", [1.0, 0.3], ids=["native", "phone"])
@pytest.mark.parametrize("size", [*SIZES, WIDE, WIDEST])
def test_every_loss_has_red_pixels_in_a_browser(tmp_path, size, scale, dark):
    markup = drawn("svg", case_of(size))
    boxes = losses(parsed(markup))
    counts = red_pixels(markup, boxes, tmp_path, scale=scale, dark=dark)
    assert set(counts) == set(boxes)
    assert not [shard for shard, red in counts.items() if red < 2]
