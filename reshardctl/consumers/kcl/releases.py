"""How releases of KCL differ in what they do with a lease table, and what an application is told.

No lease table holds an application's configuration; the options of a `kcl://` locator say it.

Sources: the lease serializers, shard syncers and shutdown tasks of 1.3.0, 1.6.5, 1.13.3, 1.15.3,
2.2.11, 2.7.2, 3.1.3 and 3.5.1, and runs of 1.15.3, 2.7.2, 3.1.3 and 3.5.1 on broken tables in
November 2026. At a row that cannot be read, DynamoDBLeaseRefresher.list throws before 3.5.0 and
skips it from then on. Until 2.x the renewer's start lists all leases; 3.0-3.4 only check whether
there is one (isLeaseTableEmpty, the first that a scan returns), and their assignment skips bad rows
already.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from enum import Enum, StrEnum

from msgspec import Struct
from msgspec.structs import replace

from reshardctl.consumers.kcl.flaws import (
    CHECKPOINT,
    CHILDREN,
    COUNTER,
    HASH_END,
    HASH_START,
    KIND,
    PARENTS,
    PENDING_STATE,
    PENDING_SUB,
    SHARD_NAME,
    STREAM_NAME,
    SUB,
    SWITCHES,
    THROUGHPUT,
)
from reshardctl.consumers.options import (
    Known,
    MatchedRelease,
    Version,
    read_initial,
    refuse_unknown,
    version_of,
)
from reshardctl.errors import UsageError
from reshardctl.model.times import parse_seconds


class Unreadable(Enum):
    """What a row that cannot be read does to a worker."""

    KILLS = "kills"
    """The worker crashes at its start, after twenty attempts."""
    MAY_KILL = "may-kill"
    """It crashes if a scan returns the row first; else it skips the row, and every audit throws."""
    LEFT_OUT = "left-out"
    """It skips the row, in its hash-range audit too."""


class Traits(Struct, frozen=True):
    """What distinguishes a range of releases.

    Attributes:
        release: The newest of them, which stands for all.
        first: The oldest of them, as numbers.
        reads: Attributes that must be readable for a row to become a lease.
        unreadable: What a row that cannot be read does to the worker.
        takes_foreign: Rows of other kinds in the lease table are expected.
        leader_lock: A killed leader's lock keeps unowned leases unassigned until it expires.
        syncs_fully: Every start and every end of a shard creates all missing leases and deletes
            finished ones and those of unlisted shards; there are no hash ranges, childShardIds or
            auditor. Otherwise a shard's end creates its children's leases, the auditor others.
        reads_subs: checkpointSubSequenceNumber is read and written.
        ends_with_sub: SHARD_END with a sub-sequence number ends the shard; otherwise Kinesis is
            asked for it as for a number, for ever.
        starts_by_time: AT_TIMESTAMP is a start mode.
    """

    release: str
    first: tuple[int, ...]
    reads: frozenset[str]
    unreadable: Unreadable
    takes_foreign: bool
    leader_lock: bool
    source: str
    syncs_fully: bool = False
    reads_subs: bool = True
    ends_with_sub: bool = False
    starts_by_time: bool = True


_ALWAYS = frozenset({COUNTER, SWITCHES})
_PREPARED = frozenset({PENDING_SUB})
_HASHES = frozenset({HASH_START, HASH_END})
_SINCE_2_3 = _ALWAYS | _PREPARED | _HASHES | {SUB, PENDING_STATE, STREAM_NAME, SHARD_NAME}
_SINCE_3_0 = _SINCE_2_3 | {THROUGHPUT}

KCL_1_7 = Traits(
    "1.13.3", (1, 7), _ALWAYS | _PREPARED | {SUB, CHECKPOINT, PARENTS}, Unreadable.KILLS,
    False, False,
    "KinesisShardSyncer, ShutdownTask, KinesisDataFetcher and KinesisClientLease of 1.13.3",
    syncs_fully=True, ends_with_sub=True,
)
KCL_1_4 = replace(
    KCL_1_7, release="1.6.5", first=(1, 4), reads=_ALWAYS | {SUB, CHECKPOINT, PARENTS},
    starts_by_time=False,
    source="InitialPositionInStream of 1.6.5 has no AT_TIMESTAMP, 1.7.0's has",
)
KCL_1_0 = replace(
    KCL_1_4, release="1.3.0", first=(1, 0), reads=_ALWAYS | {CHECKPOINT, PARENTS},
    reads_subs=False,
    source="KinesisClientLeaseSerializer of 1.3.0 knows no sub-sequence number, 1.4.0's does",
)
KCL_1_14 = Traits(
    "1.15.3", (1, 14),
    _ALWAYS | _PREPARED | _HASHES | {SUB, CHECKPOINT, PARENTS, CHILDREN}, Unreadable.KILLS,
    False, False,
    "runs on 1.15.3; KinesisShutdownTask and KinesisShardSyncer of 1.15.3", ends_with_sub=True,
)
KCL_2_0 = Traits(
    "2.2.11", (2, 0), _ALWAYS | _PREPARED | {SUB, CHECKPOINT}, Unreadable.KILLS, False, False,
    "HierarchicalShardSyncer, ShutdownTask and DynamoDBLeaseSerializer of 2.2.11",
    syncs_fully=True,
)
KCL_2 = Traits(
    "2.7.2", (2, 3), _SINCE_2_3, Unreadable.KILLS, False, False, "runs on 2.7.2"
)
KCL_3 = Traits(
    "3.1.3", (3, 0), _SINCE_3_0, Unreadable.MAY_KILL, False, True, "runs on 3.1.3"
)
KCL_3_5 = Traits(
    "3.5.1", (3, 5), _SINCE_3_0 | {KIND}, Unreadable.LEFT_OUT, True, True, "runs on 3.5.1"
)

RELEASES = (KCL_1_0, KCL_1_4, KCL_1_7, KCL_1_14, KCL_2_0, KCL_2, KCL_3, KCL_3_5)
"""Oldest first."""

KNOWN = Known("KCL", (
    (1, 0, 0), (1, 1, 1), (1, 2, 1), (1, 3, 0), (1, 4, 0), (1, 5, 1), (1, 6, 5), (1, 7, 6),
    (1, 8, 10), (1, 9, 3), (1, 10, 0), (1, 11, 2), (1, 12, 0), (1, 13, 3), (1, 14, 10), (1, 15, 3),
    (2, 0, 5), (2, 1, 3), (2, 2, 11), (2, 3, 10), (2, 4, 8), (2, 5, 8), (2, 6, 1), (2, 7, 3),
    (3, 0, 3), (3, 1, 3), (3, 2, 1), (3, 3, 0), (3, 4, 3), (3, 5, 1),
))  # fmt: skip
"""By the tags of awslabs/amazon-kinesis-client at 3.5.1 (024eb86)."""

_COUNT = re.compile(r"[1-9][0-9]{0,9}\Z", re.ASCII)
_VERSION = re.compile(r"\d+(\.\d+){0,3}\Z", re.ASCII)


def traits_of(release: str) -> Traits:
    """The traits of a version ("2.6.1") or a prefix ("3": its newest); raises UsageError."""
    version = _matched(release).version
    return next(traits for traits in reversed(RELEASES) if version >= traits.first)


def version_named(release: str) -> Version:
    """The version, or the newest with this prefix; raises UsageError."""
    return _matched(release).version


def note_of(release: str | None) -> str:
    """The note that another release stands for the named one; "" where none does."""
    return _matched(release).note if release else ""


def _matched(release: str) -> MatchedRelease:
    if not _VERSION.match(release):
        raise UsageError(
            f"release={release}: not a KCL version",
            f"it knows {KNOWN.all_of_them}; write it as in the pom, e.g. release=2.7.2",
        )
    return KNOWN.matching(release, version_of(release))


DEFAULT_FAILOVER = 10.0
"""failoverTimeMillis where the application sets none, in seconds (1.x to 3.5.1)."""


class Start(StrEnum):
    """InitialPositionInStream."""

    LATEST = "LATEST"
    TRIM_HORIZON = "TRIM_HORIZON"
    AT_TIMESTAMP = "AT_TIMESTAMP"


class App(Struct, frozen=True):
    """One candidate: a start mode and a release.

    Attributes:
        time: Unix seconds for AT_TIMESTAMP.
        failover: failoverTimeMillis, in seconds.
    """

    initial: Start
    traits: Traits
    time: float | None = None
    failover: float = DEFAULT_FAILOVER

    def options(self) -> Mapping[str, str]:
        """The options that tell this candidate from others, as a locator spells them."""
        return {"initial": str(self.initial), "release": self.traits.release}


class Options(Struct, frozen=True):
    """The values of the options; `None` for an option that was not given.

    most_leases: maxLeasesForWorker.
    """

    initial: Start | None = None
    time: float | None = None
    traits: Traits | None = None
    failover: float = DEFAULT_FAILOVER
    most_leases: int | None = None


def read_options(options: Mapping[str, str]) -> Options:
    """Read every option; raises UsageError for an unknown one or a bad value."""
    names = ("initial", "release", "failover", "max-leases")
    refuse_unknown(options, names, "kcl://", "initial, release, failover and max-leases")
    initial, time = _initial(options.get("initial"))
    release = options.get("release")
    failover = DEFAULT_FAILOVER
    if "failover" in options:
        failover = parse_seconds(options["failover"], "failover")
    most = options.get("max-leases")
    if most is not None and not _COUNT.match(most):
        raise UsageError(
            f"max-leases={most}: not a number of leases",
            "write the application's maxLeasesForWorker, at least 1, as in max-leases=10",
        )
    return Options(
        initial, time, traits_of(release) if release else None, failover,
        None if most is None else int(most),
    )


def _initial(text: str | None) -> tuple[Start | None, float | None]:
    if text is None:
        return None, None
    mode, time = read_initial(
        text, map(str, Start), "KCL",
        "initial=LATEST, initial=TRIM_HORIZON or initial=AT_TIMESTAMP:2026-09-22T09:14:00Z",
    )
    return Start(mode), time
