"""A test suite for every store of rows, whatever its rows can hold; see `medium_contract`.

A store that holds only a few attributes names them in `SampleRows`. One that holds any uses
`MediumContract`, which includes this suite.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from threading import Barrier, Thread
from typing import Protocol

from msgspec.structs import replace

from reshardctl.model import (
    AttributeValue,
    Create,
    Delete,
    Image,
    Step,
    Update,
    Write,
    canonical,
    changed,
)
from reshardctl.model.write_state import WriteResult
from reshardctl.stores.base import Store


class StoreUnderTest(Protocol):
    """A store under test, and another client of it, such as a consumer."""

    def medium(self) -> Store:
        """A new handle on the same rows."""

    def plant(self, image: Image) -> None:
        """Put a row, over an existing one."""

    def pull(self, key: str) -> None:
        """Delete a row."""


@dataclass(frozen=True, slots=True)
class SampleRows:
    """What rows of a store can hold.

    Attributes:
        row: Key and number → a row; rows of one key and two numbers differ only in `guard`.
        large: The same, with 150 kB.
        optional: Further attributes that a row may have.
        identity: Names in the store's identity.
        seen: Attributes that the store sets itself.
    """

    row: Callable[[str, int], Image]
    large: Callable[[str], Image]
    guard: str
    optional: Mapping[str, AttributeValue]
    identity: tuple[str, ...]
    seen: frozenset[str] = frozenset()

    def change(self, number: int) -> Update:
        """Changes a row into the one of this number."""
        return Update({self.guard: self.row("a", number).attributes[self.guard]})

    def with_(self, image: Image, name: str) -> Image:
        """The row with an optional attribute."""
        return Image(image.key, canonical({**image.attributes, name: self.optional[name]}))

    def bare(self, image: Image) -> Image:
        """The row without what the store sets itself."""
        kept = {n: v for n, v in image.attributes.items() if n not in self.seen}
        return Image(image.key, kept)


def update(before: Image | None, change: Update, *guard: str, key: str = "a") -> Write:
    """A guarded update."""
    return Write(before.key if before else key, change, before, "a test", guard)


def create(image: Image) -> Write:
    """A new row."""
    return Write(image.key, Create(image.attributes), None, "a test")


def delete(before: Image, *guard: str) -> Write:
    """A guarded delete."""
    return Write(before.key, Delete(), before, "a test", guard)


def step(*writes: Write) -> Step:
    """Some writes as a step."""
    return Step("a test", writes)


def refused(call: Callable[[], object]) -> bool:
    """Whether a call ends in ValueError."""
    try:
        call()
    except ValueError:
        return True
    return False


class StoreContract:
    """Inherit, set `samples`, and give a fixture `store`."""

    samples: SampleRows

    def plain(self, number: int = 0, key: str = "a") -> Image:
        """One of the store's rows."""
        return self.samples.row(key, number)

    def rows(self, store: StoreUnderTest) -> list[Image]:
        """What a new handle reads, without what the store sets itself."""
        return [self.samples.bare(image) for image in store.medium().read()]

    def done(self, store: StoreUnderTest, *writes: Write, token: str = "t1") -> bool:
        """Write a step with a new handle; returns whether it was applied."""
        return store.medium().write(step(*writes), token) is WriteResult.APPLIED

    # identity

    def test_identity_is_words(self, store: StoreUnderTest) -> None:
        identity = store.medium().identity()
        assert all(identity[name] for name in self.samples.identity)
        assert all(isinstance(value, str) for value in identity.values())

    def test_identity_is_the_same_for_every_handle(self, store: StoreUnderTest) -> None:
        assert store.medium().identity() == store.medium().identity()

    def test_identity_survives_writes(self, store: StoreUnderTest) -> None:
        store.plant(self.plain())
        before = store.medium().identity()
        assert self.done(store, update(self.plain(), self.samples.change(1), self.samples.guard))
        assert store.medium().identity() == before

    # read

    def test_an_empty_store_reads_as_no_rows(self, store: StoreUnderTest) -> None:
        assert store.medium().read() == []

    def test_rows_come_in_key_order(self, store: StoreUnderTest) -> None:
        for key in ("b", "c", "a"):
            store.plant(self.plain(key=key))
        assert [image.key for image in store.medium().read()] == ["a", "b", "c"]

    def test_a_row_is_read_as_it_was_put(self, store: StoreUnderTest) -> None:
        image = self.plain()
        for name in self.samples.optional:
            image = self.samples.with_(image, name)
        store.plant(image)
        assert self.rows(store) == [image]

    def test_more_than_a_page_is_read_whole(self, store: StoreUnderTest) -> None:
        images = [self.samples.large(f"k{n:02}") for n in range(9)]
        for image in images:
            store.plant(image)
        assert self.rows(store) == images

    def test_reading_changes_nothing(self, store: StoreUnderTest) -> None:
        store.plant(self.plain())
        medium = store.medium()
        assert medium.read() == medium.read()
        assert medium.read() == list(medium.get(["a"]).values())

    def test_a_read_sees_what_another_just_wrote(self, store: StoreUnderTest) -> None:
        medium = store.medium()
        medium.read()
        store.plant(self.plain())
        assert list(map(self.samples.bare, medium.read())) == [self.plain()]
        store.pull("a")
        assert medium.read() == []

    # get

    def test_get_gives_the_named_rows_alone(self, store: StoreUnderTest) -> None:
        for key in ("a", "b", "c"):
            store.plant(self.plain(key=key))
        rows = store.medium().get(["c", "a"])
        assert list(rows) == ["c", "a"]
        assert all(row and self.samples.bare(row) == self.plain(key=k) for k, row in rows.items())

    def test_get_gives_none_for_an_absent_row(self, store: StoreUnderTest) -> None:
        store.plant(self.plain())
        rows = store.medium().get(["a", "b"])
        assert rows["a"] is not None and rows["b"] is None

    def test_get_of_nothing_is_nothing(self, store: StoreUnderTest) -> None:
        assert store.medium().get([]) == {}

    def test_get_takes_a_key_twice(self, store: StoreUnderTest) -> None:
        store.plant(self.plain())
        assert list(store.medium().get(["a", "a"])) == ["a"]

    def test_get_takes_more_keys_than_one_request_holds(self, store: StoreUnderTest) -> None:
        keys = [f"k{n:03}" for n in range(105)]
        for key in keys[::2]:
            store.plant(self.plain(key=key))
        rows = store.medium().get(keys)
        assert list(rows) == keys
        assert [key for key in keys if rows[key] is not None] == keys[::2]
        assert [key for key in keys if rows[key] is None] == keys[1::2]

    # create

    def test_a_new_row_is_as_it_was_asked_for(self, store: StoreUnderTest) -> None:
        assert self.done(store, create(self.plain()))
        assert self.rows(store) == [self.plain()]

    def test_a_new_row_never_replaces_one(self, store: StoreUnderTest) -> None:
        store.plant(self.plain(1))
        assert not self.done(store, create(self.plain()))
        assert self.rows(store) == [self.plain(1)]

    # update

    def test_an_update_leaves_what_the_model_says(self, store: StoreUnderTest) -> None:
        before = self.plain()
        for name in self.samples.optional:
            before = self.samples.with_(before, name)
        store.plant(before)
        write = update(before, self.samples.change(1), self.samples.guard, *self.samples.optional)
        assert self.done(store, write)
        assert self.rows(store) == [changed(before, write)]

    def test_an_update_sets_and_removes_what_is_optional(self, store: StoreUnderTest) -> None:
        store.plant(self.plain())
        for name, value in self.samples.optional.items():
            put = update(self.plain(), Update({name: value}), name)
            assert self.done(store, put, token=f"put-{name}")
            assert self.rows(store) == [self.samples.with_(self.plain(), name)]
            before = self.samples.with_(self.plain(), name)
            gone = update(before, Update({}, (name,)), name)
            assert self.done(store, gone, token=f"gone-{name}")
            assert self.rows(store) == [self.plain()]

    def test_removing_what_is_absent_is_no_failure(self, store: StoreUnderTest) -> None:
        store.plant(self.plain())
        for name in self.samples.optional:
            write = update(self.plain(), Update({}, (name,)), name)
            assert self.done(store, write, token=f"t-{name}")
            assert self.rows(store) == [self.plain()]

    def test_an_update_never_makes_a_row(self, store: StoreUnderTest) -> None:
        assert not self.done(store, update(self.plain(), self.samples.change(1)))
        assert self.rows(store) == []

    def test_an_update_of_a_row_that_was_absent_is_no_write(self, store: StoreUnderTest) -> None:
        write = update(None, self.samples.change(1))
        assert refused(lambda: store.medium().write(step(write), "t1"))
        assert self.rows(store) == []

    def test_what_nobody_guards_may_move_and_survives(self, store: StoreUnderTest) -> None:
        for name in self.samples.optional:
            store.plant(self.samples.with_(self.plain(), name))
            write = update(self.plain(), self.samples.change(1), self.samples.guard)
            assert self.done(store, write, token=f"t-{name}")
            assert self.rows(store) == [self.samples.with_(self.plain(1), name)]

    # guards

    def test_a_guard_sees_a_changed_value(self, store: StoreUnderTest) -> None:
        self._moved(store, self.plain(), self.plain(1), self.samples.guard)

    def test_a_guard_sees_an_optional_attribute_appear(self, store: StoreUnderTest) -> None:
        for name in self.samples.optional:
            self._moved(store, self.plain(), self.samples.with_(self.plain(), name), name)

    def test_a_guard_sees_an_optional_attribute_vanish(self, store: StoreUnderTest) -> None:
        for name in self.samples.optional:
            self._moved(store, self.samples.with_(self.plain(), name), self.plain(), name)

    def _moved(self, store: StoreUnderTest, before: Image, now: Image, guard: str) -> None:
        store.plant(now)
        for write in (update(before, self.samples.change(2), guard), delete(before, guard)):
            assert not self.done(store, write, token=f"t-{write.change}")
            assert self.rows(store) == [now]

    # delete

    def test_a_delete_takes_the_row_alone(self, store: StoreUnderTest) -> None:
        for key in ("a", "b"):
            store.plant(self.plain(key=key))
        assert self.done(store, delete(self.plain(), self.samples.guard))
        assert self.rows(store) == [self.plain(key="b")]

    def test_a_delete_of_an_absent_row_is_moved(self, store: StoreUnderTest) -> None:
        assert not self.done(store, delete(self.plain()))

    def test_a_deleted_row_can_be_made_again(self, store: StoreUnderTest) -> None:
        store.plant(self.plain())
        medium = store.medium()
        assert medium.write(step(delete(self.plain())), "t1") is WriteResult.APPLIED
        assert medium.write(step(create(self.plain(1))), "t2") is WriteResult.APPLIED
        assert self.rows(store) == [self.plain(1)]

    # steps

    def test_a_step_may_be_as_large_as_the_medium_says(self, store: StoreUnderTest) -> None:
        medium = store.medium()
        images = [self.plain(key=f"k{n:05}") for n in range(medium.max_writes)]
        assert medium.write(step(*map(create, images)), "t1") is WriteResult.APPLIED
        assert self.rows(store) == images

    def test_a_larger_step_is_no_step(self, store: StoreUnderTest) -> None:
        medium = store.medium()
        writes = [create(self.plain(key=f"k{n:05}")) for n in range(medium.max_writes + 1)]
        assert refused(lambda: medium.write(step(*writes), "t1"))
        assert medium.read() == []

    def test_a_step_writes_something(self, store: StoreUnderTest) -> None:
        assert refused(lambda: store.medium().write(step(), "t1"))

    def test_a_step_writes_a_row_once(self, store: StoreUnderTest) -> None:
        store.plant(self.plain())
        twice = step(update(self.plain(), self.samples.change(1)), delete(self.plain()))
        assert refused(lambda: store.medium().write(twice, "t1"))
        assert self.rows(store) == [self.plain()]

    def test_a_repeated_step_is_written_once(self, store: StoreUnderTest) -> None:
        store.plant(self.plain())
        write = update(self.plain(), self.samples.change(1), self.samples.guard)
        medium = store.medium()
        assert medium.write(step(write), "t1") is WriteResult.APPLIED
        medium.write(step(write), "t1")
        assert self.rows(store) == [changed(self.plain(), write)]

    def test_other_rows_stay_as_they_are(self, store: StoreUnderTest) -> None:
        others = [self.plain(n, f"other{n}") for n in range(3)]
        for image in (*others, self.plain()):
            store.plant(image)
        before = {image.key: image for image in store.medium().read()}
        assert self.done(store, update(self.plain(), self.samples.change(1)))
        after = {image.key: image for image in store.medium().read()}
        assert all(before[image.key] == after[image.key] for image in others)

    # steps of several writes, where the medium has them

    def test_a_step_does_all_kinds_at_once(self, store: StoreUnderTest) -> None:
        if store.medium().max_writes < 3:
            return
        for key in ("a", "b"):
            store.plant(self.plain(key=key))
        guard = self.samples.guard
        writes = (
            create(self.plain(key="c")), update(self.plain(), self.samples.change(1), guard),
            delete(self.plain(key="b")),
        )
        assert self.done(store, *writes)
        assert self.rows(store) == [self.plain(1), self.plain(key="c")]

    def test_one_moved_row_stops_the_whole_step(self, store: StoreUnderTest) -> None:
        if store.medium().max_writes < 4:
            return
        for moved in range(3):
            now = [self.plain(2 if n == moved else 0, key) for n, key in enumerate("abc")]
            for image in now:
                store.plant(image)
            store.pull("new")
            writes = [
                update(self.plain(key=key), self.samples.change(1), self.samples.guard)
                for key in "abc"
            ]
            written = (*writes, create(self.plain(key="new")))
            assert not self.done(store, *written, token=f"t{moved}")
            assert self.rows(store) == now

    # races

    def test_of_two_writers_one_wins(self, store: StoreUnderTest) -> None:
        store.plant(self.plain())
        write = update(self.plain(), self.samples.change(1), self.samples.guard)
        assert sorted(self._race(store, write)) == ["done", "moved"]
        assert self.rows(store) == [changed(self.plain(), write)]

    def test_of_two_makers_one_wins(self, store: StoreUnderTest) -> None:
        assert sorted(self._race(store, create(self.plain()))) == ["done", "moved"]
        assert self.rows(store) == [self.plain()]

    def _race(self, store: StoreUnderTest, write: Write) -> list[str]:
        start, ends = Barrier(2), []

        def run(medium: Store, token: str) -> None:
            start.wait(10)
            ends.append(medium.write(step(replace(write)), token).value)

        threads = [Thread(target=run, args=(store.medium(), f"t{n}")) for n in range(2)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join(30)
        return ends
