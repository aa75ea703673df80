"""A snapshot in place of the stream and the store: everything can be judged, nothing written."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

from reshardctl.diagnosis.evidence import Snapshot
from reshardctl.errors import CannotTell, UsageError
from reshardctl.lineage import Lineage
from reshardctl.model import Cut, Image, Probe, ShardId, Step
from reshardctl.model.write_state import WriteResult


class FrozenStream:
    """Kinesis as it was. Only what was probed then can be answered now."""

    def __init__(self, snapshot: Snapshot) -> None:
        self._snapshot = snapshot

    def lineage(self, stream: str) -> Lineage:
        """The listing. UsageError if another stream is asked for."""
        kept = self._snapshot.lineage.stream
        if stream not in ("", kept.name, kept.arn):
            raise UsageError(
                f"the snapshot is of stream {kept.name}, not of {stream}", "leave --stream out"
            )
        return self._snapshot.lineage

    def probe(self, stream: str, shard: ShardId, since: Cut) -> Probe:  # noqa: ARG002
        """The probe that was made from this cut. CannotTell if none was."""
        probe = self._snapshot.probes.get(shard)
        if probe is None or probe.since != since:
            raise CannotTell(
                f"the snapshot has no record of {shard} from there on",
                "take one with --probe, or judge it without",
            )
        return probe

    def takes(
        self, stream: str, numbers: Iterable[int], iterator: str  # noqa: ARG002
    ) -> dict[int, bool | None]:
        """What Kinesis said of those of these numbers that it was asked about."""
        asked = self._snapshot.asked
        return {number: asked[number] for number in numbers if number in asked}

    def streams(self) -> Mapping[str, float]:
        """None: a snapshot holds one stream."""
        return {}


class FrozenStore:
    """The rows as they were."""

    max_writes = 0

    def __init__(self, snapshot: Snapshot) -> None:
        self._rows = {image.key: image for image in snapshot.images}
        self._store = snapshot.store

    def identity(self) -> Mapping[str, str]:
        """The identity of the store that the snapshot was taken of."""
        return self._store

    def read(self) -> list[Image]:
        """Every row."""
        return [self._rows[key] for key in sorted(self._rows)]

    def get(self, keys: Sequence[str]) -> dict[str, Image | None]:
        """The named rows."""
        return {key: self._rows.get(key) for key in keys}

    def write(self, step: Step, token: str) -> WriteResult:
        """Always raises UsageError."""
        raise UsageError(
            f"a snapshot cannot be written to ({step.title}, {token})",
            "name the store itself: reshardctl fix CONSUMER --stream STREAM",
        )
