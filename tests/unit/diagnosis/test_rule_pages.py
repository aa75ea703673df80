"""Every code has a page, every page has all its parts, and what a page tells to do exists."""

from __future__ import annotations

import re
import shlex
from collections.abc import Iterator
from functools import cache
from typing import Any

import pytest
import typer.main
from typer.core import TyperGroup

from reshardctl.diagnosis.rules import RULES, Rule
from reshardctl.diagnosis.rules.pages import SECTIONS, find, page_of, pages, parsed
from reshardctl.errors import UsageError
from reshardctl.lineage import Lineage
from reshardctl.model import HASH_SPACE, Shard, ShardId, Stream
from tests.support.grouped import by_case

pytestmark = pytest.mark.slow

EVERY_CODE_EVER = {
    "RSH101": "reshard-in-progress",
    "RSH102": "stream-recreated",
    "RSH103": "hash-range-hole",
    "RSH104": "open-parent",
    "RSH105": "closed-without-children",
    "RSH201": "child-before-parent",
    "RSH202": "parent-abandoned",
    "RSH203": "child-not-started",
    "RSH204": "position-expired",
    "RSH205": "orphaned-position",
    "RSH206": "false-end",
    "RSH207": "position-out-of-range",
    "RSH208": "child-at-latest",
    "RSH209": "refilled-at-start-position",
    "RSH210": "position-at-end",
    "RSH211": "merge-parent-missing",
    "RSH212": "position-before-birth",
    "RSH213": "blocked-for-ever",
    "RSH214": "read-again",
    "RSH215": "time-mark-without-time",
    "RSH216": "drained-not-ended",
    "RSH217": "head-unknown",
    "RSH218": "unread-skipped",
    "RSH231": "dies-after-reshard",
    "RSH232": "source-key-missing",
    "RSH233": "may-never-commit",
    "RSH234": "log-shared",
    "RSH301": "unreadable-entry",
    "RSH302": "foreign-entry",
    "RSH303": "pending-checkpoint-left",
    "RSH304": "end-with-subsequence",
    "RSH305": "parents-unreadable",
    "RSH306": "handoff-in-progress",
    "RSH307": "unreadable-beside",
    "RSH401": "consumer-running",
    "RSH402": "leader-lock-left",
    "RSH403": "not-progressing",
    "RSH404": "time-in-the-future",
    "RSH501": "records-missing",
    "RSH502": "records-doubled",
    "RSH503": "keys-out-of-order",
    "RSH504": "rows-of-no-shard",
    "RSH505": "shard-without-rows",
    "RSH506": "position-behind-sink",
    "RSH507": "position-ahead-of-sink",
    "RSH508": "cannot-be-known",
    "RSH509": "rows-unreadable",
    "RSH510": "sink-changed-while-read",
    "RSH901": "could-not-look",
}
"""Suppressions and dashboards hold these: a line is only ever added, never changed or removed."""

every_rule = by_case((f"{rule.code[:4]}xx", rule.code, (rule,)) for rule in RULES)


def test_no_code_is_reused_or_retired() -> None:
    assert {rule.code: rule.name for rule in RULES} == EVERY_CODE_EVER, (
        "a new rule is a new line of EVERY_CODE_EVER; an old line stays as it is"
    )
    assert [rule.code for rule in RULES] == sorted(EVERY_CODE_EVER)
    assert len({rule.name for rule in RULES}) == len(RULES)


@every_rule
def test_functions_are_named_after_their_rules(rule: Rule) -> None:
    """Those that find nothing are declared by `elsewhere`."""
    assert rule.look.__name__ in (rule.name.replace("-", "_"), "found_elsewhere")


@every_rule
def test_page_has_every_section(rule: Rule) -> None:
    page = page_of(rule)
    assert tuple(section.title for section in page.sections) == SECTIONS
    assert all(section.text for section in page.sections)
    assert page.summary.endswith(".") and page.summary.count(".") == 1
    lines = [line for section in page.sections for line in section.text.splitlines() if line]
    assert 9 <= len(lines) <= 25, f"{rule.code}: {len(lines)} lines in all sections together"
    assert all(len(line) <= 100 for line in rule.page.splitlines())


@every_rule
def test_example_is_a_picture(rule: Rule) -> None:
    example = next(s.text for s in page_of(rule).sections if s.title == "Example")
    assert all(line.startswith("    ") for line in example.splitlines())


@every_rule
def test_reported_names_a_thread_or_says_that_there_is_none(rule: Rule) -> None:
    seen = next(s.text for s in page_of(rule).sections if s.title == "Reported")
    thread = re.search(r"\b[A-Za-z0-9-]+/[A-Za-z0-9._-]+#\d+", seen)
    assert thread or seen.startswith("No public report")


@every_rule
def test_rules_that_a_page_names_exist(rule: Rule) -> None:
    assert set(re.findall(r"RSH\d+", rule.page)) <= set(EVERY_CODE_EVER)


@every_rule
def test_a_page_says_what_to_do(rule: Rule) -> None:
    assert re.search(r"reshardctl |aws |Wait|Nothing|restart", rule.page)


def commands(rule: Rule) -> Iterator[list[str]]:
    """The command lines of ours that stand on a line of their own."""
    for line in rule.page.splitlines():
        if line.startswith("    reshardctl "):
            yield shlex.split(line)[1:]


@cache
def verbs() -> dict[str, Any]:
    """The real commands, by name."""
    from reshardctl.cli.app import application

    command = typer.main.get_command(application())
    assert isinstance(command, TyperGroup)
    return dict(command.commands)


@every_rule
def test_commands_on_a_page_can_be_typed(rule: Rule) -> None:
    for verb, *words in commands(rule):
        verbs()[verb].make_context(verb, words)  # raises for an option that does not exist


@cache
def options() -> set[str]:
    params = [param for verb in verbs().values() for param in verb.params]
    return {word for param in params for word in (*param.opts, *param.secondary_opts)}


@every_rule
def test_options_in_a_sentence_exist(rule: Rule) -> None:
    ours = [line for line in rule.page.splitlines() if not line.startswith("    aws ")]
    assert set(re.findall(r"(?<![\w-])--[a-z][a-z-]*", "\n".join(ours))) <= options()


@pytest.mark.parametrize("wanted", ["RSH203", "rsh203", " Rsh203 ", "child-not-started"])
def test_find(wanted: str) -> None:
    assert find(wanted).code == "RSH203"
    assert find("Child-Not-Started").code == "RSH203"


def test_find_says_what_comes_close() -> None:
    with pytest.raises(UsageError) as caught:
        find("child-not-start")
    assert "child-not-start" in caught.value.what
    assert "child-not-started" in caught.value.next


@pytest.mark.parametrize("wanted", ["", "RSH", "RSH999", "203"])
def test_find_knows_no_other_spelling(wanted: str) -> None:
    with pytest.raises(UsageError):
        find(wanted)


def test_pages_come_in_order() -> None:
    assert [page.code for page in pages()] == [rule.code for rule in RULES]


def test_a_page_without_a_section_is_refused() -> None:
    rule = RULES[0]
    cut = rule.page.replace("Example\n-------\n", "")
    with pytest.raises(ValueError, match=rule.code):
        parsed(rule.code, rule.name, cut)
    with pytest.raises(ValueError, match=rule.code):
        parsed(rule.code, rule.name, "A sentence.")


def test_a_page_with_a_longer_summary_is_refused() -> None:
    rule = RULES[0]
    with pytest.raises(ValueError, match="summary"):
        parsed(rule.code, rule.name, f"One line,\n{rule.page}")


def test_breaches_of_a_listing_have_pages() -> None:
    """One listing with a hole, an open parent and a closed shard without children."""
    half = HASH_SPACE // 2
    shards = [
        Shard(ShardId("shardId-000000000000"), None, None, 0, half - 1, "100", None),
        Shard(ShardId("shardId-000000000001"), None, None, half, HASH_SPACE - 1, "101", "900"),
        Shard(
            ShardId("shardId-000000000002"), ShardId("shardId-000000000000"), None, 0, half // 2,
            "901", None,
        ),
    ]
    stream = Stream("arn:aws:kinesis:us-east-1:123456789012:stream/s", "s", 0.0, 86400, "ACTIVE")
    found = Lineage(stream, shards).breaches()
    assert {breach.code for breach in found} == {"RSH103", "RSH104", "RSH105"}
    assert all(find(breach.code).name == breach.name for breach in found)
