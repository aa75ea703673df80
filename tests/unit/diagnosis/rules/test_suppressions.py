"""Which findings a suppression hides: those it names, on shards it names, before its end."""

from __future__ import annotations

import pytest

from reshardctl.diagnosis.rules import Finding, Severity
from reshardctl.diagnosis.rules.base import Suppression, sift
from reshardctl.model import shard_id

UNTIL = 1_800_000_000.0


def finding(code: str, *shards: int) -> Finding:
    return Finding(code, "a-name", Severity.INFO, tuple(map(shard_id, shards)), "what")


def suppression(code: str, *shards: int) -> Suppression:
    ids = frozenset(str(shard_id(one)) for one in shards)
    return Suppression("etl", code, ids, UNTIL, "known", "reshardctl.toml:31")


@pytest.mark.parametrize(
    ("named", "found", "hides"),
    [((), (2, 3), True), ((), (), True), ((2, 3), (2, 3), True), ((2, 3), (2,), True),
     ((2, 3), (2, 3, 4), False), ((2, 3), (), False)],
)  # fmt: skip
def test_shards(named, found, hides):
    """A shard that comes to a known finding is news."""
    one = finding("RSH205", *found)
    sifted = sift([one], [suppression("RSH205", *named)], UNTIL - 1)
    assert [f for f, _ in sifted.hidden] == ([one] if hides else [])
    assert list(sifted.kept) == ([] if hides else [one])


@pytest.mark.parametrize(("code", "named", "found", "further"), [
    ("RSH205", (4,), (4, 5), (5,)), ("RSH205", (4, 5), (4,), ()), ("RSH205", (4,), (6,), ()),
    ("RSH205", (), (4, 5), ()), ("RSH203", (4,), (4, 5), ()),
])  # fmt: skip
def test_the_shards_that_it_does_not_name(code, named, found, further):
    """Of a finding that it would hide otherwise."""
    by = suppression("RSH205", *named)
    assert by.beyond(finding(code, *found)) == tuple(map(shard_id, further))


def test_another_code_stays():
    one, by = finding("RSH203", 2), suppression("RSH205")
    sifted = sift([one], [by], UNTIL - 1)
    assert sifted.kept == (one,) and sifted.unused == (by,) and not sifted.expired


def test_its_end_brings_the_finding_back():
    one, by = finding("RSH205", 2), suppression("RSH205")
    assert sift([one], [by], UNTIL - 0.001).kept == ()
    sifted = sift([one], [by], UNTIL)
    assert (sifted.kept, sifted.hidden, sifted.expired) == ((one,), (), (by,))
    assert not sifted.unused


def test_one_that_holds_is_enough():
    old, new = suppression("RSH205"), Suppression(
        "etl", "RSH205", frozenset(), UNTIL + 9, "again", "reshardctl.toml:40"
    )
    sifted = sift([finding("RSH205", 2)], [old, new], UNTIL + 1)
    assert [by for _, by in sifted.hidden] == [new] and not sifted.expired
