"""One release of the real library: a process that runs many applications at a time.

To do something from Python while the library runs, give a ``Start`` (laboratory.py) a
``meanwhile``. It is called, with a ``Running`` (running.py), right after the start; waits for what
it needs; does what it likes to the table or the stream; and returns, whereupon the run goes on
until nothing moves, gets the case's live records, and is judged as always. An exception of it is
raised by ``Laboratory.outcome``::

    def evict(running: Running) -> None:
        running.wait_owned()               # leases are taken; shards may still be unread
        running.wait_started("shardId-…")  # handed over; or wait_still(), wait(…)
        with running.edit(shard):          # marks the log: the owner may lose this lease by it
            mend(running.dynamodb.address, running.table, running.stream)   # `fix --live`, say
        running.wait_started("shardId-…", times=2)

    outcome = laboratory.run(Start(case, release, initial, case.items(), meanwhile=evict))

A run that loses a lease which no edit took is repeated, with leases that hold longer: a lone worker
has nobody to lose it to but a busy machine. A test with a parameter ``planned`` (an object
with ``id`` and ``start()``) has its start begun in the background by conftest.py and asks
``laboratory.outcome(planned.id)``. The order of events is ``outcome.log``.
"""

from __future__ import annotations

import itertools
import json
import os
import threading
from collections.abc import Mapping

from tests.proof.libraries.kcl.built import TARGET, runner_command
from tests.proof.libraries.kcl.log import Event, Log
from tests.proof.libraries.kcl.pace import PACES
from tests.proof.libraries.kcl.process import LineProcess

START_SECONDS = 60
_SERIAL = itertools.count()
"""Several processes of a release may follow each other: each has a log of its own."""


class Library:
    """The process of one release; start() gives the log of a run."""

    def __init__(self, release: str) -> None:
        self._logs: dict[str, Log] = {"": Log()}
        self._lock = threading.Lock()
        self._errors = TARGET / f"kcl-{release}-{os.getpid()}-{next(_SERIAL)}.log"
        self._pace = PACES[release]
        command = runner_command(release, self._pace.waits)
        self._process = LineProcess(command, self._errors, self._hear)
        begun = self._logs[""]
        begun.wait(lambda log: bool(log.of("READY")) or self._process.gone(), START_SECONDS)
        if not begun.of("READY"):
            self.close()
            raise RuntimeError(f"the runner of {release} did not start; see {self._errors}")

    def start(self, run: str, settings: Mapping[str, str]) -> Log:
        """Start an application; the keys are those of the runner's Request."""
        log = Log()
        with self._lock:
            self._logs[run] = log
        fields = {**{name: str(value) for name, value in self._pace.intervals.items()}, **settings}
        pairs = [f"{name}={value}" for name, value in fields.items()]
        self._process.say("\t".join(["start", run, *pairs]))
        return log

    def log(self, run: str) -> Log:
        """The log of a run that was started."""
        with self._lock:
            return self._logs[run]

    def stop(self, run: str) -> None:
        """Ask an application to stop; what it still reports is of no interest."""
        self._process.say(f"stop\t{run}")

    def errors(self) -> str:
        """What the process wrote to standard error: the agent's changes, mostly."""
        return self._errors.read_text(encoding="utf-8")

    def kill(self) -> None:
        """SIGKILL, with all applications that run in it."""
        self._process.kill()

    def close(self) -> None:
        self._process.close()

    def _hear(self, line: str) -> None:
        members = json.loads(line)
        run, at, kind = members.pop("run"), members.pop("at"), members.pop("event")
        with self._lock:
            # A line of a thread that belongs to no run (netty's, say) goes to the process's log.
            log = self._logs.get(run, self._logs[""])
        log.add(Event(kind, at / 1000, members))
