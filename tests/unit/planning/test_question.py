"""The options that a question names: the fewest that decide between the candidates' plans."""

from __future__ import annotations

from reshardctl.consumers.base import Candidate
from reshardctl.model import shard_id
from reshardctl.planning.decision import (
    Ask,
    Decision,
    NoSafePlan,
    Nothing,
    Residual,
    agree,
    alike,
)
from reshardctl.planning.effects import Effect, Harm

NONE = NoSafePlan("no row can hold it", ())


def test_an_answer_names_no_option_that_is_the_same_for_all_it_leaves():
    """Every candidate of release 1 starts at LATEST, so there the application decides alone."""
    candidates: dict[tuple[str, str, str], Decision] = {
        ("1", "LATEST", "a"): Nothing(), ("1", "LATEST", "b"): NONE,
        ("2", "LATEST", "a"): NONE, ("2", "TRIM_HORIZON", "a"): Nothing(),
    }  # fmt: skip
    names = ("release", "initial", "application")
    read = [
        Candidate(None, dict(zip(names, values, strict=True)), defaults={
            "release": values[0], "initial": "LATEST",
        }) for values in candidates
    ]
    ask = agree(names, read, list(candidates.values()))
    assert isinstance(ask, Ask) and ask.options == names
    assert list(map(dict, ask.answers)) == [
        {"release": "1", "application": "a"}, {"release": "1", "application": "b"},
        {"release": "2", "initial": "LATEST"}, {"release": "2", "initial": "TRIM_HORIZON"},
    ]
    assert ask.defaults == {"initial": "LATEST"}, "only what the library does in each of them"


def test_decisions_that_write_nothing_differ_in_what_they_leave_alone():
    dear = Effect(Harm.REREAD, shard_id(1), True)
    left, same, other = (
        Nothing((Residual(shard_id(number), dear, flag),))
        for number, flag in ((1, "reread=2h"), (1, "reread=all"), (2, "reread=2h"))
    )
    assert alike([left, same]) and not alike([left, other]) and not alike([left, Nothing()])
