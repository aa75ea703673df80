"""The log of awslabs' connector as the rows of its DynamoDB table.

Attributes and keys: DynamodbMetadataCommitter of awslabs v1.4.2 to 0f4c005 (metadataKey, the batch;
metadataSortKey, the shard; metadataValue, the very text of the file).
"""

from __future__ import annotations

from collections.abc import Iterable

from reshardctl.model import Image


def row(batch: int | str, shard: str, text: str) -> Image:
    """The row of one batch and one shard."""
    return Image(f"log/{batch}/{shard}", {
        "metadataKey": {"S": str(batch)}, "metadataSortKey": {"S": shard},
        "metadataValue": {"S": text},
    })  # fmt: skip


def tabled(images: Iterable[Image], folder: str = "sources/0/shard-source") -> list[Image]:
    """The same checkpoint with the log of this folder in a table."""
    kept = []
    for image in images:
        if not image.key.startswith(folder):
            kept.append(image)
        elif "text" in image.attributes:
            batch, _, shard = image.key.removeprefix(f"{folder}/").partition("/")
            kept.append(row(batch, shard, image.attributes["text"]["S"]))
    return sorted(kept, key=lambda image: image.key)
