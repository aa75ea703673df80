"""What is said of a Quickwit node, and what its source's own row tells."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from reshardctl.consumers.quickwit.releases import RELEASES, Traits, traits_of
from reshardctl.errors import UsageError

OPTIONS = ("index", "source", "release")


@dataclass(frozen=True, slots=True)
class App:
    """One candidate: the release that starts next."""

    traits: Traits

    def options(self) -> Mapping[str, str]:
        """The options that tell this candidate from others, as a locator spells them."""
        return {"release": self.traits.release}


def check_options(options: Mapping[str, str]) -> None:
    """Raises UsageError for an option that is none of ours."""
    if unknown := sorted(set(options) - set(OPTIONS)):
        raise UsageError(
            f"quickwit has no option {unknown[0]!r}", "it takes index, source and release"
        )


def applications(version: str, options: Mapping[str, str]) -> list[App]:
    """Every release that may start on a text of this version, given what was said; "": of any.

    A text of version 0.9 was saved by 0.9, and none before can read it. One of 0.8 is of 0.8, or
    of a 0.9 that has not saved this index since the upgrade: loading does not rewrite (runs on
    0.8.2 and 0.9.0, Nov 2026).
    """
    check_options(options)
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
