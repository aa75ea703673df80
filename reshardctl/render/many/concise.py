"""For pipes: one line a finding, each beginning with the place that names the consumer.

`reshardctl.toml:5: NAME SHARDS CODE [*] name: what (harm, deadline)`. A suppressed finding is not
in it; a consumer that could not be judged is, as is a suppression that has run out.
"""

from __future__ import annotations

from collections.abc import Iterator

from reshardctl.render.concise import inspect_lines
from reshardctl.render.context import Context
from reshardctl.render.escape import ascii_only, escape
from reshardctl.render.many.roundup import Entry, Roundup
from reshardctl.render.many.words import expired, failed, result, total


def roundup(shown: Roundup, context: Context) -> str:
    """One line in all where nothing is found."""
    lines = [escape(line) for entry in shown.entries for line in _entry(entry, context)]
    lines = lines or [total(shown)]
    return "".join(f"{ascii_only(line) if context.ascii else line}\n" for line in lines)


def _entry(entry: Entry, context: Context) -> Iterator[str]:
    where = f"{entry.origin[0]}:{entry.origin[1]}: {entry.name}" if entry.origin else entry.name
    joint = " " if entry.origin else ": "
    if entry.failure is not None:
        yield f"{where}{joint}{result(entry)}: {'; '.join(failed(entry))}"
    elif entry.report is not None:
        for line in inspect_lines(entry.report, context.verbose):
            yield where + joint + line.removeprefix(f"{entry.place.text}: ")
    for one in entry.sifted.expired:
        yield f"{where}{joint}{expired(one)}"
