"""What single rows, options and stamps of kinsumer mean."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import pytest

from reshardctl.consumers.base import Cannot
from reshardctl.consumers.kinsumer.consumer import Kinsumer
from reshardctl.consumers.kinsumer.releases import applications
from reshardctl.consumers.kinsumer.rows import parse
from reshardctl.errors import UsageError
from reshardctl.lineage import Lineage
from reshardctl.model import (
    DONE,
    START,
    TIP,
    Cause,
    Image,
    WillRead,
    WontRead,
    after,
    at_number,
    canonical,
    shard_id,
)
from reshardctl.model.cuts import Cut
from reshardctl.planning.plan import Nothing
from reshardctl.planning.policy import LOSSLESS
from tests.support.case import CASES, load
from tests.support.dialects import kinsumer as dialect
from tests.support.golden_kinsumer import STORES, images_of
from tests.support.judging import Bench
from tests.support.lineages import CREATED, number_inside, split_in_turn

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


CLOSED, OPEN = shard_id(0), shard_id(1)
LINEAGE = split_in_turn(2, (0,))
KINSUMER = Kinsumer()
(TWITCH,) = applications({"release": "twitch"}, forked=False)


def stored(shard: str, **attributes: Mapping[str, Any]) -> Image:
    return Image(f"checkpoints/{shard}", canonical({"Shard": {"S": shard}, **attributes}))


@pytest.mark.parametrize(("shard", "attributes", "span"), [
    (CLOSED, {"SequenceNumber": {"M": {}}}, (START, DONE)),
    (OPEN, {"SequenceNumber": {"M": {}}}, (START, TIP)),
    (OPEN, {"Finished": {"N": "7"}, "LastUpdate": {"N": "8"}}, (START, TIP)),
    (CLOSED, {"SequenceNumber": {"S": "LATEST"}}, (START, DONE)),
    (OPEN, {"SequenceNumber": {"S": "LATEST"}}, (TIP, TIP)),
    (OPEN, {"SequenceNumber": {"S": "SHARD_END"}}, (START, TIP)),
])  # fmt: skip
def test_what_a_row_that_names_no_record_proves(shard, attributes, span: tuple[Cut, Cut]):
    """Nothing, but that the shard's end is not passed; LATEST on an open root is a choice."""
    found = KINSUMER.processed(LINEAGE, parse([stored(shard, **attributes)]), TWITCH)[shard]
    assert (found.lo, found.hi) == span


def test_how_a_row_is_shown_whose_position_cannot_be_read():
    tables = parse([stored(OPEN, SequenceNumber={"M": {}}), stored(CLOSED, Finished={"N": "7"})])
    assert KINSUMER.positions(tables) == {OPEN: "?", CLOSED: "finished without a number"}
    (anomaly,) = tables.anomalies
    assert anomaly.why == "SequenceNumber is of type M, not a string"


@pytest.mark.parametrize(("shards", "names"), [
    ({"NULL": True}, ()), ({"SS": [OPEN]}, (OPEN,)), ({"L": [{"S": OPEN}]}, (OPEN,)),
])  # fmt: skip
def test_the_cache_of_shards_in_every_spelling(shards, names):
    """A []string of Go: attributevalue's Unmarshal takes a list or a set, and NULL for none."""
    (cache,) = [parse([Image("metadata/ShardCache", {"ShardIDs": shards})]).cache]
    assert cache is not None and (cache.shards, cache.broken) == (names, "")


@pytest.mark.parametrize(("key", "words"), [
    ("metadata/Owner", None), ("leases/x", "is of none of kinsumer's three tables"),
    ("checkpoints/x", "is no checkpoint of a Kinesis shard, nor is any other"),
])  # fmt: skip
def test_rows_of_another_program(key, words):
    image = Image(key, {"Key": {"S": "Owner"}})
    if words is not None:
        with pytest.raises(UsageError, match=words):
            parse([image])
        return
    (anomaly,) = parse([image]).anomalies
    assert (anomaly.key, "nothing else" in anomaly.why) == (key, True)


def test_a_row_of_a_shard_that_is_gone_which_the_leader_cannot_read_is_mended():
    """loadCheckpoints unmarshals every row: a round that fails adds no shard."""
    left = Lineage(LINEAGE.stream, [LINEAGE[s] for s in LINEAGE if s != CLOSED])
    tables = parse([stored(CLOSED, LastUpdate={"S": "soon"})])
    want = LOSSLESS.frontier(left, KINSUMER.processed(left, tables, TWITCH))
    steps = KINSUMER.encode(left, tables, want, TWITCH, frozenset())
    assert not isinstance(steps, Cannot)
    (write,) = [w for step in steps for w in step.writes if w.key == f"checkpoints/{CLOSED}"]
    assert write.why == "the leader's rounds fail on it"
    assert parse(after([tables.rows[CLOSED].image], steps)).unreadable == {}


def test_what_a_watch_sees_of_recorded_tables():
    """Owners and stamps are those of the recorded rows, read here once more by hand."""
    for store in STORES:
        images = images_of(store)
        tables, by_key = parse(images), {image.key: image.attributes for image in images}
        rows = {shard_id(int(key[-12:])): row for key, row in by_key.items()
                if key.startswith("checkpoints/")}  # fmt: skip
        held = KINSUMER.owners_by_shard(tables)
        assert {s: one.owner for s, one in held.items()} == {
            s: row.get("OwnerID", {}).get("S", "") for s, row in rows.items()
        }
        assert {s: one.finished for s, one in held.items()} == {
            s: "N" in row.get("Finished", {}) for s, row in rows.items()
        }
        assert KINSUMER.saved_at(tables) == {
            s: int(row["LastUpdate"]["N"]) / 10**9 for s, row in rows.items()
        }
        signs = KINSUMER.signs_of_life(images)
        assert signs.keys() == {
            key for key, row in by_key.items()
            if key.startswith("clients/") or (key == "metadata/Leader" and "ID" in row)
        }
        assert all(by_key[key]["LastUpdate"]["N"] in sign for key, sign in signs.items())
    assert "up to 90 s" in KINSUMER.excluded_by(90)


LATER = LINEAGE.as_of(CREATED + 3600)
COMING = str(int(number_inside(LINEAGE, OPEN)) + (9999 << 36))
TOMORROW = {"N": str((CREATED + 86_400) * 10**9)}


def forecast(*images: Image) -> WontRead | WillRead:
    fate = KINSUMER.simulate_start(LATER, parse(images), TWITCH).fates[OPEN]
    assert isinstance(fate, WontRead | WillRead)
    return fate


def test_a_number_of_a_second_to_come():
    """Kinesis gives out none before its second; it names no record that was read."""
    row = stored(OPEN, SequenceNumber={"S": COMING})
    span = KINSUMER.processed(LATER, parse([row]), TWITCH)[OPEN]
    assert (span.lo, span.hi) == (START, at_number(COMING))
    fate = forecast(row)
    assert fate.cause is Cause.FOREIGN_NUMBER and "lies in the future" in fate.why


@pytest.mark.parametrize(("leader", "cached", "cause", "words"), [
    (TOMORROW, {"N": "1"}, Cause.CLOCK_AHEAD, "the Leader row has a LastUpdate"),
    ({"N": "1"}, TOMORROW, Cause.CLOCK_AHEAD, "the ShardCache has a LastUpdate"),
    ({"S": "soon"}, {"N": "1"}, Cause.REFILLED, "has no checkpoint"),
])  # fmt: skip
def test_nobody_looks_for_shards_before_a_time_that_lies_in_the_future(
    leader, cached, cause, words
):
    """The leader's lock and the cache's age are compared with LastUpdate (leader.go of both); one
    that cannot be read holds nothing."""
    fate = forecast(
        stored(CLOSED), Image("metadata/Leader", {"ID": {"S": "gone"}, "LastUpdate": leader}),
        Image("metadata/ShardCache", {"ShardIDs": {"SS": [CLOSED]}, "LastUpdate": cached}),
    )  # fmt: skip
    assert fate.cause is cause and words in fate.why
