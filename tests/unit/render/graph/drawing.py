"""Reading pictures back: rectangles, edges, and what a case says that they have to be."""

from __future__ import annotations

import re
from dataclasses import dataclass
from fractions import Fraction
from xml.etree import ElementTree

from tests.support.case import Case

SVG = "{http://www.w3.org/2000/svg}"


@dataclass(frozen=True)
class Rect:
    x: float
    y: float
    width: float
    height: float


def parsed(markup: str) -> ElementTree.Element:
    """The root of a picture; ParseError if it is not well formed."""
    return ElementTree.fromstring(markup)  # noqa: S314 - our own output


def _rect(element: ElementTree.Element) -> Rect:
    return Rect(*(float(element.attrib[name]) for name in ("x", "y", "width", "height")))


def rects(svg: ElementTree.Element) -> list[tuple[str, Rect]]:
    """Every rectangle that stands for a shard."""
    found = [r for r in svg.iter(f"{SVG}rect") if "data-shard" in r.attrib]
    return [(r.attrib["data-shard"], _rect(r)) for r in found]


def shades(svg: ElementTree.Element, kind: str) -> dict[str, Rect]:
    """What is shaded in one way, by shard."""
    out = {}
    for group in svg.iter(f"{SVG}g"):
        within = list(group.iter(f"{SVG}rect"))
        for one in within:
            if one.attrib.get("class") == kind:
                out[within[0].attrib["data-shard"]] = _rect(one)
    return out or losses(svg, kind)


def losses(svg: ElementTree.Element, *kinds: str) -> dict[str, Rect]:
    """The boxes of losses, by shard. kinds: `lost` or `may`; none means both."""
    return {
        r.attrib["data-loss"]: _rect(r) for r in svg.iter(f"{SVG}rect")
        if "data-loss" in r.attrib and (not kinds or r.attrib["class"] in kinds)
    }


def lives(case: Case) -> dict[str, tuple[float, float]]:
    """Unix seconds from which to which each listed shard lived, by the case's topology.

    A root's first number is three seconds older than the stream (public numbers of new streams).
    """
    created, out = case.stream["created"], {}
    for shard in case.stream["shards"]:
        opened = created + shard["open"] if shard.get("parents") else created - 3
        closed = created + shard.get("close", case.stream["now"])
        out[f"shardId-{shard['id']:012d}"] = (opened, closed)
    return {one: out[one] for one in listed(case)}


def ranges(case: Case) -> dict[str, tuple[Fraction, Fraction]]:
    """The share of the hash space of each listed shard."""
    found = {
        f"shardId-{s['id']:012d}": (Fraction(s["range"][0]), Fraction(s["range"][1]))
        for s in case.stream["shards"]
    }
    return {one: found[one] for one in listed(case)}


def listed(case: Case) -> list[str]:
    return [shard["ShardId"] for shard in case.shards]


def edges(case: Case) -> set[tuple[str, str]]:
    """Parent and child as ListShards names them."""
    names = ("ParentShardId", "AdjacentParentShardId")
    return {(s[n], s["ShardId"]) for s in case.shards for n in names if n in s}


DOT = re.compile(r'\s+|"(?:[^"\\]|\\.)*"|\w+|->|[{}\[\]=,;]')
"""The tokens of Graphviz's language that we use (graphviz.org, The DOT Language)."""


def dot_edges(text: str) -> set[tuple[str, str]]:
    """Raises AssertionError where something is left that is no token."""
    tokens = DOT.findall(text)
    assert "".join(tokens) == text
    words = [token for token in tokens if not token.isspace()]
    return {
        (_unquoted(words[at - 1]), _unquoted(words[at + 1]))
        for at, word in enumerate(words) if word == "->"
    }


def _unquoted(token: str) -> str:
    assert token[0] == token[-1] == '"'
    return re.sub(r"\\(.)", r"\1", token[1:-1])


def mermaid_edges(text: str) -> set[tuple[str, str]]:
    """With the ids that the nodes' names stand for."""
    found = re.findall(r"^  s(\d+) --> s(\d+)$", text, re.MULTILINE)
    return {(f"shardId-{int(a):012d}", f"shardId-{int(b):012d}") for a, b in found}
