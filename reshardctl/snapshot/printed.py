"""Reads what the AWS CLI printed of a stream: its shards and its summary.

For operators who can run the AWS CLI and may not give credentials to another program. What the
files do not say is asked for. A part of an answer is refused: a shard or a row that is missing
would be taken for one that does not exist. `printed_rows.py` reads the rows.

Sources: the AWS CLI prints an answer's members as the API names them; of version 1 times are Unix
seconds, of version 2 ISO 8601. It joins the pages of an answer; `--max-items` leaves a `NextToken`,
and `--no-paginate` prints the first page as the service answered.
"""

from __future__ import annotations

import codecs
import json
import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, NamedTuple

from reshardctl.codec import strict
from reshardctl.codec.strict import JsonPath
from reshardctl.consumers.sequence_numbers import CREATION_SLACK
from reshardctl.errors import UsageError
from reshardctl.kinesis.listing import contradictions
from reshardctl.lineage import Lineage, shard_of
from reshardctl.model import Shard, Stream, index_of
from reshardctl.model.times import duration, instant

SUMMARY = "StreamDescriptionSummary"
DESCRIPTION = "StreamDescription"
PROVISIONED = "PROVISIONED"
_HOUR = 3600
SUMMARIZE = (
    "--summary FILE with the output of: aws kinesis describe-stream-summary --stream-name STREAM"
)
WHOLE = "save the whole output of the command, with --output json and without --query"


class Printed(NamedTuple):
    """One file. name: for messages."""

    name: str
    content: bytes


def text_of(content: bytes, where: JsonPath) -> str:
    """The text of a file. PowerShell saves output as UTF-16. UsageError for what is no text."""
    marked = content[:2] in (codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)
    try:
        return content.decode("utf-16" if marked else "utf-8-sig")
    except UnicodeDecodeError:
        where.wrong("no text in UTF-8 or UTF-16")


def documents(content: bytes, where: JsonPath) -> Iterator[tuple[dict[str, Any], JsonPath]]:
    """The JSON objects that follow one another in a file, as pages or lines do, with their places.

    UsageError if there is none, or for anything else.
    """
    text, end, line, decoder = text_of(content, where), 0, 1, json.JSONDecoder()
    blank = re.compile(r"\s*")
    while (begin := blank.match(text, end).end()) < len(text):  # type: ignore[union-attr]
        line += text.count("\n", end, begin)
        path = where if line == 1 else where / f"line {line}"
        try:
            end = decoder.raw_decode(text, begin)[1]
        except (ValueError, RecursionError):
            end = len(text)  # `strict.parse` says why
        body = strict.parse(text[begin:end], path)
        line += text.count("\n", begin, end)
        if not isinstance(body, dict):
            path.wrong(f"not an object but {strict.named(body)}")
        yield body, path
    if not end:
        where.wrong("the file is empty")


def lineage_of(files: Sequence[Printed]) -> Lineage:
    """A stream's shards, from what list-shards, describe-stream(-summary) printed, in any order.

    UsageError if a file is none of these, if pages are missing, if they do not fit together, or if
    nothing says when the stream was created and how long it keeps its records.
    """
    shards: list[Shard] = []
    told: list[tuple[Mapping[str, Any], JsonPath]] = []
    pages: list[tuple[str, bool]] = []
    for file in files:
        for body, where in documents(file.content, JsonPath(file.name, next=WHOLE)):
            if isinstance(summary := body.get(SUMMARY), dict):
                told.insert(0, (_without_null(summary), where / SUMMARY))
            elif isinstance(page := body.get(DESCRIPTION), dict):
                shards += _shards(page, where / DESCRIPTION)
                told.append((_without_null(page), where / DESCRIPTION))
                pages.append((file.name, page.get("HasMoreShards") is True))
            elif "Shards" in body:
                shards += _shards(body, where)
                pages.append((file.name, bool(body.get("NextToken"))))
            else:
                where.wrong("no output of list-shards, describe-stream or describe-stream-summary")
    require_complete(pages, "shards")
    if not told:
        raise UsageError(
            f"{pages[0][0]} does not say when the stream was created and how long it keeps its "
            "records",
            f"add {SUMMARIZE}",
        )
    opened = len({shard.id for shard in shards if shard.open})
    stream = _stream(told[0][0], opened, told[0][1])
    if not all(_is_of(stream, description, where) for description, where in told[1:]):
        names = ", ".join(where.file for _, where in told)
        raise UsageError(f"{names}: these are of different streams", "give the files of one")
    lineage = Lineage(stream, shards)
    if trouble := contradictions(lineage, stream):
        raise UsageError(
            f"{', '.join(name for name, _ in pages)}: {trouble}",
            "the stream changed meanwhile, or a page is missing; run the commands again",
        )
    _require_one_stream(lineage, [name for name, _ in pages])
    return lineage


def _require_one_stream(lineage: Lineage, names: Sequence[str]) -> None:
    """UsageError for shards that are older than their stream, or whose first one is younger.

    list-shards does not say whose shards it lists.
    """
    created = lineage.stream.created
    for shard in lineage:
        opened = lineage.opened_at(shard)
        if opened is None:
            continue
        older, first = opened < created - CREATION_SLACK, index_of(shard) == 0
        if older or (first and opened > created + CREATION_SLACK):
            raise UsageError(
                f"{', '.join(names)}: {shard} began at {instant(opened)}, and stream "
                f"{lineage.stream.name} was created at {instant(created)}: these are of different "
                "streams",
                "give the files of one",
            )


LISTED = 23 * 3600.0
"""Seconds for which a closed shard is listed at least: the shortest retention period, less the time
by which shards were seen to vanish early."""


def without_parents(lineage: Lineage, now: float) -> str:
    """A remark on parents that are not listed although they may not have expired, "" for none.

    A listing with `--shard-filter` looks so, and one that was made under a shorter retention period
    than the present one. now: Unix seconds.

    UsageError if a parent closed less than LISTED ago: every complete listing has it.
    """
    lacking = {
        parent: opened for shard in lineage if (opened := lineage.opened_at(shard)) is not None
        for parent in lineage[shard].parents
        if parent not in lineage and now - opened < lineage.stream.retention
    }
    if not lacking:
        return ""
    parent, closed = max(lacking.items(), key=lambda each: each[1])
    what = f"no file lists {parent}, which closed {duration(now - closed)} before they were made"
    if now - closed < LISTED:
        raise UsageError(what, "run list-shards without --shard-filter")
    return f"{what}: was list-shards run with --shard-filter, or the retention period longer since?"


def _shards(page: Mapping[str, Any], where: JsonPath) -> list[Shard]:
    found = []
    for number, raw in enumerate(strict.array(page.get("Shards"), where / "Shards")):
        try:
            found.append(shard_of(raw))
        except (KeyError, TypeError, ValueError, AttributeError) as error:
            (where / "Shards" / number).wrong(f"the shard makes no sense ({error!r})")
    return found


def _stream(description: Mapping[str, Any], opened: int, where: JsonPath) -> Stream:
    """The stream of a summary or a description. opened: its open shards, where it has no number."""
    names = ("StreamARN", "StreamName", "StreamStatus", "StreamCreationTimestamp")
    if missing := [n for n in (*names, "RetentionPeriodHours") if n not in description]:
        where.wrong(f"{missing[0]} is missing", f"add {SUMMARIZE}")
    arn, name, status = (strict.string(description[n], where / n) for n in names[:3])
    if arn.count(":") < 5:
        (where / "StreamARN").wrong("not an ARN")
    hours = strict.integer(description["RetentionPeriodHours"], where / "RetentionPeriodHours")
    mode = description.get("StreamModeDetails")
    count = description.get("OpenShardCount", opened)
    return Stream(
        arn, name, _time(description[names[3]], where / names[3]), hours * _HOUR, status,
        mode=mode.get("StreamMode", PROVISIONED) if isinstance(mode, dict) else PROVISIONED,
        open_shards=strict.integer(count, where / "OpenShardCount"),
    )


def _without_null(description: Mapping[str, Any]) -> Mapping[str, Any]:
    """What is said of a stream: emulators print null for what they do not know."""
    return {name: value for name, value in description.items() if value is not None}


def _is_of(stream: Stream, description: Mapping[str, Any], where: JsonPath) -> bool:
    """Whether a description is of this stream. Emulators and old releases of the CLI say less."""
    created = description.get("StreamCreationTimestamp", stream.created)
    arn = description.get("StreamARN", stream.arn)
    return arn == stream.arn and _time(created, where / "StreamCreationTimestamp") == stream.created


def _time(value: object, where: JsonPath) -> float:
    """Unix seconds of a time as either version of the AWS CLI prints it."""
    read = strict.written_moment if isinstance(value, str) else strict.moment
    return read(value, where)


def require_complete(pages: Sequence[tuple[str, bool]], what: str) -> None:
    """UsageError unless exactly one page is the last one.

    pages: the file of each, and whether more follow. what: what they list.
    """
    if not pages:
        raise UsageError(
            f"no file lists the {what}",
            "add --shards FILE with the output of: aws kinesis list-shards --stream-name STREAM",
        )
    more = [name for name, followed in pages if followed]
    if len(more) == len(pages):
        raise UsageError(
            f"{more[-1]}: more {what} follow, which no file has",
            "run the command without --max-items and --no-paginate, or add the other pages",
        )
    if len(more) < len(pages) - 1:
        names = ", ".join(dict.fromkeys(name for name, followed in pages if not followed))
        raise UsageError(f"{names}: each has the last {what} of an answer", "give one answer")
