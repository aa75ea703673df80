"""What requests have in common: the AWS account, files in its place, and a sink.

The account says region, profile, role, endpoints, and what reading may cost. Files hold what other
programs printed of a stream and its positions. A sink has its place, its columns, and the Spark
that reads it. Each field says which option it is (`codec/argv.py`).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import MISSING, dataclass
from pathlib import Path

from reshardctl.codec.argv import option, options_of


@dataclass(frozen=True, slots=True)
class Account:
    """How AWS is reached, as the options give it; the rest comes from the environment."""

    region: str | None = option("--region")
    """Of the stream. An ARN names its own."""
    profile: str | None = option("--profile")
    """Of the stream."""
    role: str | None = option("--role-arn")
    """To assume for the stream."""
    table_region: str | None = option("--table-region", empty=True)
    """Of the table, or the bucket, of the positions. `None`: as the stream; `""`: as the
    environment says. So are the next two."""
    table_profile: str | None = option("--table-profile", empty=True)
    """Of the table or bucket."""
    table_role: str | None = option("--table-role-arn", empty=True)
    """To assume for the table or bucket."""
    budget: str | None = option("--probe-budget")
    """The value of `--probe-budget`: what reading records may cost."""
    endpoints: Sequence[str] = option("--endpoint-url", ())


@dataclass(frozen=True, slots=True)
class Files:
    """What other programs printed, beside the files among `shards`; `-` is standard input."""

    summary: str | Path | None = option("--summary")
    """What `aws kinesis describe-stream-summary` printed."""
    rows: Sequence[str | Path] = option("--rows", ())
    """The positions, in place of their store: a file, or `TABLE=FILE`."""
    taken: str | None = option("--taken")
    """When the files were made; when the newest was written, unless given."""


def without_token(remote: str) -> str:
    """The address of a Spark Connect server, as it may be shown."""
    from reshardctl.spark.session import shown

    return shown(remote)


@dataclass(frozen=True, slots=True)
class Sink:
    """The options of a sink.

    columns: as `--column` takes them. against: whether the stream is read too, and compared with
    it.
    """

    path: str = option("--from", MISSING)
    form: str | None = option("--form")
    columns: Sequence[str] = option("--column", ())
    master: str | None = option("--master")
    remote: str | None = option("--remote", spell=without_token)
    against: bool = option("--against-stream", True, no="--alone")


REACHED, PRINTED, SUNK = options_of(Account), options_of(Files), options_of(Sink)
"""The names of the options that say how AWS is reached, which files stand in its place, and what a
sink is."""
OF_TABLE = tuple(name for name in REACHED if name.startswith("--table-"))
"""Those of the table or bucket alone."""
