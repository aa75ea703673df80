"""Which sources of a query read Kinesis, and which of them is judged."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from reshardctl.consumers.spark.lines import shapes
from reshardctl.consumers.spark.lines.offset import SourceOffset
from reshardctl.consumers.spark.offset_log import OffsetLog, SourceLine
from reshardctl.errors import CannotTell, UsageError, WrongStream, command_line
from reshardctl.model import Stream

LOGS = {"awslabs": "shard-source", "qubole": "shard-commit"}
"""Where each connector keeps its log, in its source's folder."""


def names(logs: Mapping[int, OffsetLog]) -> tuple[str, ...]:
    """The sources of the query, as its newest readable log names them."""
    return tuple(line.name for line in logs[max(logs)].lines) if logs else ()


def offsets(logs: Mapping[int, OffsetLog], source: str) -> Iterator[tuple[int, SourceOffset]]:
    """One source's readable Kinesis offsets, newest first."""
    for number in sorted(logs, reverse=True):
        line = logs[number].line(source)
        offset = offset_of(line) if line is not None else None
        if offset is not None:
            yield number, offset


def offset_of(line: SourceLine) -> SourceOffset | None:
    """A line's Kinesis offset, `None` for that of another source and for none."""
    return shapes.read(line.within, line.start, line.end) if line.is_offset else None


def _damaged(line: SourceLine) -> str:
    return shapes.damaged(line.within, line.start, line.end) if line.is_offset else ""


def kinesis(logs: Mapping[int, OffsetLog]) -> dict[str, SourceOffset]:
    """The sources that read Kinesis, each with its newest readable offset."""
    offsets_by_name = ((name, _newest(logs, name)) for name in names(logs))
    return {name: newest for name, newest in offsets_by_name if newest is not None}


def _newest(logs: Mapping[int, OffsetLog], source: str) -> SourceOffset | None:
    """The source's newest offset, if it reads Kinesis; only damaged lines are skipped.

    A source with a sound offset of another kind is another source, whatever it was before.
    """
    for number in sorted(logs, reverse=True):
        line = logs[number].line(source)
        if line is not None and line.is_offset and not _damaged(line):
            return offset_of(line)
    return None


def connector_of(logs: Mapping[int, OffsetLog], source: str, folders: frozenset[str]) -> str:
    """The source's connector, by its newest offset that shows it, else by the folder of its log."""
    for _, offset in offsets(logs, source):
        if offset.connector != "unknown":
            return offset.connector
    by_log = [name for name, log in LOGS.items() if f"sources/{source}/{log}" in folders]
    return by_log[0] if len(by_log) == 1 else "unknown"


def chosen(logs: Mapping[int, OffsetLog], stream: Stream | None, source: str) -> str:
    """The judged source; raises UsageError for none or several, WrongStream for another's."""
    ours, all_ = kinesis(logs), names(logs)
    if source:
        return _named(ours, all_, stream, source)
    if not ours:
        _not_cut_off(logs)
        raise UsageError(
            f"no source of this query reads Kinesis: {_listed(all_)}",
            "check the path; it must be the query's checkpointLocation",
        )
    fitting = [name for name in ours if stream is None or _fits(ours[name], stream)]
    if not fitting and stream is not None:
        read = sorted({offset.stream for offset in ours.values()})
        raise WrongStream(
            f"the checkpoint reads {', '.join(read)}, not {stream.name}",
            f"{command_line('--stream', read[0])}, or the right checkpoint",
        )
    if len(fitting) > 1:
        where = f"stream {stream.name}" if stream else "Kinesis"
        raise UsageError(
            f"sources {', '.join(fitting)} of this query read {where}",
            f"say which one is meant: ?source={fitting[0]}",
        )
    return fitting[0]


def _not_cut_off(logs: Mapping[int, OffsetLog]) -> None:
    """Raises CannotTell where a damaged line may be a Kinesis source's."""
    newest = max(logs)
    for line in logs[newest].lines:
        if why := _damaged(line):
            raise CannotTell(
                f"offsets/{newest}: the line of source {line.name} cannot be read ({why}), and no "
                "other batch tells whether it reads Kinesis",
                "restore the file from a backup",
            )


def _named(
    ours: Mapping[str, SourceOffset], all_: tuple[str, ...], stream: Stream | None, source: str
) -> str:
    if source not in all_:
        raise UsageError(
            f"source={source}: the query has no such source, but {_listed(all_)}",
            "leave source= out, or name one of these",
        )
    if source not in ours:
        raise UsageError(
            f"source={source}: that source does not read Kinesis",
            f"these do: {_listed(tuple(ours))}" if ours
            else "check the path; it must be the query's checkpointLocation",
        )
    if stream is not None and not _fits(ours[source], stream):
        raise WrongStream(
            f"source {source} of the checkpoint reads {ours[source].stream}, not {stream.name}",
            f"{command_line('--stream', ours[source].stream)}, or another source=",
        )
    return source


def _fits(offset: SourceOffset, stream: Stream) -> bool:
    return offset.stream in ("", stream.name, stream.arn)


def _listed(all_: tuple[str, ...]) -> str:
    return ", ".join(all_) or "none"
