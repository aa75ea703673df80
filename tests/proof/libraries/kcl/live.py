"""What is done to the table of the real library while it works: our own fix, and what is no fix."""

from __future__ import annotations

import tempfile
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from reshardctl.commands.survey import survey
from reshardctl.commands.write import proven, verify
from reshardctl.consumers import locator
from reshardctl.errors import StalePlan
from reshardctl.execution import plan_file
from reshardctl.execution.apply import apply
from reshardctl.execution.proof import renewing
from reshardctl.journal import Header, Journal
from reshardctl.kinesis import Kinesis
from reshardctl.model import Create, Step
from reshardctl.model.write_state import WriteResult
from reshardctl.planning.plan import Plan
from reshardctl.report.report import RepairOptions
from reshardctl.snapshot import Ports
from reshardctl.stores.dynamodb import DynamoDb
from tests.proof.libraries.kcl.laboratory import Start
from tests.proof.libraries.kcl.running import Running
from tests.proof.libraries.repair import session_without_proxies
from tests.support.case import CASES, Case, Expect, load
from tests.support.case_stream import shard_name
from tests.support.judging import options_of

BURST = 6
BURST_PAUSE = 0.15
"""Records put just after a write, and the seconds between: about as long as an owner that has
lost its lease takes to notice (a third of the failover time of two seconds)."""

Meanwhile = Callable[[Running], None]


@dataclass(frozen=True, slots=True)
class Edited:
    """A case on which the library runs, broken as it is, when something is done to its table.

    busy: the shard that gets records just after the edit.
    """

    case: Case
    release: str
    initial: str
    what: str
    meanwhile: Meanwhile
    busy: int

    def __str__(self) -> str:
        return self.id

    @property
    def id(self) -> str:
        return f"{self.release}/{self.case.name}/{self.initial}/live-{self.what}"

    @property
    def expect(self) -> Expect:
        """What the case says of this start."""
        return next(each for each in self.case.expects if self.initial in each.initial)

    @property
    def delivers(self) -> dict[str, tuple[str, ...]]:
        """What the repaired application delivers, and the busy shard's own records."""
        assert self.expect.fixed is not None
        wanted = dict(self.expect.fixed.delivers)
        shard = shard_name(self.busy)
        live = sum(payload.startswith("n") for payload in wanted[shard])
        stored, late = wanted[shard][:-live], wanted[shard][-live:]
        return {**wanted, shard: (*stored, *burst(self.busy), *late)}

    @property
    def awaits(self) -> dict[str, tuple[str, ...]]:
        """What comes in any case: where no fix is made, the two children give their new records."""
        wanted = self.delivers
        if self.what != "fix":
            for shard in (shard_name(2), shard_name(3)):
                wanted[shard] = tuple(p for p in wanted[shard] if p.startswith(("m", "n")))
        return wanted

    def start(self) -> Start:
        return Start(
            self.case, self.release, self.initial, self.case.items(), meanwhile=self.meanwhile,
            awaits=self.awaits,
        )  # fmt: skip


def edited(name: str, release: str, initial: str, what: str, busy: int) -> Edited:
    """By the names of case and edit."""
    case = load(CASES / "kcl" / f"{name}.toml")
    edits: dict[str, Meanwhile] = {
        "fix": lambda running: _fix(running, case, release, initial, busy),
        "checkpoint-only": lambda running: _bare(running, busy, ""),
        "owner-kept": lambda running: _bare(running, busy, " ADD leaseCounter :one"),
    }
    return Edited(case, release, initial, what, edits[what], busy)


def burst(shard: int) -> tuple[str, ...]:
    """The records that the busy shard gets."""
    return tuple(f"m{shard}-{index}" for index in range(BURST))


def _put(running: Running, shard: int) -> None:
    for payload in burst(shard):
        running.stream.fake.put(running.stream.name, shard, payload, f"k{shard}")
        time.sleep(BURST_PAUSE)


def _at_work(running: Running) -> None:
    """Until every lease has an owner and nothing moves: what is broken stays broken."""
    running.wait_owned()
    running.wait_still(audits=min(1, running.pace.audits), seconds=1.0)


class _Busy:
    """The table as a medium; after each write records come into a shard at once."""

    def __init__(self, medium: DynamoDb, running: Running, shard: int) -> None:
        self._medium, self._running, self._shard = medium, running, shard
        self.max_writes = medium.max_writes
        self.identity, self.read, self.get = medium.identity, medium.read, medium.get

    def write(self, step: Step, token: str) -> WriteResult:
        taken = [write.key for write in step.writes if not isinstance(write.change, Create)]
        with self._running.edit(*taken):
            result = self._medium.write(step, token)
        if result is WriteResult.APPLIED:
            _put(self._running, self._shard)
        return result


def _fix(running: Running, case: Case, release: str, initial: str, busy: int) -> None:
    """`fix --live --yes`, and again where it says so: its owners renew a lease every two thirds of
    a second, so on a busy machine rows move under it more often than it tries."""
    _at_work(running)
    deadline = time.monotonic() + running.patience
    while True:
        try:
            _fix_once(running, case, release, initial, busy)
        except StalePlan as error:
            if time.monotonic() > deadline or "nothing was written" not in error.what:
                raise
        else:
            return


def _fix_once(running: Running, case: Case, release: str, initial: str, busy: int) -> None:
    words = options_of(case, initial, release)
    options = "&".join(f"{name}={value}".replace("+", "%2B") for name, value in words.items())
    parsed = locator.parse(f"kcl://{running.table}?{options}")
    session = session_without_proxies()
    medium = DynamoDb(
        session,
        running.table,
        endpoint_url=running.dynamodb.address,
        clock=time.monotonic,
        sleep=time.sleep,
    )
    kinesis = Kinesis(session, endpoint_url=running.stream.address)
    ports = Ports(kinesis, _Busy(medium, running, busy), running.stream.fake.clock.now, time.sleep)
    report = survey(ports, running.stream.name, parsed, RepairOptions())
    assert isinstance(report.decision, Plan), report.decision
    plan = plan_file.of_report(report, probe=False)
    header = Header(
        plan.digest,
        plan.locator,
        dict(plan.store),
        {"arn": plan.stream},
        "lossless",
        "",
        "",
        plan.steps,
    )
    with (
        tempfile.TemporaryDirectory() as folder,
        Journal.create(Path(folder) / "journal", header) as journal,
    ):
        steps = proven(ports, plan, parsed, live=True)
        apply(plan.steps, steps, ports.store, journal, renewing=renewing(parsed, live=True))
        verify(ports, plan, parsed, journal)


def _bare(running: Running, shard: int, counting: str) -> None:
    """The position alone, or with the counter: the owner keeps its lease, and never looks again.

    A busy machine takes a lease long before it reads the position and hands the shard over.
    """
    _at_work(running)
    running.wait_started(shard_name(shard))
    values = {":start": {"S": "TRIM_HORIZON"}} | ({":one": {"N": "1"}} if counting else {})
    with running.edit():
        running.dynamodb.client.update_item(
            TableName=running.table,
            Key={"leaseKey": {"S": shard_name(shard)}},
            UpdateExpression=f"SET checkpoint = :start{counting}",
            ConditionExpression="attribute_exists(leaseOwner)",
            ExpressionAttributeValues=values,
        )
    _renewed(running, shard_name(shard))
    _put(running, shard)


def _renewed(running: Running, key: str) -> None:
    """Until its owner has renewed it twice. (A checkpoint that comes before the first renewal after
    the counter was changed fails, and loses the lease: it depends on which of them is first.)"""
    before = int(running.leases()[key]["leaseCounter"]["N"])
    running.wait(
        lambda _: int(running.leases()[key]["leaseCounter"]["N"]) > before + 1, f"renewals of {key}"
    )
