"""The options of a `kcl://` locator."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from reshardctl.consumers.kcl.app import Start
from reshardctl.consumers.kcl.releases import Traits, traits_of
from reshardctl.consumers.option_values import read_initial, refuse_unknown
from reshardctl.model.times import parse_seconds


@dataclass(frozen=True, slots=True)
class Options:
    """The values of the options; `None` for an option that was not given."""

    initial: Start | None = None
    time: float | None = None
    traits: Traits | None = None
    failover: float = 10.0


def read_options(options: Mapping[str, str]) -> Options:
    """Read `initial`, `release` and `failover`; raises UsageError for any other or a bad value."""
    names = ("initial", "release", "failover")
    refuse_unknown(options, names, "kcl://", "initial, release and failover")
    initial, time = _initial(options.get("initial"))
    release = options.get("release")
    failover = parse_seconds(options.get("failover", "10s"), "failover")
    return Options(initial, time, traits_of(release) if release else None, failover)


def _initial(text: str | None) -> tuple[Start | None, float | None]:
    if text is None:
        return None, None
    mode, time = read_initial(
        text, map(str, Start), "KCL",
        "initial=LATEST, initial=TRIM_HORIZON or initial=AT_TIMESTAMP:2026-09-22T09:14:00Z",
    )
    return Start(mode), time
