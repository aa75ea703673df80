"""The words of the commands that we print."""

from __future__ import annotations

from reshardctl.commands.account import Account
from reshardctl.consumers.locator import Locator
from reshardctl.model.times import instant, parse_instant
from reshardctl.report.report import RepairOptions


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
