"""How releases of Quickwit differ in what they do with a Kinesis source's positions.

The options of a locator name the release; a source's own row shows some of it.

Sources: `kinesis_source.rs`, `shard_consumer.rs`, `checkpoint.rs` and `position.rs` at v0.7.1,
v0.8.2 and v0.9.0, and runs of the real source and metastore of 0.8.2 and 0.9.0, November 2026.
"""

from __future__ import annotations

import re
from collections.abc import Mapping

from msgspec import Struct

from reshardctl.consumers.options import Known, MatchedRelease, refuse_unknown, version_of
from reshardctl.errors import UsageError


class Traits(Struct, frozen=True):
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
            f"it knows {KNOWN.all_of_them}; write it as `quickwit --version` does, e.g. "
            "release=0.8.2",
        )
    return KNOWN.matching(release, version_of(match[1]))


OPTIONS = ("index", "source", "release")


class App(Struct, frozen=True):
    """One candidate: the release that starts next."""

    traits: Traits

    def options(self) -> Mapping[str, str]:
        """The options that distinguish this candidate, as a locator spells them."""
        return {"release": self.traits.release}


def check_options(options: Mapping[str, str]) -> None:
    """Raises UsageError for an unknown option."""
    refuse_unknown(options, OPTIONS, "quickwit", "index, source and release")


def applications(
    version: str, options: Mapping[str, str], migration: int | None = None
) -> list[App]:
    """Every release that may start on a text of this version ("": any), given the options.

    A text of version 0.9 was saved by 0.9, and no earlier release can read it. One of 0.8 is of
    0.8, or of a 0.9 that has not saved this index since the upgrade: loading does not rewrite (runs
    on 0.8.2 and 0.9.0, Nov 2026). A database's last migration shows its release; an older release
    does not start on it any more ("migration 17 was previously applied but is missing", runs, Nov
    2026).
    """
    check_options(options)
    if migration is not None:
        return [App(_migrated(migration, options))]
    if "release" not in options:
        return [App(traits) for traits in RELEASES if not version or version in traits.reads]
    traits = traits_of(options["release"])
    if version and version not in traits.reads:
        raise UsageError(
            f"release={options['release']}: the index was saved by {version}, which no release "
            "before can read",
            f"name the release that runs, {version} or later",
        )
    return [App(traits)]


def _migrated(migration: int, options: Mapping[str, str]) -> Traits:
    """The release that starts on a database; raises UsageError for an unknown migration."""
    if migration > LAST_OF_0_9:
        raise UsageError(
            f"the last migration of this database is {migration}, of a later Quickwit than is "
            f"known here; 0.9.0 has {LAST_OF_0_9}", "use a newer reshardctl",
        )
    given = traits_of(options["release"]) if "release" in options else None
    if migration <= LAST_OF_0_8:
        return given or QUICKWIT_0_7
    if given is None and migration < LAST_OF_0_9:
        raise UsageError(
            f"the last migration of this database is {migration}, of a build between 0.8.2 "
            f"({LAST_OF_0_8}) and 0.9.0 ({LAST_OF_0_9})",
            "upgrade to 0.9.0, and say so: release=0.9.0",
        )
    if given not in (None, QUICKWIT_0_9):
        raise UsageError(
            f"release={options['release']}: the last migration of this database is {migration}, "
            f"and 0.8.2 does not start on one after {LAST_OF_0_8}",
            "name the release that runs, release=0.9.0 or later",
        )
    return QUICKWIT_0_9
