"""Mends files that keep Spark from starting, whatever the offsets say: commits and `metadata`.

Without the newest commit its batch runs again: its records come twice, and nothing is lost. A query
with another id reads the same (runs on Spark 3.5.9 and 4.1.4, November 2026).
"""

from __future__ import annotations

from collections.abc import Iterator

from reshardctl.consumers.spark.checkpoint import Checkpoint
from reshardctl.consumers.spark.files import created, removed, replaced
from reshardctl.consumers.spark.folders import METADATA
from reshardctl.consumers.spark.identity import metadata_of
from reshardctl.model import Step


def startable(checkpoint: Checkpoint) -> Iterator[Step]:
    """The steps after which Spark starts; before the last of them it does not."""
    for key, reason in checkpoint.spoiled.items():
        image = checkpoint.images.get(key)
        why = f"Spark cannot read it and does not start: {reason}"
        if key != METADATA:
            yield Step(f"remove {key}", (removed(checkpoint.images[key], why),))
            continue
        newest = checkpoint.batches[max(checkpoint.batches)].image
        text = metadata_of(image, newest)
        write = created(key, text, newest, why) if image is None else replaced(image, text, why)
        yield Step("write metadata again", (write,))
