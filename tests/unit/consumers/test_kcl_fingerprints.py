"""Which releases may start on a table, told from its rows alone.

Sources: tables that the real 1.13.3, 1.15.3, 2.7.2, 3.1.3 and 3.5.1 left, and the serializers of
1.3.0 (no sub-sequence numbers), 2.2.11 and 2.7.2.
"""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from reshardctl.consumers.kcl.beside import starters
from reshardctl.consumers.kcl.releases import App, Start, traits_of
from reshardctl.consumers.kcl.rows import parse
from reshardctl.consumers.registry import CONSUMERS
from reshardctl.errors import UsageError
from reshardctl.model import START, Create, Image
from reshardctl.planning.plan import Nothing, Plan
from tests.support.case import CASES, load
from tests.support.judging import Bench, images_of, lineage_of

GOLDEN = Path(__file__).parents[2] / "golden" / "kcl"
BARE = {"1.13.3", "1.15.3", "2.2.11", "2.7.2", "3.5.1"}
AUDITED = {"1.15.3", "2.7.2", "3.5.1"}


def golden(folder: str) -> list[Image]:
    return images_of(json.loads((GOLDEN / folder / "leases.json").read_text())["Items"])


def releases(images: list[Image]) -> set[str]:
    return {traits.release for traits in starters(parse(images))}


@pytest.mark.parametrize(
    ("folder", "may_start"),
    [
        ("1.13.3/g1-mid-read", BARE),
        ("1.13.3/g2-split-parent-behind", BARE),
        ("1.15.3/g3-split-parent-finished", AUDITED),
        ("2.7.2/g3-split-parent-finished", AUDITED),
        ("2.7.2/g8-prepared-checkpoint", {"2.7.2", "3.5.1"}),
        ("3.5.1/g3-split-parent-finished", {"3.5.1"}),
    ],
)
def test_the_release_that_wrote_it_may_start_on_it(folder: str, may_start: set[str]) -> None:
    assert releases(golden(folder)) == may_start
    assert folder.partition("/")[0] in may_start


def test_without_sub_sequence_numbers_it_may_be_the_oldest() -> None:
    def older(image: Image) -> Image:
        kept = {k: v for k, v in image.attributes.items() if k != "checkpointSubSequenceNumber"}
        return Image(image.key, kept)

    assert releases([older(i) for i in golden("1.13.3/g1-mid-read")]) == BARE | {"1.3.0"}


def test_one_row_with_hash_keys_is_enough_for_an_audit_to_have_run() -> None:
    old, new = golden("1.13.3/g1-mid-read"), golden("1.15.3/g1-mid-read")
    assert releases([old[0], new[1]]) == AUDITED


def bench(name: str, initial: str, release: str | None) -> Bench:
    return Bench.of(load(CASES / "kcl" / f"{name}.toml"), initial, release)


def test_what_only_some_releases_mend_by_themselves_is_planned_for_all() -> None:
    """State a of the runs is lost for ever on 1.15.3, 2.7.2 and 3.5.1, and heals before: to create
    the rows is right for each of them."""
    unnamed = bench("full-ended-children-lost", "LATEST", None)
    assert {one.options["release"] for one in unnamed.plan_case.candidates} == BARE
    assert isinstance(unnamed.decide(), Plan)
    plans = {r: bench("full-ended-children-lost", "LATEST", r).decide() for r in sorted(BARE)}
    assert [r for r, plan in plans.items() if isinstance(plan, Nothing)] == ["1.13.3", "2.2.11"]


def test_what_all_releases_do_alike_is_not() -> None:
    assert isinstance(bench("full-split-unseen", "LATEST", None).decide(), Nothing)
    assert isinstance(bench("full-hole", "LATEST", None).decide(), Plan)



@pytest.mark.parametrize(
    ("name", "lacks", "has"),
    [
        ("full-hole", {"startingHashKey", "endingHashKey"}, {"checkpointSubSequenceNumber"}),
        ("oldest-hole", {"startingHashKey", "checkpointSubSequenceNumber"}, set()),
        ("i1", set(), {"startingHashKey", "endingHashKey", "checkpointSubSequenceNumber"}),
    ],
)
@pytest.mark.parametrize("release", ["1.13.3", "1.15.3", "2.7.2", "3.5.1"])
def test_new_rows_look_like_their_neighbours(
    name: str, lacks: set[str], has: set[str], release: str
) -> None:
    """Else the next look would take the table for another generation's. The audit adds hash keys
    where they are missing (runs on 1.15.3, 2.7.2 and 3.5.1: no hash keys)."""
    plan = bench(name, "LATEST", release).decide()
    assert isinstance(plan, Plan)
    ((write,),) = [step.writes for step in plan.steps]
    assert isinstance(write.change, Create)
    assert not lacks.intersection(write.change.attributes)
    assert has <= write.change.attributes.keys()


@pytest.mark.parametrize(("release", "hashes"), [("1.13", False), ("2.2", False), ("1.15", True)])
def test_first_rows_are_those_of_the_release_that_starts(release: str, hashes: bool) -> None:
    case = load(CASES / "kcl" / "full-empty-latest.toml")
    lineage = lineage_of(case.shards, case.stream["created"])
    app = App(Start.LATEST, traits_of(release))
    steps = CONSUMERS["kcl"].bootstrap(lineage, dict.fromkeys(lineage, START), app)
    rows = [w.change.attributes for s in steps for w in s.writes if isinstance(w.change, Create)]
    assert rows
    assert all(("startingHashKey" in row) is hashes for row in rows)


@pytest.mark.parametrize(("release", "known"), [("1.6.5", False), ("1.7.0", True)])
def test_a_start_by_time_came_with_1_7(release: str, known: bool) -> None:
    """InitialPositionInStream of 1.6.5 and 1.7.0."""
    if known:
        assert bench("full-hole", "AT_TIMESTAMP:+300", release).plan_case.candidates
        return
    with pytest.raises(UsageError, match=r"came with 1\.7"):
        bench("full-hole", "AT_TIMESTAMP:+300", release)
