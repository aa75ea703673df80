"""A case looked at as the command line looks: FakeKinesis for the stream, its rows a table."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

from reshardctl.commands.survey import survey
from reshardctl.consumers.locator import parse
from reshardctl.kinesis import Kinesis
from reshardctl.kinesis.budget import Limits
from reshardctl.model import Image, Step, after
from reshardctl.model.write_state import WriteResult
from reshardctl.planning.plan import Plan
from reshardctl.planning.policy import EVERYTHING, Accept
from reshardctl.report.report import RepairOptions, Report
from reshardctl.snapshot import Ports
from reshardctl.testing import FakeKinesis, load_topology
from tests.support.case import Case
from tests.support.judging import images_of, options_of

ALL = Accept(skip=0.0, reread=EVERYTHING, disorder=True)
"""Everything but a skip."""


@dataclass
class Table:
    """As much of a medium as looking needs."""

    rows: list[Image]
    max_writes: int = 0

    def identity(self) -> dict[str, str]:
        return {"medium": "dynamodb", "arn": "arn:aws:dynamodb:us-east-1:123456789012:table/app"}

    def read(self) -> list[Image]:
        return list(self.rows)

    def get(self, keys: Sequence[str]) -> dict[str, Image | None]:
        rows = {row.key: row for row in self.rows}
        return {key: rows.get(key) for key in keys}

    def write(self, step: Step, token: str) -> WriteResult:
        raise AssertionError(f"nothing is written here: {step.title}, {token}")


@dataclass
class Bench:
    """A case, its stream, and every second that was waited for."""

    case: Case
    initial: str = "LATEST"
    release: str = "3.5.1"
    limits: Limits | None = None
    items: list[dict[str, Any]] | None = None
    waits: list[float] = field(default_factory=list)

    def __post_init__(self) -> None:
        self.fake: FakeKinesis = load_topology(self.case.stream)
        items = self.case.items() if self.items is None else self.items
        self.table = Table(images_of(items))

    @property
    def stream(self) -> str:
        return str(self.case.stream["name"])

    def sleep(self, seconds: float) -> None:
        self.waits.append(seconds)
        self.fake.clock.advance(seconds)

    def ports(self) -> Ports:
        kinesis = Kinesis.of_client(
            self.fake.client(), clock=self.fake.clock.now, sleep=self.sleep, limits=self.limits
        )
        return Ports(kinesis, self.table, self.fake.clock.now, self.sleep)

    def look(self, repair_options: RepairOptions, probe: bool = False) -> Report:
        options = options_of(self.case, self.initial, self.release)
        words = "&".join(f"{name}={value}" for name, value in options.items())
        return survey(self.ports(), self.stream, parse(f"kcl://app?{words}"), repair_options, probe)

    def fixed(self, report: Report) -> list[dict[str, Any]]:
        """The rows as the report's plan leaves them, as items."""
        if not isinstance(report.decision, Plan):
            return [dict(image.attributes) for image in self.table.rows]
        return [dict(i.attributes) for i in after(self.table.rows, report.decision.steps)]
