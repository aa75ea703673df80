"""Quickwit 0.7 to 0.9: its metastores."""

from __future__ import annotations

import re

from reshardctl.consumers.spec import (
    BUCKET,
    DATABASE,
    NODE,
    Missing,
    Scheme,
    Spec,
)


def _create_store(_missing: Missing) -> str:
    """How to re-create the metastore: positions are useless without the index and its splits."""
    return (
        "the metastore held more than positions: restore it from a backup, or create the index "
        "and its source again, which then reads from the beginning of what the stream still has"
    )


QUICKWIT = Spec(
    name="quickwit",
    schemes={
        "quickwit+file": Scheme(
            "quickwit", "quickwit-files", re.compile(r"/.*", re.DOTALL),
            "absolute path of a folder",
            "quickwit+file:///var/lib/quickwit/indexes?index=logs&release=0.9",
        ),
        "quickwit+postgres": Scheme(
            "quickwit", "quickwit-postgres", DATABASE, "database, [USER@]HOST[:PORT]/DATABASE",
            "quickwit+postgres://my-user@my-host/metastore?index=logs", server=True,
        ),
        **{
            f"quickwit+{scheme}": Scheme(
                "quickwit", f"quickwit-{scheme}", NODE, "address of a node, HOST[:PORT]",
                f"quickwit+{scheme}://my-node{port}?index=logs", server=True,
            )
            for scheme, port in (("http", ":7280"), ("https", ""))
        },
        "quickwit+s3": Scheme(
            "quickwit", "quickwit-s3", BUCKET, "bucket, with or without a prefix",
            "quickwit+s3://my-bucket/indexes?index=logs&release=0.9",
        ),
    },
    create_store=_create_store,
    attributes=frozenset({
        "backfill", "checkpoint", "enabled", "index_uid", "migration", "position", "refused",
        "region", "stream", "unreadable", "version",
    }),
    reading=frozenset({"position"}),
    plain=frozenset({"TRIM_HORIZON", "LATEST", "AT_TIMESTAMP", "SHARD_END", "~"}),
    key_words=frozenset(),
    ambiguous_options=("release",),
    selectors=("index", "source"),
    # A metastore does not change while a source has nothing to publish, or is down.
    watchable=False,
    # Of files a node writes the whole again, whatever its sources are.
    switched=frozenset({"quickwit-postgres"}),
)
