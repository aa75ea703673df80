"""`rebuild`: counts what a sink holds, and writes the positions that it proves."""

from __future__ import annotations

import dataclasses
from dataclasses import dataclass

from msgspec.structs import replace

from reshardctl.auditing.sink_frontier import sink_frontier_of
from reshardctl.commands import count_sink
from reshardctl.commands.consent import within_limit
from reshardctl.commands.exclusions import GIVEN, REBUILD, require_compatible
from reshardctl.commands.fix import carry_through, planned_alone
from reshardctl.commands.named import is_snapshot, one
from reshardctl.commands.observer import SILENT, Observer
from reshardctl.commands.open_store import saying_how_to_make
from reshardctl.commands.places import account_of
from reshardctl.commands.planned import Confirm, FixResult, Planned
from reshardctl.commands.repair import Fresh, require_writable
from reshardctl.commands.repair_from_file import of_file
from reshardctl.commands.requests import Sink
from reshardctl.commands.target import Target, asked, counting
from reshardctl.commands.write_requests import FixRequest, require_consistent
from reshardctl.diagnosis.evidence import Snapshot
from reshardctl.errors import UsageError
from reshardctl.model.files import on_this_machine
from reshardctl.planning.plan import Case
from reshardctl.report.report import case_of
from reshardctl.snapshot import Ports, take


@dataclass(frozen=True, slots=True)
class RebuildRequest(FixRequest):
    """Which consumer gets its positions from a sink. The rest is as in `FixRequest`."""

    sink: Sink | None = None
    """What the consumer wrote; needed with `consumer`."""

    @property
    def verb(self) -> str:
        """The command of the same request."""
        return "rebuild"


def plan_rebuild(request: RebuildRequest, observer: Observer = SILENT) -> Planned:
    """Makes the plan that `rebuild` would write. Raises as `plan` does."""
    target = _proven_by_sink(request, observer, dry_run=True)
    return planned_alone(Fresh(dataclasses.replace(request, yes=False), target, observer), observer)


def rebuild(
    request: RebuildRequest, confirm: Confirm = within_limit, observer: Observer = SILENT
) -> FixResult:
    """Writes the positions that a sink proves, applies a plan of that, or finishes an earlier one.

    confirm, and what is raised: as for `fix`.
    """
    require_consistent(request, dry_run=False)
    repair = of_file(request, observer)
    if repair is None:
        target = _proven_by_sink(request, observer, dry_run=False)
        require_writable(request, target, dry_run=False)
        repair = Fresh(request, target, observer)
    with repair.held:
        carry_through([repair], confirm, observer)
        return repair.result


def _proven_by_sink(
    request: RebuildRequest, observer: Observer, *, dry_run: bool
) -> Target:
    """The consumer as a target, to be planned for on the positions that its sink proves."""
    require_consistent(request, dry_run=dry_run)
    require_compatible({*asked(request), REBUILD, "--from"}, REBUILD, *GIVEN)
    text, sink = request.consumer or "", request.sink
    if sink is None or not sink.path:
        raise UsageError(
            "--from is missing: the sink that the positions are taken from",
            "--from PATH, or --from NAME --form table; where nothing was ever stored: "
            "reshardctl fix CONSUMER --stream STREAM --bootstrap",
        )
    if is_snapshot(text):
        raise UsageError(
            "a snapshot has no sink: what it holds is compared with the stream as it is now",
            "name the consumer and --stream instead",
        )
    target = counting(one(text, request, observer), request.count)
    account = request.account
    if target.entry is not None:
        account = account_of(target.entry.stream.reach, account)
    require_writable(request, target, dry_run=dry_run)
    count_sink.check(sink, None)
    count_sink.check_installed(sink)
    if target.locator.medium == "files" and on_this_machine(target.locator.target) is None:
        count_sink.started(sink, observer)  # its JVM reads the store, too
    ports = target.ports()
    before = _taken(target, ports)
    case = case_of(
        before, target.repair_options
    )  # before counting: the store must be understood
    facts = count_sink.count(sink, before.lineage, account, observer).facts
    case.consumer.check_sink(target.locator.options, sink.path, facts.batch)
    line = sink_frontier_of(facts, before.lineage, inside=_holds_parts(case))
    note = target.locator.spec.rebuilt_empty
    if note and case.consumer.empty(case.checkpoint()):
        line = replace(line, notes=(*line.notes, note))
    return replace(
        target, opened=lambda: ports, repair_options=replace(target.repair_options, line=line)
    )


def _holds_parts(case: Case) -> bool:
    """Whether its positions may lie inside a record, whichever release starts."""
    return all(case.consumer.holds_parts(candidate.app) for candidate in case.candidates)


def _taken(target: Target, ports: Ports) -> Snapshot:
    """The stream and the store, which may be empty.

    Raises Refused for a deleted table or directory, with the command that makes it again.
    """
    with saying_how_to_make(target.locator):
        ports.store.identity()  # tells before the stream is listed
        return take(ports.kinesis, ports.store, target.stream, target.locator, ports.clock)
