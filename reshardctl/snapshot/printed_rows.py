"""Reads rows as other programs printed them: the AWS CLI, an export, a console, clients of stores.

| store | what is read |
|---|---|
| DynamoDB | `aws dynamodb scan` or `query`; an export to S3 in DynamoDB JSON, gzipped or not; CSV |
| Redis | a line for each key: the key, a blank, and what `redis-cli get` prints |
| PostgreSQL | `psql --csv` |
| MySQL | `mysql --batch` |

Sources: an export of DynamoDB has one `{"Item": …}` a line. The CSV of the console and of NoSQL
Workbench has the names of the attributes in its first line, older ones with their types
(spring-attic/spring-integration-aws#64); lists are spelled in DynamoDB JSON
(matheussilvasantos/dynamocli#4), and only the rows that were on the screen are in it (Amazon
DynamoDB Developer Guide, "Exporting data to a CSV file"). `mysql --batch` separates by
tabs, writes `NULL`, and escapes tab, line feed, NUL and backslash (MySQL Reference Manual, mysql
Client Options).
"""

from __future__ import annotations

import codecs
import csv
import gzip
import io
import re
import shlex
import zlib
from collections import Counter
from collections.abc import Iterator, Sequence
from typing import NamedTuple

from reshardctl.codec import strict
from reshardctl.codec.strict import JsonPath
from reshardctl.codec.values import attributes
from reshardctl.consumers.spec import Spec
from reshardctl.errors import UsageError, command_line
from reshardctl.model import AttributeValue, Image, TableShape
from reshardctl.model.images import OTHER_COLUMNS, canonical
from reshardctl.snapshot.printed import WHOLE, Printed, documents, require_complete, text_of
from reshardctl.stores.dynamodb.client import REPLICATION
from reshardctl.stores.given_file import LARGEST, refuse_larger
from reshardctl.stores.redis import MARK, parts_of


def rows_of_table(
    files: Sequence[Printed], shape: TableShape, spec: Spec
) -> list[Image]:
    """The rows of a DynamoDB table.

    Rows of other applications of the table are left out (`TableShape.fixed`).

    Args:
        files: The pages of one answer, or the files of one export.
        shape: The table.
        spec: Of the library, which says the type of each attribute that it writes, for CSV.

    Raises:
        UsageError: A file is none of these, pages or filtered rows are missing, or a row stands
            twice.
    """
    pages: list[_Page] = []
    found: list[Image] = []
    for file in files:
        where = JsonPath(file.name, next=WHOLE)
        content = unpacked(file, where.next)
        if is_csv(content):
            found += _of_csv(text_of(content, where), shape, spec, where)
        else:
            found += _of_json(content, shape, where, pages)
    if pages:
        require_complete([(page.path.file, page.followed) for page in pages], "rows")
        _require_counted(pages)
    rows = [image for image in found if _own(image, shape)]
    return _each_once(rows, files)


class _Page(NamedTuple):
    """What one answer says of itself.

    cut: whether the AWS CLI left rows out, or began amid an answer, and counted them all the same.
    """

    path: JsonPath
    followed: bool
    cut: bool
    said: object
    held: int


def _require_counted(pages: Sequence[_Page]) -> None:
    """UsageError for a page that holds another number of rows than it says.

    `--max-items` leaves rows out and keeps the number that the service counted
    (`PageIterator` of botocore).
    """
    if any(page.cut for page in pages):
        return
    for page in pages:
        if page.said is not None and page.said != page.held:
            page.path.wrong(
                f"it says that it has {page.said} rows (Count), and holds {page.held}: it was "
                "changed on its way"
            )


def unpacked(file: Printed, way_out: str) -> bytes:
    """The content, unpacked if it is gzipped. UsageError if that fails, or is too large."""
    if file.content[:2] != b"\x1f\x8b":
        return file.content
    try:
        with gzip.open(io.BytesIO(file.content)) as packed:
            content = packed.read(LARGEST + 1)
    except (OSError, EOFError, zlib.error) as error:
        raise UsageError(f"{file.name}: it cannot be unpacked: {error}", way_out) from None
    refuse_larger(file.name, len(content), way_out)
    return content


def _each_once(rows: list[Image], files: Sequence[Printed]) -> list[Image]:
    found = Counter(image.key for image in rows)
    if twice := [key for key, count in found.items() if count > 1]:
        names = ", ".join(dict.fromkeys(file.name for file in files))
        raise UsageError(f"{names}: row {twice[0]} stands twice", "give the rows of one reading")
    return rows


def _own(image: Image, shape: TableShape) -> bool:
    return shape.fixed is None or image.attributes[shape.hash] == {"S": shape.fixed}


def _of_json(
    content: bytes, shape: TableShape, where: JsonPath, pages: list[_Page]
) -> Iterator[Image]:
    """The rows. pages: gets each page."""
    for page, path in documents(content, where):
        if "Items" in page:
            if page.get("Count") != page.get("ScannedCount"):
                path.wrong("a filter left rows out", "scan without a filter")
            rows = strict.array(page["Items"], path / "Items")
            token, last = page.get("NextToken"), page.get("LastEvaluatedKey")
            followed, said = bool(token or last), page.get("Count")
            pages.append(_Page(path, followed, bool(token), said, len(rows)))
            yield from (_image(row, shape, path / "Items" / n) for n, row in enumerate(rows))
        elif page.keys() == {"Item"}:
            yield _image(page["Item"], shape, path / "Item")
        else:
            yield _image(page, shape, path)


def _image(row: object, shape: TableShape, where: JsonPath) -> Image:
    """A row in DynamoDB's JSON, as the store's own reader makes it."""
    read = attributes(row, where)
    own = {name: value for name, value in read.items() if not name.startswith(REPLICATION)}
    for name in shape.names:
        if set(own.get(name, ())) != {"S"}:
            where.wrong(f"no row of {shape.name}: its key {name} is missing, or is no string")
    return Image(shape.image_key(*(own[name]["S"] for name in shape.names)), canonical(own))


def is_csv(content: bytes) -> bool:
    """Whether rows of DynamoDB are CSV, with names and no types: it begins as no JSON does."""
    begin = content.lstrip(codecs.BOM_UTF8)[:1]
    return begin == b'"' or begin.isalpha()


_NUMBER = re.compile(r"-?[0-9]{1,38}(\.[0-9]{1,130})?", re.ASCII)
"""KCL 3.x writes decimals, as throughputKBps (tests/golden/kcl)."""
_SHORTENED = re.compile(r"-?[0-9]([.,][0-9]+)?E\+[0-9]+|(?=.{50})[1-9][0-9]{0,20}0{30,}", re.ASCII)
"""A long number that a spreadsheet has saved: of its digits the first fifteen, or fewer."""
_WITH_TYPE = re.compile(r"(?P<name>.+) \((?P<type>S|N|B|SS|L|M|BOOL)\)\Z")


def _of_csv(
    text: str, shape: TableShape, spec: Spec, where: JsonPath
) -> Iterator[Image]:
    """The rows. An empty cell is an attribute that the row does not have."""
    scan = command_line("aws", "dynamodb", "scan", "--table-name", shape.name)
    where = where._replace(next=f"save the output of: {scan}")
    for row, path in _records(text, where, shape.names, csv.excel):
        item = {}
        for header, cell in row.items():
            typed = _WITH_TYPE.match(header)
            name, kind = typed.groups() if typed else (header, spec.types.get(header))
            if cell:
                cell_at = path / name
                _require_unchanged(cell, cell_at)
                if name not in spec.attributes:
                    way_out = f"leave column {name} out, which this library does not read; or "
                    cell_at = cell_at._replace(next=f"{way_out}{where.next}")
                item[name] = _typed(cell, kind, cell_at)
        yield _image(item, shape, path)


def _require_unchanged(text: str, where: JsonPath) -> None:
    """UsageError for what a spreadsheet makes of a long number."""
    if _SHORTENED.fullmatch(text):
        where.wrong(f"{text!r} was changed on its way: a spreadsheet saves long numbers so")


def _typed(text: str, kind: str | None, where: JsonPath) -> AttributeValue:
    """A cell as the attribute that the library writes. UsageError where it cannot be one."""
    if kind is None:
        where.wrong("no attribute of this library, so that its type is not known")
    if kind == "B" or (kind == "N" and not _NUMBER.fullmatch(text)):
        where.wrong(f"{text!r} is not what the library writes there, or cannot be told from it")
    if kind in ("S", "N"):
        return {kind: text}
    if kind == "SS" and text.startswith("{"):
        text = f"[{text.strip()[1:-1]}]"
    body = strict.parse(text, where)
    if kind == "SS" and isinstance(body, list):
        body = [_member(each) for each in body]
    return {kind: body}


def _member(value: object) -> object:
    """A member of a set, which may be spelled as that of a list is."""
    return value["S"] if isinstance(value, dict) and value.keys() == {"S"} else value


def rows_of_sql(
    files: Sequence[Printed], shape: TableShape, number: str, query: str
) -> list[Image]:
    """The rows of a relational database: comma- or tab-separated, with the columns' names.

    Args:
        files: What `psql --csv` or `mysql --batch` printed.
        shape: The table and the columns of its key.
        number: The column of the position.
        query: The command that prints them, for messages.

    Raises:
        UsageError: A file is neither, or a row stands twice.
    """
    found = []
    for file in files:
        where = JsonPath(file.name, next=f"save the output of: {query}")
        text = text_of(unpacked(file, where.next), where)
        tabs = "\t" in text.partition("\n")[0]
        dialect, columns = MySql if tabs else csv.excel, (*shape.names, number)
        for row, path in _records(text, where, columns, dialect):
            values = {n: _plain(v) if tabs else v or None for n, v in row.items()}
            used = {n: {"S": v} for n in columns if (v := values.pop(n)) is not None}
            for name, value in used.items():
                _require_unchanged(value["S"], path / name)
            if missing := [name for name in shape.names if name not in used]:
                path.wrong(f"{missing[0]} has no value")
            other = {n: {"NULL": True} if v is None else {"S": v} for n, v in values.items()}
            extra = {OTHER_COLUMNS: {"M": other}} if other else {}
            key = shape.image_key(*(used[name]["S"] for name in shape.names))
            found.append(Image(key, canonical({**used, **extra})))
    return _each_once(found, files)


class MySql(csv.Dialect):
    """What `mysql --batch` prints."""

    delimiter, lineterminator, quoting = "\t", "\n", csv.QUOTE_NONE


_ESCAPED = {"n": "\n", "t": "\t", "0": "\0", "\\": "\\"}


def _plain(text: str) -> str | None:
    """A value of `mysql --batch`."""
    if text == "NULL":
        return None
    return re.sub(r"\\(.)", lambda match: _ESCAPED.get(match[1], match[0]), text)


def _records(
    text: str, where: JsonPath, needed: Sequence[str], dialect: type[csv.Dialect]
) -> Iterator[tuple[dict[str, str], JsonPath]]:
    """Each row by the names of the first line, with its place. needed: names that must be there."""
    rows = csv.reader(io.StringIO(text, newline=""), dialect, strict=True)
    try:
        header = next(rows, [])
        names = [_WITH_TYPE.sub(r"\g<name>", name) for name in header]
        if missing := [name for name in needed if name not in names]:
            where.wrong(f"its first line does not name the column {missing[0]}")
        if twice := [name for name in header if header.count(name) > 1]:
            where.wrong(f"column {twice[0]} stands twice")
        for row in rows:
            path = where / f"line {rows.line_num}"
            if row and len(row) != len(header):
                path.wrong(f"{len(row)} values for {len(header)} columns")
            if row:
                yield dict(zip(header, row, strict=True)), path
    except csv.Error as error:
        (where / f"line {rows.line_num}").wrong(f"no CSV: {error}")


def rows_of_redis(
    files: Sequence[Printed], shape: TableShape, number: str, app: str
) -> list[Image]:
    """The positions of Redis: a line for each key, with the key, a blank and its value.

    Args:
        files: What the loop over `redis-cli --scan` printed (docs/preflight.md).
        shape: Namespace and shard, the key of an image.
        number: The attribute of the position.
        app: The application; "" for all.

    Raises:
        UsageError: A line is none, or a key stands twice.
    """
    found = []
    for file in files:
        where = JsonPath(file.name, next=f"save the output of: {printing_keys(app)}")
        lines = text_of(unpacked(file, where.next), where).splitlines()
        if not any(lines):
            where.wrong("the file is empty")
        for count, line in enumerate(lines, 1):
            key, _, value = line.rpartition(" ")
            if not line:
                continue
            space, shard = parts_of(key, app) if MARK in key else ("", "")
            if not shard or not value or " " in shard or not key.startswith(app):
                (where / f"line {count}").wrong("not a key of positions, a blank and a value")
            if value == "(nil)" or value.startswith('"'):
                (where / f"line {count}").wrong(
                    f"{value!r} was changed on its way: redis-cli shows values so on a terminal"
                )
            _require_unchanged(value, where / f"line {count}")
            row = {shape.hash: {"S": space}, number: {"S": value}}
            row |= {shape.range or "": {"S": shard}}
            found.append(Image(shape.image_key(space, shard), canonical(row)))
    return _each_once(found, files)


def printing_keys(app: str) -> str:
    """The command that prints the keys of an application, each with its value."""
    pattern = shlex.quote(f"{app or '*'}{MARK}*")
    return (
        f"redis-cli --scan --pattern {pattern} | while read -r key; do "
        'echo "$key $(redis-cli get "$key")"; done'
    )
