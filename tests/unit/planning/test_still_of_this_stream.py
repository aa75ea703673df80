"""A plan must not take away the last sign of whose stream the rows are of: where only numbers of an
earlier stream were left, the next plan would ask for `--recreated` (found by the random store 2146
of reference-quickwit-0.8.2).
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from reshardctl.model import Image, after
from reshardctl.planning.plan import Ask, Plan
from tests.support.case import from_table
from tests.support.case_stream import number
from tests.support.dialects import dialect_of
from tests.support.judging import Bench

CREATED = 1795219200
OLDER = number(CREATED - 40_000, 1, CREATED - 30_000, 0)
SHARDS = [
    {"id": 0, "range": ["0", "1/2"], "open": 0, "close": 37_743,
     "records": {"n": 2, "from": 20, "to": 37_723}},
    {"id": 1, "range": ["1/2", "1"], "open": 0, "records": {"n": 4, "from": 20, "to": 62_923}},
    {"id": 2, "range": ["0", "1/4"], "parents": [0], "open": 37_744},
    {"id": 3, "range": ["1/4", "1/2"], "parents": [0], "open": 37_744,
     "records": {"n": 1, "from": 37_764, "to": 37_764}},
]  # fmt: skip
ROWS = {
    "kcl": ({"shard": 0, "checkpoint": OLDER}, {"shard": 1, "checkpoint": "s0-0"}),
    "kinsumer": (
        {"shard": 0, "at": "s0-0", "set": {"SequenceNumber": {"S": OLDER}}},
        {"shard": 1, "at": "s0-0"},
    ),
    "kinesis-consumer": ({"shard": 0, "number": OLDER}, {"shard": 1, "number": "s0-0"}),
    "quickwit": ({"shard": 0, "raw": OLDER}, {"shard": 1, "at": "s0-0"}),
}
RELEASES = [
    ("kcl", "1.15.3"), ("kcl", "2.7.2"), ("kcl", "3.5.1"), ("kinsumer", "snowplow-1.7"),
    ("kinsumer", "twitch"), ("kinesis-consumer", "0.5.0"), ("kinesis-consumer", "master"),
    ("kinesis-consumer", "telegraf-1.39"), ("quickwit", "0.8.2"), ("quickwit", "0.9.0"),
]


def bench(consumer: str, release: str, accept: str, images: list[Image] | None = None) -> Bench:
    case = from_table(Path("drawn.toml"), {
        "title": "swapped, and another stream's", "source": "drawn", "consumer": consumer,
        "stream": {"created": CREATED, "now": 65_000, "shards": SHARDS},
        "rows": list(ROWS[consumer]), "expect": [],
    })
    options: dict[str, Any] = {"release": release, "initial": "TRIM_HORIZON"}
    options |= {"app": "app"} if consumer == "kinesis-consumer" else {}
    if consumer == "quickwit":
        del options["initial"]
    rows = dialect_of(consumer).images(case) if images is None else images
    return Bench.on(case, rows, options, accept=accept)


@pytest.mark.parametrize("accept", ["reread=1h", "reread=1h,disorder", "reread=7d,disorder"])
@pytest.mark.parametrize(("consumer", "release"), RELEASES)
def test_what_a_plan_leaves_is_still_of_this_stream(consumer, release, accept):
    images = bench(consumer, release, accept).plan_case.images
    first = bench(consumer, release, accept).decide()
    assert isinstance(first, Plan) or not isinstance(first, Ask)
    if isinstance(first, Plan):
        then = bench(consumer, release, accept, after(images, first.steps)).decide()
        assert not isinstance(then, Ask | Plan)


BESIDE = number(CREATED + 49_997, 0, CREATED + 50_900, 9)
"""Of shard 9 of a stream that was created later: the one that is looked at had no such shard."""
SHARED = {
    "kinsumer": (
        {"shard": 0, "at": "s0-1", "finished": True}, {"shard": 1, "at": "s1-3"},
        {"shard": 3, "at": "s3-0"},
        {"shard": 9, "at": "s1-3", "set": {"SequenceNumber": {"S": BESIDE}}},
    ),
    "kinesis-consumer": (
        {"shard": 0, "number": "s0-1"}, {"shard": 1, "number": "s1-3"},
        {"shard": 3, "number": "s3-0"}, {"shard": 9, "number": BESIDE},
    ),
}


@pytest.mark.parametrize(
    ("consumer", "release"), [one for one in RELEASES if one[0] in SHARED]
)
def test_the_row_of_a_younger_stream_is_never_written(consumer, release, monkeypatch):
    """Two streams under one application's name: the number is of a shard that this one had not."""
    monkeypatch.setitem(ROWS, consumer, SHARED[consumer])
    found = bench(consumer, release, "reread=7d,disorder")
    assert "RSH212" in {finding.code for finding in found.findings()}
    decision = found.decide()
    steps = decision.steps if isinstance(decision, Plan) else ()
    assert not [write.key for step in steps for write in step.writes if write.key.endswith("09")]


@pytest.mark.parametrize("spelled", [" {}", "{}\n", "0{}"])
@pytest.mark.parametrize("release", [each for name, each in RELEASES if name == "kinesis-consumer"])
def test_nor_is_it_where_the_number_has_to_be_bared_first(release, spelled, monkeypatch):
    """A repair writes such a number bare, so that it is judged, and Kinesis asked, as it is then
    (seed 271 of reference-kinesis-consumer)."""
    *own, other = SHARED["kinesis-consumer"]
    rows = (*own, {**other, "number": spelled.format(BESIDE)})
    monkeypatch.setitem(SHARED, "kinesis-consumer", rows)
    test_the_row_of_a_younger_stream_is_never_written("kinesis-consumer", release, monkeypatch)
