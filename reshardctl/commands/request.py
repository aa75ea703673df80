"""Turns the texts of options into values."""

from __future__ import annotations

import re
from dataclasses import replace
from typing import TYPE_CHECKING

from reshardctl.errors import UsageError
from reshardctl.model.phrases import did_you_mean
from reshardctl.model.times import parse_instant, parse_seconds, parse_when
from reshardctl.planning.policy import AT_TIMESTAMP, EVERYTHING, POLICIES, Accept, Policy
from reshardctl.report.report import RepairOptions

if TYPE_CHECKING:
    from reshardctl.commands.target import Target
    from reshardctl.kinesis.budget import Limits

_BUDGET = re.compile(r"(calls|time)=(.+)\Z")
_CALLS = re.compile(r"[1-9][0-9]{0,6}\Z", re.ASCII)
_ACCEPT = re.compile(r"(skip|reread)=(.+)\Z")


def repair_options_of(
    policy: str, accept: str | None, bootstrap: bool = False, recreated: str | None = None
) -> RepairOptions:
    """What the operator wants, from the options. UsageError for a word that cannot be read."""
    time = None if recreated is None else parse_instant(recreated, "--recreated")
    if bootstrap and time is not None:
        raise UsageError(
            "--bootstrap and --recreated exclude each other: --bootstrap is for a new application, "
            "without positions; --recreated for one whose stream was deleted and made again",
            "leave --bootstrap out if positions are stored, else --recreated",
        )
    return RepairOptions(policy_of(policy), accept_of(accept), bootstrap, time)


def policy_of(text: str) -> Policy:
    """Reads `lossless`, `latest`, `latest-at-start`, or `at-timestamp=` and a time."""
    name, equals, time = text.partition("=")
    if name == AT_TIMESTAMP.name:
        if not time:
            raise UsageError(
                "--policy at-timestamp needs a time",
                "e.g. at-timestamp=2026-09-22T09:14:00Z, at-timestamp=-90m, at-timestamp=@reshard",
            )
        return replace(AT_TIMESTAMP, when=parse_when(time, f"--policy {name}"))
    if equals or name not in POLICIES:
        known = [n if n != AT_TIMESTAMP.name else f"{n}=TIME" for n in POLICIES]
        raise UsageError(
            f"--policy {text}: there is no such policy",
            did_you_mean(name, known, f"there are {', '.join(known)}"),
        )
    return POLICIES[name]


def accept_of(text: str | None) -> Accept | None:
    """Reads `skip=12m,reread=3h,disorder`; `reread=all` for no limit; `None` for no text."""
    if text is None:
        return None
    limits = {"skip": 0.0, "reread": Accept().reread}
    disorder = False
    for part in text.split(","):
        if part == "disorder":
            disorder = True
        elif match := _ACCEPT.match(part):
            limits[match[1]] = _limit(match[2], f"--accept {match[1]}")
        else:
            raise UsageError(
                f"--accept {text}: {part!r} is not known",
                "it takes skip=DURATION, reread=DURATION and disorder, joined by commas",
            )
    return Accept(limits["skip"], limits["reread"], disorder)


def _limit(text: str, option: str) -> float:
    """Seconds; zero needs no unit."""
    if text == "all":
        return EVERYTHING
    return 0.0 if text == "0" else parse_seconds(text, option)


def budget_of(text: str | None) -> Limits:
    """Reads `calls=5000,time=10m`, or either of them; the other keeps its default."""
    from reshardctl.kinesis.budget import Limits

    limits = Limits()
    for part in text.split(",") if text else ():
        match = _BUDGET.match(part)
        if match and match[1] == "time":
            limits = replace(limits, seconds=parse_seconds(match[2], "--probe-budget time"))
        elif match and _CALLS.match(match[2]):
            limits = replace(limits, calls=int(match[2]))
        else:
            raise UsageError(
                f"--probe-budget {text}: {part!r} is not known",
                "it takes calls=NUMBER and time=DURATION, joined by a comma",
            )
    return limits


def counting(target: Target, count: bool) -> Target:
    """The same target; its effects are counted if `count`."""
    return (
        replace(target, repair_options=replace(target.repair_options, count=True))
        if count
        else target
    )
