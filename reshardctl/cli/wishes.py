"""Option texts to what the operator wants."""

from __future__ import annotations

import re

from reshardctl.errors import UsageError
from reshardctl.policy import EVERYTHING, POLICIES, Accept
from reshardctl.report import Wishes
from reshardctl.times import parse_instant, parse_seconds

_ACCEPT = re.compile(r"(skip|reread)=(.+)\Z")


def wishes_of(
    policy: str, accept: str | None, bootstrap: bool = False, recreated: str | None = None
) -> Wishes:
    """Raises UsageError for a word that cannot be read."""
    time = None if recreated is None else parse_instant(recreated)
    if bootstrap and time is not None:
        raise UsageError("--bootstrap and --recreated exclude each other", "give one of them")
    return Wishes(POLICIES[policy], accept_of(accept), bootstrap, time)


def accept_of(text: str | None) -> Accept:
    """`skip=12m,reread=3h,disorder`; `reread=all` for no bound."""
    limits = {"skip": 0.0, "reread": Accept().reread}
    disorder = False
    for part in (text or "").split(",") if text else ():
        if part == "disorder":
            disorder = True
        elif match := _ACCEPT.match(part):
            limits[match[1]] = EVERYTHING if match[2] == "all" else parse_seconds(match[2])
        else:
            raise UsageError(
                f"--accept {text}: {part!r} is not known",
                "it takes skip=DURATION, reread=DURATION and disorder, joined by commas",
            )
    return Accept(limits["skip"], limits["reread"], disorder)
