"""The options of a Quickwit locator, and what a source's own row shows of its release."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from reshardctl.consumers.option_values import refuse_unknown
from reshardctl.consumers.quickwit.releases import (
    LAST_OF_0_8,
    LAST_OF_0_9,
    QUICKWIT_0_7,
    QUICKWIT_0_9,
    RELEASES,
    Traits,
    traits_of,
)
from reshardctl.errors import UsageError

OPTIONS = ("index", "source", "release")


@dataclass(frozen=True, slots=True)
class App:
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
