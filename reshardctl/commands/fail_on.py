"""The severity from which a consumer's findings fail a command."""

from __future__ import annotations

from enum import Enum

from reshardctl.config.entries import Consumer
from reshardctl.diagnosis.rules import Severity


class FailOn(Enum):
    """What a request has in place of a severity."""

    AS_CONFIGURED = "as configured"
    """What reshardctl.toml says of the consumer, `Severity.ERROR` where it says nothing."""


Threshold = Severity | FailOn | None
"""A severity, or `None` for never."""


def severity_for(threshold: Threshold, entry: Consumer | None) -> Severity | None:
    """The severity for one consumer; `None` if no finding fails.

    entry: its entry in reshardctl.toml, if it is named there.
    """
    if not isinstance(threshold, FailOn):
        return threshold
    if entry is None or not entry.fail_on:
        return Severity.ERROR
    return None if entry.fail_on == "never" else Severity[entry.fail_on.upper()]
