"""Every release that is known is named by a case, or by a test that stands in its place here."""

from __future__ import annotations

import importlib
from pathlib import Path

import pytest

from reshardctl.consumers.registry import CONSUMERS
from tests.support.case import all_cases

PAGE = "see docs/extending.md"
WITHOUT_CASES = {
    ("kcl", "1.6.5"): "tests/unit/consumers/test_kcl_fingerprints.py",
    ("kinesis-consumer", "group-0.5.0"): "tests/unit/consumers/test_kinesis_consumer_group.py",
    ("spark", "databricks"): "tests/unit/consumers/spark/test_rebuilt.py",
}
"""Releases that no case names → where they are tested. Databricks' format was only read of
(docs/evidence.md)."""


def _releases(consumer: str):
    return importlib.import_module(f"reshardctl.consumers.{consumer.replace('-', '_')}.releases")


def known(consumer: str) -> list[str]:
    """Every release that the library's module names."""
    module = _releases(consumer)
    traits = getattr(module, "RELEASES", None) or [
        value for value in vars(module).values() if isinstance(value, module.Traits)
    ]
    return [one if isinstance(one, str) else one.release for one in traits]


def in_cases(consumer: str) -> set[str]:
    """The known releases that an [[expect]] of the library's cases names."""
    named = {
        release for case in all_cases(consumer) for expect in case.expects
        for release in expect.releases if release
    }
    judged = {_releases(consumer).traits_of(release) for release in named}
    return {getattr(traits, "release", "") for traits in judged} | named


@pytest.mark.parametrize("consumer", sorted(CONSUMERS))
def test_every_release_has_a_case(consumer):
    missing = {
        release for release in set(known(consumer)) - in_cases(consumer)
        if (consumer, release) not in WITHOUT_CASES
    }
    assert not missing, (
        f"no [[expect]] in tests/cases/{consumer} names {sorted(missing)} in its releases; {PAGE}"
    )


@pytest.mark.parametrize(("named", "path"), WITHOUT_CASES.items(), ids=lambda value: value[-1])
def test_what_is_executed_instead_of_a_case_names_the_release(named, path):
    consumer, release = named
    assert release in known(consumer)
    assert release in (Path(__file__).parents[3] / path).read_text(encoding="utf-8")
