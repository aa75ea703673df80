"""First aid: a command that the service takes, only where it can help, never run.

Sources: IncreaseStreamRetentionPeriod API reference (24–8760 hours, no data comes back by it).
"""

from __future__ import annotations

import shlex

import pytest
from msgspec.structs import replace

from reshardctl.lineage import Lineage
from reshardctl.planning.effects import Deadline
from reshardctl.report.forecast import RetentionAdvice, aid_for, retention_advice
from reshardctl.report.report import RepairOptions, Report, make
from tests.support.case import CASES, load
from tests.unit.render.formats import FORMATS
from tests.unit.render.samples import context
from tests.unit.snapshot.test_file import snapshot_of

HOUR = 3600


def report(name: str, *, hours: int = 24, later: float = 0) -> Report:
    """A case's report with another retention, or looked at so many hours later."""
    snapshot = snapshot_of(load(CASES / "kcl" / f"{name}.toml"))
    lineage = snapshot.lineage
    longer = replace(lineage.stream, retention=hours * HOUR)
    same = Lineage(longer, (lineage[shard] for shard in lineage))
    return make(replace(snapshot, lineage=same, now=snapshot.now + later * HOUR), RepairOptions())


@pytest.mark.parametrize(("have", "asked"), [(24, 168), (25, 168), (168, 336), (8700, 8760)])
def test_how_long(have, asked):
    aid = retention_advice(report("a-both", hours=have))
    assert aid is not None and aid.hours == asked


def test_where_there_is_nothing_longer():
    assert retention_advice(report("a-both", hours=8760)) is None


def test_the_first_loss_of_which_the_time_is_known():
    found = report("a-both")
    (one, *_) = (finding for finding in found.findings if finding.deadline)
    soon, late, unknown = (
        replace(one, deadline=Deadline(at, None)) for at in (7e9, 8e9, None)
    )
    for findings, since in (([late, unknown, soon], 7e9), ([unknown], None)):
        aid = aid_for(found.snapshot.lineage.stream, findings, found.snapshot.now)
        assert aid is not None and aid.since == since


@pytest.mark.parametrize("name", ["healthy-split-cleaned", "c"])
def test_where_nothing_waits(name):
    assert retention_advice(report(name)) is None


def test_too_late():
    """i2: the parent's records are whole gone a day after it closed; money brings none back."""
    assert retention_advice(report("i2", later=20)) is not None
    assert retention_advice(report("i2", later=30)) is None


def test_the_service_takes_the_command(lab_command):
    """As the `aws` CLI would send it; the loss moves away."""
    aid = retention_advice(report("a-both"))
    assert aid is not None
    before, after = lab_command(aid.argv())
    assert (before, after) == (24, aid.hours)


@pytest.fixture
def lab_command():
    from reshardctl.testing import load_topology

    def run(words):
        case = load(CASES / "kcl" / "a-both.toml")
        fake = load_topology(case.stream)
        names = words[3::2]
        values = dict(zip(names, words[4::2], strict=True))
        assert words[:3] == ("aws", "kinesis", "increase-stream-retention-period")
        assert set(names) == {"--stream-name", "--retention-period-hours", "--region"}

        def hours() -> int:
            found = fake.call("DescribeStreamSummary", {"StreamName": "orders"})
            return found["StreamDescriptionSummary"]["RetentionPeriodHours"]

        before = hours()
        fake.call("IncreaseStreamRetentionPeriod", {
            "StreamName": values["--stream-name"],
            "RetentionPeriodHours": int(values["--retention-period-hours"]),
        })  # fmt: skip
        return before, hours()

    return run


@pytest.mark.parametrize("view", ["inspect", "plan"])
@pytest.mark.parametrize("form", ["text", "markdown"])
def test_it_is_shown_before_the_commands_that_mend(form, view):
    found = report("a-both", later=18)  # the first loss is 5 h 45 min away
    aid = retention_advice(found)
    assert aid is not None
    shown = getattr(FORMATS[form], view)(found, context(found, width=200))
    flat = " ".join(shown.replace("\\\n", " ").split())
    command = shlex.join(aid.argv())
    assert command in flat
    assert flat.index(command) < flat.index("reshardctl fix")
    healthy = report("healthy-split-cleaned")
    assert "retention-period" not in FORMATS[form].inspect(healthy, context(healthy))


@pytest.mark.parametrize(("later", "commands"), [(17, 0), (18, 1)])
def test_text_has_the_command_where_the_loss_is_near(later, commands):
    """Six hours before the first loss; until then, a clause says that there is a way."""
    found = report("a-both", later=later)
    shown = FORMATS["text"].inspect(found, context(found))
    assert shown.count("increase-stream-retention-period") == commands
    assert ("a longer retention period delays it" in " ".join(shown.split())) == (not commands)


@pytest.mark.parametrize(("hours", "urgent"), [(5.9, True), (6.1, False), (None, True)])
def test_a_loss_within_six_hours_is_urgent(hours, urgent):
    """Six hours are the time to repair positions (`URGENT` in report/forecast.py)."""
    since = None if hours is None else 1000.0 + hours * HOUR
    assert RetentionAdvice("orders", "us-east-1", 168, since).urgent(1000.0) is urgent
