"""Every stored position is older than the stream.
"""

from __future__ import annotations

from collections.abc import Iterator

from reshardctl.model import Oddity
from reshardctl.rules.base import Finding, Severity, View, shards_of

CODE, NAME = "RSH102", "stream-recreated"


def match(view: View) -> Iterator[Finding]:
    """Error: the rows belong to an earlier stream of the same name."""
    if view.recreated:
        odd = view.oddities(Oddity.EARLIER_INCARNATION)
        what = "every number in the store is older than the stream: it was deleted and made again"
        costs = "a shard that stands at such a number is never read"
        helps = "name the stream's creation time with --recreated to start over"
        yield Finding(CODE, NAME, Severity.ERROR, shards_of(odd), what, costs, helps=helps)
