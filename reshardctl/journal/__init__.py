"""The journal of a fix: what was read, what is about to be written, and what was written.

Append-only JSON lines, each chained to the one before by its checksum, in a file or an S3 object,
durable before the write that they guard. `fix --resume` and `undo` need only the journal and the
store.

Other rooms import what this file names, and `file`, `listing`, `log`, `s3`. Read `records` first.
"""

from reshardctl.journal.log import (
    Log,
    S3Object,
    Where,
    name_of,
    new_name,
    new_path,
    s3_object,
    state_dir,
)
from reshardctl.journal.records import VERSION, Header, Intent, Records, Run, parsed, read, supposed
from reshardctl.journal.writing import Journal

__all__ = [
    "VERSION", "Header", "Intent", "Journal", "Log", "Records", "Run", "S3Object", "Where",
    "name_of", "new_name", "new_path", "parsed", "read", "s3_object", "state_dir", "supposed",
]
