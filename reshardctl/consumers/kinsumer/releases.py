"""How the two kinsumers and their releases differ in what they do with the tables.

No table holds what an application is configured with; the options of a `kinsumer://` locator do.

Sources: twitchscience/kinsumer 9a48088 (its newest commit) and snowplow-devops/kinsumer v1.6.0 and
v1.7.0. checkpoints.go, clients.go and leader.go of the last two are the same to the byte. Runs of
9a48088 and of v1.7.0 on broken tables, November 2026.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field

from msgspec import Struct

from reshardctl.consumers.kinsumer.spec import OPTIONS
from reshardctl.consumers.options import (
    Known,
    MatchedRelease,
    dotted,
    newer_patch,
    read_initial,
    refuse_unknown,
    same_commit,
    version_of,
)
from reshardctl.errors import UsageError
from reshardctl.model import Image


class Traits(Struct, frozen=True):
    """What distinguishes a release.

    starts_by_time: WithIteratorStartTimestamp exists; it then holds for every shard that was never
    read, at every start.
    """

    release: str
    starts_by_time: bool
    source: str


TWITCH = Traits("twitch", False, "shard_consumer.go and checkpoints.go of 9a48088; run, Nov 2026")
SNOWPLOW_1_6 = Traits("snowplow-1.6", True, "shard_consumer.go of v1.6.0")
SNOWPLOW_1_7 = Traits("snowplow-1.7", True, "processRecordsBatch of v1.7.0; run, Nov 2026")

COMMIT = "9a48088"
"""Of the original, which has no releases."""

RELEASES = {t.release: t for t in (TWITCH, SNOWPLOW_1_6, SNOWPLOW_1_7)}

KNOWN = Known("Snowplow's kinsumer", ((1, 6, 0), (1, 7, 0)), "snowplow-")

_NAME = re.compile(
    r"twitch(?:-(?P<commit>[0-9a-f]{7,40}))?|snowplow(?:-v?(?P<version>\d+(?:\.\d+){0,2}))?",
    re.ASCII,
)


def traits_of(release: str) -> Traits:
    """The traits of a release; raises UsageError for one that is not known."""
    match, matched = _matched(release)
    if match[0].startswith("twitch"):
        return TWITCH
    return RELEASES[f"snowplow-{dotted(matched.version[:2])}"]


def note_of(release: str | None) -> str:
    """The note that another release stands for the named one; "" where none does."""
    return _matched(release)[1].note if release else ""


def _matched(release: str) -> tuple[re.Match[str], MatchedRelease]:
    match = _NAME.fullmatch(release)
    if match is None:
        raise UsageError(
            f"release={release}: no such kinsumer is known to this reshardctl",
            f"it knows {', '.join(RELEASES)}",
        )
    if match["commit"] and not same_commit(match["commit"], COMMIT):
        return match, MatchedRelease((), newer_patch(release, f"twitch-{COMMIT}"))
    if match[0].startswith("twitch"):
        return match, MatchedRelease(())
    return match, KNOWN.matching(release, version_of(match["version"] or "1"))


TRIM_HORIZON, AT_TIMESTAMP = "TRIM_HORIZON", "AT_TIMESTAMP"


@dataclass(frozen=True, slots=True)
class App:
    """One candidate.

    initial: where shards that are not begun start. time: Unix seconds of
    WithIteratorStartTimestamp, `None` if unknown. cached: the existing ShardCache row.
    """

    initial: str
    traits: Traits
    time: float | None = None
    cached: Image | None = field(default=None, compare=False)

    @property
    def by_time(self) -> bool:
        """Whether shards that are not begun start by time."""
        return self.initial == AT_TIMESTAMP

    def options(self) -> Mapping[str, str]:
        """The options that distinguish this candidate, as a locator spells them."""
        return {"initial": self.initial, "release": self.traits.release}


def applications(options: Mapping[str, str], forked: bool) -> list[App]:
    """Every application that the options leave open.

    forked: whether the tables show that it is Snowplow's. Where no release is named, v1.6 needs no
    candidate of its own: it treats the tables as v1.7 does. Raises UsageError for an unknown option
    or a bad value.
    """
    refuse_unknown(options, OPTIONS, "kinsumer://", "initial and release")
    release = options.get("release")
    families = [traits_of(release)] if release else [SNOWPLOW_1_7] if forked else [
        TWITCH, SNOWPLOW_1_7
    ]
    starts = [_start(options["initial"])] if "initial" in options else [
        (TRIM_HORIZON, None), (AT_TIMESTAMP, None)
    ]
    apps = [App(name, t, time) for t in families for name, time in starts if _has(t, name)]
    if not apps:
        raise UsageError(
            f"initial={options['initial']}: the original kinsumer always starts at TRIM_HORIZON",
            "leave initial out, or name Snowplow's fork: release=snowplow-1.7",
        )
    return apps


def _has(traits: Traits, start: str) -> bool:
    return start == TRIM_HORIZON or traits.starts_by_time


def _start(text: str) -> tuple[str, float | None]:
    return read_initial(
        text, (TRIM_HORIZON, AT_TIMESTAMP), "kinsumer",
        "initial=TRIM_HORIZON, or initial=AT_TIMESTAMP:2026-09-22T09:14:00Z where the "
        "application uses WithIteratorStartTimestamp",
    )
