"""An end mark that is not taken for one.
"""

from __future__ import annotations

from collections.abc import Iterator

from reshardctl.model import Oddity
from reshardctl.rules.base import Finding, Severity, View, from_odd

CODE, NAME = "RSH304", "end-with-subsequence"


def match(view: View) -> Iterator[Finding]:
    """Error: the shard loops on it, and its children wait for ever."""
    what = "SHARD_END with a sub-sequence number: the consumer asks for it as a number, for ever"
    costs = "its children are never read"
    odd = view.oddities(Oddity.END_WITH_SUB)
    yield from from_odd(CODE, NAME, odd, Severity.ERROR, what, costs)
