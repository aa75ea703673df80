"""How releases of Quickwit differ in what they do with a Kinesis source's positions.

Sources: `kinesis_source.rs`, `shard_consumer.rs`, `checkpoint.rs` and `position.rs` at v0.7.1,
v0.8.2 and v0.9.0, and runs of the real source and metastore of 0.8.2 and 0.9.0, November 2026.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

from reshardctl.consumers.versions import Known, MatchedRelease, version_of
from reshardctl.errors import UsageError


@dataclass(frozen=True, slots=True)
class Traits:
    """What distinguishes a range of releases.

    Attributes:
        release: The newest of them, which stands for all.
        first: The oldest of them, as numbers.
        reads: Versions of the metastore's texts that they load.
        crashes_at_known_child: A closed shard that announces a child which is read already crashes
            the whole source (fixed by #5912, first released in 0.9.0).
        needs_key: The source's key must be in the checkpoint (#4913); before, none means empty.
    """

    release: str
    first: tuple[int, ...]
    reads: frozenset[str]
    crashes_at_known_child: bool
    needs_key: bool
    source: str


QUICKWIT_0_7 = Traits(
    "0.8.2", (0, 7), frozenset({"0.7", "0.8"}), crashes_at_known_child=True, needs_key=False,
    source="runs on 0.8.2; kinesis_source.rs:145 and indexing_pipeline.rs:441 of 0.8.2",
)
QUICKWIT_0_9 = Traits(
    "0.9.0", (0, 9), frozenset({"0.7", "0.8", "0.9"}), crashes_at_known_child=False, needs_key=True,
    source="runs on 0.9.0; kinesis_source.rs:139 and source/mod.rs:193 of 0.9.0",
)
RELEASES = (QUICKWIT_0_7, QUICKWIT_0_9)
"""Oldest first."""

LAST_OF_0_8, LAST_OF_0_9 = 16, 29
"""Migrations of a PostgreSQL metastore, run at a start (databases of 0.8.2 and 0.9.0, Nov 2026)."""

KNOWN = Known("Quickwit", ((0, 7, 1), (0, 8, 2), (0, 9, 0)))

_VERSION = re.compile(r"v?(\d+(?:\.\d+){0,2})\Z", re.ASCII)


def traits_of(release: str) -> Traits:
    """The traits of a version ("0.8.1") or a prefix ("0.9": its newest); raises UsageError."""
    version = _matched(release).version
    return next(traits for traits in reversed(RELEASES) if version >= traits.first)


def note_of(release: str | None) -> str:
    """The note that another release stands for the named one; "" where none does."""
    return _matched(release).note if release else ""


def _matched(release: str) -> MatchedRelease:
    match = _VERSION.match(release)
    if match is None:
        raise UsageError(
            f"release={release}: not a Quickwit version",
            "write it as `quickwit --version` does, e.g. release=0.8.2",
        )
    return KNOWN.matching(release, version_of(match[1]))
