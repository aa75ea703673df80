"""From a sink to a plan: count what it holds, and fix on the line that it proves."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from reshardctl.audit.line import line_of
from reshardctl.commands import count_sink as sparking
from reshardctl.commands import fix as fixing
from reshardctl.commands.fix_request import Asked
from reshardctl.commands.read_only import only_read
from reshardctl.commands.request import counting
from reshardctl.commands.sinks import Sink
from reshardctl.commands.target import Given, Target
from reshardctl.commands.targets import configured
from reshardctl.commands.targets import snapshot as offline
from reshardctl.commands.targets.named import one
from reshardctl.console.interrupt import treat_sigterm_as_ctrl_c
from reshardctl.consumers.spec import Missing
from reshardctl.diagnosis.report import case_of
from reshardctl.errors import NoStore, Refused, UsageError
from reshardctl.execution.repair import Ports
from reshardctl.exit import Exit
from reshardctl.planning.plan import Case
from reshardctl.snapshot import take


def one_source(given: Sequence[str], stream: str | None, sink: str | None) -> None:
    """UsageError unless a consumer and its sink are named, or a plan, or a journal."""
    fixing.one_source(given, stream, "rebuild")
    if given == ["a consumer"] and not sink:
        raise UsageError(
            "--from is missing: what the line is taken from",
            "--from PATH, or --from NAME --form table; where nothing was ever stored: "
            "reshardctl fix --bootstrap",
        )


def from_sink(asked: Asked, text: str, given: Given, sink: Sink, count: bool) -> Exit:
    """Plan on the sink's line, and unless it is a dry run, carry it out."""
    if offline.is_snapshot(text):
        raise UsageError(
            "a snapshot has no sink: what it holds is compared with the stream as it is now",
            "name the consumer and --stream instead",
        )
    target = counting(one(text, given), count)
    account = asked.account
    if target.entry is not None:
        asked = configured.asked(asked, target.entry)
        account = configured.account_of(target.entry.stream.reach, account)
    only_read(target.place, asked.dry_run, asked.out)
    sparking.check(sink, None)
    sparking.check_installed(sink)
    treat_sigterm_as_ctrl_c()
    ports = target.ports()
    _store_is_there(target, ports)
    before = take(ports.kinesis, ports.medium, target.stream, target.place, ports.clock)
    case = case_of(before, target.wishes)  # nothing is counted for a store that is not understood
    facts = sparking.count(sink, before.lineage, account).facts
    case.consumer.check_sink(target.place.options, sink.path, facts.batch)
    line = line_of(facts, before.lineage, inside=_holds_parts(case))
    note = target.place.spec.rebuilt_empty
    if note and case.consumer.empty(case.checkpoint()):
        line = replace(line, notes=(*line.notes, note))
    found = replace(
        target, opened=lambda: ports, wishes=replace(target.wishes, line=line)
    )
    return fixing.from_store(replace(asked, sink=sink.words()), found)


def _holds_parts(case: Case) -> bool:
    """Whether its positions may lie inside a record, whichever release starts."""
    return all(case.consumer.holds_parts(candidate.app) for candidate in case.candidates)


def _store_is_there(target: Target, ports: Ports) -> None:
    """Raises Refused for a table or a directory that was deleted, with the command that makes it
    again: whose it is, its tags and its policies are not ours to say."""
    place = target.place
    try:
        ports.medium.identity()
    except NoStore as error:
        tables = place.spec.tables(place.target, place.options)
        make = place.spec.create_store(Missing(place.medium, place.target, tables, error))
        raise Refused(error.what + place.spec.makes_itself, make) from None
