"""Metrics as text: the grammar, labels that try to break it, and every metric in its place."""

from __future__ import annotations

import unicodedata

import pytest
from prometheus_client.openmetrics.parser import text_string_to_metric_families

from reshardctl.errors import CannotTell, ReshardError
from reshardctl.render.context import Context
from reshardctl.render.document import Measured
from reshardctl.render.formats import write
from reshardctl.render.formats.openmetrics import FAMILIES, of_consumers
from reshardctl.report.report import Report
from tests.unit.render.samples import context, report_of
from tests.unit.render.test_hostile import HOSTILE, OPTIONS, a_third, infested, judgement

UNITS = ("seconds", "ratio")


def report() -> Report:
    return report_of("a-both", OPTIONS)


def test_every_metric_has_its_head_in_the_order_of_the_grammar():
    """OpenMetrics 1.0, "Overall Structure": a family's metadata, then its samples, `# EOF` last."""
    lines = write(report(), "openmetrics", context(report())).splitlines()
    assert lines[-1] == "# EOF" and lines.count("# EOF") == 1
    heads = [line.split()[1:3] for line in lines if line.startswith("# ") and line != "# EOF"]
    wanted = []
    for name, (unit, _) in FAMILIES.items():
        wanted += [["HELP", name], ["TYPE", name]] + ([["UNIT", name]] if unit else [])
        assert (unit in UNITS and name.endswith(f"_{unit}")) or not unit
    assert heads == wanted
    assert all(name.startswith("reshardctl_") for name in FAMILIES)


def test_units_are_those_that_prometheus_names():
    """prometheus.io/docs/practices/naming: base units alone, as the end of the name; a ratio is
    between 0 and 1, and no per cent."""
    for name, (unit, says) in FAMILIES.items():
        assert unit in ("", *UNITS) and name.endswith(unit)
        assert name.endswith(("_seconds", "_ratio")) is bool(unit)
        assert "percent" not in says


@pytest.mark.parametrize("text", [*HOSTILE, 'quote " and \\ and \\n and \n', ""], ids=ascii)
def test_labels_that_try_to_break_out(text):
    shown = of_consumers([Measured(text, text, report()), Measured("orders", "b", None)])
    (up, *_) = text_string_to_metric_families(shown)
    first, second = up.samples
    assert second.labels == {"stream": "orders", "consumer": "b"} and second.value == 0
    assert first.labels["stream"] == first.labels["consumer"]
    assert all(c.isprintable() and unicodedata.category(c)[0] != "M" for c in shown if c != "\n")
    assert shown.encode("utf-8")


@pytest.mark.parametrize("text", HOSTILE, ids=ascii)
def test_rows_that_try_to_break_out(text):
    for _, items in a_third(infested(text), HOSTILE.index(text)):
        judged = judgement(items)
        for per_shard in (False, True):
            shown = write(judged, "openmetrics", Context(per_shard=per_shard))
            assert list(text_string_to_metric_families(shown))
            assert isinstance(judged, ReshardError) or "reshardctl_up{" in shown


def test_labels_survive_a_failure_byte_by_byte():
    """A consumer is found again in the earlier metrics, whatever its name holds."""
    subject = Measured("orders", 'a "quoted" \\ name', report())
    earlier = of_consumers([subject])
    failed = of_consumers([Measured(subject.stream, subject.consumer, None)], earlier)
    stamp = next(line for line in earlier.splitlines() if "last_success" in line and "{" in line)
    assert stamp in failed.splitlines()
    again = of_consumers([Measured(subject.stream, subject.consumer, None)], failed)
    assert again == failed


def test_an_error_that_names_no_consumer():
    earlier = of_consumers([Measured("orders", "a", report()), Measured("orders", "b", None)])
    shown = write(CannotTell("no"), "openmetrics", Context(earlier=earlier))
    lines = [line for line in shown.splitlines() if not line.startswith("#")]
    assert sorted(lines) == sorted([
        'reshardctl_up{stream="orders",consumer="a"} 0',
        'reshardctl_up{stream="orders",consumer="b"} 0',
        'reshardctl_last_success_timestamp_seconds{stream="orders",consumer="a"} 1795220700',
    ])


def test_one_error_that_names_its_consumer():
    error = CannotTell("no")
    error.unjudged = ("arn:aws:kinesis:us-east-1:123456789012:stream/orders", "kcl://app")
    shown = write(error, "openmetrics", Context())
    assert 'reshardctl_up{stream="orders",consumer="kcl://app"} 0\n' in shown
    assert "last_success_timestamp_seconds{" not in shown


def test_whole_numbers_and_fractions_without_exponents():
    shown = write(report(), "openmetrics", context(report()))
    values = [line.rpartition(" ")[2] for line in shown.splitlines() if not line.startswith("#")]
    assert values and all(value.replace(".", "", 1).lstrip("-").isdigit() for value in values)
