"""Several consumers in one picture: each line where it is drawn alone, and told apart."""

from __future__ import annotations

import re
import shutil
import subprocess

import pytest

from reshardctl.render.graph.several import COLORS
from tests.unit.render.graph.drawing import SVG, parsed, rects, shades
from tests.unit.render.graph.samples import judged, report_on, wide_case
from tests.unit.render.graph.test_hostile import HOSTILE
from tests.unit.render.graph.written import draw, draw_several, draw_stream

CASE = wide_case(8)
CHROMIUM = shutil.which("chromium") or shutil.which("chromium-browser")


def report(name: str, shards: int):
    """The rows of the first so many shards only."""
    return judged(CASE, [i for i in CASE.items() if int(i["leaseKey"]["S"][-12:]) < shards], name)


REPORTS = [("fraud", report_on(CASE)), ("etl", report("early", 8)), ("search", report("most", 12))]


def drawn(form: str, reports=REPORTS) -> str:
    return draw_several(form, reports)


def lines(svg) -> dict[str, tuple[str, str]]:
    """Consumer → the points of its line and how it is drawn."""
    return {
        p.attrib["data-consumer"]: (p.attrib["points"], p.attrib["style"])
        for p in svg.iter(f"{SVG}polyline")
    }


def test_one_box_a_shard_as_without_consumers():
    several = parsed(drawn("svg"))
    assert len(rects(several)) == len(CASE.shards)
    assert sorted(name for name, _ in rects(several)) == sorted(
        name for name, _ in rects(parsed(draw_stream("svg", CASE)))
    )


@pytest.mark.parametrize(("name", "one"), REPORTS)
def test_each_line_runs_where_it_runs_alone(name, one):
    """At the same moments and hash keys, by the axes of each picture."""
    together, alone = parsed(drawn("svg")), parsed(draw("svg", one))
    (own,) = (p.attrib["points"] for p in alone.iter(f"{SVG}polyline")
              if p.attrib["class"] == "line")  # fmt: skip
    assert moments(together, lines(together)[name][0]) == pytest.approx(moments(alone, own), abs=2)


def moments(svg, points: str) -> list[float]:
    """Seconds and hash keys (in 10000ths), read back from pixels. Moments before the beginning of
    the shorter axis lie at its end, so those are left at the later one."""
    since, until = (float(svg.attrib[f"data-{end}"]) for end in ("since", "until"))
    boxes = [rect for _, rect in rects(svg)]
    left, right = min(r.x for r in boxes), max(r.x + r.width for r in boxes)
    top, bottom = min(r.y for r in boxes), max(r.y + r.height for r in boxes)
    out: list[float] = []
    for point in points.split():
        x, y = map(float, point.split(","))
        out += [since + (x - left) / (right - left) * (until - since),
                (y - top) / (bottom - top) * 10000]  # fmt: skip
    return out


def test_the_axis_begins_before_the_first_place_of_any():
    """One owes from long before the first reshard, the others from after it."""
    rows = [{"leaseKey": {"S": "shardId-000000000001"}, "checkpoint": {"S": "TRIM_HORIZON"}}]
    items = [i for i in CASE.items() if i["leaseKey"] != rows[0]["leaseKey"]]
    slow = judged(CASE, [*items, *rows], "slow")
    alone = [
        float(parsed(draw("svg", one)).attrib["data-since"])
        for one in (slow, REPORTS[0][1])
    ]
    both = parsed(drawn("svg", [("slow", slow), REPORTS[0]]))
    assert float(both.attrib["data-since"]) == alone[0] < alone[1]


def test_lines_that_run_together_are_all_seen():
    """The same line three times: each is thinner than the one below it, in a colour of its own."""
    one = REPORTS[0][1]
    svg = parsed(drawn("svg", [(name, one) for name in "abc"]))
    found = lines(svg)
    assert len({points for points, _ in found.values()}) == 1
    widths = [
        float(px) for _, style in found.values() for px in re.findall(r"([\d.]+)px", style)[:1]
    ]
    assert len(widths) == len(found)
    assert widths == sorted(widths, reverse=True) and len(set(widths)) == 3
    kinds = [p.attrib["class"] for p in svg.iter(f"{SVG}polyline")]
    assert kinds == ["line c0", "line c1", "line c2"]


def test_red_where_one_of_them_loses():
    alone = {
        kind: {
            shard for _, r in REPORTS
            for shard in shades(parsed(draw("svg", r)), kind)
        }
        for kind in ("lost", "may")
    }  # fmt: skip
    together = parsed(drawn("svg"))
    assert set(shades(together, "may")) == alone["may"]
    assert set(shades(together, "lost")) == alone["lost"] - alone["may"] != set()


def test_certain_losses_are_drawn_last_and_alike_in_the_overview():
    """Roots at AT_TIMESTAMP lose for certain, their children perhaps; roots are listed first."""
    case = wide_case(232)
    items = [
        item if item["leaseKey"]["S"][-3:] >= "232" else
        {**item, "checkpoint": {"S": "AT_TIMESTAMP"}} for item in case.items()
    ]
    early = judged(case, items, "early")
    reports = [("fraud", early), ("etl", early)]
    page = draw_several("html", reports)
    drawn_kinds = re.findall(r'<rect id="(overview-)?(loss-\d+)" class="(lost|may)"', page)
    overview = [(name, kind) for place, name, kind in drawn_kinds if place]
    picture = [(name, kind) for place, name, kind in drawn_kinds if not place]
    assert overview == picture and {kind for _, kind in picture} == {"lost", "may"}
    kinds = [kind for _, kind in picture]
    assert kinds == sorted(kinds, reverse=True)


def test_the_legend_and_the_tooltips_name_them():
    svg = parsed(drawn("svg"))
    texts = [t.text or "" for t in svg.iter(f"{SVG}text")]
    for name, one in REPORTS:
        assert any(t.startswith(name) and one.snapshot.locator.text in t for t in texts)
    titles = [g.findtext(f"{SVG}title", "") for g in svg.iter(f"{SVG}g")]
    assert all("fraud: " in t and "etl: " in t and "search: " in t for t in titles)


def test_the_page_has_a_column_each():
    page = drawn("html")
    head = page.partition("<thead>")[2].partition("</thead>")[0]
    assert re.findall(r"<th>([^<]*)</th>", head) == ["shard", "lived", "fraud", "etl", "search"]
    body = page.partition("<tbody>")[2].partition("</tbody>")[0]
    assert body.count("<tr") == len(CASE.shards) and 'class="bad"' in body
    assert page.count('<polyline class="line') == 3


def test_the_text_has_a_letter_each():
    head, *body = drawn("text").split("\n\n")
    assert [line.split()[:2] for line in head.splitlines()[1:]] == [
        ["a", "fraud"], ["b", "etl"], ["c", "search"],
    ]  # fmt: skip
    (line,) = [one for one in body[0].splitlines() if one.startswith("1 ")]
    assert re.search(r"\ba \S+ .*\bb \S+ .*\bc ", line)


def test_more_consumers_than_colours():
    many = [(f"app-{n}", REPORTS[n % 3][1]) for n in range(len(COLORS) + 2)]
    svg = drawn("svg", many)
    assert svg.count("stroke-dasharray:9 4") == 2
    assert len(lines(parsed(svg))) == len(many)


@pytest.mark.parametrize("form", ["text", "svg", "html"])
def test_hostile_names(form):
    """A name comes from a file that somebody else may have written."""
    for name in HOSTILE:
        out = drawn(form, [(name, REPORTS[0][1]), ("etl", REPORTS[1][1])])
        if form != "text":
            assert "<script" not in out and "<img" not in out
        assert "\x1b" not in out and "\r" not in out
        if form == "svg":
            assert len(lines(parsed(out))) == 2


@pytest.mark.parametrize("form", ["svg", "html"])
def test_nothing_comes_from_elsewhere(form):
    out = drawn(form)
    assert out.isascii() and "prefers-color-scheme:dark" in out
    assert not re.search(r"<(script|link|img|iframe|image|use|foreignObject)\b|@import", out)
    assert set(re.findall(r"https?://[^\s\"<]*", out)) == {"http://www.w3.org/2000/svg"}


@pytest.mark.interop
@pytest.mark.skipif(CHROMIUM is None, reason="no chromium on this machine")
@pytest.mark.parametrize("form", ["svg", "html"])
def test_a_browser_draws_every_line(tmp_path, form):
    page = tmp_path / f"orders.{form}"
    page.write_text(drawn(form), encoding="utf-8")
    assert CHROMIUM is not None
    done = subprocess.run(
        [
            CHROMIUM, "--headless", "--no-sandbox", "--disable-gpu",
            "--disable-background-networking", f"--user-data-dir={tmp_path / 'profile'}",
            "--enable-logging=stderr", "--dump-dom", page.as_uri(),
        ],
        capture_output=True, text=True, check=True, timeout=120,
    )  # fmt: skip
    assert done.stdout.count("data-consumer=") == 3
    assert len(re.findall(r'data-shard="', done.stdout)) == len(CASE.shards)
    assert not [line for line in done.stderr.splitlines() if "CONSOLE" in line]
