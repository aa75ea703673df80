"""How the readers of these rows differ: the library's releases, its master, its group, Telegraf.

No store holds what an application is configured with; a locator says it.

Sources: allgroup.go, consumer.go and shard_scan.go of harlow/kinesis-consumer v0.5.0 and of master
31e0042; group/consumergroup of v0.5.0; plugins/inputs/kinesis_consumer of influxdata/telegraf at
b272631 (1.39) and f636016 (1.34). Runs of v0.5.0, of master 31e0042 and of Telegraf 1.34.4 and
1.39.3, November 2026. The group was not run.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from enum import StrEnum

from msgspec import Struct
from msgspec.structs import replace

from reshardctl.consumers.options import (
    Known,
    MatchedRelease,
    newer_patch,
    read_initial,
    refuse_unknown,
    same_commit,
    version_of,
)
from reshardctl.errors import UsageError


class Traits(Struct, frozen=True):
    """What distinguishes one of them.

    Attributes:
        release: The name that stands for all that are alike.
        infers_ends: A row of a shard counts as proof that all its ancestors are processed; they are
            not read (inferCompletedAncestors, #200).
        takes_end: A row with the shard's EndingSequenceNumber marks it as processed; otherwise that
            number is asked for, refused, and ends the process.
        survives: A refused number stops only its shard, for good; otherwise a number that Kinesis
            knows to be foreign is replaced by TRIM_HORIZON (#175), and others end the process.
        waits_for_unlisted: A shard waits for unlisted parents, for ever (#17877).
        leases: Rows of a consumer group say which shards are completed.
        by_time: AT_TIMESTAMP is a start mode.
        out_of_order: A row holds what was delivered last, not the last of a gapless sequence
            (onDelivery, store.set): earlier records may be undelivered.
        only_dynamodb: It has no other store (store.go).
        strings_only: A number that is no string is logged and counts as no row (store.get).
    """

    release: str
    source: str
    infers_ends: bool = False
    takes_end: bool = False
    survives: bool = False
    waits_for_unlisted: bool = False
    leases: bool = False
    by_time: bool = True
    out_of_order: bool = False
    only_dynamodb: bool = False
    strings_only: bool = False


LIBRARY = Traits("0.5.0", "runs on v0.5.0, Nov 2026")
MASTER = Traits("master-31e0042", "runs on master 31e0042, Nov 2026", infers_ends=True)
GROUP = Traits("group-0.5.0", "group/consumergroup of v0.5.0", leases=True)
TELEGRAF = Traits(
    "telegraf-1.39", "plugins/inputs/kinesis_consumer of telegraf b272631", takes_end=True,
    survives=True, by_time=False, out_of_order=True,
    only_dynamodb=True, strings_only=True,
)
TELEGRAF_OLD = replace(
    TELEGRAF, release="telegraf-1.34", waits_for_unlisted=True,
    source="plugins/inputs/kinesis_consumer of telegraf f636016; #17877 came with 1.36.4",
)

STARTERS = (LIBRARY, MASTER, TELEGRAF)
"""Readers that may start on rows whose reader was not named; the rows do not show it."""

COMMIT = "31e0042"
"""Of master, which stands for itself."""

KNOWN = {
    None: Known("kinesis-consumer", ((0, 4, 1), (0, 5, 0))),
    "group": Known("kinesis-consumer's group", ((0, 5, 0),), "group-"),
    "telegraf": Known("Telegraf", (
        (1, 34, 4), (1, 35, 4), (1, 36, 4), (1, 37, 3), (1, 38, 4), (1, 39, 3),
    ), "telegraf-"),
}  # fmt: skip
"""By the tags of harlow/kinesis-consumer and of influxdata/telegraf at 1.39.3."""

OWN_READER = (1, 34)
"""Telegraf's first release with a reader of its own."""

_NAME = re.compile(r"(?:(telegraf|group)(?:-(?=\d)|\Z))?(\d+(?:\.\d+){0,2})?\Z", re.ASCII)
_MASTER = re.compile(r"master(?:-([0-9a-f]{7,40}))?\Z", re.ASCII)
_WAYS = (
    f"it knows {KNOWN[None].all_of_them}, master, {KNOWN['group'].all_of_them}, "
    f"{KNOWN['telegraf'].all_of_them}; e.g. release=0.5 or release=telegraf-1.36"
)


def traits_of(release: str) -> Traits:
    """The traits of a release or of a prefix, which means its newest; raises UsageError."""
    kind, matched = _matched(release)
    match kind:
        case "telegraf":
            return TELEGRAF_OLD if matched.version < (1, 36, 4) else TELEGRAF
        case "group":
            return GROUP
        case "master":
            return MASTER
        case _:
            return LIBRARY


def note_of(release: str | None) -> str:
    """The note that another release stands for the named one; "" where none does."""
    return _matched(release)[1].note if release else ""


def _matched(release: str) -> tuple[str | None, MatchedRelease]:
    """The kind of reader, and the known release that stands for the named one."""
    if match := _MASTER.match(release):
        other = match[1] and not same_commit(match[1], COMMIT)
        return "master", MatchedRelease((), newer_patch(release, MASTER.release) if other else "")
    match = _NAME.match(release)
    if match is None or not release:
        raise UsageError(f"release={release}: not a release of kinesis-consumer", _WAYS)
    kind, version = match.groups()
    known = KNOWN[kind]
    if not version:
        return kind, MatchedRelease(known.newest[-1])
    if kind == "telegraf" and (1,) != version_of(version) < OWN_READER:
        raise UsageError(
            f"release={release}: until 1.33 Telegraf read with harlow/kinesis-consumer itself "
            "(influxdata/telegraf#16332)",
            "release=0.4 is the nearest; shard_iterator_type is initial=, TRIM_HORIZON by default",
        )
    return kind, known.matching(release, version_of(version))


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


class App(Struct, frozen=True):
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


class Whose(Struct, frozen=True):
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
