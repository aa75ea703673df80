"""Parents on a row in a type that the consumer cannot read.
"""

from __future__ import annotations

from collections.abc import Iterator

from reshardctl.effects import Harm
from reshardctl.model import Oddity
from reshardctl.rules.base import Finding, Severity, View, from_odd

CODE, NAME = "RSH305", "parents-unreadable"


def match(view: View) -> Iterator[Finding]:
    """Warning where order hangs on it, else info."""
    odd = view.oddities(Oddity.PARENTS_UNREADABLE)
    loose = {e.shard for e in view.harmed(Harm.DISORDERED) if not e.past}
    for needed in (True, False):
        some = [o for o in odd if (o.shard in loose) is needed]
        severity = Severity.WARNING if needed else Severity.INFO
        what = "parentShardId is no string set and is read as empty: the shard waits for no parent"
        yield from from_odd(CODE, NAME, some, severity, what)
