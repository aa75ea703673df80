"""The one place where the interop tier calls the tool's own fix: what `fix --yes` does, on a
table in DynamoDB Local and a stream served over HTTP."""

from __future__ import annotations

import tempfile
import time
from collections.abc import Callable
from pathlib import Path

import boto3
import botocore.session
from botocore.config import Config

from reshardctl.commands.survey import survey
from reshardctl.commands.write import proven, verify
from reshardctl.consumers import locator
from reshardctl.execution import plan_file
from reshardctl.execution.apply import apply
from reshardctl.journal import Header, Journal
from reshardctl.kinesis import Kinesis
from reshardctl.planning.plan import Plan
from reshardctl.report.report import RepairOptions
from reshardctl.snapshot import Ports
from reshardctl.stores.dynamodb import DynamoDb
from tests.proof.libraries.kcl.situations import Situation
from tests.proof.libraries.kcl.stream import ServedStream
from tests.support.judging import asked, options_of

CONNECTED = True

Mend = Callable[[str, str, ServedStream], None]
"""Given DynamoDB's address, the table's name and the stream, repairs the table."""


def mend(situation: Situation) -> Mend:
    """What mends a lease table before the library is started on it."""
    fixed = situation.expect.fixed
    assert fixed is not None
    repair_options = RepairOptions(asked(situation.case, fixed.policy))
    words = options_of(situation.case, situation.initial, situation.release)

    def repair(address: str, table: str, stream: ServedStream) -> None:
        options = "&".join(f"{name}={value}".replace("+", "%2B") for name, value in words.items())
        parsed = locator.parse(f"kcl://{table}?{options}")
        ports = _ports(address, table, stream, situation.case.now)
        report = survey(ports, stream.name, parsed, repair_options)
        assert isinstance(report.decision, Plan), report.decision
        plan = plan_file.of_report(report, probe=False)
        with (
            tempfile.TemporaryDirectory() as folder,
            Journal.create(Path(folder) / "journal", _header(plan)) as journal,
        ):
            apply(plan.steps, proven(ports, plan, parsed), ports.store, journal)
            verify(ports, plan, parsed, journal)

    return repair


def _ports(address: str, table: str, stream: ServedStream, now: float) -> Ports:
    session = session_without_proxies()
    medium = DynamoDb(session, table, endpoint_url=address, clock=time.monotonic, sleep=time.sleep)
    kinesis = Kinesis(session, endpoint_url=stream.address)
    return Ports(kinesis, medium, lambda: now, time.sleep)


def session_without_proxies() -> boto3.Session:
    """Looks for no proxies: boto3 goes through the environment for them, and starts are repaired in
    threads, while pytest sets and removes PYTEST_CURRENT_TEST in the environment."""
    session = botocore.session.get_session()
    session.set_default_client_config(Config(proxies={}))
    return boto3.Session("testing", "testing", region_name="us-east-1", botocore_session=session)


def _header(plan: plan_file.SavedPlan) -> Header:
    stream = {"arn": plan.stream}
    policy = plan.options.policy.name
    return Header(plan.digest, plan.locator, dict(plan.store), stream, policy, "", "", plan.steps)
