"""The options of a `kinsumer://` locator."""

from __future__ import annotations

from collections.abc import Mapping

from reshardctl.consumers.kinsumer.app import AT_TIMESTAMP, TRIM_HORIZON, App
from reshardctl.consumers.kinsumer.releases import SNOWPLOW_1_7, TWITCH, Traits, traits_of
from reshardctl.consumers.option_values import read_initial, refuse_unknown
from reshardctl.errors import UsageError


def applications(options: Mapping[str, str], forked: bool) -> list[App]:
    """Every application that the options leave open.

    forked: whether the tables show that it is Snowplow's. Where no release is named, v1.6 needs no
    candidate of its own: it treats the tables as v1.7 does. Raises UsageError for an unknown option
    or a bad value.
    """
    refuse_unknown(options, ("initial", "release"), "kinsumer://", "initial and release")
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
