"""The line that a policy by time wants, and how its time is understood."""

from __future__ import annotations

from types import SimpleNamespace

import pytest
from msgspec.structs import replace

from reshardctl.commands.target import policy_of
from reshardctl.errors import UsageError
from reshardctl.model import (
    DONE,
    START,
    TIP,
    Cause,
    Cut,
    Simulation,
    Span,
    WillRead,
    WontRead,
    at_number,
    exactly,
    shard_id,
)
from reshardctl.model.times import When, parse_when
from reshardctl.planning.effects import Harm, StreamState
from reshardctl.planning.policy import LATEST, LATEST_AT_START, POLICIES, Policy
from reshardctl.planning.starts import policy_costs
from reshardctl.snapshot.resolve import moment_of, open_at
from reshardctl.testing import load_topology
from tests.support.judging import lineage_of
from tests.unit.kinesis.streams import CREATED, SPLIT


def lineage():
    """Shard 0 closes after 600 s; 2 and 3 are its children."""
    listed = load_topology(SPLIT).client().list_shards(StreamName="orders")["Shards"]
    return lineage_of(listed, CREATED)


NOW = CREATED + 3600.5


@pytest.mark.parametrize(("policy", "over"), [
    (LATEST_AT_START, {0, 1, 2, 3}), (replace(LATEST, when=None, since=CREATED + 600), {0}),
    (replace(LATEST, when=None, since=CREATED + 599), set()), (POLICIES["lossless"], set()),
])  # fmt: skip
def test_shards_of_which_nothing_is_to_be_read(policy: Policy, over: set[int]) -> None:
    """Shard 0 closed after 600 s. `latest-at-start` is asked of closed shards only."""
    assert {n for n in range(4) if policy.takes_as_over(lineage(), shard_id(n))} == over


@pytest.mark.parametrize(("text", "seconds"), [
    ("-90m", -1), ("-10m", 3000), ("-1m30s", 3510), ("@reshard", 600),
    ("2026-11-21T04:00:00Z", None), ("2026-11-21T05:00:00+01:00", None),
])  # fmt: skip
def test_times(text: str, seconds: int | None) -> None:
    when = parse_when(text)
    if seconds is None:
        assert when.at == 1795233600.0
    elif seconds < 0:
        with pytest.raises(UsageError, match="was created later"):
            moment_of(when, lineage(), NOW, "--policy")
    else:
        assert moment_of(when, lineage(), NOW, "--policy") == CREATED + seconds


def test_now_is_a_whole_second_that_is_past() -> None:
    assert LATEST.when is not None
    assert moment_of(LATEST.when, lineage(), NOW, "--policy") == CREATED + 3600


@pytest.mark.parametrize(("time", "shards"), [
    (300, {0, 1}), (600, {0, 1}), (602, {0, 1, 2, 3}), (604, {1, 2, 3}), (3000, {1, 2, 3}),
])  # fmt: skip
def test_which_shards_hold_both_sides_of_a_time(time: float, shards: set[int]) -> None:
    """A record arrives up to three seconds after the second in its number, so shard 0, which
    closed in second 600, may hold one that arrived at 602."""
    assert set(open_at(lineage(), CREATED + time)) == {shard_id(n) for n in shards}


def resolved(policy: Policy, time: float, places: dict[int, Cut]) -> Policy:
    named = {shard_id(n): cut for n, cut in places.items()}
    return replace(policy, since=CREATED + time, places=named)


def test_over_pinned_or_from_the_beginning() -> None:
    processed = {shard_id(n): exactly(START) for n in (0, 1, 2, 3, 9)}
    places = {1: at_number("7"), 2: at_number("8"), 3: START}
    late = resolved(POLICIES["at-timestamp"], 3000, places)
    assert late.frontier(lineage(), processed) == {
        shard_id(0): DONE, shard_id(1): at_number("7"), shard_id(2): at_number("8"),
        shard_id(3): START, shard_id(9): DONE,
    }
    early = resolved(POLICIES["at-timestamp"], 300, {0: at_number("5"), 1: at_number("7")})
    assert early.frontier(lineage(), processed) == {
        shard_id(0): at_number("5"), shard_id(1): at_number("7"), shard_id(2): START,
        shard_id(3): START, shard_id(9): DONE,
    }


def test_a_shard_that_was_not_looked_at_stays_where_it_is() -> None:
    """It was open at the time and has no place: nothing may be skipped in it."""
    here = at_number("6")
    line = resolved(LATEST, 3000, {}).frontier(lineage(), {shard_id(1): Span(here, TIP)})
    assert line == {shard_id(1): here}


@pytest.mark.parametrize(("policy", "stored", "cut", "wanted"), [
    ("latest", at_number("5"), at_number("7"), at_number("7")),
    ("latest", at_number("9"), at_number("7"), at_number("9")),
    ("at-timestamp", at_number("9"), at_number("7"), at_number("7")),
    ("latest", at_number("7", 4), at_number("7"), at_number("7", 4)),
    ("at-timestamp", at_number("7", 4), at_number("7"), at_number("7", 4)),
    ("latest", TIP, at_number("7"), at_number("7")),
    ("latest", START, START, START),
])  # fmt: skip
def test_a_place_against_what_is_stored(
    policy: str, stored: Cut, cut: Cut, wanted: Cut
) -> None:
    """latest never goes back, and pins the tip. Inside the same aggregated record the stored
    sub-sequence number is kept."""
    line = resolved(POLICIES[policy], 3000, {1: cut}).frontier(
        lineage(), {shard_id(1): exactly(stored)}
    )
    assert line == {shard_id(1): wanted}


def test_an_unresolved_policy_has_no_line() -> None:
    assert LATEST.unresolved and POLICIES["at-timestamp"].unresolved
    with pytest.raises(AssertionError):
        LATEST.frontier(lineage(), {})
    assert not LATEST_AT_START.unresolved and not POLICIES["lossless"].unresolved


@pytest.mark.parametrize("text", ["lossless", "latest", "latest-at-start", "at-timestamp=-90m"])
def test_a_policy_as_it_is_written(text: str) -> None:
    assert policy_of(text).text == text


def test_a_policy_of_a_file_is_written_with_its_time() -> None:
    """Its name is another object there."""
    name = "at-timestamp -90m".partition(" ")[0]
    assert Policy(name, when=When("-90m", ago=5400.0)).text == "at-timestamp=-90m"


@pytest.mark.parametrize(("word", "since", "lasts"), [
    ("at-timestamp=-90m", 1795233600.0, "at-timestamp=2026-11-21T04:00:00Z"),
    ("at-timestamp=-90m", None, "at-timestamp=-90m"),
    ("at-timestamp=2026-11-21T05:00:00+01:00", 1795233600.0,
     "at-timestamp=2026-11-21T05:00:00+01:00"),
    ("lossless", None, "lossless"),
])  # fmt: skip
def test_a_command_that_is_run_later_means_the_time_that_was_shown(word, since, lasts):
    """Of all its words only the relative time of its policy is resolved."""
    policy = replace(policy_of(word), since=since)
    assert policy.lasting(["fix", "--policy", word, "-90m"]) == ("fix", "--policy", lasts, "-90m")


@pytest.mark.parametrize(("want", "skipped"), [(DONE, True), (START, False)])
def test_a_closed_shard_that_is_taken_as_over_and_never_read_is_skipped(want, skipped):
    """What a start reads again in another shard is no cost of the policy."""
    over, other = shard_id(0), shard_id(1)
    processed = {over: exactly(START), other: exactly(at_number("7"))}
    run = Simulation({
        over: WontRead(Cause.NO_POSITION, "has no row"),
        other: WillRead(exactly(START), TIP, frozenset(), False, Cause.POSITION, "reads"),
    })
    case = SimpleNamespace(
        policy=LATEST_AT_START, state=StreamState(lineage(), NOW), selects=lambda _shard: True
    )
    costs = policy_costs(case, {over: want, other: DONE}, processed, run)  # type: ignore[arg-type]
    assert [(e.harm, e.shard) for e in costs] == [(Harm.SKIPPED, over)] * skipped
