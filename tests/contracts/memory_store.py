"""A store in memory, with the rules of the real ones, for tests."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from threading import Lock

from reshardctl.model import Create, Image, Step, Write, canonical, changed
from reshardctl.model.write_state import WriteResult, same


class MemoryStore:
    """Rows in a dictionary; `plant` and `pull` change them as a consumer would."""

    max_writes = 100

    def __init__(
        self, images: Iterable[Image] = (), *, identity: Mapping[str, str] | None = None
    ) -> None:
        self.rows: dict[str, Image] = {}
        self._one_at_a_time = Lock()
        for image in images:
            self.plant(image)
        self.tokens: set[str] = set()
        self._identity = dict(identity or {"medium": "memory", "arn": "memory:1", "created": "0"})

    def plant(self, image: Image) -> None:
        """Put a row as another client would, over an existing one."""
        self.rows[image.key] = Image(image.key, canonical(image.attributes))

    def pull(self, key: str) -> None:
        """Delete a row as another client would."""
        self.rows.pop(key, None)

    def identity(self) -> Mapping[str, str]:
        """The identity that it was made with."""
        return dict(self._identity)

    def read(self) -> list[Image]:
        """Every row in key order."""
        return [self.rows[key] for key in sorted(self.rows)]

    def get(self, keys: Sequence[str]) -> dict[str, Image | None]:
        """The named rows as they are now."""
        return {key: self.rows.get(key) for key in keys}

    def write(self, step: Step, token: str) -> WriteResult:
        """Apply all writes of the step or none; a token that has succeeded succeeds again."""
        if not 1 <= len(step.writes) <= self.max_writes:
            raise ValueError(f"a step of {len(step.writes)} writes")
        if len({write.key for write in step.writes}) < len(step.writes):
            raise ValueError("a step that writes one row twice")
        with self._one_at_a_time:
            return self._write(step, token)

    def _write(self, step: Step, token: str) -> WriteResult:
        if token in self.tokens:
            return WriteResult.APPLIED
        if not all(_holds(write, self.rows.get(write.key)) for write in step.writes):
            return WriteResult.CONFLICT
        for write in step.writes:
            row = changed(self.rows.get(write.key), write)
            if row is None:
                del self.rows[write.key]
            else:
                self.rows[write.key] = row
        self.tokens.add(token)
        return WriteResult.APPLIED


def _holds(write: Write, now: Image | None) -> bool:
    if isinstance(write.change, Create):
        return now is None
    if write.before is None:
        raise ValueError(f"{write.key}: a row that was absent can only be created")
    seen = write.before.attributes
    return now is not None and all(
        same(now.attributes.get(name), seen.get(name)) for name in write.guard
    )
