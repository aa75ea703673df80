"""A panic of a Go library ends the process that all its applications share: it costs a second run.

kinesis-consumer v0.5.0 panics where a shard becomes ready while Scan ends: allgroup.go,
findNewShards, "send on closed channel". Seen in one run of CI among some hundred.
"""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from reshardctl.testing import FakeKinesis
from reshardctl.testing.requests import Call
from tests.proof.libraries.go.library import (
    ATTEMPTS,
    LeaderFirst,
    Library,
    Panicked,
    ReadTwice,
    check_asked,
    check_readers,
    despite_accidents,
)
from tests.proof.libraries.kcl.log import Event, Log
from tests.support.needs import needs

pytestmark = pytest.mark.interop
SECONDS = 10.0


@pytest.fixture(params=["kinesis-consumer", "kinsumer"])
@needs("real-kinesis-consumer", "real-kinsumer")
def library(request: pytest.FixtureRequest) -> Iterator[Library]:
    started = Library(request.param)
    yield started
    started.close()


class Attempts:
    """Starts that end at once, as their settings name no store; so many of them with a panic."""

    def __init__(self, library: Library, panics: int) -> None:
        self.library, self.panics, self.made = library, panics, 0

    def __call__(self) -> Log:
        run, log = self.library.start({})
        self.made += 1
        if self.made <= self.panics:
            self.library.panic()
            assert log.wait(lambda _: self.library.gone(run), SECONDS)
        self.library.check(run)
        return log


@pytest.mark.parametrize("library", ["kinesis-consumer"], indirect=True)
def test_a_known_panic_costs_a_second_start(library: Library) -> None:
    attempts = Attempts(library, panics=2)
    assert despite_accidents(attempts).wait(lambda log: log.ended(), SECONDS)
    assert attempts.made == 3


@pytest.mark.parametrize("library", ["kinesis-consumer"], indirect=True)
def test_one_that_comes_each_time_is_the_state_s_own(library: Library) -> None:
    attempts = Attempts(library, panics=ATTEMPTS)
    with pytest.raises(Panicked, match="send on closed channel"):
        despite_accidents(attempts)


@pytest.mark.parametrize("library", ["kinesis-consumer"], indirect=True)
def test_a_run_of_a_process_that_was_replaced_can_be_stopped(library: Library) -> None:
    first, log = library.start({})
    library.panic()
    assert log.wait(lambda _: library.gone(first), SECONDS)
    library.start({})
    library.stop(first)
    with pytest.raises(Panicked, match="send on closed channel"):
        library.check(first)


@pytest.mark.parametrize("library", ["kinsumer"], indirect=True)
def test_one_that_is_not_known_fails(library: Library) -> None:
    with pytest.raises(RuntimeError, match="kinsumer ended: panic: send on closed channel"):
        despite_accidents(Attempts(library, panics=1))


def test_a_shard_that_two_goroutines_read_shows_nothing() -> None:
    """Telegraf's input, now and then; a record that comes twice from another library is its own."""
    log = Log()
    for payload in ("s1-0", "s1-1", "s1-0"):
        log.add(Event("RECORD", 0.0, {"payload": payload}))
    with pytest.raises(ReadTwice, match="s1-0"):
        check_readers("telegraf-1.39", log)
    check_readers("kinsumer", log)


def test_a_finished_shard_that_the_leader_dropped_first_shows_nothing() -> None:
    """kinsumer reads the ShardCache while its leader's first round writes it."""
    fake = FakeKinesis()
    fake.calls.append(Call("GetShardIterator", {"ShardId": "shardId-000000000001"}))
    with pytest.raises(LeaderFirst, match="shardId-000000000000"):
        check_asked(fake, ["shardId-000000000000", "shardId-000000000001"])
    check_asked(fake, ["shardId-000000000001"])
