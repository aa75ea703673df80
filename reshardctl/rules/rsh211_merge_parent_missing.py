"""A merge whose one parent has no position.
"""

from __future__ import annotations

from collections.abc import Iterator

from reshardctl.effects import Harm
from reshardctl.rules.base import Finding, Severity, View
from reshardctl.rules.families import merges_without_a_parent

CODE, NAME = "RSH211", "merge-parent-missing"


def match(view: View) -> Iterator[Finding]:
    """Info where the missing one comes back as it should, else an error: the other cannot end."""
    for waiting, missing in merges_without_a_parent(view):
        hurt = [e for e in view.effects if e.shard == missing and e.harm is not Harm.REREAD]
        yield Finding(
            CODE, NAME, Severity.ERROR if hurt else Severity.INFO, (waiting,),
            "cannot end while the other parent of its merge has no position",
            "the merged shard waits until it has one" if hurt else "", tuple(hurt),
        )
