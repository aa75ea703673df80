"""The words, one by one. Expectations are the mock output that the design asks for."""

from __future__ import annotations

from itertools import permutations

import pytest
from msgspec.structs import replace

from reshardctl.codec import argv as options
from reshardctl.commands.requests import Account
from reshardctl.consumers.base import Candidate
from reshardctl.model import START, TIP, ShardId, shard_id
from reshardctl.planning.decision import Plan
from reshardctl.planning.effects import Deadline, Effect, Harm
from reshardctl.render import costs, words
from reshardctl.render.content.plan import remaining
from reshardctl.render.escape import cut


def ids(*numbers: int) -> list[ShardId]:
    return [shard_id(n) for n in numbers]


@pytest.mark.parametrize(
    "numbers,shown",
    [
        ((12, 13), "12, 13"), ((12, 13, 16, 17, 18), "12, 13, 16–18"), ((5,), "5"), ((), ""),
        ((3, 1, 2), "1–3"), ((1, 1), "1"), (tuple(range(0, 60, 2)), None),
    ],
)
def test_shards(numbers, shown):
    if shown is None:
        shown = ", ".join(str(n) for n in range(0, 24, 2)) + " and 18 more"
    assert words.shards(ids(*numbers)) == shown


def test_shards_in_full():
    assert words.shards(ids(7, 8), verbose=True) == "shardId-000000000007, shardId-000000000008"


def test_ids_of_another_form_stay_as_they_are():
    assert words.shards([ShardId("odd"), *ids(1)]) == "1, odd"


def test_numbers_and_ids_are_shortened_unless_verbose():
    text = "row shardId-000000000012 stands at 49630000000000000000000000000000000000009874/3"
    assert words.shortened(text) == "row 12 stands at 4963…9874/3"
    assert words.shortened(text, verbose=True) == text


@pytest.mark.parametrize(
    "deadline,shown",
    [
        (Deadline(1000 + 73140, None), "loss in 20h19m"),
        (Deadline(1000 + 73140, 1000 + 80000, probed=True), "loss in 20h19m"),
        (Deadline(900, None), "losing records now, or idle; check with --probe"),
        (Deadline(1000, 5000), "losing records now, or idle; check with --probe"),
        (Deadline(900, 5000, probed=True), "losing now"),
        (Deadline(None, 1000 + 3600), "loss within 1h"),
        (Deadline(None, None), "loss at an unknown time"),
        (Deadline(100, 400), "expired 10m ago"),
    ],
)
def test_time_left(deadline, shown):
    assert costs.left(deadline, 1000.0) == shown


def test_deadlines_are_absolute_too():
    stalled = [Effect(Harm.STALLED, shard_id(1), True)]
    assert costs.absolute(stalled, Deadline(1790156040, 1790159640)) == (
        "loss from 2026-09-23T09:34:00Z at the earliest, all of it by 2026-09-23T10:34:00Z"
    )
    assert costs.absolute(stalled, Deadline(1790156040, None, probed=True)) == (
        "loss from 2026-09-23T09:34:00Z"
    )


@pytest.mark.parametrize(
    "effect,shown",
    [
        (Effect(Harm.SKIPPED, None, True, seconds=720.0), "skips up to 12m of records"),
        (Effect(Harm.SKIPPED, None, True, START, TIP, 720.0), "skips at least 12m of records"),
        (Effect(Harm.SKIPPED, None, True), "skips an unknown amount"),
        (Effect(Harm.SKIPPED, None, False, gone=True), "may be lost already"),
        (Effect(Harm.REREAD, None, True, seconds=10800.0), "re-reads up to 3h of records"),
        (Effect(Harm.REREAD, None, True, START, TIP, 10800.0), "re-reads up to 3h of records"),
        (Effect(Harm.REREAD, None, True, seconds=10803), "re-reads up to 3h1m of records"),
        (Effect(Harm.REREAD, None, True, seconds=59.5), "re-reads up to 1m of records"),
        (Effect(Harm.STALLED, None, True), "never read"),
        (Effect(Harm.DISORDERED, None, True), "out of order"),
        (Effect(Harm.DISORDERED, None, True, past=True), "was out of order"),
        (Effect(Harm.CRASHES, None, True), "crashes at its start"),
    ],
)
def test_costs(effect, shown):
    assert costs.cost(effect) == shown


def test_the_widest_extent_counts_and_unknown_is_wider_than_all():
    def skip(seconds):
        return Effect(Harm.SKIPPED, shard_id(1), True, seconds=seconds)

    assert costs.widest([], Harm.SKIPPED) == "nothing"
    assert costs.widest([skip(60.0)], Harm.REREAD) == "nothing"
    assert costs.widest([skip(60.0), skip(7200.0)], Harm.SKIPPED) == "up to 2h"
    assert costs.widest([skip(60.0), skip(None)], Harm.SKIPPED) == "unknown"


def test_what_a_start_does_without_the_plan_is_no_cost_of_it():
    """A plan for shard 1 alone, beside a shard whose records are skipped with it and without it."""
    skip = Effect(Harm.SKIPPED, shard_id(2), False, seconds=23.0)
    again = Effect(Harm.REREAD, shard_id(1), True, seconds=41.0)
    plan = Plan((), before=((skip,),), after=((skip, again),))
    assert costs.price_words(plan) == "Skips nothing, re-reads up to 41s of records."
    assert costs.left_words(plan) == " Left as it is: 2 skips up to 23s of records."
    otherwise = replace(skip, why="taken for read for another reason")
    assert costs.left_words(replace(plan, after=((otherwise, again),))) == costs.left_words(plan)
    sure = replace(plan, after=((replace(skip, certain=True), again),))
    assert costs.price_words(sure).startswith("Skips up to 23s"), "it was only possible"
    alone = Plan((), before=((),), after=((skip, again),))
    assert costs.price_words(alone) == (
        "Skips up to 23s of records, re-reads up to 41s of records."
    )
    assert costs.left_words(alone) == ""


def test_the_gravest_effect_leads():
    reread = Effect(Harm.REREAD, shard_id(1), True)
    stall = Effect(Harm.STALLED, shard_id(2), False)
    sure = Effect(Harm.STALLED, shard_id(3), True)
    assert costs.worst([reread, stall, sure, reread]) is sure
    assert costs.worst([]) is None
    short, long, gone = (
        Effect(Harm.SKIPPED, shard_id(1), True, seconds=seconds, gone=gone)
        for seconds, gone in ((458, False), (7199, False), (9000, True))
    )
    for order in permutations((short, long, gone)):
        assert costs.worst(order) is long, "its shards have no order of their own"
    unknown = replace(long, seconds=None)
    assert costs.worst([long, unknown, short]) is unknown


CANDIDATES = [
    Candidate(None, {"initial": initial, "release": release})
    for initial in ("LATEST", "TRIM_HORIZON", "AT_TIMESTAMP") for release in ("2.7.2", "3.5.1")
]


@pytest.mark.parametrize(
    "labels,shown",
    [
        ([], ""),
        (["initial=LATEST, release=2.7.2", "initial=LATEST, release=3.5.1"], "initial=LATEST"),
        (
            ["initial=LATEST, release=2.7.2", "initial=LATEST, release=3.5.1",
             "initial=AT_TIMESTAMP, release=2.7.2", "initial=AT_TIMESTAMP, release=3.5.1"],
            "initial=LATEST or AT_TIMESTAMP",
        ),
        (["initial=LATEST, release=2.7.2"], "initial=LATEST, release=2.7.2"),
        (
            ["initial=LATEST, release=2.7.2", "initial=TRIM_HORIZON, release=3.5.1"],
            "initial=LATEST, release=2.7.2 or initial=TRIM_HORIZON, release=3.5.1",
        ),
    ],
)
def test_conditions_name_only_the_options_that_matter(labels, shown):
    assert words.condition(" or ".join(labels), CANDIDATES) == shown


def test_commands_are_quoted_for_a_shell():
    assert words.command("fix", "kcl://a?initial=LATEST&release=3", "it's") == [
        "reshardctl", "fix", "'kcl://a?initial=LATEST&release=3'", "'it'\"'\"'s'",
    ]


def test_elsewhere_keeps_how_aws_is_reached():
    reached = list(options.words(Account(
        "eu-west-1", "p", "r", "us-east-1", "", "s", endpoints=["kinesis=http://x"],
    )))  # fmt: skip
    assert len(reached) == 14
    assert words.elsewhere(["kcl://a", "--stream", "s", *reached]) == reached


@pytest.mark.parametrize(
    "given,flags,shown",
    [
        ([], ["--accept reread=4h"], "reread=4h"),
        ([], ["--accept reread=4h", "--accept reread=11h", "--accept disorder"],
         "reread=11h,disorder"),
        (["--accept", "skip=1m,reread=2h"], ["--accept reread=4h"], "skip=1m,reread=4h"),
        ([], ["--accept reread=all", "--accept reread=4h"], "reread=all"),
        ([], ["--accept reread=4h", "--accept reread=all"], "reread=all"),
    ],
)
def test_flags_of_residuals_join_what_is_accepted_already(given, flags, shown):
    again = ["kcl://a", "--stream", "s"]
    assert words.accepting([*again, *given], flags) == [*again, "--accept", shown]


@pytest.mark.parametrize("length", range(20, 60))
def test_a_text_is_cut_only_to_something_shorter(length):
    shown = cut("x" * length, 24)
    assert len(shown) <= length and shown in ("x" * length, f"{'x' * 24}… ({length} characters)")


def test_full_ids_are_in_the_order_of_their_birth_as_numbers_are():
    ids = [shard_id(5), shard_id(10), shard_id(4)]
    assert words.shards(ids) == "4, 5, 10"
    assert words.shards(ids, verbose=True) == ", ".join(map(shard_id, (4, 5, 10)))


def test_a_shard_that_will_be_read_out_of_order_has_no_line_on_an_earlier_time():
    two, three = shard_id(2), shard_id(3)
    ahead = [Effect(Harm.DISORDERED, shard, False) for shard in (two, three)]
    past = [Effect(Harm.DISORDERED, shard, False, past=True) for shard in (three, shard_id(4))]
    assert remaining([*ahead, *past], verbose=False) == [
        "2, 3: out of order (possible)", "4: was out of order (possible)",
    ]
