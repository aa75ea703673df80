"""A test suite that every consumer passes, for pytest: one class, to be inherited.

    class TestOurs(ConsumerContract):
        consumer = Ours()
        options = ({"initial": "LATEST"},)
        def row(self, lineage, shard, place): ...    # a stored row, or None
        def junk(self): ...                          # anything that a store may hold

A consumer that passes may be planned for: it answers for every shard, gives the same answer
twice, and reads back what it writes.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from enum import Enum
from typing import Any

from hypothesis import HealthCheck, assume, given, is_hypothesis_test, settings
from hypothesis import strategies as st
from msgspec.structs import replace

from reshardctl.consumers.base import Candidate, Consumer
from reshardctl.errors import UsageError
from reshardctl.lineage import Lineage
from reshardctl.model import (
    AttributeValue,
    Cut,
    Image,
    ShardId,
    Simulation,
    Span,
    WillRead,
    WontRead,
    Write,
    after,
    changed,
    writes_of,
)
from reshardctl.planning.effects import StreamState
from reshardctl.planning.plan import Case, Nothing, Plan, decide, processed_frontier
from reshardctl.planning.policy import EVERYTHING, LATEST_AT_START, LOSSLESS, Accept, Policy
from reshardctl.planning.restore import Restore
from tests.support.lineages import lineages, number_inside

_settings = settings(
    max_examples=100, deadline=None,
    suppress_health_check=[
        HealthCheck.differing_executors, HealthCheck.too_slow, HealthCheck.filter_too_much,
    ],
)  # fmt: skip


ALL = Accept(0.0, EVERYTHING, disorder=True)


class RowPosition(Enum):
    """Where a row stands, in no library's words."""

    START = "start"
    INSIDE = "inside"
    TIP = "tip"
    END = "end"


class ConsumerContract:
    """See the module. `foreign`: rows that belong to the library but are no positions.

    A class that names `examples` has each test with so many of them, and its subclasses, too.
    """

    examples: int
    consumer: Consumer
    options: Sequence[Mapping[str, str]] = ({},)
    foreign: Sequence[Image] = ()

    def __init_subclass__(cls) -> None:
        """Make the tests again, each with the examples that the class names."""
        if "examples" not in vars(cls):
            return
        so_many = settings(_settings, max_examples=cls.examples)
        for name in vars(ConsumerContract):
            test = getattr(cls, name)
            if is_hypothesis_test(test):
                setattr(cls, name, so_many(given(st.data())(test.hypothesis.inner_test)))

    def row(self, lineage: Lineage, shard: ShardId, at: RowPosition) -> Image | None:
        """A row as the library stores it; `None` where it stores none for such a position."""
        raise NotImplementedError

    def junk(self) -> st.SearchStrategy[list[Image]]:
        """Rows of any sort: keys and attributes of every type, plausible and implausible."""
        raise NotImplementedError

    # What is drawn

    def healthy(self, lineage: Lineage) -> list[Image]:
        """Every closed shard read to its end, every open one to a record."""
        positions = {s: RowPosition.INSIDE if lineage[s].open else RowPosition.END for s in lineage}
        rows = [self.row(lineage, shard, at) for shard, at in positions.items()]
        return sorted((row for row in rows if row is not None), key=lambda row: row.key)

    @st.composite
    @staticmethod
    def tables(draw: st.DrawFn, suite: ConsumerContract, lineage: Lineage) -> list[Image]:
        """Any shard at any position or at none."""
        rows = []
        for shard in lineage:
            at = draw(st.sampled_from([None, *RowPosition]))
            row = None if at is None else suite.row(lineage, shard, at)
            if row is not None:
                rows.append(row)
        return sorted(rows, key=lambda row: row.key)

    def damaged(
        self, data: st.DataObject, lineage: Lineage, images: Sequence[Image]
    ) -> list[Image]:
        """The rows with some numbers of another shard, a shard's start or end, or of no record."""
        owns = {number_inside(lineage, shard): shard for shard in lineage}
        rows = []
        for image in images:
            attributes = image.attributes
            for number in owns:
                if data.draw(st.booleans()):
                    other = lineage[data.draw(st.sampled_from(list(lineage)))]
                    text = data.draw(st.sampled_from([
                        number_inside(lineage, other.id), other.start, other.end or other.start,
                        str(int(number) + (7 << 36)),
                    ]))
                    attributes = _replaced(attributes, number, text)
            rows.append(Image(image.key, attributes))
        return rows

    def drawn(self, data: st.DataObject) -> tuple[Lineage, list[Image]]:
        """A lineage and a table over it."""
        lineage = data.draw(lineages())
        return lineage, data.draw(self.tables(self, lineage))

    def case(
        self, lineage: Lineage, images: Sequence[Image], options: Mapping[str, str],
        **more: Any,
    ) -> Case:
        """The case that they pose, an hour after the last event."""
        candidates = self.consumer.candidates(self.consumer.parse(images), options)
        state = StreamState(lineage, _now(lineage))
        return Case(self.consumer, state, images, candidates, **more)

    def each(self, images: Sequence[Image]) -> list[Candidate]:
        """Every candidate under every set of options."""
        checkpoint = self.consumer.parse(images)
        return [c for o in self.options for c in self.consumer.candidates(checkpoint, o)]

    # What it answers

    @_settings
    @given(st.data())
    def test_rows_of_any_sort_are_judged_or_refused(self, data: st.DataObject) -> None:
        """UsageError is the only exception: a strange row is a finding."""
        lineage = data.draw(lineages())
        try:
            images = data.draw(self.junk())
            checkpoint = self.consumer.parse(images)
            self.consumer.empty(checkpoint)
            self.consumer.positions(checkpoint)
            self.consumer.anomalies(lineage, checkpoint)
            self.consumer.incarnation(lineage, checkpoint)
            for candidate in self.each(images):
                self.consumer.processed(lineage, checkpoint, candidate.app)
                self.consumer.simulate_start(lineage, checkpoint, candidate.app)
            for image in images:
                self.consumer.footprint(image)
            self.consumer.signs_of_life(images)
            held = self.consumer.owners_by_shard(checkpoint)
            assert set(held) == set(self.consumer.positions(checkpoint))
        except UsageError as refused:
            assert refused.what

    @_settings
    @given(st.data())
    def test_every_shard_has_a_span_and_a_fate(self, data: st.DataObject) -> None:
        lineage, images = self.drawn(data)
        checkpoint = self.consumer.parse(images)
        named = set(lineage) | set(self.consumer.positions(checkpoint))
        for candidate in self.each(images):
            line = self.consumer.processed(lineage, checkpoint, candidate.app)
            assert set(line) == named
            assert all(isinstance(s, Span) and not s.hi < s.lo for s in line.values())
            run = self.consumer.simulate_start(lineage, checkpoint, candidate.app)
            if run.crash is None:
                assert set(run.fates) == named
            for shard, fate in run.fates.items():
                assert isinstance(fate, WillRead | WontRead) and fate.why
                if isinstance(fate, WillRead):
                    assert shard not in fate.after and not fate.at.hi < fate.at.lo

    @_settings
    @given(st.data())
    def test_the_order_of_rows_does_not_matter(self, data: st.DataObject) -> None:
        lineage, images = self.drawn(data)
        shuffled = data.draw(st.permutations(images))
        options = self._asked(data)
        first, second = (self._answers(lineage, rows, options) for rows in (images, shuffled))
        assert first == second

    @_settings
    @given(st.data())
    def test_it_says_the_same_twice(self, data: st.DataObject) -> None:
        lineage, images = self.drawn(data)
        options = self._asked(data)
        assert self._answers(lineage, images, options) == self._answers(
            lineage, [replace(i) for i in images], options
        )

    @_settings
    @given(st.data())
    def test_rows_parsed_again_are_parsed_as_if_anew(self, data: st.DataObject) -> None:
        lineage, images = self.drawn(data)
        pairs = zip(images, self.damaged(data, lineage, images), strict=True)
        now = [data.draw(st.sampled_from(pair)) for pair in pairs]
        again = self.consumer.parse_again(now, None, self.consumer.parse(images))
        assert again == self.consumer.parse(now)

    @_settings
    @given(st.data())
    def test_foreign_rows_are_no_positions(self, data: st.DataObject) -> None:
        lineage, images = self.drawn(data)
        mixed = [*self.foreign, *images]
        checkpoint, other = self.consumer.parse(images), self.consumer.parse(mixed)
        assert self.consumer.positions(checkpoint) == self.consumer.positions(other)
        assert self.consumer.empty(checkpoint) == self.consumer.empty(other)
        for candidate in self.each(mixed):
            assert self.consumer.processed(
                lineage, checkpoint, candidate.app
            ) == self.consumer.processed(lineage, other, candidate.app)

    def test_no_rows_are_an_empty_store(self) -> None:
        assert self.consumer.empty(self.consumer.parse([]))
        assert self.consumer.empty(self.consumer.parse(self.foreign))

    # What it writes

    @_settings
    @given(st.data())
    def test_a_healthy_store_needs_nothing(self, data: st.DataObject) -> None:
        """Encoding the frontier that is stored already needs no write."""
        lineage = data.draw(lineages())
        images = self.healthy(lineage)
        checkpoint = self.consumer.parse(images)
        assert decide(self.case(lineage, images, self._asked(data))) == Nothing()
        for candidate in self.each(images):
            processed = self.consumer.processed(lineage, checkpoint, candidate.app)
            want = LOSSLESS.frontier(lineage, processed)
            assert self.consumer.encode(lineage, checkpoint, want, candidate.app, ()) == []

    @_settings
    @given(st.data())
    def test_after_a_plan_there_is_nothing_to_do(self, data: st.DataObject) -> None:
        lineage, images = self.drawn(data)
        images = self.damaged(data, lineage, images)
        case, plan = self._planned(data, lineage, images, accept=ALL)
        rows = after(images, plan.steps)
        again = decide(replace(case, images=rows))
        # A residual may still lead to a question, but nothing is left to be written.
        assert not isinstance(again, Plan), (plan.steps, again)

    @_settings
    @given(st.data())
    def test_no_start_after_a_plan_delivers_less(self, data: st.DataObject) -> None:
        """After a plan each start delivers as much, except what counts as processed."""
        lineage, images = self.drawn(data)
        images = self.damaged(data, lineage, images)
        case, plan = self._planned(data, lineage, images, policies=(LOSSLESS,), accept=ALL)
        processed = processed_frontier(case)
        checkpoint = self.consumer.parse(images)
        fixed = self.consumer.parse(after(images, plan.steps))
        for candidate in case.candidates:
            before_fix = self.consumer.simulate_start(lineage, checkpoint, candidate.app)
            after_fix = self.consumer.simulate_start(lineage, fixed, candidate.app)
            assert before_fix.crash is not None or after_fix.crash is None
            before, now = delivered(lineage, before_fix), delivered(lineage, after_fix)
            for shard, (since, until) in before.items():
                assert shard in now or processed[shard].lo >= until, (shard, plan.steps)
                if shard in now:
                    assert now[shard][0] <= max(since, processed[shard].lo), (shard, plan.steps)
                    assert now[shard][1] >= until, (shard, plan.steps)

    @_settings
    @given(st.data())
    def test_a_plan_writes_each_row_once_and_guards_it(self, data: st.DataObject) -> None:
        lineage, images = self.drawn(data)
        _, plan = self._planned(data, lineage, images)
        there = {image.key: image for image in images}
        writes = writes_of(plan.steps)
        assert len({write.key for write in writes}) == len(writes) > 0
        for write in writes:
            assert write.before == there.get(write.key), "the image that it was proven on"
            assert write.why
            if write.before is not None:
                assert write.guard and changed(write.before, write) != write.before
        family = self.consumer.family(lineage, {write.key for write in writes})
        assert {write.key for write in writes} <= set(family)

    @_settings
    @given(st.data())
    def test_a_plan_can_be_taken_back(self, data: st.DataObject) -> None:
        """Every attribute and type is restored except volatile ones."""
        lineage, images = self.drawn(data)
        _, plan = self._planned(data, lineage, images)
        spec = self.consumer.spec
        rule = Restore.of(spec)
        rows: dict[str, Image | None] = {image.key: image for image in images}
        done: list[tuple[Write, Image | None, Image | None]] = []
        for write in writes_of(plan.steps):
            before = rows.get(write.key)
            rows[write.key] = changed(before, write)
            done.append((write, before, rows[write.key]))
        for write, before, landed in reversed(done):
            back = rule(write, before, landed, rows[write.key])
            if back is not None:
                rows[write.key] = changed(rows[write.key], back)
        left = [image for image in rows.values() if image is not None]
        assert _still(left, self._lost()) == _still(images, self._lost())

    @_settings
    @given(st.data())
    def test_the_first_rows_of_a_new_consumer(self, data: st.DataObject) -> None:
        lineage, options = data.draw(lineages()), self._asked(data)
        for policy in (LOSSLESS, LATEST_AT_START):
            case = self.case(lineage, [], options, policy=policy, bootstrap=True)
            plan = decide(case)
            assert isinstance(plan, Plan)
            rows = after([], plan.steps)
            assert isinstance(decide(replace(case, images=rows)), Nothing)

    # What a proof rests on

    @_settings
    @given(st.data())
    def test_counters_are_no_footprint(self, data: st.DataObject) -> None:
        lineage, images = self.drawn(data)
        assume(images)
        image = data.draw(st.sampled_from(images))
        moved: dict[str, AttributeValue] = dict(image.attributes)
        for name in self.consumer.spec.monotonic_counters & moved.keys():
            moved[name] = {"N": str(int(moved[name]["N"]) + 5)}
        other = Image(image.key, moved)
        assert self.consumer.footprint(image) == self.consumer.footprint(other)
        rows = [other if row is image else row for row in images]
        options = self._asked(data)
        first, second = (decide(self.case(lineage, each, options)) for each in (images, rows))
        assert type(first) is type(second)

    @_settings
    @given(st.data())
    def test_a_family_has_its_members_and_is_the_same_for_each(self, data: st.DataObject) -> None:
        lineage, _ = self.drawn(data)
        shard = data.draw(st.sampled_from(list(lineage)))
        family = set(self.consumer.family(lineage, {str(shard)}))
        near = {shard, *lineage[shard].parents, *lineage.children(shard)}
        assert {str(member) for member in near} <= family

    def test_what_a_silent_watch_excludes_is_said(self) -> None:
        assert "60" in self.consumer.excluded_by(60.0)

    # What the tests share

    def _asked(self, data: st.DataObject) -> Mapping[str, str]:
        """One set of options: each is drawn several times over the examples."""
        return data.draw(st.sampled_from(list(self.options)))

    def _planned(
        self, data: st.DataObject, lineage: Lineage, images: Sequence[Image],
        policies: Sequence[Policy] = (LOSSLESS, LATEST_AT_START), **more: Any,
    ) -> tuple[Case, Plan]:
        options = self._asked(data)
        policy = data.draw(st.sampled_from(policies))
        case = self.case(lineage, images, options, policy=policy, **more)
        assume(not self.consumer.empty(self.consumer.parse(images)))
        plan = decide(case)
        assume(isinstance(plan, Plan))
        assert isinstance(plan, Plan)
        return case, plan

    def _answers(
        self, lineage: Lineage, images: Sequence[Image], options: Mapping[str, str]
    ) -> list[Any]:
        checkpoint = self.consumer.parse(images)
        if self.consumer.empty(checkpoint):
            return []
        answers: list[Any] = [decide(self.case(lineage, images, options))]
        for candidate in self.consumer.candidates(checkpoint, options):
            answers.append(self.consumer.processed(lineage, checkpoint, candidate.app))
            answers.append(self.consumer.simulate_start(lineage, checkpoint, candidate.app))
        return answers

    def _lost(self) -> frozenset[str]:
        return self.consumer.spec.monotonic_counters | self.consumer.spec.owner_attributes


def delivered(lineage: Lineage, run: Simulation) -> dict[ShardId, tuple[Cut, Cut]]:
    """The interval of every listed shard that a start certainly reads."""
    if run.crash is not None:
        return {}
    intervals: dict[ShardId, tuple[Cut, Cut]] = {}
    ended: dict[ShardId, bool] = {}
    for shard in sorted(run.fates):
        fate = run.fates[shard]
        ready = isinstance(fate, WillRead) and all(ended.get(p, False) for p in fate.after)
        ended[shard] = ready and isinstance(fate, WillRead) and fate.ends
        if ready and isinstance(fate, WillRead) and shard in lineage and fate.at.hi < fate.until:
            intervals[shard] = (fate.at.hi, fate.until)
    return intervals


def _replaced(value: Any, old: str, new: str) -> Any:
    if isinstance(value, Mapping):
        return {name: _replaced(member, old, new) for name, member in value.items()}
    if isinstance(value, list):
        return [_replaced(member, old, new) for member in value]
    return value.replace(old, new) if isinstance(value, str) else value


def _still(images: Sequence[Image], lost: frozenset[str]) -> dict[str, dict[str, AttributeValue]]:
    """Rows without the attributes that no undo restores."""
    return {
        image.key: {n: v for n, v in image.attributes.items() if n not in lost}
        for image in images
    }


def _now(lineage: Lineage) -> float:
    """An hour after the youngest shard was created."""
    opened = [lineage.opened_at(shard) for shard in lineage]
    return max([lineage.stream.created, *(time for time in opened if time is not None)]) + 3600.0
