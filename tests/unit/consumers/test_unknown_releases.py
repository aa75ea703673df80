"""Releases: each that is known has a case, a newer patch is judged with a note, more is refused.

KCL 3.5.2 (2026-09-04), 3.5.3 (2026-09-24) and Telegraf 1.40.1 (2026-09-21) exist; the newest that
was read or run here are 3.5.1 and 1.39.3. The other numbers are made up.
"""

from __future__ import annotations

import importlib
from pathlib import Path

import pytest

from reshardctl.consumers.registry import CONSUMERS
from reshardctl.consumers.spark.spark_json import version_of
from reshardctl.errors import UsageError
from reshardctl.report.results import Fixed
from tests.support.case import all_cases
from tests.support.judging import Bench
from tests.unit.render.formats import FORMATS
from tests.unit.render.samples import context, report_of

WITHOUT_CASES = {
    ("kcl", "1.6.5"): "tests/unit/consumers/test_kcl_releases.py",
    ("kinesis-consumer", "group-0.5.0"): "tests/unit/consumers/test_kinesis_consumer_group.py",
    ("spark", "databricks"): "tests/unit/consumers/spark/test_rebuilt.py",
}
"""Releases that no case names → where they are tested. Databricks' format was only read of
(docs/evidence.md)."""


NEWER_PATCH = [
    ("kcl", "3.5.2", "KCL 3.5.1"),
    ("kcl", "3.5.3", "KCL 3.5.1"),
    ("kcl", "3.4.4", "KCL 3.4.3"),
    ("kcl", "2.7.4", "KCL 2.7.3"),
    ("kcl", "1.15.4", "KCL 1.15.3"),
    ("spark", "awslabs-1.4.4", "1.4.3"),
    ("spark", "awslabs-2.0.1", "2.0.0"),
    ("spark", "awslabs-2.1.0", "awslabs-head-0f4c005"),
    ("spark", "awslabs-main-1234567", "awslabs-head-0f4c005"),
    ("spark", "qubole-1.2.1_spark-3.0", "qubole-1.2.0_spark-3.0"),
    ("spark", "roncemer-1.2.3_spark-3.3", "roncemer-1.2.3_spark-3.2"),
    ("spark", "roncemer-1.2.4_spark-3.2", "roncemer-1.2.3_spark-3.2"),
    ("quickwit", "0.9.1", "Quickwit 0.9.0"),
    ("quickwit", "0.8.3", "Quickwit 0.8.2"),
    ("quickwit", "0.7.2", "Quickwit 0.7.1"),
    ("kinsumer", "snowplow-1.7.1", "1.7.0"),
    ("kinsumer", "twitch-1234567", "twitch-9a48088"),
    ("kinesis-consumer", "0.5.1", "0.5.0"),
    ("kinesis-consumer", "group-0.5.1", "0.5.0"),
    ("kinesis-consumer", "telegraf-1.39.4", "Telegraf 1.39.3"),
    ("kinesis-consumer", "telegraf-1.34.5", "Telegraf 1.34.4"),
    ("kinesis-consumer", "master-1234567", "master-31e0042"),
]
REFUSED = [
    ("kcl", "3.9.0", "3.5.1"),
    ("kcl", "3.6", "3.5.1"),
    ("kcl", "2.99", "2.7.3"),
    ("kcl", "1.16.0", "1.15.3"),
    ("kcl", "4", "3.5.1"),
    ("spark", "awslabs-1.5", "awslabs-1.4.3"),
    ("spark", "awslabs-2.2.0", "awslabs-2.1.0"),
    ("spark", "awslabs-3", "awslabs-2.1.0"),
    ("spark", "qubole-1.3.0_spark-3.0", "qubole-1.2.0_spark-3.0"),
    ("quickwit", "0.10.0", "0.9.0"),
    ("quickwit", "1.0", "0.9.0"),
    ("kinsumer", "snowplow-1.8", "snowplow-1.7.0"),
    ("kinsumer", "snowplow-2", "snowplow-1.7.0"),
    ("kinesis-consumer", "0.6", "0.5.0"),
    ("kinesis-consumer", "1.0.0", "0.5.0"),
    ("kinesis-consumer", "group-0.6.0", "group-0.5.0"),
    ("kinesis-consumer", "telegraf-1.40.1", "telegraf-1.39.3"),
    ("kinesis-consumer", "telegraf-1.99", "telegraf-1.39.3"),
    ("kinesis-consumer", "telegraf-2", "telegraf-1.39.3"),
]
MEANT = {
    "kcl": {
        "2.7.2": "2 2.7 2.3.0", "2.2.11": "2.2 2.2.11 2.0.0", "3.5.1": "3", "3.1.3": "3.0.2 3.4.3",
        "1.15.3": "1 1.15 1.14.0", "1.13.3": "1.13 1.13.3 1.7.0", "1.6.5": "1.6 1.4.0",
        "1.3.0": "1.3 1.0.0",
    },
    "kinsumer": {
        "twitch": "twitch", "snowplow-1.6": "snowplow-1.6 snowplow-v1.6.0",
        "snowplow-1.7": "snowplow snowplow-1 snowplow-1.7.0",
    },
    "kinesis-consumer": {
        "0.5.0": "0 0.5 0.4.0", "group-0.5.0": "group group-0.5", "master-31e0042": "master",
        "telegraf-1.39": "telegraf telegraf-1.36.4 telegraf-1",
        "telegraf-1.34": "telegraf-1.34 telegraf-1.36.3",
    },
    "quickwit": {"0.9.0": "0 v0.9", "0.8.2": "0.8 0.8.0 0.7"},
}  # fmt: skip
"""Release that is judged → what means it: a prefix means its newest."""
NO_RELEASE = [
    *(("kcl", text) for text in ("0.9", "9", "3.x", "", "1.x", "v1.13")),
    *(("kinsumer", text) for text in ("snowplow-1.5", "1.7", "", "snowplow-1.x", "kcl")),
    *(("kinesis-consumer", text) for text in ("kcl", "", "0.x", "telegraf-1.33")),
    *(("quickwit", text) for text in ("", "latest", "0.x", "0.6")),
    *(("spark", text) for text in ("", "roncemer-1.2.2_spark-3.2", "confluent")),
]
CUT_OFF = {
    ("kcl", "1.0 to 3.5.1"): ("3.", "3.5."),
    ("kinsumer", "twitch, snowplow-1.6, snowplow-1.7"): (
        "t", "twitch-", "snowplow-", "snowplow-v", "snowplow-1.",
    ),
    ("kinesis-consumer", "0.4 to 0.5.0, master, group-0.5.0, telegraf-1.34 to telegraf-1.39.3"): (
        "0.", "g", "group-", "group-0.", "telegraf-", "telegraf-1.", "master-",
    ),
    ("quickwit", "0.7 to 0.9.0"): ("0.", "v"),
    ("spark", "qubole-1.2.0_spark-3.0, roncemer-1.2.3_spark-3.2, awslabs-1.4.2, awslabs-1.4.3"): (
        "aw", "awslabs-", "awslabs-1.", "awslabs-head-", "k", "kinesis-", "qubole-1.",
        "qubole-1.2.0_",
    ),
}  # fmt: skip
"""Releases whose end is missing, each refused with those there are."""


def _releases(consumer: str):
    return importlib.import_module(f"reshardctl.consumers.{consumer.replace('-', '_')}.releases")


def _known(consumer: str) -> list[str]:
    """Every release that the library's module names."""
    module = _releases(consumer)
    traits = getattr(module, "RELEASES", None) or [
        value for value in vars(module).values() if isinstance(value, module.Traits)
    ]
    return [one if isinstance(one, str) else one.release for one in traits]


@pytest.mark.parametrize(("consumer", "release", "judged"), NEWER_PATCH)
def test_a_newer_patch_is_judged_as_the_newest_known_one_and_says_so(consumer, release, judged):
    note = _releases(consumer).note_of(release)
    assert f"release={release}" in note and note.endswith(judged)
    _releases(consumer).traits_of(release)


@pytest.mark.parametrize(("consumer", "release", "newest"), REFUSED)
def test_a_newer_release_is_refused_with_the_newest_known_one(consumer, release, newest):
    try:
        CONSUMERS[consumer].validate_options({"release": release})
    except UsageError as error:
        refused = error
    else:
        pytest.fail(
            f"{release} is known now: name the next one after it in NEWER_PATCH and REFUSED; "
            "see docs/extending.md"
        )
    assert release in refused.what
    assert newest in refused.next
    _releases(consumer).traits_of(newest)


@pytest.mark.parametrize(("consumer", "known", "release"), [
    (*which, text) for which, texts in CUT_OFF.items() for text in texts
])  # fmt: skip
def test_a_release_that_is_cut_off_is_refused_with_those_there_are(consumer, known, release):
    with pytest.raises(UsageError) as refused:
        CONSUMERS[consumer].validate_options({"release": release})
    assert f"release={release}:" in refused.value.what
    assert f"it knows {known}" in refused.value.next


@pytest.mark.parametrize("consumer", MEANT)
def test_a_prefix_means_its_newest_release(consumer):
    traits_of = _releases(consumer).traits_of
    meant = {text: one for one, texts in MEANT[consumer].items() for text in texts.split()}
    assert {text: traits_of(text).release for text in meant} == meant


@pytest.mark.parametrize(("consumer", "text"), NO_RELEASE)
def test_what_is_no_release_is_refused(consumer, text):
    with pytest.raises(UsageError) as refused:
        _releases(consumer).traits_of(text)
    assert refused.value.next


@pytest.mark.parametrize("consumer", sorted(CONSUMERS))
def test_every_known_release_is_taken_at_its_word(consumer):
    for release in _known(consumer):
        _releases(consumer).traits_of(release)
        assert _releases(consumer).note_of(release) == ""
    assert _releases(consumer).note_of(None) == ""


def test_every_registered_consumer_is_in_these_tables():
    assert {c for c, *_ in NEWER_PATCH} == {c for c, *_ in REFUSED} == set(CONSUMERS)


@pytest.mark.parametrize("consumer", sorted(CONSUMERS))
def test_the_note_is_every_candidates(consumer):
    """So it is in every report, whatever was decided."""
    release = next(release for name, release, _ in NEWER_PATCH if name == consumer)
    for case in all_cases(consumer):
        try:
            bench = Bench.of(case, "", release)
        except UsageError:
            continue  # of another connector or medium
        notes = {c.note for c in bench.plan_case.candidates}
        assert notes == {_releases(consumer).note_of(release)}
        assert set(bench.plan_case.caveats) == notes
        return
    raise AssertionError("no case takes that release")


@pytest.mark.parametrize("form", sorted(FORMATS))
@pytest.mark.parametrize("case", ["a-both", "healthy-split-cleaned"])
def test_the_note_is_in_every_format(form, case):
    report = report_of(case, "initial=LATEST&release=3.5.2")
    shown = FORMATS[form]
    said = "judged as KCL 3.5.1"
    assert said in _flat(shown.inspect(report, context(report)))
    assert said in _flat(shown.plan(report, context(report)))
    done = Fixed(report, report, (), "journal", 0)
    assert said in _flat(shown.fixed(done, context(report)))


def _flat(text: str) -> str:
    return " ".join(text.replace("\\n", " ").split())


def test_a_log_of_a_newer_spark_is_refused():
    """Spark itself says that the log was produced by a newer version of Spark (HDFSMetadataLog)."""
    for line in ("v3", "v10"):
        with pytest.raises(UsageError, match=r"newer Spark than 4\.3\.0"):
            version_of(line)
    assert [version_of(line) for line in ("v1", "v2")] == [1, 2]


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
        release for release in set(_known(consumer)) - in_cases(consumer)
        if (consumer, release) not in WITHOUT_CASES
    }
    assert not missing, f"no [[expect]] in tests/cases/{consumer} names them; see docs/extending.md"


@pytest.mark.parametrize(("named", "path"), WITHOUT_CASES.items(), ids=lambda value: value[-1])
def test_what_is_executed_instead_of_a_case_names_the_release(named, path):
    consumer, release = named
    assert release in _known(consumer)
    assert release in (Path(__file__).parents[3] / path).read_text(encoding="utf-8")
