"""Which texts Quickwit loads; tests/cli/test_quickwit.py has what is said where it does not."""

from __future__ import annotations

import json
from typing import Any

import pytest

from reshardctl.consumers.quickwit.document import Document
from reshardctl.errors import NotLoaded
from tests.support.case_stream import shard_name
from tests.unit.consumers.test_quickwit_document import golden


def source_of(document: dict[str, Any], name: str) -> Any:
    return next(s for s in document["index"]["sources"] if s["source_id"] == name)


def checkpoint_of(document: dict[str, Any]) -> Any:
    return document["index"]["checkpoint"]


def refused(document: dict[str, Any]) -> set[str]:
    """Why the text is not loaded, as the rows of its sources have it, or the error without one."""
    try:
        rows = Document(needed=False).images(json.dumps(document, indent=2))
    except NotLoaded as error:
        return {error.what}
    return {row.attributes["refused"]["S"] for row in rows if "refused" in row.attributes}


NOT_LOADED = {
    # What the real metastores refused (runs, Nov 2026), or is refused by the line that is named.
    "another source's map is null": (
        lambda d: checkpoint_of(d).update({"_ingest-source": None}), "`_ingest-source`"),
    "another source's map is a list": (
        lambda d: checkpoint_of(d).update({"_ingest-source": []}), "`_ingest-source`: no object"),
    "another source's position is null": (
        lambda d: checkpoint_of(d).update({"kafka": {"0": None}}), "`kafka`"),
    "another source's position is a number": (
        lambda d: checkpoint_of(d).update({"kafka": {"0": 42}}), "`kafka`"),
    "its own position is null": (
        lambda d: checkpoint_of(d)["kinesis-events"].update({shard_name(1): None}),
        shard_name(1)),
    "its own map is a list": (
        lambda d: checkpoint_of(d).update({"kinesis-events": []}), "`kinesis-events`"),
    "an unknown key of its source": (
        lambda d: source_of(d, "kinesis-events").update({"note": "x"}), "unknown field `note`"),
    "an unknown key of its parameters": (
        lambda d: source_of(d, "kinesis-events")["params"].update({"note": "x"}),
        "unknown field `note`"),
    "an unknown key of another source": (
        lambda d: d["index"]["sources"].append(
            {"version": "0.9", "source_id": "other", "source_type": "void", "params": None,
             "comment": ""}), "`other`: unknown field `comment`"),
    "an unknown type of source": (  # enum SourceParams, source_config/mod.rs
        lambda d: d["index"]["sources"].append(
            {"version": "0.9", "source_id": "other", "source_type": "mqtt", "params": {}}),
        "unknown source_type `mqtt`"),
    "a source of another version": (
        lambda d: source_of(d, "kinesis-events").update({"version": "0.6"}), "version `0.6`"),
    "region and endpoint": (  # TryFrom<KinesisSourceParamsInner>, source_config/mod.rs
        lambda d: source_of(d, "kinesis-events")["params"].update({"endpoint": "http://x"}),
        "`region` and `endpoint`"),
    "two pipelines": (  # validate_and_build, source_config/serialize.rs
        lambda d: source_of(d, "kinesis-events").update({"num_pipelines": 2}), "num_pipelines"),
    "an unknown key of the index's configuration": (
        lambda d: d["index"]["index_config"].update({"note": "x"}), "unknown field `note`"),
    "splits that are no list": (lambda d: d.update({"splits": {}}), "`splits`"),
    "a delete task that is no list": (lambda d: d.update({"delete_tasks": {}}), "`delete_tasks`"),
    "no doc mapping": (lambda d: d["index"]["index_config"].pop("doc_mapping"), "`doc_mapping`"),
    "a configuration without a version": (
        lambda d: d["index"]["index_config"].pop("version"), "index_config: `version` is missing"),
    "a source without an id": (
        lambda d: d["index"]["sources"].append({"version": "0.9"}), "without source_id"),
    "a source twice": (  # TryFrom of index_metadata/serialize.rs: "defined more than once"
        lambda d: d["index"]["sources"].append(source_of(d, "kinesis-events")), "more than once"),
    "no id of a source": (  # validate_and_build, source_config/serialize.rs
        lambda d: source_of(d, "kinesis-events").update({"source_id": "1"}), "no id of a source"),
    "an unknown format": (  # enum SourceInputFormat, source_config/mod.rs
        lambda d: source_of(d, "kinesis-events").update({"input_format": "xml"}),
        "unknown input_format `xml`"),
    "enabled by a text": (
        lambda d: source_of(d, "kinesis-events").update({"enabled": "yes"}), "neither true nor"),
    "no stream": (
        lambda d: source_of(d, "kinesis-events").update({"params": {"region": "us-east-1"}}),
        "names no stream"),
    "a region that is no text": (
        lambda d: source_of(d, "kinesis-events")["params"].update({"region": 1}),
        "region or endpoint is no string"),
    "a backfill mode that is a text": (
        lambda d: source_of(d, "kinesis-events")["params"].update({"enable_backfill_mode": "no"}),
        "enable_backfill_mode"),
}


@pytest.mark.parametrize(("change", "words"), NOT_LOADED.values(), ids=NOT_LOADED)
def test_a_text_that_quickwit_does_not_load(change, words):
    document = json.loads(golden("q3"))
    assert refused(document) == set()
    change(document)
    (reason,) = refused(document)
    assert words in reason


LOADED = {
    # What the real metastores load (runs, Nov 2026), or the lines of source_config/serialize.rs.
    "a ghost key": lambda d: checkpoint_of(d).update({"ghost": {"0": "x"}}),
    "an empty shard id": lambda d: checkpoint_of(d).update({"ghost": {"": "x"}}),
    "unknown keys of file and index": lambda d: (d.update({"note": 1}),
                                                 d["index"].update({"note": 1})),
    "no delete tasks": lambda d: d.pop("delete_tasks"),
    "defaults of a source": lambda d: [
        source_of(d, "kinesis-events").pop(name) for name in ("num_pipelines", "input_format")],
    "a transform": lambda d: source_of(d, "kinesis-events").update(
        {"transform": {"script": ".a = 1"}}),
    "a source of 0.7": lambda d: d["index"]["sources"].append(
        {"version": "0.7", "source_id": "old", "max_num_pipelines_per_indexer": 1,
         "desired_num_pipelines": 1, "source_type": "void", "params": None}),
    "a source with several pipelines": lambda d: d["index"]["sources"].append(
        {"version": "0.9", "source_id": "kafka", "num_pipelines": 3, "source_type": "kafka",
         "params": {"topic": "t"}, "input_format": "otlp_logs_proto"}),
}


@pytest.mark.parametrize("change", LOADED.values(), ids=LOADED)
def test_what_quickwit_loads(change):
    document = json.loads(golden("q1"))
    change(document)
    assert refused(document) == set()
