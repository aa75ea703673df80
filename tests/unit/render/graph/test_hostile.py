"""Texts that try to become markup, lines or steering of a terminal: none of it comes out raw."""

from __future__ import annotations

import json

import networkx
import pytest

from reshardctl.errors import ReshardError
from reshardctl.lineage import Lineage
from reshardctl.model import HASH_SPACE, Shard, ShardId, Stream
from reshardctl.render.escape import ascii_only, escape
from reshardctl.render.formats import Format
from tests.unit.render.formats import DRAWN
from tests.unit.render.graph.drawing import dot_edges, parsed, rects
from tests.unit.render.graph.samples import judged
from tests.unit.render.graph.written import draw, draw_stream
from tests.unit.render.samples import CASES
from tests.unit.render.test_hostile import harmless

HOSTILE = (
    "\x1b[2J\x1b]0;owned\x07", "line\n  fake --> edge\rmore", "\u202e8934\u202c", "\u2028",
    "a\u0301\u0489", "\x00\x7f\x85", "\ud800", '"><script>alert(1)</script>', "</title></svg>",
    "</style><img src=x onerror=alert(1)>", '"]; evil -> edge; "', "\\", "\\N\\", "`x` #quot; #35;",
    "&amp;&lt;", "]]>", "'-->", "x" * 5000,
)
SENDABLE = tuple(text for text in HOSTILE if text != "\ud800")
"""No server can send half a character."""


def reports(text: str):
    """Reports on tables in which some text of a row is the hostile one."""
    case = CASES["a-both"]
    for attribute in ("checkpoint", "leaseOwner", "parentShardId"):
        items = [dict(item) for item in case.items()]
        items[1][attribute] = {"SS": [text]} if attribute == "parentShardId" else {"S": text}
        yield items
    yield [*case.items(), dict(case.items()[1]) | {"leaseKey": {"S": text}}]
    yield [*case.items(), {"leaseKey": {"S": text}, "entityType": {"S": text}}]


def check(form: str, out: str) -> None:
    assert harmless(out)
    if form == "svg":
        parsed(out)
        assert "<script" not in out and "<img" not in out
    elif form == "html":
        inside = out[out.index('<svg xmlns="'):]
        parsed(inside[: inside.index("</svg>") + 6])
        assert "<script" not in out and "<img" not in out
    elif form == "graphml":
        networkx.parse_graphml(out)
    elif form == "json":
        json.loads(out)


@pytest.mark.parametrize("text", HOSTILE, ids=range(len(HOSTILE)))
def test_no_row_reaches_a_picture_raw(text):
    case, shown = CASES["a-both"], 0
    for items in reports(text):
        try:
            report = judged(case, items)
        except ReshardError:
            continue
        for form in DRAWN:
            check(form, draw(form, report))
        shown += 1
    assert shown >= 3


@pytest.mark.parametrize("text", SENDABLE, ids=range(len(SENDABLE)))
def test_no_shard_reaches_a_picture_raw(text):
    """A server that is none of AWS's may call its streams and shards as it likes."""
    arn = "arn:aws:kinesis:us-east-1:123456789012:stream/" + text
    stream = Stream(arn, text, 1e9, 86400, text)
    half = HASH_SPACE // 2
    shards = [
        Shard(ShardId(text), None, None, 0, half - 1, "1", "2"),
        Shard(ShardId(f"{text}-child"), ShardId(text), ShardId(f"{text}-gone"), 0, half - 1, "3",
              None),
    ]  # fmt: skip
    out = {form: draw_stream(form, Lineage(stream, shards), 1e9 + 3600) for form in DRAWN}
    for form, shown in out.items():
        check(form, shown)
    assert len(rects(parsed(out[Format.SVG]))) == 2
    names = [ascii_only(escape(text + end)) for end in ("", "-child", "-gone")]
    assert dot_edges(out[Format.DOT]) == {(names[0], names[1]), (names[2], names[1])}
    assert out[Format.MERMAID].count("\n  x") == 5 and " --> edge" not in out[Format.MERMAID]
