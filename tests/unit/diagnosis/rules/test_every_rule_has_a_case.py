"""Every rule is shown by a case, and every case names rules that exist."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from reshardctl.diagnosis.rules import RULES, Rule
from reshardctl.planning.policy import POLICIES
from tests.support.case import CASES, all_cases
from tests.support.case import RULES as RULE_CASES
from tests.support.case_listing import listing_cases
from tests.support.case_sink import sink_cases
from tests.support.case_watch import watch_cases

ELSEWHERE = {"listings", "watches", "sinks"}
SYNCS = {"kcl-sync", "kcl-full-sync"}
"""Shard syncs alone: they create leases, and nothing is found."""


def shown() -> Iterator[tuple[str, frozenset[str]]]:
    """Every case with the codes that it expects."""
    for folder in sorted(path.name for path in CASES.iterdir() if path.is_dir()):
        if folder in ELSEWHERE | SYNCS:
            continue
        for case in all_cases(folder):
            for expect in case.expects:
                yield f"{folder}/{case.name}", expect.findings | (expect.infos or frozenset())
    yield from ((case.name, case.codes) for case in listing_cases())
    yield from ((case.name, case.codes) for case in watch_cases())
    yield from ((case.name, case.codes) for case in sink_cases())


SHOWN = list(shown())
CODES = {rule.code for rule in RULES}


def test_a_rule_is_wanted_by_policies_that_there_are() -> None:
    wanting = set().union(*(rule.wanted_by for rule in RULES))
    assert wanting
    assert wanting <= POLICIES.keys()


@pytest.mark.parametrize("rule", RULES, ids=lambda rule: rule.code)
def test_every_rule_has_a_case(rule: Rule) -> None:
    assert any(rule.code in codes for _, codes in SHOWN), (
        f"no case shows {rule.code}: add one to tests/cases/{RULE_CASES} or beside it, "
        "see tests/cases/README.md"
    )


def test_cases_name_rules_that_exist() -> None:
    assert {name: codes - CODES for name, codes in SHOWN if codes - CODES} == {}


def test_a_case_of_a_rule_is_named_after_it() -> None:
    named: dict[str, set[str]] = {}
    for name, codes in SHOWN:
        file = name.rpartition("/")[2]
        if file.startswith("rsh"):
            named.setdefault(file, set()).update(codes)
    assert len(named) == len(list(CASES.glob("*/rsh*.toml")))
    wrong = [file for file in named if file.partition("-")[0].upper() not in named[file]]
    assert wrong == []
