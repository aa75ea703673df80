"""Which release does what with a row that it cannot read, and which are not known."""

from __future__ import annotations

import pytest

from reshardctl.consumers.kcl.releases import traits_of
from reshardctl.errors import UsageError
from reshardctl.model import Never
from tests.case import CASES, load
from tests.judging import Bench

SOURCE = {
    # Runs on 2.7.2 and 3.5.1: what a hand-written row must carry.
    ("row-no-counter", "2.7.2"): True,
    ("row-no-switches", "2.7.2"): True,
    ("row-no-counter", "3.5.1"): False,
    ("row-no-switches", "3.5.1"): False,
    # Experiments on 3.1.3: without leaseCounter the application dies, without
    # ownerSwitchesSinceCheckpoint the lease is never assigned and every audit throws.
    ("row-no-counter", "3.1.3"): True,
    ("row-no-switches", "3.1.3"): False,
}


@pytest.mark.parametrize(("name", "release"), SOURCE)
def test_who_dies_of_an_unreadable_row(name: str, release: str) -> None:
    bench = Bench.of(load(CASES / "kcl" / f"{name}.toml"), "LATEST", release)
    (run,) = bench.replays()
    assert (run.crash is not None) is SOURCE[name, release]


def test_on_3_1_the_row_without_switches_is_never_read() -> None:
    bench = Bench.of(load(CASES / "kcl" / "row-no-switches.toml"), "LATEST", "3.1.3")
    (run,) = bench.replays()
    lacking = [
        i.key for i in bench.plan_case.images
        if "ownerSwitchesSinceCheckpoint" not in i.attributes
    ]
    assert lacking
    assert all(isinstance(run.fates[key], Never) for key in lacking)


@pytest.mark.parametrize(
    ("said", "meant"),
    [("2.7", "2.7.2"), ("2.3.0", "2.7.2"), ("3", "3.5.1"), ("3.0.2", "3.1.3"), ("3.4.3", "3.5.1")],
)
def test_a_prefix_means_its_newest_release(said: str, meant: str) -> None:
    assert traits_of(said).release == meant


@pytest.mark.parametrize("said", ["1.15", "2.2.11", "4.0", "9", "3.x", ""])
def test_what_is_not_known_is_refused(said: str) -> None:
    with pytest.raises(UsageError):
        traits_of(said)


