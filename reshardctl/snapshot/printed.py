"""Reads what the AWS CLI printed: a stream's shards and summary, and the rows of a table.

For operators who can run the AWS CLI and may not give credentials to another program. What the
files do not say is asked for. A part of an answer is refused: a shard or a row that is missing
would be taken for one that does not exist.

Sources: the AWS CLI prints an answer's members as the API names them; of version 1 times are Unix
seconds, of version 2 ISO 8601. It joins the pages of an answer, and `--max-items` leaves a
`NextToken`. An export of DynamoDB to S3 in DynamoDB JSON has one `{"Item": …}` a line, gzipped.
"""

from __future__ import annotations

import gzip
import json
import zlib
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from io import BytesIO
from typing import Any, NamedTuple

from reshardctl.codec import strict
from reshardctl.codec.strict import JsonPath
from reshardctl.codec.values import attributes
from reshardctl.errors import UsageError
from reshardctl.kinesis.listing import contradictions
from reshardctl.lineage import Lineage, shard_of
from reshardctl.model import Image, Shard, Stream, TableShape
from reshardctl.model.images import canonical
from reshardctl.stores.dynamodb.client import REPLICATION
from reshardctl.stores.given_file import LARGEST, refuse_larger

SUMMARY = "StreamDescriptionSummary"
DESCRIPTION = "StreamDescription"
PROVISIONED = "PROVISIONED"
_HOUR = 3600


class Printed(NamedTuple):
    """One file. name: for messages."""

    name: str
    content: bytes


def lineage_of(files: Sequence[Printed]) -> Lineage:
    """A stream's shards, from what list-shards, describe-stream(-summary) printed, in any order.

    UsageError if a file is none of these, if pages are missing, if they do not fit together, or if
    nothing says when the stream was created and how long it keeps its records.
    """
    shards: list[Shard] = []
    told: list[tuple[Mapping[str, Any], JsonPath]] = []
    pages: list[tuple[str, bool]] = []
    for file in files:
        where = JsonPath(file.name, next="save the whole output of the command, as it printed it")
        body = strict.parse(file.content, where)
        if not isinstance(body, dict):
            where.wrong(f"not an object but {strict.named(body)}")
        if isinstance(summary := body.get(SUMMARY), dict):
            told.insert(0, (summary, where / SUMMARY))
        elif isinstance(page := body.get(DESCRIPTION), dict):
            shards += _shards(page, where / DESCRIPTION)
            told.append((page, where / DESCRIPTION))
            pages.append((file.name, page.get("HasMoreShards") is True))
        elif "Shards" in body:
            shards += _shards(body, where)
            pages.append((file.name, bool(body.get("NextToken"))))
        else:
            where.wrong("no output of list-shards, describe-stream or describe-stream-summary")
    _complete(pages, "shards")
    if not told:
        raise UsageError(
            f"{pages[0][0]} does not say when the stream was created and how long it keeps its "
            "records",
            "add --summary FILE with the output of: "
            "aws kinesis describe-stream-summary --stream-name STREAM",
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
    return lineage


def images_of(files: Sequence[Printed], shape: TableShape) -> list[Image]:
    """The rows of a table, from what scan or query printed, or from an export to S3.

    Rows of other applications of the table are left out (`TableShape.fixed`). UsageError if a file
    is none of these, if pages or filtered rows are missing, or for a row that stands twice.
    """
    rows = [image for image in _images(files, shape) if _own(image, shape)]
    found = Counter(image.key for image in rows)
    if twice := [key for key, count in found.items() if count > 1]:
        names = ", ".join(dict.fromkeys(file.name for file in files))
        raise UsageError(f"{names}: row {twice[0]} stands twice", "give the rows of one scan")
    return rows


def _own(image: Image, shape: TableShape) -> bool:
    return shape.fixed is None or image.attributes[shape.hash] == {"S": shape.fixed}


def _images(files: Sequence[Printed], shape: TableShape) -> Iterator[Image]:
    pages: list[tuple[str, bool]] = []
    for file in files:
        where = JsonPath(file.name, next="save the whole output of: aws dynamodb scan")
        for page, path in _documents(file, where):
            if "Items" in page:
                if page.get("Count") != page.get("ScannedCount"):
                    path.wrong("a filter left rows out", "scan without a filter")
                more = bool(page.get("NextToken") or page.get("LastEvaluatedKey"))
                pages.append((file.name, more))
                rows = strict.array(page["Items"], path / "Items")
                yield from (_image(row, shape, path / "Items" / n) for n, row in enumerate(rows))
            elif page.keys() == {"Item"}:
                yield _image(page["Item"], shape, path / "Item")
            else:
                yield _image(page, shape, path)
    if pages:
        _complete(pages, "rows")


def _documents(file: Printed, where: JsonPath) -> Iterator[tuple[dict[str, Any], JsonPath]]:
    """The one document of a file, or that of each line."""
    content = _unpacked(file, where)
    documents = [(content, where)]
    try:
        json.loads(content)
    except RecursionError:
        pass  # `strict.parse` says so
    except ValueError:
        lines = content.splitlines()
        documents = [(line, where / f"line {n}") for n, line in enumerate(lines, 1) if line.strip()]
    if not documents:
        where.wrong("the file is empty")
    for text, path in documents:
        body = strict.parse(text, path)
        if not isinstance(body, dict):
            path.wrong(f"not an object but {strict.named(body)}")
        yield body, path


def _unpacked(file: Printed, where: JsonPath) -> bytes:
    if file.content[:2] != b"\x1f\x8b":
        return file.content
    try:
        with gzip.open(BytesIO(file.content)) as packed:
            content = packed.read(LARGEST + 1)
    except (OSError, EOFError, zlib.error) as error:
        where.wrong(f"it cannot be unpacked: {error}")
    refuse_larger(file.name, len(content), where.next)
    return content


def _image(row: object, shape: TableShape, where: JsonPath) -> Image:
    """A row in DynamoDB's JSON, as the store's own reader makes it."""
    read = attributes(row, where)
    own = {name: value for name, value in read.items() if not name.startswith(REPLICATION)}
    for name in shape.names:
        if set(own.get(name, ())) != {"S"}:
            where.wrong(f"no row of {shape.name}: its key {name} is missing, or is no string")
    return Image(shape.image_key(*(own[name]["S"] for name in shape.names)), canonical(own))


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
        where.wrong(f"{missing[0]} is missing")
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


def _is_of(stream: Stream, description: Mapping[str, Any], where: JsonPath) -> bool:
    """Whether a description is of this stream. Emulators and old releases of the CLI say less."""
    created = description.get("StreamCreationTimestamp", stream.created)
    arn = description.get("StreamARN", stream.arn)
    return arn == stream.arn and _time(created, where / "StreamCreationTimestamp") == stream.created


def _time(value: object, where: JsonPath) -> float:
    """Unix seconds of a time as either version of the AWS CLI prints it."""
    read = strict.written_moment if isinstance(value, str) else strict.moment
    return read(value, where)


def _complete(pages: Sequence[tuple[str, bool]], what: str) -> None:
    """UsageError unless exactly one page is the last one."""
    if not pages:
        raise UsageError(
            f"no file lists the {what}",
            "add the output of: aws kinesis list-shards --stream-name STREAM",
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
