"""`fix --live`: what is safe is written while the application runs, and nothing else is."""

from __future__ import annotations

import json

import pytest

from tests.cli.lab import LATEST, Lab
from tests.support.case import CASES, load

pytestmark = [pytest.mark.lab("a-one", LATEST), pytest.mark.slow]

ONE, TWO, THREE = (f"shardId-{n:012}" for n in (1, 2, 3))


def number(shard: str, index: int, case: str = "a-one") -> str:
    return load(CASES / "kcl" / f"{case}.toml").records[shard][index][0]


def renew(lab: Lab, *keys: str) -> None:
    for key in keys:
        counter = int(lab.items()[key]["leaseCounter"]["N"])
        lab.alter(key, leaseCounter={"N": str(counter + 1)}, throughputKBps={"N": "0.5"})


def running(lab: Lab, *keys: str) -> None:
    """Its owner renews these while we wait."""
    lab.on_sleep.append(lambda _seconds: renew(lab, *keys))


def live(lab: Lab, *more):
    return lab.cli("fix", *lab.where, "--yes", "--live", *more)


def created_option(lab: Lab) -> tuple[str, str]:
    return "--created", lab.created


def header(lab: Lab) -> dict:
    return json.loads(lab.journal().read_text().splitlines()[0])["body"]


@pytest.mark.parametrize("case", ["a-one", "a-both", "e1", "h"])
def test_what_is_safe_is_written_without_a_stop(lab_of, case):
    lab = lab_of(case, LATEST)
    running(lab, ONE)
    done = live(lab)
    assert done.code == 0, done.err
    assert lab.slept == []
    assert "--live" in header(lab)["notes"]["stopped"]
    assert lab.inspect().code == 0


@pytest.mark.parametrize(("case", "said"), [
    ("a-both", "both writes are safe"),
    ("g-no-children", "--live would not do: 2 of 3 writes are safe"),
    ("b-one", "--live would not do: 1 of 2 writes is safe"), ("c2", ""),
])  # fmt: skip
def test_a_refusal_says_whether_live_would_do(lab_of, case, said):
    """Where nothing is safe it is not spoken of."""
    lab = lab_of(case, LATEST)
    running(lab, next(k for k, v in lab.items().items() if "leaseOwner" in v))
    refused = lab.cli("fix", *lab.where, "--yes")
    assert refused.code == 4 and refused.says("is running", said)
    assert ("--live" in refused.err) == bool(said)
    assert lab.wire.writes == []


@pytest.mark.parametrize(("case", "row", "why", "more"), [
    ("g-no-children", "shardId-000000000000", "it ends a shard that may still be read", ()),
    ("c2", TWO, "more than a position", ()), ("c2", TWO, "more than a position", ("--dry-run",)),
    ("row-not-born", "shardId-000000000004", "lose its lease", ("--dry-run",)),
    ("i1", "shardId-000000000003", "may have been there before", ()),
])  # fmt: skip
def test_anything_else_is_refused_by_name(lab_of, case, row, why, more):
    lab = lab_of(case, LATEST)
    before = lab.items()
    refused = live(lab, "--format", "text", "-v", *more)
    assert refused.code == 4 and refused.says(row, why, "without --live")
    assert "stop first: " in refused.out
    assert lab.wire.writes == [] and lab.journals() == [] and lab.items() == before


def test_the_plan_marks_every_write_and_counts(lab_of):
    lab = lab_of("g-no-children", LATEST)
    text = " ".join(lab.dry("--format", "text", "-v").out.split())
    assert text.count("live-safe: the row is absent") == 2
    assert text.count("stop first: it ends a shard that may still be read") == 1
    assert "2 of 3 writes are safe while it runs; stop the application first" in text
    page = lab.dry("--format", "markdown").out
    assert "## While the application runs" in page and "2 of 3 writes" in page
    steps = lab.dry("--format", "json").json["decision"]["steps"]
    marks = {w["key"]: (w["live"], w["running"]) for s in steps for w in s["writes"]}
    assert marks[TWO][0] and not marks["shardId-000000000000"][0]
    assert all(why for _, why in marks.values())


# what moves meanwhile


def evictable(lab_of) -> Lab:
    lab = lab_of("e1", LATEST)
    lab.alter(TWO, leaseOwner={"S": "w1"})
    return lab


@pytest.mark.parametrize(("name", "value"), [
    ("checkpoint", {"S": "49"}), ("leaseOwner", {"S": "w2"}), ("checkpointOwner", {"S": "w2"}),
    ("pendingCheckpoint", {"S": "TRIM_HORIZON"}),
])  # fmt: skip
def test_anything_else_between_reading_and_writing_is_left_as_it_is(lab_of, name, value):
    lab = evictable(lab_of)
    lab.wire.do("TransactWriteItems", lambda: lab.alter(TWO, **{name: value}))
    rest = lab.items()[THREE]
    refused = live(lab)
    assert refused.code == 4 and refused.says(TWO, name, "nothing was written", "reshardctl fix")
    assert lab.items()[TWO][name] == value and lab.items()[THREE] == rest


def test_a_consumer_that_reads_on_before_the_look_afterwards_is_fine(lab):
    last = number(THREE, 1)

    def taken_and_read() -> None:
        if THREE in lab.items():
            lab.alter(THREE, leaseOwner={"S": "w1"}, checkpoint={"S": last},
                      leaseCounter={"N": "5"})  # fmt: skip

    for after in range(4):
        lab.wire.do("Scan", taken_and_read, after=after)
    assert live(lab).code == 0
    assert lab.items()[THREE]["checkpoint"] == {"S": last}


def test_something_else_that_breaks_meanwhile_is_left_to_the_next_fix(lab):
    """What was written stands; the number of another shard on shard 1 is another matter."""
    foreign = number(TWO, 2)

    def broken() -> None:
        if THREE in lab.items():
            lab.alter(ONE, checkpoint={"S": foreign})

    for after in range(4):
        lab.wire.do("Scan", broken, after=after)
    done = live(lab, "--accept", "reread=all")
    assert done.code == 1, done.err
    assert lab.items()[THREE]["checkpoint"] == {"S": "TRIM_HORIZON"}


# a saved plan


@pytest.fixture
def planned(lab_of, tmp_path):
    lab = lab_of("a-one", LATEST)
    path = tmp_path / "a.plan"
    assert lab.dry("--out", path).code == 1
    return lab, path


def test_a_saved_plan_holds_while_the_others_read_on(planned):
    lab, path = planned
    lab.alter(TWO, checkpoint={"S": number(TWO, 2)}, leaseOwner={"S": "w9"},
              leaseCounter={"N": "4711"})  # fmt: skip
    stale = lab.apply(path)
    assert stale.code == 4 and stale.says("stale", TWO)
    assert lab.cli("fix", "--plan", path, "--yes", "--live").code == 0
    assert lab.items()[THREE]["checkpoint"] == {"S": "TRIM_HORIZON"}
    assert lab.items()[TWO]["leaseOwner"] == {"S": "w9"}


@pytest.mark.parametrize("change", [
    lambda lab: lab.table.pull(TWO), lambda lab: lab.alter(TWO, parentShardId=None),
    lambda lab: lab.alter("shardId-000000000000", checkpoint={"S": "TRIM_HORIZON"}),
    lambda lab: lab.plant({**lab.items()[TWO], "leaseKey": {"S": THREE}}),
], ids=["row gone", "parents", "parent unfinished", "row there"])  # fmt: skip
def test_a_saved_plan_is_stale_for_more_than_progress(planned, change):
    lab, path = planned
    change(lab)
    before = lab.items()
    stale = lab.cli("fix", "--plan", path, "--yes", "--live")
    assert stale.code == 4 and stale.says("stale")
    assert lab.items() == before and lab.journals() == []


def test_a_saved_plan_keeps_its_marks(planned):
    _, path = planned
    (step,) = json.loads(path.read_text())["steps"]
    (write,) = step["writes"]
    assert write["live"] is True and "absent" in write["running"]


# half done, and back


def two_families(lab_of) -> Lab:
    """Shard 3 was never started; shard 1 holds a number of shard 2. Two steps, both live."""
    lab = lab_of("a-one", LATEST)
    lab.alter(ONE, checkpoint={"S": number(TWO, 2)}, leaseOwner={"S": "w1"})
    return lab


def test_a_live_fix_that_stops_half_way_goes_on_live(lab_of):
    lab = two_families(lab_of)
    lab.wire.fail("PutItem", "AccessDeniedException", times=1)
    stopped = live(lab, "--accept", "reread=all")
    assert stopped.code == 5, stopped.err
    running(lab, TWO)
    refused = lab.cli("fix", "--resume", lab.journal(), "--yes")
    assert refused.code == 4 and refused.says("is running", "--live")
    assert lab.cli("fix", "--resume", lab.journal(), "--live", "--yes").code == 0
    rows = lab.items()
    assert {rows[key]["checkpoint"]["S"] for key in (ONE, THREE)} == {"TRIM_HORIZON"}
    assert "leaseOwner" not in rows[ONE]


@pytest.mark.parametrize(("then", "now"), [("w1", None), (None, "w2"), ("w1", "w2")])
def test_a_saved_plan_holds_after_a_hand_over(lab_of, tmp_path, then, now):
    """A worker releases or takes the lease that is written: the position is the same."""
    lab, path = two_families(lab_of), tmp_path / "a.plan"
    owners = [owner and {"S": owner} for owner in (then, now)]
    lab.alter(ONE, leaseOwner=owners[0])
    assert lab.dry("--out", path, "--accept", "reread=all").code == 1
    lab.alter(ONE, leaseOwner=owners[1])
    done = lab.cli("fix", "--plan", path, "--yes", "--live", "--accept", "reread=all")
    assert done.code == 0, done.err
    row = lab.items()[ONE]
    assert row["checkpoint"] == {"S": "TRIM_HORIZON"} and "leaseOwner" not in row


def test_it_goes_on_live_whatever_was_read_from_what_had_landed(lab_of):
    lab = two_families(lab_of)
    lab.wire.fail("PutItem", "AccessDeniedException", times=1)
    assert live(lab, "--accept", "reread=all").code == 5
    last = number(ONE, 1)
    lab.alter(ONE, leaseOwner={"S": "w2"}, checkpoint={"S": last}, leaseCounter={"N": "99"})
    assert lab.resume().code == 5
    assert THREE not in lab.items()
    assert lab.cli("fix", "--resume", lab.journal(), "--live", "--yes").code == 0
    assert lab.items()[ONE]["checkpoint"] == {"S": last}
    assert lab.items()[THREE]["checkpoint"] == {"S": "TRIM_HORIZON"}


def test_a_lease_that_was_taken_meanwhile_is_not_written_with_its_owner_kept(lab_of):
    """An owner that keeps its lease would absorb the write (runs, November 2026)."""
    lab = lab_of("e1", LATEST)
    lab.alter(TWO, leaseOwner=None)
    lab.wire.fail("TransactWriteItems", "InternalServerError", 500)
    stopped = live(lab)
    assert stopped.code == 5, stopped.err
    lab.wire.faults.clear()
    lab.alter(TWO, leaseOwner={"S": "w1"}, leaseCounter={"N": "99"})
    refused = lab.cli("fix", "--resume", lab.journal(), "--live", "--yes")
    assert refused.code in (4, 5) and refused.says(TWO, "leaseOwner")
    assert lab.items()[TWO]["checkpoint"] == {"S": "LATEST"}


def test_an_undo_takes_back_what_nobody_has_read(lab):
    before = lab.items()
    assert live(lab).code == 0
    lab.alter(THREE, leaseOwner={"S": "w1"}, leaseCounter={"N": "9"})
    assert lab.undo().code == 0
    assert lab.items() == before


def test_an_undo_leaves_what_has_progressed(lab):
    assert live(lab).code == 0
    lab.alter(THREE, leaseOwner={"S": "w1"}, checkpoint={"S": number(THREE, 1)})
    after = lab.items()
    refused = lab.undo()
    assert refused.code == 4 and refused.says(THREE, "nothing was undone")
    assert lab.items() == after


def test_an_undo_has_no_live(lab):
    assert live(lab).code == 0
    assert lab.cli("undo", lab.journal(), "--yes", "--live").code == 2
    running(lab, TWO)
    refused = lab.cli("undo", lab.journal(), "--yes")
    assert refused.code == 4 and refused.says("is running")
