"""The record of a fix: what was read, what is about to be written, what has landed.

Append-only JSON lines, each chained to the one before by its checksum, on disk before the write
that it guards. `fix --resume` and `undo` need nothing else but the store.
"""

from reshardctl.journal.place import new_path, state_dir
from reshardctl.journal.reading import read
from reshardctl.journal.records import VERSION, Header, Intent, Records, Run
from reshardctl.journal.writing import Journal

__all__ = [
    "VERSION", "Header", "Intent", "Journal", "Records", "Run", "new_path", "read", "state_dir",
]
