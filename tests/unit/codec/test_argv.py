"""How requests are spelled as command lines."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

import pytest

from reshardctl.codec.argv import given, option, options_of, with_value, words


@dataclass(frozen=True, slots=True)
class Reach:
    region: str | None = option("--region")
    urls: Sequence[str] = option("--url", ())


@dataclass(frozen=True, slots=True, kw_only=True)
class Request:
    name: str = ""
    reach: Reach = field(default_factory=Reach)
    probe: bool | None = option("--probe", no="--no-probe")
    alone: bool = option("--alone", False)
    against: bool = option("--against", True, no="--not-against")
    watch: str | None = option("--watch", usual="30s")
    server: str | None = option("--server", spell=lambda text: text.partition(";")[0])
    shards: Sequence[str] = option("--shards", (), commas=True)
    shift: str | None = option("--shift=")


@pytest.mark.parametrize(
    ("request_", "spelled"),
    [
        (Request(name="anything"), ""),
        (Request(probe=True, alone=True), "--probe --alone"),
        (Request(probe=False, against=False), "--no-probe --not-against"),
        (Request(reach=Reach("eu-west-1", ["a", "b"])), "--region eu-west-1 --url a --url b"),
        (Request(reach=Reach("", []), watch="30s"), ""),
        (Request(watch="60s", server="sc://h;token=secret"), "--watch 60s --server sc://h"),
        (Request(shards=["1", "4-9"], shift="-2h"), "--shards 1,4-9 --shift=-2h"),
    ],
)
def test_what_is_not_at_its_default_is_typed_in_the_order_of_the_fields(request_, spelled):
    assert words(request_) == tuple(spelled.split())


def test_some_options_in_an_order_of_their_own():
    request = Request(reach=Reach("eu-west-1"), alone=True, watch="60s", probe=True)
    assert words(request, ("--watch", "--shift", *options_of(Reach), "--alone")) == (
        "--watch", "60s", "--region", "eu-west-1", "--alone",
    )  # fmt: skip


def test_what_is_given_is_named_even_where_it_goes_without_saying():
    request = Request(reach=Reach(urls=["a"]), probe=False, watch="30s", shift="-2h")
    assert given(request) == {"--url", "--no-probe", "--watch", "--shift"}


@pytest.mark.parametrize(
    ("argv", "after"),
    [
        (("a", "--accept", "skip=1h", "--yes"), "a --yes --accept reread=3h"),
        (("a", "--yes"), "a --yes --accept reread=3h"),
        (("a", "--accept"), "a --accept --accept reread=3h"),
    ],
)
def test_a_value_takes_the_place_of_another(argv, after):
    assert with_value(argv, "--accept", "reread=3h") == after.split()
