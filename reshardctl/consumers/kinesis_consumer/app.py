"""What an application is configured with (no store holds it), and how a locator says it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum

from reshardctl.consumers.kinesis_consumer.releases import GROUP, STARTERS, Traits, traits_of
from reshardctl.consumers.option_values import read_initial, refuse_unknown
from reshardctl.errors import UsageError

DYNAMODB = "dynamodb"
SQL = frozenset({"postgres", "mysql"})
TRANSACTION, TRANSACTION_SQL = 100, 1_000
"""Writes of one step. DynamoDB takes 100 in one transaction (TransactWriteItems API reference)."""
OPTIONS = ("app", "initial", "release", "group", "table")


class Start(StrEnum):
    """Where a shard without a row begins: WithShardIteratorType, or WithTimestamp."""

    LATEST = "LATEST"
    TRIM_HORIZON = "TRIM_HORIZON"
    AT_TIMESTAMP = "AT_TIMESTAMP"


@dataclass(frozen=True, slots=True)
class App:
    """One candidate.

    time: Unix seconds for AT_TIMESTAMP, `None` if unknown. writes_together: the most of a step.
    """

    initial: Start
    traits: Traits
    time: float | None = None
    writes_together: int = TRANSACTION

    def options(self) -> Mapping[str, str]:
        """The options that distinguish this candidate, as a locator spells them."""
        return {"initial": str(self.initial), "release": self.traits.release}


@dataclass(frozen=True, slots=True)
class Whose:
    """Which rows of a store are the application's. name: "" if it was not given."""

    name: str = ""
    group: str = ""
    medium: str = ""

    def namespace(self, stream: str) -> str:
        """Namespace of its positions."""
        return f"{self.name}-{stream}"

    def leases(self, stream: str) -> str:
        """Namespace of its consumer group's leases and workers."""
        return f"{self.group or self.name}#{stream}"


def whose(options: Mapping[str, str], medium: str = "") -> Whose:
    """The options that select rows; raises UsageError for an unknown option."""
    refuse_unknown(options, OPTIONS, "kinesis-consumer", ", ".join(OPTIONS))
    return Whose(options.get("app", ""), options.get("group", ""), medium)


def applications(options: Mapping[str, str], *, leased: bool, medium: str = "") -> list[App]:
    """Start modes × releases, with a group's if `leased`; UsageError where there is none."""
    whose(options)
    starts, time = _starts(options.get("initial"))
    release = options.get("release")
    guesses = (GROUP, *STARTERS) if leased else STARTERS
    releases: tuple[Traits, ...] = (traits_of(release),) if release else guesses
    if medium not in ("", DYNAMODB):
        releases = tuple(traits for traits in releases if not traits.only_dynamodb)
    if not releases:
        raise UsageError(
            f"release={release}: Telegraf keeps its positions in DynamoDB alone",
            "kinesis-consumer+ddb://TABLE, or leave release= out",
        )
    together = TRANSACTION_SQL if medium in SQL else TRANSACTION
    apps = [
        App(start, traits, time if start is Start.AT_TIMESTAMP else None, together)
        for start in starts for traits in releases
        if traits.by_time or start is not Start.AT_TIMESTAMP
    ]
    if not apps:
        raise UsageError(
            f"{releases[0].release} has no start mode AT_TIMESTAMP",
            "initial=LATEST or initial=TRIM_HORIZON",
        )
    return apps


def _starts(text: str | None) -> tuple[tuple[Start, ...], float | None]:
    if text is None:
        return tuple(Start), None
    mode, time = read_initial(
        text, map(str, Start), "kinesis-consumer",
        "initial=LATEST (the library's default), initial=TRIM_HORIZON (Telegraf's) or "
        "initial=AT_TIMESTAMP:2026-09-22T09:14:00Z",
    )
    return (Start(mode),), time
