"""A test suite for stores whose rows hold any attribute, for pytest: one class, to be inherited.

    class TestOurs(MediumContract):
        @pytest.fixture
        def store(self, tmp_path): ...      # a `StoreUnderTest`, empty, one per test

A store that passes may be trusted with a fix: it reads everything, writes exactly what was asked,
and writes nothing over a row that changed. If rows hold only a few attributes (a file its text, a
text its positions), inherit `StoreContract` and name them in `SampleRows`.
"""

from __future__ import annotations

from reshardctl.model import AttributeValue, Image, Update, canonical, changed
from reshardctl.model.write_state import WriteResult, differing
from tests.contracts.store_contract import (
    SampleRows,
    StoreContract,
    StoreUnderTest,
    create,
    delete,
    refused,
    step,
    update,
)

__all__ = [
    "END",
    "EVERY_TYPE",
    "MediumContract",
    "StoreUnderTest",
    "create",
    "delete",
    "refused",
    "row",
    "step",
    "update",
]


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


def row(key: str, **attributes: AttributeValue) -> Image:
    """A row with a position and a counter, and the given attributes."""
    base: dict[str, AttributeValue] = {
        "leaseKey": {"S": key},
        "checkpoint": {"S": "TRIM_HORIZON"},
        "leaseCounter": {"N": "7"},
    }
    return Image(key, canonical(base | attributes))


def _numbered(key: str, number: int) -> Image:
    return row(key, **({"checkpoint": {"S": str(number)}} if number else {}))


END = Update({"checkpoint": {"S": "SHARD_END"}}, ("leaseOwner",), {"leaseCounter": 1})
ROWS = SampleRows(
    row=_numbered,
    large=lambda key: row(key, blob={"S": "x" * 150_000}),
    guard="checkpoint",
    optional={"leaseOwner": {"S": "w1"}, "parents": {"SS": ["a", "b"]}},
    identity=("arn", "created"),
)


class MediumContract(StoreContract):
    """Inherit, and give a fixture `store`."""

    samples = ROWS

    # read

    def test_every_type_is_read_as_it_was_put(self, store: StoreUnderTest) -> None:
        image = row("a", **EVERY_TYPE)
        store.plant(image)
        assert store.medium().read() == [image]

    def test_sets_are_read_in_order(self, store: StoreUnderTest) -> None:
        store.plant(Image("a", {"leaseKey": {"S": "a"}, "parents": {"SS": ["z", "m", "b"]}}))
        assert store.medium().read()[0].attributes["parents"] == {"SS": ["b", "m", "z"]}

    def test_awkward_names_are_read(self, store: StoreUnderTest) -> None:
        image = row("a", **{name: {"S": name} for name in AWKWARD_NAMES})
        store.plant(image)
        assert store.medium().read() == [image]

    def test_reading_changes_nothing(self, store: StoreUnderTest) -> None:
        store.plant(row("a", **EVERY_TYPE))
        medium = store.medium()
        assert medium.read() == medium.read()
        assert medium.read() == list(medium.get(["a"]).values())

    # create

    def test_a_new_row_has_what_was_asked(self, store: StoreUnderTest) -> None:
        image = row("a", **EVERY_TYPE)
        assert store.medium().write(step(create(image)), "t1") is WriteResult.APPLIED
        assert store.medium().read() == [image]

    # update

    def test_an_update_leaves_what_the_model_says(self, store: StoreUnderTest) -> None:
        before = row("a", leaseOwner={"S": "w1"}, **EVERY_TYPE)
        store.plant(before)
        write = update(before, END, "checkpoint", "leaseCounter", "leaseOwner")
        assert store.medium().write(step(write), "t1") is WriteResult.APPLIED
        assert store.medium().get(["a"])["a"] == changed(before, write)

    def test_an_update_sets_every_type(self, store: StoreUnderTest) -> None:
        store.plant(row("a"))
        write = update(row("a"), Update(EVERY_TYPE))
        assert store.medium().write(step(write), "t1") is WriteResult.APPLIED
        assert store.medium().read() == [row("a", **EVERY_TYPE)]

    def test_an_update_removes_every_type(self, store: StoreUnderTest) -> None:
        before = row("a", **EVERY_TYPE)
        store.plant(before)
        write = update(before, Update({}, tuple(EVERY_TYPE)), *EVERY_TYPE)
        assert store.medium().write(step(write), "t1") is WriteResult.APPLIED
        assert store.medium().read() == [row("a")]

    def test_an_absent_counter_counts_from_nothing(self, store: StoreUnderTest) -> None:
        store.plant(row("a"))
        write = update(row("a"), Update({}, (), {"switches": 2}), "switches")
        assert store.medium().write(step(write), "t1") is WriteResult.APPLIED
        assert store.medium().read() == [row("a", switches={"N": "2"})]

    def test_awkward_names_are_set_guarded_and_removed(self, store: StoreUnderTest) -> None:
        before = row("a", **{name: {"S": "old"} for name in AWKWARD_NAMES})
        store.plant(before)
        kept, gone = AWKWARD_NAMES[::2], AWKWARD_NAMES[1::2]
        change = Update({name: {"S": "new"} for name in kept}, gone)
        write = update(before, change, *AWKWARD_NAMES)
        assert store.medium().write(step(write), "t1") is WriteResult.APPLIED
        assert store.medium().read() == [row("a", **{name: {"S": "new"} for name in kept})]

    def test_what_nobody_guards_may_move_and_survives(self, store: StoreUnderTest) -> None:
        store.plant(row("a", leaseCounter={"N": "99"}, theirs={"S": "new"}))
        write = update(row("a"), END, "checkpoint")
        assert store.medium().write(step(write), "t1") is WriteResult.APPLIED
        (stored,) = store.medium().read()
        assert stored.attributes["leaseCounter"] == {"N": "100"}
        assert stored.attributes["theirs"] == {"S": "new"}

    # guards

    def test_a_guard_of_every_type_holds(self, store: StoreUnderTest) -> None:
        before = row("a", **EVERY_TYPE)
        store.plant(before)
        write = update(before, END, *before.attributes, "absent")
        assert store.medium().write(step(write), "t1") is WriteResult.APPLIED

    def test_a_guard_of_every_type_fails(self, store: StoreUnderTest) -> None:
        for name, value in OTHERWISE.items():
            before = row("a", **EVERY_TYPE)
            store.plant(row("a", **(EVERY_TYPE | {name: value})))
            write = update(before, END, name)
            assert store.medium().write(step(write), f"t-{name}") is WriteResult.CONFLICT, name
            assert store.medium().read() == [row("a", **(EVERY_TYPE | {name: value}))], name

    def test_a_guard_sees_a_changed_value(self, store: StoreUnderTest) -> None:
        self._moved(store, row("a"), row("a", leaseCounter={"N": "8"}), "leaseCounter")

    def test_a_guard_sees_an_attribute_appear(self, store: StoreUnderTest) -> None:
        self._moved(store, row("a"), row("a", leaseOwner={"S": "w1"}), "leaseOwner")

    def test_a_guard_sees_an_attribute_vanish(self, store: StoreUnderTest) -> None:
        self._moved(store, row("a", leaseOwner={"S": "w1"}), row("a"), "leaseOwner")

    def test_a_guard_sees_another_type(self, store: StoreUnderTest) -> None:
        self._moved(store, row("a"), row("a", leaseCounter={"S": "7"}), "leaseCounter")

    def test_a_guard_compares_numbers_by_value(self, store: StoreUnderTest) -> None:
        store.plant(row("a", rate={"N": "0.000023"}))
        write = update(row("a", rate={"N": "2.3E-5"}), END, "rate")
        assert store.medium().write(step(write), "t1") is WriteResult.APPLIED

    def test_a_guard_compares_sets_without_order(self, store: StoreUnderTest) -> None:
        store.plant(row("a", parents={"SS": ["p", "q"]}))
        before = Image("a", {**row("a").attributes, "parents": {"SS": ["q", "p"]}})
        assert (
            store.medium().write(step(update(before, END, "parents")), "t1") is WriteResult.APPLIED
        )

    def _moved(self, store: StoreUnderTest, before: Image, now: Image, guard: str) -> None:
        store.plant(now)
        for write in (update(before, END, guard), delete(before, guard)):
            assert store.medium().write(step(write), f"t-{write.change}") is WriteResult.CONFLICT
            assert store.medium().read() == [now]

    # steps

    def test_a_step_does_all_kinds_at_once(self, store: StoreUnderTest) -> None:
        store.plant(row("a"))
        store.plant(row("b"))
        writes = (create(row("c")), update(row("a"), END, "checkpoint"), delete(row("b")))
        assert store.medium().write(step(*writes), "t1") is WriteResult.APPLIED
        assert store.medium().read() == [changed(row("a"), writes[1]), row("c")]

    def test_a_repeated_step_is_written_once(self, store: StoreUnderTest) -> None:
        store.plant(row("a"))
        write = update(row("a"), END, "checkpoint", "leaseCounter")
        medium = store.medium()
        assert medium.write(step(write), "t1") is WriteResult.APPLIED
        medium.write(step(write), "t1")
        assert medium.read() == [changed(row("a"), write)]

    def test_other_rows_stay_as_they_are(self, store: StoreUnderTest) -> None:
        others = [row(f"other{n}", **EVERY_TYPE) for n in range(3)]
        for image in (*others, row("a")):
            store.plant(image)
        assert store.medium().write(step(update(row("a"), END)), "t1") is WriteResult.APPLIED
        left = {image.key: image for image in store.medium().read()}
        assert all(not differing(left[image.key], image) for image in others)

    def test_of_two_writers_one_wins(self, store: StoreUnderTest) -> None:
        store.plant(row("a"))
        write = update(row("a"), END, "checkpoint", "leaseCounter")
        assert sorted(self._race(store, write)) == ["done", "moved"]
        assert store.medium().read() == [changed(row("a"), write)]


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
"""For every attribute of EVERY_TYPE, a value that differs as little as possible."""
