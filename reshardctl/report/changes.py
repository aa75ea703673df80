"""What a plan does to each row, and how the decision bears on one finding.

Positions are spelled as the consumer spells them.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from enum import StrEnum

from msgspec import Struct
from msgspec.structs import replace

from reshardctl.consumers.base import MANY
from reshardctl.consumers.registry import consumer_of
from reshardctl.diagnosis.rules import Finding, Severity
from reshardctl.model import (
    Create,
    Delete,
    Image,
    ShardId,
    Step,
    Write,
    after,
    changed,
    short,
    writes_of,
)
from reshardctl.planning.effects import Effect, Harm
from reshardctl.planning.plan import Decision, Nothing, Plan, Residual
from reshardctl.report.report import Report, make


class Action(StrEnum):
    """What happens to a row. KEEP: its position stays, only other attributes change."""

    CREATE = "create"
    MOVE = "move"
    KEEP = "keep"
    DELETE = "delete"


class Changed(Struct, frozen=True):
    """One row. now, after: its position as spelled, `None` where there is no row.

    part: one shard's position in the row before it, which holds those of many. of_many: that row, a
    file or a list of shards.
    """

    shard: ShardId
    action: Action
    now: str | None
    after: str | None
    write: Write
    part: bool = False
    of_many: bool = False

    @property
    def repeated(self) -> bool:
        """Whether a new row only has the position again that the one before it had."""
        return self.part and self.action is Action.KEEP


def changes(report: Report, steps: Iterable[Step]) -> list[Changed]:
    """Every write of these steps on the report's rows, in the order of the shards.

    A row with the positions of many shards is followed by one `Changed` for each of these shards.
    """
    listed = list(steps)
    consumer = consumer_of(report.snapshot.locator)
    rows = after(report.snapshot.images, listed)
    positions = consumer.positions(consumer.parse(rows, report.snapshot.lineage.stream))
    writes = sorted(writes_of(listed), key=lambda w: _order(w.key))
    listed_changes: list[Changed] = []
    for write in writes:
        shard = consumer.shard_of(write.key)
        if shard != MANY:
            listed_changes.append(_changed(shard, write, report.positions, positions))
        else:
            listed_changes += [_of_many(write), *_parts(report, write, positions)]
    return listed_changes


def _order(key: str) -> tuple[int, str]:
    """Shard ids grow in length when twelve digits no longer suffice."""
    return len(key), key


def shards_written(report: Report, write: Write) -> tuple[ShardId, ...]:
    """The shards whose positions are in the row that a write of the report's plan leaves."""
    shard = consumer_of(report.snapshot.locator).shard_of(write.key)
    return tuple(_held(report, write)) if shard == MANY else (shard,)


def shards_moved(report: Report, write: Write) -> tuple[ShardId, ...]:
    """Those of these shards whose position changes; the shard itself for a row of one shard."""
    shard = consumer_of(report.snapshot.locator).shard_of(write.key)
    held = _held(report, write) if shard == MANY else {}
    moved = tuple(s for s, position in held.items() if report.positions.get(s) != position)
    return moved if shard == MANY else (shard,)


def _held(report: Report, write: Write) -> Mapping[ShardId, str]:
    """The positions in a row of many shards once it is written."""
    return _positions_in(report, changed(write.before, write))


def _positions_in(report: Report, row: Image | None) -> Mapping[ShardId, str]:
    snapshot = report.snapshot
    if row is None:
        return {}
    return consumer_of(snapshot.locator).positions_of_many(row, snapshot.lineage.stream)


def _parts(
    report: Report, write: Write, then: Mapping[ShardId, str]
) -> Iterator[Changed]:
    """The positions in such a row. then: all positions afterwards, where a row goes."""
    held: Mapping[ShardId, str | None] = _held(report, write)
    if isinstance(write.change, Delete):
        held = {shard: then.get(shard) for shard in _positions_in(report, write.before)}
    for shard, position in held.items():
        now = report.positions.get(shard)
        action = Action.KEEP if now == position else Action.MOVE
        if now is None or position is None:
            action = Action.CREATE if now is None else Action.DELETE
        yield Changed(shard, action, now, position, write, part=True)


def _changed(
    shard: ShardId, write: Write, now: Mapping[ShardId, str], then: Mapping[ShardId, str]
) -> Changed:
    before, position = now.get(shard), then.get(shard)
    match write.change:
        case Create():
            return Changed(shard, Action.CREATE, None, position, write)
        case Delete():
            return Changed(shard, Action.DELETE, before, None, write)
        case _:
            action = Action.KEEP if before == position else Action.MOVE
            return Changed(shard, action, before, position, write)


def _of_many(write: Write) -> Changed:
    """A row of several shards goes by its key, and where it lists shards, by these."""
    before, then = write.before, changed(write.before, write)
    action = Action.MOVE
    if before is None or then is None:
        action = Action.CREATE if before is None else Action.DELETE
    folder, _, last = write.key.rpartition("/")
    name = ShardId(write.key if last.isdigit() or "/" in folder else last)
    return Changed(name, action, _listed(before), _listed(then), write, of_many=True)


def _listed(row: Image | None) -> str | None:
    """The shards that a row lists, shortened."""
    lists = [value["L"] for value in row.attributes.values() if "L" in value] if row else []
    names = [short(item["S"]) for ids in lists for item in ids if "S" in item]
    return ", ".join(names) or None


def by_position(
    changed: Iterable[Changed], also: Collection[ShardId] = ()
) -> list[Changed]:
    """The positions that change, without the files and lists that hold them.

    A position that only stands in a new file again is none, but for the shards of `also`. Where
    nothing but files or lists change, these.
    """
    listed = list(changed)
    if all(row.of_many or row.repeated for row in listed):
        return [row for row in listed if not row.part]
    return [r for r in listed if not r.of_many and (not r.repeated or r.shard in also)]


def lists(changed: Iterable[Changed]) -> list[Changed]:
    """The rows that list shards and hold no position, such as kinsumer's ShardCache."""
    return [row for row in changed if row.of_many and (row.now or row.after)]


def counted(rows: Iterable[Changed]) -> dict[Action, int]:
    """How many of each, every action named."""
    actions = [row.action for row in rows]
    return {action: actions.count(action) for action in Action}


class Mending(Struct, frozen=True):
    """mended: nothing of it is left after the plan. writes: those on its own shards.

    remains: its effects that the simulation still shows after the plan. residuals: why some of its
    shards are left alone, with the flag that would change that.
    """

    mended: bool
    writes: tuple[Write, ...] = ()
    remains: tuple[Effect, ...] = ()
    residuals: tuple[Residual, ...] = ()


def mending(report: Report, finding: Finding) -> Mending:
    """What the decision does about a finding."""
    residuals = residuals_of(report, finding)
    if not isinstance(report.decision, Plan) or finding.severity is Severity.INFO:
        return Mending(False, residuals=residuals)
    own = set(finding.shards)
    writes = tuple(
        w for w in writes_of(report.decision.steps)
        if own.intersection(shards_written(report, w))
    )
    left = {(e.harm, e.shard): e for run in report.decision.after for e in run}
    remains = tuple(
        left[mark] for e in finding.effects if (mark := (e.harm, e.shard)) in left
    )
    if remains:
        writes = tuple(w for w in writes if own.intersection(shards_moved(report, w)))
        if len(remains) == len(finding.effects) and {e.harm for e in remains} == {Harm.DISORDERED}:
            writes = ()  # of another finding: there is no less of a disorder
    if not writes and not finding.effects:
        return Mending(not _comes_back(report, report.decision, finding), residuals=residuals)
    return Mending(not remains and not residuals, writes, remains, residuals)


def codes(report: Report, changed: Sequence[Changed]) -> dict[ShardId, str]:
    """The codes of the findings that each of these rows mends, leftovers left out.

    What is mended by a file, none of whose rows is of the finding, is mended by all of them.
    """
    by_shard: dict[ShardId, dict[str, None]] = {}
    for finding in report.findings:
        if finding.severity > Severity.INFO:
            written = {write.key for write in mending(report, finding).writes}
            rows = [row.shard for row in changed if row.write.key in written]
            for shard in [shard for shard in rows if shard in finding.shards] or rows:
                by_shard.setdefault(shard, {})[finding.code] = None
    return {shard: ", ".join(names) for shard, names in by_shard.items()}


def _comes_back(report: Report, decision: Plan, finding: Finding) -> bool:
    """Whether the planned rows, judged anew, show it too: for findings that rest on no effect."""
    rows = tuple(after(report.snapshot.images, decision.steps))
    then = make(replace(report.snapshot, images=rows), replace(report.options, bootstrap=False))
    own = set(finding.shards)
    return any(f.code == finding.code and own & {*f.shards} for f in then.findings)


def residuals_of(report: Report, finding: Finding) -> tuple[Residual, ...]:
    """Shards left alone that the finding is about, or that its shards wait for."""
    concerned = set(finding.shards) | {shard for e in finding.effects for shard in e.by}
    return tuple(r for r in all_residuals(report) if r.shard in concerned)


def all_residuals(report: Report) -> tuple[Residual, ...]:
    """Every shard that is left alone."""
    decision = report.decision
    return decision.residuals if isinstance(decision, Plan | Nothing) else ()


def fixable(report: Report) -> list[Finding]:
    """The findings of which the plan leaves nothing. None of a forecast: fix would not see them.

    What `--yes` left alone for its cost counts: it is fixable once somebody accepts that.
    """
    if report.snapshot.foreseen is not None:
        return []
    if report.unlimited is not None:
        report = replace(report, decision=report.unlimited)
    return [finding for finding in report.findings if mending(report, finding).mended]


def effects_after(decision: Decision) -> list[Effect]:
    """What the planned rows still cost under any candidate, and what the policy gives up."""
    if not isinstance(decision, Plan):
        return []
    return [e for run in decision.after for e in run] + list(decision.costs)


def costs_after(decision: Decision) -> dict[ShardId, list[Effect]]:
    """The same by shard, without what no write could change any more."""
    by_shard: dict[ShardId, list[Effect]] = {}
    for effect in effects_after(decision):
        if effect.shard is not None and not effect.gone and not effect.past:
            by_shard.setdefault(effect.shard, []).append(effect)
    return by_shard
