"""For GitHub Actions: annotations in the file and at the line that name the consumer.

GitHub shows them in the changed files of a pull request, and all of them on the run. A step shows
ten of each kind: the worst come first, over all consumers.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import replace

from reshardctl.render import github
from reshardctl.render.context import Context
from reshardctl.render.many.roundup import Entry, Roundup
from reshardctl.render.many.words import expired, result, total
from reshardctl.render.words import command

_COMMAND = re.compile(r"::(?P<kind>error|warning|notice) title=(?P<title>[^:]*)::")
_KINDS = ("error", "warning", "notice")


def roundup(shown: Roundup, context: Context) -> str:
    """Every finding, every consumer that could not be judged, then one notice that counts."""
    lines = [line for entry in shown.entries for line in _entry(entry, context)]
    lines.sort(key=_rank)
    said = [total(shown), *(f"{entry.name}: {result(entry)}" for entry in shown.entries)]
    said.append(" ".join(command("inspect", *shown.again)))
    last = github.annotation("notice", "reshardctl inspect", said, context)
    return "".join([*lines, last])


def _rank(line: str) -> int:
    match = _COMMAND.match(re.sub(r" file=[^:]*?,title=", " title=", line))
    return _KINDS.index(match["kind"]) if match else len(_KINDS)


def _entry(entry: Entry, context: Context) -> Iterator[str]:
    own = replace(context, again=entry.again, exit=entry.exit)
    if entry.failure is not None:
        yield _placed(entry, github.error(entry.failure, own))
    elif entry.report is not None:
        # The last line counts the findings of this consumer: we count all of them.
        for line in github.inspect(entry.report, own).splitlines(keepends=True)[:-1]:
            yield _placed(entry, line)
    for one in entry.sifted.expired:
        said = github.annotation("warning", "suppression ran out", [expired(one)], context)
        yield _placed(entry, said)


def _placed(entry: Entry, line: str) -> str:
    """The same annotation with its file and line, and the consumer's name before its text."""
    match = _COMMAND.match(line)
    assert match is not None, "an annotation"
    where = ""
    if entry.origin is not None:
        where = f"file={github.property_text(entry.origin[0])},line={entry.origin[1]},"
    name = f"{github.data_text(entry.name)}: " if entry.origin is not None else ""
    return f"::{match['kind']} {where}title={match['title']}::{name}{line[match.end():]}"
