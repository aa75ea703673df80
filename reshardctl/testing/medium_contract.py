"""What every medium keeps to, as a suite for pytest: one class, to be inherited.

    class TestOurs(MediumContract):
        @pytest.fixture
        def store(self, tmp_path): ...      # a `Store`, empty, one per test

A medium that passes may be trusted with a fix: it reads whole, it writes what was asked and
nothing else, and it writes nothing at all over a row that moved.
"""


from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from threading import Barrier, Thread
from typing import Protocol

from reshardctl.landing import differing
from reshardctl.media.base import Landed, Medium
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

EVERY_TYPE: dict[str, AttributeValue] = {
    "aString": {"S": "text \u00e9 \u4e2d \x00\n\"'"},
    "anEmptyString": {"S": ""},
    "aNumber": {"N": "49680412033094866848527506851837432377"},
    "aFraction": {"N": "0.000023"},
    "aBinary": {"B": "AP+AYWJj"},
    "aTruth": {"BOOL": False},
    "aNull": {"NULL": True},
    "strings": {"SS": ["a", "b", "shardId-000000000001"]},
    "numbers": {"NS": ["-1", "10", "9"]},
    "binaries": {"BS": ["YQ==", "Yg=="]},
    "aList": {"L": [{"S": "x"}, {"N": "1"}, {"L": []}, {"B": "eA=="}]},
    "aMap": {"M": {"inner": {"SS": ["p", "q"]}, "deeper": {"M": {"n": {"NULL": True}}}}},
}
"""One attribute of every type that a row may hold."""

AWKWARD_NAMES = ("status", "size", "a.b", "with space", "#n0", ":v0", "0", "name-é", "AND")
"""Attribute names that are reserved words, or look like part of an expression."""


class Store(Protocol):
    """A store under test, and another client of it, as a consumer would be."""

    def medium(self) -> Medium:
        """A new handle on the same rows."""

    def plant(self, image: Image) -> None:
        """Put a row, over any that is there."""

    def pull(self, key: str) -> None:
        """Take a row away."""


def row(key: str, **attributes: AttributeValue) -> Image:
    """A row with a position and a counter, and what else is named."""
    base: dict[str, AttributeValue] = {
        "leaseKey": {"S": key},
        "checkpoint": {"S": "TRIM_HORIZON"},
        "leaseCounter": {"N": "7"},
    }
    return Image(key, canonical(base | attributes))


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


END = Update({"checkpoint": {"S": "SHARD_END"}}, ("leaseOwner",), {"leaseCounter": 1})


def refused(call: Callable[[], object]) -> bool:
    """Whether a call ends in ValueError."""
    try:
        call()
    except ValueError:
        return True
    return False


class MediumContract:
    """Inherit, and give a fixture `store`."""

    # identity

    def test_identity_is_words(self, store: Store) -> None:
        found = store.medium().identity()
        assert found["arn"] and found["created"]
        assert all(isinstance(value, str) for value in found.values())

    def test_identity_is_the_same_for_every_handle(self, store: Store) -> None:
        assert store.medium().identity() == store.medium().identity()

    # read

    def test_an_empty_store_reads_as_no_rows(self, store: Store) -> None:
        assert store.medium().read() == []

    def test_rows_come_in_key_order(self, store: Store) -> None:
        for key in ("b", "c", "a"):
            store.plant(row(key))
        assert [image.key for image in store.medium().read()] == ["a", "b", "c"]

    def test_every_type_is_read_as_it_was_put(self, store: Store) -> None:
        image = row("a", **EVERY_TYPE)
        store.plant(image)
        assert store.medium().read() == [image]

    def test_sets_are_read_in_order(self, store: Store) -> None:
        store.plant(Image("a", {"leaseKey": {"S": "a"}, "parents": {"SS": ["z", "m", "b"]}}))
        assert store.medium().read()[0].attributes["parents"] == {"SS": ["b", "m", "z"]}

    def test_awkward_names_are_read(self, store: Store) -> None:
        image = row("a", **{name: {"S": name} for name in AWKWARD_NAMES})
        store.plant(image)
        assert store.medium().read() == [image]

    def test_more_than_a_page_is_read_whole(self, store: Store) -> None:
        images = [row(f"k{n:02}", blob={"S": "x" * 150_000}) for n in range(16)]
        for image in images:
            store.plant(image)
        assert store.medium().read() == images

    def test_reading_changes_nothing(self, store: Store) -> None:
        store.plant(row("a", **EVERY_TYPE))
        medium = store.medium()
        assert medium.read() == medium.read()
        assert medium.read() == list(medium.get(["a"]).values())

    def test_a_read_sees_what_another_just_wrote(self, store: Store) -> None:
        medium = store.medium()
        medium.read()
        store.plant(row("a"))
        assert medium.read() == [row("a")]
        store.pull("a")
        assert medium.read() == []

    # get

    def test_get_gives_the_named_rows_alone(self, store: Store) -> None:
        for key in ("a", "b", "c"):
            store.plant(row(key))
        assert store.medium().get(["c", "a"]) == {"c": row("c"), "a": row("a")}

    def test_get_gives_none_for_an_absent_row(self, store: Store) -> None:
        store.plant(row("a"))
        assert store.medium().get(["a", "b"]) == {"a": row("a"), "b": None}

    def test_get_of_nothing_is_nothing(self, store: Store) -> None:
        assert store.medium().get([]) == {}

    def test_get_takes_a_key_twice(self, store: Store) -> None:
        store.plant(row("a"))
        assert store.medium().get(["a", "a"]) == {"a": row("a")}

    def test_get_takes_more_keys_than_one_request_holds(self, store: Store) -> None:
        keys = [f"k{n:03}" for n in range(205)]
        for key in keys[::2]:
            store.plant(row(key))
        found = store.medium().get(keys)
        assert list(found) == keys
        assert [key for key in keys if found[key] == row(key)] == keys[::2]
        assert [key for key in keys if found[key] is None] == keys[1::2]

    # create

    def test_a_new_row_has_what_was_asked(self, store: Store) -> None:
        image = row("a", **EVERY_TYPE)
        assert store.medium().write(step(create(image)), "t1") is Landed.DONE
        assert store.medium().read() == [image]

    def test_a_new_row_never_replaces_one(self, store: Store) -> None:
        store.plant(row("a", theirs={"S": "kept"}))
        assert store.medium().write(step(create(row("a"))), "t1") is Landed.MOVED
        assert store.medium().read() == [row("a", theirs={"S": "kept"})]

    # update

    def test_an_update_leaves_what_the_model_says(self, store: Store) -> None:
        before = row("a", leaseOwner={"S": "w1"}, **EVERY_TYPE)
        store.plant(before)
        write = update(before, END, "checkpoint", "leaseCounter", "leaseOwner")
        assert store.medium().write(step(write), "t1") is Landed.DONE
        assert store.medium().get(["a"])["a"] == changed(before, write)

    def test_an_update_sets_every_type(self, store: Store) -> None:
        store.plant(row("a"))
        write = update(row("a"), Update(EVERY_TYPE))
        assert store.medium().write(step(write), "t1") is Landed.DONE
        assert store.medium().read() == [row("a", **EVERY_TYPE)]

    def test_an_update_removes_every_type(self, store: Store) -> None:
        before = row("a", **EVERY_TYPE)
        store.plant(before)
        write = update(before, Update({}, tuple(EVERY_TYPE)), *EVERY_TYPE)
        assert store.medium().write(step(write), "t1") is Landed.DONE
        assert store.medium().read() == [row("a")]

    def test_removing_an_absent_attribute_is_no_failure(self, store: Store) -> None:
        store.plant(row("a"))
        write = update(row("a"), Update({}, ("leaseOwner",)), "leaseOwner")
        assert store.medium().write(step(write), "t1") is Landed.DONE
        assert store.medium().read() == [row("a")]

    def test_an_absent_counter_counts_from_nothing(self, store: Store) -> None:
        store.plant(row("a"))
        write = update(row("a"), Update({}, (), {"switches": 2}), "switches")
        assert store.medium().write(step(write), "t1") is Landed.DONE
        assert store.medium().read() == [row("a", switches={"N": "2"})]

    def test_awkward_names_are_set_guarded_and_removed(self, store: Store) -> None:
        before = row("a", **{name: {"S": "old"} for name in AWKWARD_NAMES})
        store.plant(before)
        kept, gone = AWKWARD_NAMES[::2], AWKWARD_NAMES[1::2]
        change = Update({name: {"S": "new"} for name in kept}, gone)
        write = update(before, change, *AWKWARD_NAMES)
        assert store.medium().write(step(write), "t1") is Landed.DONE
        assert store.medium().read() == [row("a", **{name: {"S": "new"} for name in kept})]

    def test_an_update_never_makes_a_row(self, store: Store) -> None:
        assert store.medium().write(step(update(row("a"), END)), "t1") is Landed.MOVED
        assert store.medium().read() == []

    def test_an_update_of_a_row_that_was_absent_is_no_write(self, store: Store) -> None:
        assert refused(lambda: store.medium().write(step(update(None, END)), "t1"))
        assert store.medium().read() == []

    def test_what_nobody_guards_may_move_and_survives(self, store: Store) -> None:
        store.plant(row("a", leaseCounter={"N": "99"}, theirs={"S": "new"}))
        write = update(row("a"), END, "checkpoint")
        assert store.medium().write(step(write), "t1") is Landed.DONE
        (found,) = store.medium().read()
        assert found.attributes["leaseCounter"] == {"N": "100"}
        assert found.attributes["theirs"] == {"S": "new"}

    # guards

    def test_a_guard_of_every_type_holds(self, store: Store) -> None:
        before = row("a", **EVERY_TYPE)
        store.plant(before)
        write = update(before, END, *before.attributes, "absent")
        assert store.medium().write(step(write), "t1") is Landed.DONE

    def test_a_guard_of_every_type_fails(self, store: Store) -> None:
        for name, value in OTHERWISE.items():
            before = row("a", **EVERY_TYPE)
            store.plant(row("a", **(EVERY_TYPE | {name: value})))
            write = update(before, END, name)
            assert store.medium().write(step(write), f"t-{name}") is Landed.MOVED, name
            assert store.medium().read() == [row("a", **(EVERY_TYPE | {name: value}))], name

    def test_a_guard_sees_a_changed_value(self, store: Store) -> None:
        self._moved(store, row("a"), row("a", leaseCounter={"N": "8"}), "leaseCounter")

    def test_a_guard_sees_an_attribute_appear(self, store: Store) -> None:
        self._moved(store, row("a"), row("a", leaseOwner={"S": "w1"}), "leaseOwner")

    def test_a_guard_sees_an_attribute_vanish(self, store: Store) -> None:
        self._moved(store, row("a", leaseOwner={"S": "w1"}), row("a"), "leaseOwner")

    def test_a_guard_sees_another_type(self, store: Store) -> None:
        self._moved(store, row("a"), row("a", leaseCounter={"S": "7"}), "leaseCounter")

    def test_a_guard_compares_numbers_by_value(self, store: Store) -> None:
        store.plant(row("a", rate={"N": "0.000023"}))
        write = update(row("a", rate={"N": "2.3E-5"}), END, "rate")
        assert store.medium().write(step(write), "t1") is Landed.DONE

    def test_a_guard_compares_sets_without_order(self, store: Store) -> None:
        store.plant(row("a", parents={"SS": ["p", "q"]}))
        before = Image("a", {**row("a").attributes, "parents": {"SS": ["q", "p"]}})
        assert store.medium().write(step(update(before, END, "parents")), "t1") is Landed.DONE

    def _moved(self, store: Store, before: Image, now: Image, guard: str) -> None:
        store.plant(now)
        for write in (update(before, END, guard), delete(before, guard)):
            assert store.medium().write(step(write), f"t-{write.change}") is Landed.MOVED
            assert store.medium().read() == [now]

    # delete

    def test_a_delete_takes_the_row_alone(self, store: Store) -> None:
        for key in ("a", "b"):
            store.plant(row(key))
        assert store.medium().write(step(delete(row("a"), "checkpoint")), "t1") is Landed.DONE
        assert store.medium().read() == [row("b")]

    def test_a_delete_of_an_absent_row_is_moved(self, store: Store) -> None:
        assert store.medium().write(step(delete(row("a"))), "t1") is Landed.MOVED

    def test_a_deleted_row_can_be_made_again(self, store: Store) -> None:
        store.plant(row("a"))
        medium = store.medium()
        assert medium.write(step(delete(row("a"))), "t1") is Landed.DONE
        assert medium.write(step(create(row("a", back={"S": "yes"}))), "t2") is Landed.DONE
        assert medium.read() == [row("a", back={"S": "yes"})]

    # steps

    def test_a_step_does_all_kinds_at_once(self, store: Store) -> None:
        store.plant(row("a"))
        store.plant(row("b"))
        writes = (create(row("c")), update(row("a"), END, "checkpoint"), delete(row("b")))
        assert store.medium().write(step(*writes), "t1") is Landed.DONE
        assert store.medium().read() == [changed(row("a"), writes[1]), row("c")]

    def test_one_moved_row_stops_the_whole_step(self, store: Store) -> None:
        for moved in range(3):
            now = [row(key) for key in ("a", "b", "c")]
            now[moved] = row(now[moved].key, checkpoint={"S": "LATEST"})
            for image in now:
                store.plant(image)
            writes = [update(row(key), END, "checkpoint") for key in ("a", "b", "c")]
            store.pull("new")
            token = f"t{moved}"
            landed = store.medium().write(step(*writes, create(row("new"))), token)
            assert landed is Landed.MOVED
            assert store.medium().read() == now

    def test_a_step_may_be_as_large_as_the_medium_says(self, store: Store) -> None:
        medium = store.medium()
        images = [row(f"k{n:03}") for n in range(medium.max_writes)]
        assert medium.write(step(*map(create, images)), "t1") is Landed.DONE
        assert medium.read() == images

    def test_a_larger_step_is_no_step(self, store: Store) -> None:
        medium = store.medium()
        writes = [create(row(f"k{n:03}")) for n in range(medium.max_writes + 1)]
        assert refused(lambda: medium.write(step(*writes), "t1"))
        assert medium.read() == []

    def test_a_step_writes_something(self, store: Store) -> None:
        assert refused(lambda: store.medium().write(step(), "t1"))

    def test_a_step_writes_a_row_once(self, store: Store) -> None:
        store.plant(row("a"))
        twice = step(update(row("a"), END), delete(row("a")))
        assert refused(lambda: store.medium().write(twice, "t1"))
        assert store.medium().read() == [row("a")]

    def test_a_repeated_step_is_written_once(self, store: Store) -> None:
        store.plant(row("a"))
        write = update(row("a"), END, "checkpoint", "leaseCounter")
        medium = store.medium()
        assert medium.write(step(write), "t1") is Landed.DONE
        medium.write(step(write), "t1")
        assert medium.read() == [changed(row("a"), write)]

    def test_other_rows_stay_as_they_are(self, store: Store) -> None:
        others = [row(f"other{n}", **EVERY_TYPE) for n in range(3)]
        for image in (*others, row("a")):
            store.plant(image)
        assert store.medium().write(step(update(row("a"), END)), "t1") is Landed.DONE
        left = {image.key: image for image in store.medium().read()}
        assert all(not differing(left[image.key], image) for image in others)

    # races

    def test_of_two_writers_one_wins(self, store: Store) -> None:
        store.plant(row("a"))
        write = update(row("a"), END, "checkpoint", "leaseCounter")
        assert sorted(self._race(store, write)) == ["done", "moved"]
        assert store.medium().read() == [changed(row("a"), write)]

    def test_of_two_makers_one_wins(self, store: Store) -> None:
        assert sorted(self._race(store, create(row("a")))) == ["done", "moved"]

    def _race(self, store: Store, write: Write) -> list[str]:
        start, ends = Barrier(2), []

        def run(medium: Medium, token: str) -> None:
            start.wait(10)
            ends.append(medium.write(step(replace(write)), token).value)

        threads = [Thread(target=run, args=(store.medium(), f"t{n}")) for n in range(2)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join(30)
        return ends


OTHERWISE: dict[str, AttributeValue] = {
    "aString": {"S": "text"},
    "anEmptyString": {"S": " "},
    "aNumber": {"N": "49680412033094866848527506851837432378"},
    "aFraction": {"N": "0.000024"},
    "aBinary": {"B": "AP+AYWJk"},
    "aTruth": {"BOOL": True},
    "aNull": {"S": ""},
    "strings": {"SS": ["a", "b"]},
    "numbers": {"NS": ["-1", "10"]},
    "binaries": {"BS": ["YQ=="]},
    "aList": {"L": [{"N": "1"}, {"S": "x"}, {"L": []}, {"B": "eA=="}]},
    "aMap": {"M": {"inner": {"SS": ["p", "q"]}, "deeper": {"M": {}}}},
}
"""For every attribute of EVERY_TYPE, a value that differs as little as it can."""
