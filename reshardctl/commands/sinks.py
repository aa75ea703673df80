"""A sink on the command line: its place, its columns, and the Spark that reads it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Sink:
    """The options of a sink.

    columns: as `--column` takes them. against: whether the stream is read too, and compared with
    it.
    """

    path: str
    form: str | None = None
    columns: Sequence[str] = ()
    against: bool = True
    master: str | None = None
    remote: str | None = None

    def words(self) -> tuple[str, ...]:
        """The arguments that name the sink."""
        options = [("--form", self.form), *(("--column", column) for column in self.columns)]
        options += [("--master", self.master), ("--remote", self.server)]
        more = [word for name, value in options if value is not None for word in (name, value)]
        return ("--from", self.path, *more, *(() if self.against else ("--alone",)))

    @property
    def server(self) -> str | None:
        """`remote` without a token."""
        from reshardctl.spark.session import shown

        return None if self.remote is None else shown(self.remote)
