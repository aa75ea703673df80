"""What the formats of several consumers say alike."""

from __future__ import annotations

from collections.abc import Sequence

from reshardctl.diagnosis.rules import Finding, Severity
from reshardctl.diagnosis.rules.suppressions import Suppression
from reshardctl.exit import Exit
from reshardctl.model.times import duration, instant
from reshardctl.render.words import about, count, counted
from reshardctl.report.changes import fixable
from reshardctl.report.results import Entry, Roundup, behind, taken_up

HEADS = ("consumer", "store", "open shards", "behind up to", "result")

_FAILED = {Exit.USAGE: "cannot be judged", Exit.REFUSED: "refused"}


def names_of(stream: str, entries: Sequence[Entry]) -> tuple[str, str]:
    """The stream's name on AWS, and its name in the configuration if that is another, else "".

    stream: the name by which the round-up groups its consumers.
    """
    known = next((entry.report for entry in entries if entry.report is not None), None)
    asked = (entries[0].asked or stream).rpartition("/")[2]
    name = asked if known is None else known.snapshot.lineage.stream.name
    configured = entries[0].origin is not None and stream != name
    return name, stream if configured else ""


def row(entry: Entry) -> list[str]:
    """The cells of a consumer in the table."""
    store = entry.locator.consumer
    if entry.report is None:
        return [entry.name, store, "?", "?", result(entry)]
    own, all_open = taken_up(entry.report)
    late = behind(entry.report)
    return [
        entry.name, store, f"{own}/{all_open}", "–" if late is None else duration(late),
        result(entry),
    ]


def result(entry: Entry) -> str:
    """`2 errors, 1 info`, `ok`, or that it could not be told."""
    if entry.failure is not None:
        return _FAILED.get(entry.failure.exit, "could not tell")
    assert entry.report is not None
    parts = counted(entry.report.counts()) or ["ok"]
    if entry.sifted.hidden:
        parts.append(f"{len(entry.sifted.hidden)} suppressed")
    return ", ".join(parts)


def total(roundup: Roundup) -> str:
    """The sums over all consumers: `2 errors, 1 info in 3 consumers.  2 fixable.`."""
    findings = ", ".join(counted(roundup.counts())) or "No findings"
    parts = [f"{findings} in {count(len(roundup.entries), 'consumer')}."]
    if number := roundup.suppressed():
        parts.append(f"{number} suppressed.")
    if failed := roundup.unjudged():
        parts.append(f"{len(failed)} could not be judged.")
    if any(f.severity > Severity.INFO for r in roundup.reports() for f in r.findings):
        parts.append(f"{sum(len(fixable(r)) for r in roundup.reports())} fixable.")
    return "  ".join(parts)


def hidden(finding: Finding, by: Suppression) -> str:
    """One line on a suppressed finding."""
    return f"{finding.code} {finding.name}: {about(finding)}; {_hiding(by)}: {by.why}"


def _hiding(by: Suppression) -> str:
    if by.until is None:
        return f"not counted ({by.origin})"
    return f"suppressed until {_end(by, by.until)} ({by.origin})"


def expired(by: Suppression) -> str:
    """One line on a suppression that does not hold any more."""
    end = "" if by.until is None else f" at {_end(by, by.until)}"
    return f"the suppression of {by.rule} expired{end} ({by.origin}): {by.why}"


def _end(by: Suppression, until: float) -> str:
    """When it ends, as the file says it: a day, or a time."""
    return f"the end of {by.day} UTC" if by.day else instant(until)


def unused(by: Suppression) -> str:
    """One line on a suppression that hides nothing."""
    if by.until is None:
        return f"{by.rule} of {by.origin} no longer occurs; make a new baseline"
    return f"the suppression of {by.rule} ({by.origin}) no longer hides a finding; delete it"


def remarks(entry: Entry) -> list[str]:
    """What is to be said of its suppressions, beside the findings that they hide."""
    return [
        *(expired(suppression) for suppression in entry.sifted.expired),
        *(unused(suppression) for suppression in entry.sifted.unused),
    ]


def failed(entry: Entry) -> list[str]:
    """Why it could not be judged, and what next."""
    assert entry.failure is not None
    return [part for part in (entry.failure.what, entry.failure.next) if part]
