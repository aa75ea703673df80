"""Mistakes on purpose: each is one that a person could make, and each must be seen."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import pytest
from msgspec.structs import replace

import reshardctl.consumers.kcl.behaviour as behaviour
import reshardctl.consumers.kcl.encode as encode
import reshardctl.consumers.kcl.writes as written_rows
import reshardctl.planning.effects as effects
from reshardctl.consumers.kcl import processed
from reshardctl.consumers.kcl.processed import PositionKind, cut_of, kinds_of
from reshardctl.consumers.kcl.rows import LeaseTable, Row
from reshardctl.consumers.kcl.steps import in_steps
from reshardctl.consumers.kcl.sync import missing_leases
from reshardctl.lineage import Lineage
from reshardctl.model import DONE, START, TIP, Cause, Create, Rank, ShardId, exactly
from reshardctl.planning.unread import Reading

Patch = pytest.MonkeyPatch
Mutant = Callable[[Patch], None]

Run: Any = behaviour._Run
Orders: Any = encode._Orders
Absent: Any = processed._Absent
Present: Any = processed._Present


def forget_the_adjacent_parent(patch: Patch) -> None:
    parents = Lineage.parents
    patch.setattr(Lineage, "parents", lambda self, shard: parents(self, shard)[:1])


def read_the_checkpointed_record_again(patch: Patch) -> None:

    def early(row: Row, app: Any) -> Any:
        cut = cut_of(row, app)
        return replace(cut, number=cut.number - 1) if cut.rank is Rank.INSIDE else cut

    patch.setattr(behaviour, "cut_of", early)


def finished_is_not_leased(patch: Patch) -> None:
    sync = missing_leases

    def blind(lineage: Any, leased: Any, initial: Any) -> Any:
        return sync(lineage, [s for s, lease in leased.items() if not lease.finished], initial)

    patch.setattr(behaviour, "missing_leases", blind)


def children_start_at_latest(patch: Patch) -> None:
    add = Run._add

    def late(self: Any, shard: Any, at: Any, cause: Any, why: str, delay: Any) -> None:
        add(self, shard, TIP if cause is Cause.CREATED_AT_PARENT_END else at, cause, why, delay)

    patch.setattr(Run, "_add", late)


def end_parents_without_children(patch: Patch) -> None:
    def bare(self: Any, shard: Any, why: str) -> None:
        if not self._lineage.is_open(shard):
            self._order(written_rows.Order(shard, DONE, why))

    patch.setattr(Orders, "_end", bare)


def create_rows_without_parents(patch: Patch) -> None:
    new = written_rows._new

    def orphaned(*given: Any) -> Create:
        item = dict(new(*given).attributes)
        item.pop("parentShardId", None)
        return Create(item)

    patch.setattr(written_rows, "_new", orphaned)


def ignore_the_merge_rule(patch: Patch) -> None:
    patch.setattr(Run, "_both_or_none", lambda _self, _lease: True)


def refill_at_trim_horizon(patch: Patch) -> None:
    patch.setattr(Run, "_initial", lambda _self, _shard: START)


def never_refill(patch: Patch) -> None:
    patch.setattr(behaviour, "has_hole", lambda _active: False)


def take_cleaned_parents_as_lost(patch: Patch) -> None:
    patch.setattr(Absent, "_all_progressed", lambda _self, _children: False)
    patch.setattr(Absent, "_held_back_a_reader", lambda _self, _children, _shard: False)


def take_lost_parents_as_cleaned(patch: Patch) -> None:
    patch.setattr(Absent, "_all_progressed", lambda _self, _children: True)


def take_pending_children_as_lost(patch: Patch) -> None:
    patch.setattr(Absent, "_awaits_a_parent", lambda _self, _shard: False)


def ignore_the_sub_sequence_number(patch: Patch) -> None:
    patch.setattr(Row, "ended", property(lambda row: row.position == "SHARD_END"))


def run_beside_the_parents(patch: Patch) -> None:
    patch.setattr(Run, "_hold", lambda self, lease, _parents: self._wait(lease, frozenset()))


def accept_numbers_of_other_shards(patch: Patch) -> None:
    def trusting(lineage: Lineage, table: LeaseTable) -> Mapping[ShardId, PositionKind]:
        kinds = kinds_of(lineage, table)
        foreign, number = PositionKind.FOREIGN, PositionKind.NUMBER
        return {shard: number if kind is foreign else kind for shard, kind in kinds.items()}

    patch.setattr(behaviour, "kinds_of", trusting)
    patch.setattr(processed, "kinds_of", trusting)


def read_what_cannot_be_read(patch: Patch) -> None:
    patch.setattr(Row, "unread", lambda _row, _traits: ())


def end_beside_an_unreadable_child(patch: Patch) -> None:
    patch.setattr(Run, "_blind", lambda _self, _shard: False)


def trust_every_latest(patch: Patch) -> None:
    patch.setattr(processed, "_untouched", lambda _lineage, _table: True)
    patch.setattr(Present, "_below_a_lease", lambda _self, _shard: False)
    patch.setattr(Present, "_ran_before", lambda _self, _shard: False)


def believe_ends_of_open_shards(patch: Patch) -> None:
    span = Present.span

    def trusting(self: Any, row: Row) -> Any:
        return exactly(DONE) if row.ended else span(self, row)

    patch.setattr(Present, "span", trusting)


def leave_parents_to_the_audit(patch: Patch) -> None:
    patch.setattr(Orders, "_put_parents_first", lambda _self, _shard: None)


def leave_merges_incomplete(patch: Patch) -> None:
    patch.setattr(Orders, "_complete_merge", lambda _self, _row: None)


def leave_ungated_rows(patch: Patch) -> None:
    patch.setattr(Orders, "_ungated", lambda _self, _row: False)


def create_children_at_latest(patch: Patch) -> None:
    spelling = written_rows.spelling
    patch.setattr(written_rows, "spelling", lambda cut: spelling(TIP if cut == START else cut))


def parents_before_children(patch: Patch) -> None:
    """Each write a step of its own, oldest shard first."""
    steps = in_steps

    def split(*given: Any) -> list[Any]:
        writes = [(step, write) for step in steps(*given) for write in step.writes]
        writes.sort(key=lambda pair: pair[1].key)
        return [replace(step, writes=(write,)) for step, write in writes]

    patch.setattr(encode, "in_steps", split)


def overlook_disorder(patch: Patch) -> None:
    patch.setattr(Reading, "_hold_back", lambda *_given: None)


def overlook_re_reads(patch: Patch) -> None:
    patch.setattr(effects, "_rereads", lambda *_given: iter(()))


def overlook_stalls(patch: Patch) -> None:
    patch.setattr(effects, "_stalls", lambda *_given: iter(()))


def overlook_skips(patch: Patch) -> None:
    patch.setattr(effects, "_skips", lambda *_given: iter(()))


MUTANTS: tuple[Mutant, ...] = tuple(
    value
    for name, value in list(globals().items())
    if callable(value) and getattr(value, "__annotations__", {}).get("patch") == "Patch"
)
