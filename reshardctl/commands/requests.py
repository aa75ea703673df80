"""What requests have in common: the AWS account, a sink, and the words of commands that we print.

The account says region, profile, role, endpoints, and what reading may cost. A sink has its place,
its columns, and the Spark that reads it.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from reshardctl.consumers.locator import Locator
from reshardctl.model.times import instant, parse_instant
from reshardctl.report.report import RepairOptions


@dataclass(frozen=True, slots=True)
class Account:
    """How AWS is reached, as the options give it; the rest comes from the environment."""

    region: str | None = None
    profile: str | None = None
    role: str | None = None
    endpoints: Sequence[str] = ()
    budget: str | None = None
    """The value of `--probe-budget`: what reading records may cost."""

    def argv(self) -> list[str]:
        """The same as options, for commands that we print."""
        named = (
            ("--region", self.region), ("--profile", self.profile), ("--role-arn", self.role),
            ("--probe-budget", self.budget),
        )
        argv = [word for name, value in named if value for word in (name, value)]
        return argv + [word for url in self.endpoints for word in ("--endpoint-url", url)]


@dataclass(frozen=True, slots=True)
class Sink:
    """The options of a sink.

    columns: as `--column` takes them. against: whether the stream is read too, and compared with
    it.
    """

    path: str
    form: str | None = None
    columns: Sequence[str] = ()
    against: bool = True
    master: str | None = None
    remote: str | None = None

    def words(self) -> tuple[str, ...]:
        """The arguments that name the sink."""
        options = [("--form", self.form), *(("--column", column) for column in self.columns)]
        options += [("--master", self.master), ("--remote", self.server)]
        more = [word for name, value in options if value is not None for word in (name, value)]
        return ("--from", self.path, *more, *(() if self.against else ("--alone",)))

    @property
    def server(self) -> str | None:
        """`remote` without a token."""
        from reshardctl.spark.session import shown

        return None if self.remote is None else shown(self.remote)


def suggested_command(
    locator: Locator, stream: str, account: Account, policy: str | None = None,
    accept: str | None = None, repair_options: RepairOptions | None = None,
    probe: bool | None = None, created: str | None = None,
) -> list[str]:
    """The words of this command that name its consumer, stream and endpoints."""
    asked = asked_words(policy, accept, repair_options, probe, created)
    return [locator.text, "--stream", stream, *account.argv(), *asked]


def asked_words(
    policy: str | None, accept: str | None, repair_options: RepairOptions | None,
    probe: bool | None, created: str | None,
) -> list[str]:
    """The options that say what is wanted of a consumer."""
    argv: list[str] = []
    if policy is not None and policy != "lossless":
        argv += ["--policy", str(policy)]
    if accept is not None:
        argv += ["--accept", accept]
    if created is not None:
        argv += ["--created", instant(parse_instant(created))]
    if repair_options is not None and repair_options.recreated is not None:
        argv += ["--recreated", instant(repair_options.recreated)]
    if repair_options is not None and repair_options.bootstrap:
        argv.append("--bootstrap")
    if probe is not None:
        argv.append("--probe" if probe else "--no-probe")
    return argv
