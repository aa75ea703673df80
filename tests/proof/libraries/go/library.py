"""A Go library's program, and one run in it: what it reported, and when it has nothing more to."""

from __future__ import annotations

import contextlib
import itertools
import json
import threading
import time
from collections import Counter
from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TypeVar

from reshardctl.testing import FakeKinesis
from tests.proof.libraries.go.built import TARGET, program
from tests.proof.libraries.kcl.log import ENDS, Event, Log
from tests.proof.libraries.kcl.process import LineProcess
from tests.proof.libraries.kcl.stream import ServedStream

T = TypeVar("T")
START_SECONDS = 60.0
STOP_SECONDS = 30.0
QUIET_SECONDS = 4.0
PATIENCE_SECONDS = 90.0
HUSH_SECONDS = 12.0
"""A library that polls nothing is taken to be done after this."""
ROUNDS = {
    "kinsumer": ("ListShards", 5),
    "kinesis-consumer": ("GetRecords", 12),
    "telegraf-1.34": ("ListShards", 2),
    "telegraf-1.39": ("ListShards", 2),
}
"""The call that a library repeats for as long as it runs, and how many without a record or a new
iterator show that nothing more will come: kinsumer's leader and Telegraf's input compare the shards
in each round."""

ATTEMPTS = 4
KNOWN_PANICS = {
    "kinesis-consumer": ("panic: send on closed channel",),
    "telegraf-1.34": ("fatal error: concurrent map",),
}
"""kinesis-consumer, allgroup.go of v0.5.0, findNewShards: a shard whose parents are done is sent to
a channel that Scan (consumer.go) closes when it ends; where both happen at once the process panics.
Telegraf before 1.38.4 (#18875), consumer.go: each shard's goroutine writes itself into the same
map; seen on 1.34.4, November 2026."""
GONE = (BrokenPipeError, ValueError)
"""What writing to a process that has ended raises; the second, once another has taken its place."""
PANICS = ("panic: ", "fatal error: ")
"""How the line begins with which Go ends a process."""


class Accident(RuntimeError):
    """What a library does now and then, whatever the state is: the start shows nothing."""


class Panicked(Accident):
    """A panic of the library ended its process, with all applications that ran in it."""


class ReadTwice(Accident):
    """A shard was read by two goroutines.

    Telegraf 1.39.3, consumer.go: startShardConsumer starts the children of a shard that is done,
    and each enters itself into shardConsumers later; updateShardConsumers, which waited for the
    same lock, finds them absent and starts them as well. Seen in 12 of 15 starts that listed every
    3 ms, November 2026; the program lists every 3 s.
    """


class LeaderFirst(Accident):
    """kinsumer's leader had dropped a finished shard from the ShardCache before the client read it.

    kinsumer v1.7.0, kinsumer.go: refreshShards starts the leader's first round on a goroutine of
    its own (becomeLeader) and then reads the ShardCache; mostly it is before the leader, which
    makes four calls first. Seen once in some hundred starts, November 2026.
    """


class Library:
    """The library's program, started again after a panic that is known.

    `start`, `stop` and `check` may be called from many threads.
    """

    def __init__(self, name: str) -> None:
        self.name = name
        self._program = program(name)
        self._known = KNOWN_PANICS.get(name, ())
        self._lock = threading.Lock()
        self._process = _Process(self._program)
        self._processes: dict[str, _Process] = {}
        self._serial = itertools.count(1)

    def start(self, settings: Mapping[str, str]) -> tuple[str, Log]:
        """Start an application: the name of the run, and what it reports."""
        with self._lock:
            if self._process.gone():
                self._renew()
            run = str(next(self._serial))
            process = self._processes[run] = self._process
        return run, process.start(run, settings)

    def stop(self, run: str) -> None:
        """Tell an application to end; a process that is gone needs no telling."""
        with contextlib.suppress(*GONE):
            self._processes[run].say(json.dumps({"run": run, "do": "stop"}))

    def panic(self) -> None:
        """End the process as the library's own panic does, for a test of what follows."""
        self._process.say(json.dumps({"run": "", "do": "panic"}))

    def gone(self, run: str) -> bool:
        """Whether the process of this run has ended."""
        return self._processes[run].gone()

    def check(self, run: str) -> None:
        """Raise Panicked when the process of this run has ended, so its report is not whole."""
        if self.gone(run):
            raise Panicked(self._processes[run].last_words())

    def kill(self) -> None:
        """SIGKILL, with all applications that run in it."""
        self._process.kill()

    def close(self) -> None:
        self._process.close()

    def _renew(self) -> None:
        said = self._process.last_words()
        self._process.close()
        if not any(panic in said for panic in self._known):
            raise RuntimeError(f"{self._program.name} ended: {said}")
        print(f"{self._program.name} is started again after a panic of the library: {said}")
        self._process = _Process(self._program)


class _Process:
    """One process of a library's program, and what each of its runs reported."""

    def __init__(self, path: Path) -> None:
        self._logs: dict[str, Log] = {"": Log()}
        self._lock = threading.Lock()
        self._errors = TARGET / f"{path.name}.log"
        self._said = ""
        self._process = LineProcess([str(path)], self._errors, self._hear)
        if not self._logs[""].wait(lambda log: bool(log.of("READY")), START_SECONDS):
            self.close()
            raise RuntimeError(f"{path} did not start; see {self._errors}")

    def start(self, run: str, settings: Mapping[str, str]) -> Log:
        with self._lock:
            log = self._logs[run] = Log()
        with contextlib.suppress(*GONE):  # check() tells
            self.say(json.dumps({"run": run, "do": "start", "settings": dict(settings)}))
        return log

    def say(self, line: str) -> None:
        self._process.say(line)

    def gone(self) -> bool:
        return self._process.gone()

    def kill(self) -> None:
        self._process.kill()
        self._process.close()

    def last_words(self) -> str:
        """The line of what it wrote to standard error that names a panic, or else the first."""
        if self._said:
            return self._said  # another process writes to that file
        lines = self._errors.read_text(encoding="utf-8").splitlines()
        named = [line for line in lines if line.startswith(PANICS)]
        return next(iter([*named, *lines]), "without a word")

    def close(self) -> None:
        self._said = self.last_words()
        self._process.close()

    def _hear(self, line: str) -> None:
        members = json.loads(line)
        run, kind = members.pop("run"), members.pop("event")
        with self._lock:
            log = self._logs[run]
        log.add(Event(kind, time.time(), members))


def despite_accidents(attempt: Callable[[], T]) -> T:
    """What an attempt returns; it is made anew, with a store of its own, after an accident.

    Raises:
        Accident: Each of ATTEMPTS ended so: then it belongs to what is tried.
    """
    for _ in range(ATTEMPTS - 1):
        with contextlib.suppress(Accident):
            return attempt()
    return attempt()


@dataclass(frozen=True, slots=True)
class Observed:
    """What one application did until nothing more came."""

    log: Log
    died: bool
    settled: bool


def observed(
    library: Library,
    stream: ServedStream,
    settings: Mapping[str, str],
    again: Collection[str] = (),
) -> Observed:
    """Start an application, put the records that come while it runs, and stop it.

    again: finished shards that the library asks for once more, see Stores.asked_again.

    Raises:
        LeaderFirst: It did not ask for one of them.
        Panicked: Its process ended before it was stopped.
        ReadTwice: It is Telegraf's, and read a shard twice over.
    """
    run, log = library.start(settings)
    try:
        watch = Watch(library.name, log, stream.fake)
        settled = watch.settled()
        stream.put_live()
        settled &= watch.settled()
        died = bool(log.of("DIED"))
        library.check(run)
        check_readers(library.name, log)
        if not died:
            check_asked(stream.fake, again)
    finally:
        # Leave no application polling a stream that is about to close.
        library.stop(run)
        log.wait(lambda log: log.ended() or library.gone(run), STOP_SECONDS)
    return Observed(log, died, settled)


def check_readers(library: str, log: Log) -> None:
    """Raise ReadTwice where Telegraf's input has delivered a record twice."""
    payloads = Counter(event.members["payload"] for event in log.of("RECORD"))
    if library.startswith("telegraf") and max(payloads.values(), default=0) > 1:
        raise ReadTwice(", ".join(payload for payload, n in payloads.items() if n > 1))


def check_asked(fake: FakeKinesis, shards: Collection[str]) -> None:
    """Raise LeaderFirst where no iterator was asked for of one of these shards."""
    asked = {
        call.params["ShardId"] for call in tuple(fake.calls) if call.action == "GetShardIterator"
    }
    if missed := sorted(set(shards) - asked):
        raise LeaderFirst(", ".join(missed))


class Watch:
    """Whether a run still moves: it delivers, or asks for an iterator."""

    def __init__(self, library: str, log: Log, fake: FakeKinesis) -> None:
        self._call, self._rounds = ROUNDS[library]
        self._log, self._fake = log, fake

    def settled(self) -> bool:
        """Wait until nothing has come for so many rounds of the library and so many seconds; False
        if it still moved after the patience. A library that has ended is settled."""
        ends = time.monotonic() + PATIENCE_SECONDS
        moved, since, rounds = self._moves(), time.monotonic(), self._seen()
        while time.monotonic() < ends:
            if any(event.kind in ENDS for event in self._log.events()):
                return True
            if self._moves() != moved:
                moved, since, rounds = self._moves(), time.monotonic(), self._seen()
            quiet = time.monotonic() - since
            polled = self._seen() - rounds >= self._rounds
            if moved[0] and (quiet >= HUSH_SECONDS or (polled and quiet >= QUIET_SECONDS)):
                return True
            time.sleep(0.1)
        return False

    def _moves(self) -> tuple[int, int, int]:
        return (
            len(self._log.of("BEGUN")), len(self._log.of("RECORD")),
            self._counted()["GetShardIterator"],
        )

    def _seen(self) -> int:
        return self._counted()[self._call]

    def _counted(self) -> Counter[str]:
        return Counter(call.action for call in tuple(self._fake.calls))
