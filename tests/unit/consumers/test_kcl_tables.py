"""Who may start on a table whose rows come from several releases, and what its own state tells.

Attributes: the serializers of 1.13.3, 2.7.2, 3.1.3 and 3.5.1, and recorded tables. Migration
states: MigrationState.deserialize and MigrationClientVersionStateInitializer of 3.5.1.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import pytest

from reshardctl.consumers.kcl.beside import notes
from reshardctl.consumers.kcl.consumer import Kcl
from reshardctl.consumers.kcl.releases import App, Start, traits_of
from reshardctl.consumers.kcl.steps import TRANSACTION
from reshardctl.consumers.kcl.table import Named, broken, others_in_words
from reshardctl.errors import UsageError, WrongStream
from reshardctl.model import DONE, START, Create, Image, at_number, canonical, shard_id
from reshardctl.testing.shards import SequenceNumber
from tests.support.lineages import CREATED, STREAM, split_in_turn

KCL = Kcl()
Item = dict[str, Mapping[str, Any]]
BARE = {"leaseCounter": {"N": "7"}, "ownerSwitchesSinceCheckpoint": {"N": "0"},
        "checkpoint": {"S": "TRIM_HORIZON"}}  # fmt: skip
SUB = {"checkpointSubSequenceNumber": {"N": "0"}}
HASHED = {"startingHashKey": {"S": "0"}, "endingHashKey": {"S": "9"}}
STATE = {"checkpointSubSequenceNumber": {"N": "0"}, "pendingCheckpointState": {"B": "c3Qx"}}
RATED = {"throughputKBps": {"N": "0.5"}}
MARKED = {"entityType": {"S": "LEASE"}}


def row(shard: int, *more: dict) -> Image:
    key = f"shardId-{shard:012d}"
    item = {"leaseKey": {"S": key}, **BARE}
    for part in more:
        item |= part
    return Image(key, canonical(item))


def migration(
    cv: str = "CLIENT_VERSION_3X", *, table: str = "", **more: Mapping[str, Any]
) -> Image:
    item: Item = {"cv": {"S": cv}, "mb": {"S": "w1"}, "mts": {"N": "1"}, **more}
    if table:
        return Image(f"{table}/Migration3.0", canonical({"key": {"S": "Migration3.0"}, **item}))
    kind = {"S": "CLIENT_VERSION_MIGRATION"}
    own = {"leaseKey": {"S": "Migration3.0"}, "entityType": kind, **item}
    return Image("Migration3.0", canonical(own))


def starters(*images: Image) -> list[str]:
    found = KCL.candidates(KCL.parse(images), {"initial": "TRIM_HORIZON"})
    return [c.options["release"] for c in found]


@pytest.mark.parametrize(("images", "oldest", "newest"), [
    ((row(0), row(1)), "1.3.0", "3.5.1"),
    ((row(0), row(1, SUB)), "1.13.3", "3.5.1"),
    ((row(0), row(1, SUB, HASHED)), "1.15.3", "3.5.1"),
    ((row(0, SUB), row(1, STATE, HASHED)), "2.7.2", "3.5.1"),
    ((row(0, SUB, HASHED), row(1, SUB, HASHED, RATED)), "3.1.3", "3.5.1"),
    ((row(0, SUB), row(1, SUB, HASHED, RATED, MARKED)), "3.5.1", "3.5.1"),
    ((row(0, SUB), migration()), "3.5.1", "3.5.1"),
    ((row(0, SUB), migration("CLIENT_VERSION_UPGRADE_FROM_2X")), "3.5.1", "3.5.1"),
    ((row(0, SUB), migration("CLIENT_VERSION_2X")), "2.7.2", "3.5.1"),
    ((row(0, SUB), migration(table="app-CoordinatorState")), "3.1.3", "3.5.1"),
    ((row(0, SUB), migration("CLIENT_VERSION_UPGRADE_FROM_2X", table="app-CoordinatorState")),
     "2.7.2", "3.5.1"),
])  # fmt: skip
def test_the_newest_row_decides_who_may_start(images, oldest, newest):
    """A release that cannot have written the newest row does not start any more, unless the
    application's own state says that it was taken back."""
    found = starters(*images)
    assert (found[0], found[-1]) == (oldest, newest)


def test_new_rows_are_marked_where_any_row_is():
    assert KCL.parse([row(0, SUB), row(1, SUB, MARKED)]).marks_entities
    assert not KCL.parse([row(0, SUB), row(1, SUB, HASHED)]).marks_entities


WHOLE: Item = {"cv": {"S": "CLIENT_VERSION_3X"}, "mb": {"S": "w"}, "mts": {"N": "7"}}


@pytest.mark.parametrize(("changed", "why"), [
    ({}, ""), ({"cv": {"S": "CLIENT_VERSION_INIT"}}, ""), ({"cv": None}, "cv is missing"),
    ({"cv": {"S": "CLIENT_VERSION_4X"}}, "cv is CLIENT_VERSION_4X"),
    ({"mb": None}, "mb is missing"),
    ({"mb": {"N": "3"}}, ""), ({"mts": None}, "mts is missing"), ({"mts": {"S": "7"}}, "mts is"),
    ({"mts": {"N": "-7"}}, ""), ({"mts": {"N": "1.5"}}, "mts is"),
    ({"mts": {"N": "9223372036854775808"}}, "mts is"),
    ({"h": {"L": [{"M": WHOLE}]}}, ""), ({"h": {"S": "x"}}, ""), ({"h": {"NULL": True}}, ""),
    ({"h": {"L": [{"M": WHOLE}, {"M": {**WHOLE, "mts": {"S": "7"}}}]}}, "its history: mts is"),
    ({"h": {"L": [{"S": "x"}]}}, "its history: cv is missing"),
])  # fmt: skip
def test_what_a_migration_state_needs(changed, why):
    """MigrationState.deserialize of 3.1.3 and 3.5.1, run on each of these, November 2026."""
    item = {name: value for name, value in {**WHOLE, **changed}.items() if value is not None}
    assert broken(item).startswith(why) and bool(broken(item)) is bool(why)


def test_the_side_table_comes_before_the_lease_table():
    """CoordinatorStateDAO of 3.5.1 asks the table of its own first."""
    images = [row(0), migration("CLIENT_VERSION_2X"),
              migration("CLIENT_VERSION_3X", table="app-CoordinatorState")]  # fmt: skip
    assert KCL.parse(images).coordinator.client == "CLIENT_VERSION_3X"


def table_migration(tm: str) -> Image:
    item = {"key": {"S": "TableMigration3.5"}, "tm": {"S": f"TABLE_MIGRATION_STATUS_{tm}"}}
    return Image("app-CoordinatorState/TableMigration3.5", canonical(item))


def test_once_the_move_is_complete_the_lease_table_counts():
    """isTableMigrationComplete in CoordinatorStateDAO of 3.5.1."""
    images = [row(0), migration("CLIENT_VERSION_3X"), table_migration("COMPLETE"),
              migration("CLIENT_VERSION_2X", table="app-CoordinatorState")]  # fmt: skip
    assert KCL.parse(images).coordinator.client == "CLIENT_VERSION_3X"


@pytest.mark.parametrize(("tm", "said"), [
    ("", "crashes at its start until"), ("INIT", "crashes at its start until"),
    ("DEPLOYED", "may be moved"), ("PENDING", "can still go back"), ("COMPLETE", "for good"),
])  # fmt: skip
def test_what_the_move_into_the_lease_table_allows(tm, said):
    """TableMigrationStateMachineImpl.determineStatusForInitialization of 3.5.1: phase 2 before
    phase 1 is an InvalidStateException."""
    beside = migration(table="app-CoordinatorState")
    images = [row(0), beside, *([table_migration(tm)] if tm else [])]
    found = " ".join(notes(KCL.parse(images), traits_of("3.5.1")))
    assert said in found


@pytest.mark.parametrize(("cv", "lock", "said"), [
    ("CLIENT_VERSION_3X", True, ""),
    ("CLIENT_VERSION_3X_WITH_ROLLBACK", True, "can still be rolled back"),
    ("CLIENT_VERSION_UPGRADE_FROM_2X", False, "is upgrading from 2.x"),
    ("CLIENT_VERSION_2X", False, "was rolled back"),
])  # fmt: skip
def test_what_the_next_start_does_in_each_state(cv, lock, said):
    """DynamicMigrationComponentsInitializer: the lock is used in 3X and 3X_WITH_ROLLBACK alone."""
    found = " ".join(notes(KCL.parse([row(0), migration(cv)]), traits_of("3.5.1")))
    assert ("leader's lock is two minutes old" in found) is lock
    assert said in found


def test_a_2_x_start_beside_a_3_x_that_has_taken_over_is_warned_of():
    images = [row(0), migration(table="app-CoordinatorState")]
    assert any("stop all" in note for note in notes(KCL.parse(images), traits_of("2.7.2")))


ORDERS = f"{STREAM.account}:{STREAM.name}"
OWN, OTHER = f"{ORDERS}:{CREATED}", f"{STREAM.account}:invoices:{CREATED}"
ONE, TWO = f"{ORDERS}:1", f"{ORDERS}:2"
NUMBER, OLDER = (str(SequenceNumber(t - 3, 9, t + 60, 0)) for t in (CREATED, CREATED - 86_400))


@pytest.mark.parametrize(("stored", "judged"), [
    ({OWN: "TRIM_HORIZON", ONE: NUMBER}, OWN), ({ONE: NUMBER}, ONE), ({ONE: "LATEST"}, ONE),
    ({ONE: OLDER, TWO: NUMBER}, TWO), ({ONE: OLDER}, "an earlier stream of this name"),
    ({ONE: OLDER, TWO: "LATEST"}, TWO),
    *(({ONE: at, TWO: at}, "delete the rows of the wrong name") for at in (NUMBER, "LATEST")),
    ({OTHER: NUMBER}, "name one of these with --stream"),
])  # fmt: skip
def test_which_rows_of_a_table_of_several_streams_are_judged(stored, judged):
    """Those with its creation time in their keys; else, as KCL compares that with nothing
    (StreamIdentifier.multiStreamInstance of 3.5.1), those of its name with numbers as young."""
    rows = [Image(f"{name}:shardId-000000000000", {**BARE, "checkpoint": {"S": at}})
            for name, at in stored.items()]  # fmt: skip
    if judged in stored:
        assert KCL.parse(rows, STREAM).named.text == judged
        return
    with pytest.raises(WrongStream) as refused:
        KCL.parse(rows, STREAM)
    assert judged in refused.value.next
    with pytest.raises(UsageError, match="a multi-stream table"):
        KCL.parse(rows)


@pytest.mark.parametrize(("others", "words"), [
    ({}, []), ({ONE: 3}, []),
    ({OTHER: 1, ONE: 3}, [f"1 row of 1 other stream, left alone: {OTHER} (1)"]),
    ({OTHER: 2, f"{OTHER}1": 1}, [f"3 rows of 2 other streams, left alone: {OTHER} (2), "]),
])  # fmt: skip
def test_rows_of_other_streams_are_counted(others, words):
    """Those of an earlier stream of the name are told of by a finding."""
    named = {text: name for text in (OWN, *others) if (name := Named.of(text))}
    found = others_in_words(named[OWN], {named[text]: count for text, count in others.items()})
    assert len(found) == len(words)
    assert all(word in note for word, note in zip(words, found, strict=True))


@pytest.mark.parametrize(("release", "refused"), [("2.2", True), ("1.15", True), ("2.3", False)])
def test_a_release_before_2_3_reads_one_stream_a_table(release, refused):
    """MultiStreamTracker came with 2.3.0 (CHANGELOG of KCL)."""
    table = KCL.parse([Image(f"{OWN}:shardId-000000000000", BARE)], STREAM)
    if not refused:
        assert KCL.candidates(table, {"release": release})
        return
    with pytest.raises(UsageError, match="reads one stream a table") as told:
        KCL.candidates(table, {"release": release})
    assert "2.3 or later" in told.value.next


@pytest.mark.parametrize(("shards", "parts"), [
    (TRANSACTION, [""]), (TRANSACTION + 1, [", part 1", ", part 2"]),
])  # fmt: skip
def test_leases_that_do_not_fit_into_one_transaction_are_written_in_parts(shards, parts):
    lineage = split_in_turn(shards, ())
    app = App(Start.LATEST, traits_of("3.5.1"))
    steps = KCL.rebuild(lineage, KCL.parse([], STREAM), dict.fromkeys(lineage, START), app)
    assert [step.title for step in steps] == [
        f"leases at the positions of the sink{part}" for part in parts
    ]


@pytest.mark.parametrize(("cut", "named"), [
    (at_number("7"), None), (START, None), (DONE, {"SS": ["shardId-000000000001",
                                                         "shardId-000000000002"]}),
])  # fmt: skip
def test_a_new_lease_names_children_at_its_end_alone(cut, named):
    """ShutdownTask writes childShardIds and SHARD_END, and nothing before it does."""
    lineage = split_in_turn(1, (0,))
    app = App(Start.LATEST, traits_of("3.5.1"))
    want = {**dict.fromkeys(lineage, START), shard_id(0): cut}
    steps = KCL.rebuild(lineage, KCL.parse([], STREAM), want, app)
    (made,) = [w.change for step in steps for w in step.writes if w.key == shard_id(0)]
    assert isinstance(made, Create) and made.attributes.get("childShardIds") == named
