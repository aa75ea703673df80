"""How releases of KCL differ in what they do with a lease table.

Sources: the lease serializers, shard syncers and shutdown tasks of 1.3.0, 1.6.5, 1.13.3, 1.15.3,
2.2.11, 2.7.2, 3.1.3 and 3.5.1, and runs of 1.15.3, 2.7.2, 3.1.3 and 3.5.1 on broken tables in
November 2026.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, replace

from reshardctl.consumers.versions import Known, Place
from reshardctl.errors import UsageError


@dataclass(frozen=True, slots=True)
class Traits:
    """What sets a range of releases apart.

    release: the newest of them, which stands for all. first: the oldest, as numbers.
    dies_without: attributes without which it dies at its start (after twenty attempts); a row that
    lacks another needed one is left out.
    dies_of_mistyped: sets of shard ids that kill it where they are no string sets; else they are
    read as empty.
    audits_skip_unreadable: the audit passes over such a row; otherwise it throws every time.
    takes_foreign: rows of other kinds in the lease table are expected; otherwise they kill it.
    leader_lock: a killed leader's lock keeps unowned leases unassigned until it expires.
    syncs_fully: every start and every end of a shard creates all leases that are missing, sweeps
    those of unlisted shards and deletes finished ones; it knows neither hash ranges nor
    childShardIds, nor an audit. Otherwise a shard's end creates its children's leases, and only
    the audit others.
    reads_subs: checkpointSubSequenceNumber is read and written.
    ends_with_sub: SHARD_END with a sub-sequence number is brought to a proper end; otherwise it is
    asked for as a number, for ever.
    starts_by_time: AT_TIMESTAMP is a start mode.
    """

    release: str
    first: tuple[int, ...]
    dies_without: frozenset[str]
    audits_skip_unreadable: bool
    takes_foreign: bool
    leader_lock: bool
    source: str
    dies_of_mistyped: frozenset[str] = frozenset()
    syncs_fully: bool = False
    reads_subs: bool = True
    ends_with_sub: bool = False
    starts_by_time: bool = True


COUNTER, SWITCHES, CHECKPOINT = "leaseCounter", "ownerSwitchesSinceCheckpoint", "checkpoint"
PARENTS, CHILDREN = "parentShardId", "childShardIds"

KCL_1_7 = Traits(
    "1.13.3", (1, 7), frozenset({COUNTER, SWITCHES, CHECKPOINT}), False, False, False,
    "KinesisShardSyncer, ShutdownTask, KinesisDataFetcher and KinesisClientLease of 1.13.3",
    dies_of_mistyped=frozenset({PARENTS}), syncs_fully=True, ends_with_sub=True,
)
KCL_1_4 = replace(
    KCL_1_7, release="1.6.5", first=(1, 4), starts_by_time=False,
    source="InitialPositionInStream of 1.6.5 has no AT_TIMESTAMP, 1.7.0's has",
)
KCL_1_0 = replace(
    KCL_1_4, release="1.3.0", first=(1, 0), reads_subs=False,
    source="KinesisClientLeaseSerializer of 1.3.0 knows no sub-sequence number, 1.4.0's does",
)
KCL_1_14 = Traits(
    "1.15.3", (1, 14), frozenset({COUNTER, SWITCHES, CHECKPOINT}), False, False, False,
    "runs on 1.15.3; KinesisShutdownTask and KinesisShardSyncer of 1.15.3",
    dies_of_mistyped=frozenset({PARENTS, CHILDREN}), ends_with_sub=True,
)
KCL_2_0 = Traits(
    "2.2.11", (2, 0), frozenset({COUNTER, SWITCHES, CHECKPOINT}), False, False, False,
    "HierarchicalShardSyncer, ShutdownTask and DynamoDBLeaseSerializer of 2.2.11",
    syncs_fully=True,
)
KCL_2 = Traits(
    "2.7.2", (2, 3), frozenset({COUNTER, SWITCHES}), False, False, False, "runs on 2.7.2"
)
KCL_3 = Traits("3.1.3", (3, 0), frozenset({COUNTER}), False, False, True, "runs on 3.1.3")
KCL_3_5 = Traits("3.5.1", (3, 4, 3), frozenset(), True, True, True, "runs on 3.5.1")

RELEASES = (KCL_1_0, KCL_1_4, KCL_1_7, KCL_1_14, KCL_2_0, KCL_2, KCL_3, KCL_3_5)
"""Oldest first."""

KNOWN = Known("KCL", (
    (1, 0, 0), (1, 1, 1), (1, 2, 1), (1, 3, 0), (1, 4, 0), (1, 5, 1), (1, 6, 5), (1, 7, 6),
    (1, 8, 10), (1, 9, 3), (1, 10, 0), (1, 11, 2), (1, 12, 0), (1, 13, 3), (1, 14, 10), (1, 15, 3),
    (2, 0, 5), (2, 1, 3), (2, 2, 11), (2, 3, 10), (2, 4, 8), (2, 5, 8), (2, 6, 1), (2, 7, 3),
    (3, 0, 3), (3, 1, 3), (3, 2, 1), (3, 3, 0), (3, 4, 3), (3, 5, 1),
))  # fmt: skip
"""By the tags of awslabs/amazon-kinesis-client at 3.5.1 (024eb86)."""

_VERSION = re.compile(r"\d+(\.\d+){0,3}\Z", re.ASCII)


def traits_of(release: str) -> Traits:
    """The traits of a full version ("2.6.1") or of a prefix ("3.5", "3").

    A prefix means its newest release. Raises UsageError for what this project cannot judge.
    """
    version = _place(release).version
    return next(traits for traits in reversed(RELEASES) if version >= traits.first)


def note_of(release: str | None) -> str:
    """That another release stands for the one that was named, "" where it does not."""
    return _place(release).note if release else ""


def _place(release: str) -> Place:
    if not _VERSION.match(release):
        raise UsageError(
            f"release={release}: not a KCL version", "write it as in the pom, e.g. release=2.7.2"
        )
    return KNOWN.place(release, tuple(int(part) for part in release.split(".")))
