"""order=parents-first from end to end: fix, one batch of the query, fix --resume.

The reference consumer plays the query; s1 on awslabs 0f4c005 (runs of November 2026).
"""

from __future__ import annotations

from typing import Any

from tests.cli.spark_lab import (
    HEAD,
    SparkLab,
    spark_lab,
)
from tests.proof.reference.spark import Query, connector_of
from tests.proof.reference.spark_release import Options


def once(lab: SparkLab) -> set[str]:
    """Trigger.Once. The shards that gave rows."""
    connector = connector_of(lab.fake, lab.stream, lab.root, HEAD, Options("TRIM_HORIZON"))
    query = Query(lab.root, connector, now=lab.fake.clock.now)
    query.start()
    return {shard[-1] for shard, rows in (query.trigger() or {}).items() if rows}


def test_the_second_step_waits_for_the_first_batch(
    servers: Any, tmp_path: Any, monkeypatch: Any, wire: Any
) -> None:
    with spark_lab(HEAD, "s1", servers, tmp_path, monkeypatch, wire) as lab:
        lab.options += "&order=parents-first"
        waits = lab.fix("--created", lab.created)
        assert waits.code == 5
        assert "--resume" in waits.err and "commits/1" in waits.err
        assert lab.newest() == 1
        assert once(lab) == {"0"}
        resumed = lab.resume()
        assert resumed.code in (0, 1), resumed.err
        assert lab.newest() == 2
        assert once(lab) == {"1", "2"}
