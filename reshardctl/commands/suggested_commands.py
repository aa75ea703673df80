"""The words of a command, for the commands that we print."""

from __future__ import annotations

from reshardctl.commands.account import Account
from reshardctl.consumers.locator import Locator
from reshardctl.diagnosis.report import Wishes
from reshardctl.model.times import instant, parse_instant


def suggested_command(
    place: Locator, stream: str, account: Account, policy: str | None = None,
    accept: str | None = None, wishes: Wishes | None = None, probe: bool = False,
    created: str | None = None,
) -> list[str]:
    """The words of this command that name its consumer, stream and endpoints."""
    asked = asked_words(policy, accept, wishes, probe, created)
    return [place.text, "--stream", stream, *account.argv(), *asked]


def asked_words(
    policy: str | None, accept: str | None, wishes: Wishes | None, probe: bool,
    created: str | None,
) -> list[str]:
    """What is wanted of a consumer, as options."""
    argv: list[str] = []
    if policy is not None and policy != "lossless":
        argv += ["--policy", str(policy)]
    if accept is not None:
        argv += ["--accept", accept]
    if created is not None:
        argv += ["--created", instant(parse_instant(created))]
    if wishes is not None and wishes.recreated is not None:
        argv += ["--recreated", instant(wishes.recreated)]
    if wishes is not None and wishes.bootstrap:
        argv.append("--bootstrap")
    if probe:
        argv.append("--probe")
    return argv
