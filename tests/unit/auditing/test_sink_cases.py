"""Every case of a sink: the findings of its audit, with their severities and shards, exactly."""

from __future__ import annotations

from dataclasses import replace

import pytest

from reshardctl.diagnosis.rules import Finding
from tests.support.case_sink import SinkCase, sink_cases

every = pytest.mark.parametrize("case", sink_cases(), ids=lambda case: case.name)


def line(finding: Finding) -> str:
    """As a case spells it."""
    shards = (str(int(shard[8:])) for shard in finding.shards)
    return " ".join([finding.code, str(finding.severity), *shards])


@every
def test_findings(case: SinkCase) -> None:
    assert sorted(map(line, case.report().findings)) == sorted(case.findings)


@every
def test_a_whole_sink_of_the_same_stream_has_fewer(case: SinkCase) -> None:
    """What the case says of the sink makes its findings; of the stream's age it says nothing."""
    whole = replace(case, sink={}, positions={})
    aged = {found for found in case.findings if found.startswith("RSH508")}
    assert set(map(line, whole.report().findings)) == aged
