"""Reads `--shards`, `--only-bad` and `--since` of `graph` into the shards to draw."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import floor

from reshardctl.errors import UsageError
from reshardctl.lineage import Lineage
from reshardctl.model.shards import parts_of, select
from reshardctl.model.times import When, instant, parse_when
from reshardctl.render.graph import DrawnShards
from reshardctl.snapshot.resolve import resharded_at


@dataclass(frozen=True, slots=True)
class AskedShards:
    """The options, spelled correctly.

    parts: the parts of `--shards`, not yet compared with a stream.
    """

    parts: tuple[str, ...]
    only_bad: bool
    since: When | None

    @classmethod
    def read(cls, shards: Sequence[str], only_bad: bool, since: str | None) -> AskedShards:
        """Raises UsageError for a text that names no shards or no time."""
        when = None if since is None else parse_when(since, "--since")
        return cls(parts_of(shards), only_bad, when)

    def on(self, lineage: Lineage, now: float, *, judged: bool = True) -> DrawnShards:
        """The selected shards of a stream at `now` (Unix seconds). judged: with a consumer.

        Raises UsageError for a shard that is not listed, or a time that is not before `now`.
        """
        if self.only_bad and not judged:
            raise UsageError(
                "--only-bad selects by a consumer's findings, and no consumer is drawn",
                "name a CONSUMER, or leave out --only-bad",
            )
        shards, unknown = select(self.parts, lineage)
        if unknown:
            named = ", ".join(unknown[:5]) + (" and more" if len(unknown) > 5 else "")
            raise UsageError(
                f"--shards {named}: not listed in {lineage.stream.name}",
                "the same without --shards draws what is there",
            )
        return DrawnShards(tuple(shards), self.only_bad, self._since(lineage, now))

    def _since(self, lineage: Lineage, now: float) -> float | None:
        if self.since is None:
            return None
        if self.since.reshard:
            try:
                return resharded_at(lineage)
            except UsageError as error:
                raise UsageError(
                    f"--since {error.what}", "give a time: --since 2026-09-22T09:14:00Z or -90m"
                ) from None
        at = self.since.at
        moment = float(floor(now - (self.since.ago or 0.0))) if at is None else at
        if moment >= now:
            raise UsageError(
                f"--since {self.since.text}: the picture ends at {instant(now)}",
                "give an earlier time, as in --since -90m",
            )
        return moment
