"""RSH211, see `pages/RSH211.md`."""

from __future__ import annotations

from collections.abc import Iterator

from reshardctl.diagnosis.rules.base import Found, Severity, View, rule
from reshardctl.diagnosis.rules.families import merges_without_a_parent, never_ending
from reshardctl.planning.effects import Harm


@rule("RSH211", "merge-parent-missing")
def merge_parent_missing(view: View) -> Iterator[Found]:
    """Info if the missing parent comes back as it should, else an error or a warning.

    Error: it is not read. Warning: only the other parent never ends.
    """
    endless = set(never_ending(view))
    pairs = dict(merges_without_a_parent(view))
    for waiting in dict.fromkeys([*pairs, *endless]):
        missing = pairs.get(waiting)
        hurt = [e for e in view.effects if e.shard == missing and e.harm is not Harm.REREAD]
        lasting = Severity.WARNING if waiting in endless else Severity.INFO
        yield Found(
            Severity.ERROR if hurt else lasting, (waiting,),
            "cannot end while the other parent of its merge has no position",
            "the merged shard waits until it has one" if hurt else "",
            tuple(e for e in hurt if missing is not None),
        )
