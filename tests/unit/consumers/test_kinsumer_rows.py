"""What single rows, options and stamps of kinsumer mean."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import pytest

from reshardctl.consumers.kinsumer.releases import RELEASES, applications, traits_of
from reshardctl.consumers.kinsumer.rows import parse
from reshardctl.errors import UsageError
from reshardctl.model import Image, canonical
from reshardctl.planning.plan import Nothing
from tests.support.case import CASES, load
from tests.support.dialects import kinsumer as dialect
from tests.support.golden_kinsumer import STORES, images_of
from tests.support.judging import Bench

NANOS = 1_795_000_000_000_000_000


def row(**attributes: Mapping[str, Any]):
    (found,) = parse([Image("checkpoints/shardId-000000000000", canonical({
        "Shard": {"S": "shardId-000000000000"}, **attributes,
    }))]).rows.values()  # fmt: skip
    return found


@pytest.mark.parametrize("spelling", [{}, {"SequenceNumber": {"NULL": True}},
                                      {"SequenceNumber": {"S": ""}}])
def test_never_read_in_every_spelling(spelling):
    assert row(**spelling).number is None


def test_a_number_as_a_number_is_read_as_its_text():
    """Run on 9a48088 and v1.7.0, November 2026."""
    assert row(SequenceNumber={"N": "49"}).number == "49"


def test_who_finished_a_shard_shows_in_its_stamps():
    """The library releases a row after it has finished it (recorded stores g3 and g5); the
    bootstrap's rows were written at once (g6)."""
    finished = {
        (store.name, shard): one for store in STORES
        for shard, one in parse(images_of(store)).rows.items() if one.finished is not None
    }
    assert finished
    for (store, _), one in finished.items():
        assert one.set_aside == (store == "g6-latest-bootstrap")


def test_what_a_fix_finishes_does_not_look_like_a_bootstrap():
    """Or LATEST below it would pass for a choice."""
    case = load(CASES / "kinsumer" / "e.toml")
    bench = Bench.on(case, dialect.images(case), {"release": "twitch"})
    rows = parse(bench.after(bench.decide().steps)).rows
    (done,) = [one for one in rows.values() if one.finished is not None]
    assert not done.set_aside


@pytest.mark.parametrize(("text", "release"), [
    ("twitch", "twitch"), ("snowplow-1.6", "snowplow-1.6"), ("snowplow-1.7.0", "snowplow-1.7"),
    ("snowplow-v1.6.0", "snowplow-1.6"), ("snowplow-1", "snowplow-1.7"),
    ("snowplow", "snowplow-1.7"),
])  # fmt: skip
def test_releases_by_prefix(text, release):
    assert traits_of(text).release == release
    assert release in RELEASES


@pytest.mark.parametrize("text", ["snowplow-1.5", "snowplow-2", "1.7", "", "snowplow-1.x"])
def test_unknown_releases_are_refused(text):
    with pytest.raises(UsageError, match=r"no such (kinsumer|Snowplow's)|newer than the newest"):
        traits_of(text)


@pytest.mark.parametrize("options", [
    {"initial": "LATEST"}, {"initial": "TRIM_HORIZON:2026-11-21T00:00:00Z"}, {"failover": "10s"},
    {"initial": "AT_TIMESTAMP", "release": "twitch"}, {"initial": "AT_TIMESTAMP:yesterday"},
    {"release": "kcl"},
])  # fmt: skip
def test_bad_options_are_usage_errors(options):
    with pytest.raises(UsageError):
        applications(options, forked=False)


def test_an_empty_number_is_the_fork_s_mark():
    """SDK v1 writes NULL, v2 an empty string (release in checkpoints.go of both; runs)."""
    assert {a.traits.release for a in applications({}, forked=True)} == {"snowplow-1.7"}
    assert {a.traits.release for a in applications({}, forked=False)} == {"twitch", "snowplow-1.7"}


def test_the_leader_s_rounds_fail_on_any_row_that_is_mistyped():
    """loadCheckpoints unmarshals every row of the table (checkpoints.go of 9a48088)."""
    whole = Image("checkpoints/shardId-000000000000", canonical({
        "Shard": {"S": "shardId-000000000000"},
    }))  # fmt: skip
    for stamp, named in (({"N": "1"}, None), ({"S": "1"}, "'bak'")):
        other = Image("checkpoints/bak", {"Shard": {"S": "bak"}, "LastUpdate": stamp})
        tables = parse([whole, other])
        assert next(iter(tables.unreadable.values()), None) == named
        assert list(tables.rows) == ["shardId-000000000000"]
        (anomaly,) = tables.anomalies
        assert (anomaly.raw, "rounds fail" in anomaly.why) == ("bak", named is not None)


def test_a_row_on_which_the_leader_s_rounds_fail_is_named_even_while_nothing_is_missing():
    """performLeaderActions in leader.go of both: it adds no shard of a later reshard either."""
    case = load(CASES / "kinsumer" / "strange-row-cannot-be-read.toml")
    bench = Bench.on(case, dialect.images(case), {"release": "twitch"})
    mended = Bench.on(case, bench.after(bench.decide().steps), {"release": "twitch"})
    assert isinstance(mended.decide(), Nothing)
    (note,) = [n for run in mended.replays() for n in run.notes if "rounds fail" in n]
    assert "'bak'" in note
