"""Another part of the same store cannot be read, which stops other consumers too.

What it is
----------
Quickwit's file metastore holds one file for each index. The file of another index than the judged
one cannot be loaded: malformed, of an unknown version, in a folder of another name, with a position
that is no string, or with a field in its configuration that Quickwit does not know.

Why it matters
--------------
The other indexes can still be read and written, but listing all of them fails, and a control plane
lists all when it starts. So after the next start of the cluster nothing is scheduled, and no source
of any index runs.

How it happens
--------------
A hand edit: a comma too many, a byte order mark, a folder that was renamed or copied. Or a file
that 0.9 saved, read by a node of 0.8.

What the fix writes
-------------------
Nothing: what the file should hold is not known here. Repair it, or restore it from a backup;
Quickwit reads it again without a restart. Then inspect again:

    reshardctl inspect quickwit+file:///ROOT --stream NAME

When the fix is not offered
---------------------------
Always. With index= in the locator the other indexes are not read.

Example
-------
    logs/metastore.json     judged
    audit/metastore.json    malformed JSON at line 41, column 7

Seen in the wild
----------------
No public report known. Run on 0.8.2 and 0.9.0, files and PostgreSQL.
"""

from __future__ import annotations

from collections.abc import Iterator

from reshardctl.diagnosis.rules.base import Finding, Severity, View, from_anomalies
from reshardctl.model import AnomalyKind

CODE, NAME = "RSH307", "unreadable-beside"


def match(view: View) -> Iterator[Finding]:
    """Error: nothing starts that has to list the whole store first."""
    anomalies = view.anomalies_of(AnomalyKind.UNREADABLE_STORE)
    what = "beside this one cannot be read: " + "; ".join(o.why for o in anomalies)
    costs = "listing all indexes fails, so no source of any of them is scheduled at a start"
    yield from from_anomalies(CODE, NAME, anomalies, Severity.ERROR, what, costs)
