"""A stream and the positions in it, from files that other programs printed; no call to AWS.

For operators who may not give credentials to another program. `snapshot` saves what the files say,
the reading commands judge it as they judge `snapshot:FILE`.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import partial
from pathlib import Path

from msgspec.structs import replace

from reshardctl.codec.argv import words
from reshardctl.commands.connect import kinesis_of, listed, ports_of
from reshardctl.commands.connect import now as time_now
from reshardctl.commands.exclusions import FILES, require_compatible
from reshardctl.commands.observer import Observer
from reshardctl.commands.target import FilesSelection, asked
from reshardctl.consumers.locator import Locator
from reshardctl.consumers.registry import consumer_of
from reshardctl.consumers.sequence_numbers import CLOCKS_APART
from reshardctl.diagnosis.evidence import Snapshot
from reshardctl.errors import UsageError, command_line
from reshardctl.lineage import Lineage
from reshardctl.model import Image, TableShape
from reshardctl.model.phrases import listed as listed_names
from reshardctl.model.shards import TAKES
from reshardctl.model.times import instant, parse_instant
from reshardctl.render.words import count
from reshardctl.report.report import own
from reshardctl.snapshot import take
from reshardctl.snapshot.file import SavedSnapshot
from reshardctl.snapshot.printed import Printed, lineage_of, without_parents
from reshardctl.snapshot.printed_rows import (
    is_csv,
    printing_keys,
    rows_of_redis,
    rows_of_sql,
    rows_of_table,
    unpacked,
)
from reshardctl.snapshot.take import FrozenStore, ListedStream
from reshardctl.stores.base import Store
from reshardctl.stores.given_file import content

STDIN = "-"
LIST = "--shards FILE with the output of: aws kinesis list-shards --stream-name STREAM"


def _on_aws(locator: Locator) -> bool:
    """Whether the positions, or a part of them, are reached with AWS credentials."""
    table = locator.spec.log_table(locator.options)
    return locator.medium in {"dynamodb", "s3files", "quickwit-s3"} or table is not None


def saved_of(
    selection: FilesSelection, locator: Locator | None, observer: Observer, *, whole: bool
) -> SavedSnapshot:
    """The stream and the positions that the files of a request hold.

    Args:
        selection: The request, which names at least one file.
        locator: The consumer; `None` for the stream alone.
        observer: Gets what cannot be known from the files.
        whole: Whether nothing is asked of AWS; else the stream, or the table, is read where no
            file shows it. A store that is not on AWS is read where no file shows it.

    Raises:
        UsageError: A file cannot be read, is of another kind, or one is missing.
    """
    files = selection.files
    listing = [("--shards", text) for text in selection.listing]
    listing += [] if files.summary is None else [("--summary", str(files.summary))]
    texts = [str(text) for text in files.rows]
    named = [*listing, *(("--rows", _file_of(text)) for text in texts)]
    _require_once(named)
    require_listing(selection)
    read = {text: _read(text) for _, text in named}
    _require_all(selection, locator, whole=whole)
    taken = _taken_at(files.taken, [text for _, text in named])
    guessed = files.taken is None
    if listing:
        lineage, now = lineage_of([read[text] for _, text in listing]), taken
        _require_possible(lineage, now, guessed=guessed)
        if lacking := without_parents(lineage, now):
            observer.note(lacking)
    elif selection.stream is not None:
        alone = locator is None
        lineage, now = listed(selection.account, selection.stream, observer, alone=alone)
    else:
        raise UsageError("no stream is named", f"add {LIST}, or --stream STREAM")
    if locator is None:
        return SavedSnapshot(now, lineage)
    arn = lineage.stream.arn
    place = {"arn": locator.arn} if locator.arn else {}
    kept = Snapshot(locator, lineage, (), {"medium": locator.medium, **place}, now)
    kinesis = ListedStream(kept) if listing else kinesis_of(selection.account, arn, observer)
    if texts:
        rows = [(_table_of(text), read[_file_of(text)]) for text in texts]
        held = _with_rows(kept, locator, rows, observer)
        if not selection.bootstrap:
            _require_own(held, ", ".join(file.name for _, file in rows))
        store: Store = FrozenStore(held)
    else:
        store, now = ports_of(selection.account, locator, observer, arn).store, time_now()
        guessed = False
    if whole and guessed:
        observer.note(f"as of {instant(now)}, when the newest file was written; or --taken TIME")
    snapshot = own(take(kinesis, store, selection.stream or "", locator, lambda: now))
    return SavedSnapshot(now, lineage, (snapshot,))


def _file_of(text: str) -> str:
    """The file of a `--rows`."""
    return text if _table_of(text) == "" else text.partition("=")[2]


def _table_of(text: str) -> str:
    """The table that a `--rows` names, "" if it names none: no table's name has a slash."""
    name, equals, _ = text.partition("=")
    return name if equals and "/" not in name else ""


def _require_once(named: Sequence[tuple[str, str]]) -> None:
    from_stdin = [option for option, text in named if text == STDIN]
    if len(from_stdin) > 1:
        raise UsageError(
            f"{' and '.join(from_stdin)} both read standard input, which can be read once",
            "save one of them in a file",
        )
    first: dict[Path, str] = {}
    for option, text in named:
        file = _path(text).resolve()
        if text != STDIN and file in first:
            also = "" if first[file] == option else f", as {first[file]} and as {option}"
            raise UsageError(f"{text} is given twice{also}", "name each file once")
        first[file] = option


def _require_all(selection: FilesSelection, locator: Locator | None, *, whole: bool) -> None:
    """UsageError for files that go with others, and for what is missing."""
    files, listing = selection.files, selection.listing or selection.files.summary is not None
    if whole:
        require_compatible(asked(selection), FILES)
        if argv := words(selection.account):
            raise UsageError(
                f"stream and positions are read from files, so {argv[0]} leads nowhere",
                f"leave {argv[0]} out",
            )
        if not selection.listing:
            raise UsageError(
                f"{selection.file_words[0]} is given, and no file lists the shards of the stream",
                f"add {LIST}",
            )
        if locator is not None and not files.rows and _on_aws(locator):
            raise UsageError(
                f"--shards is given, and no file holds the positions of {locator.text}",
                f"add --rows FILE with the output of: {_printing(locator)}",
            )
        return
    if selection.probe and listing:
        raise UsageError(
            "--probe reads records of the stream, in whose place files stand", "leave --probe out"
        )
    if files.taken is not None and not (listing and (files.rows or locator is None)):
        raise UsageError(
            "--taken is the time of files, and stream or positions are read now",
            "leave --taken out, or name files of both: --shards FILE --summary FILE --rows FILE",
        )


def _taken_at(text: str | None, files: Sequence[str]) -> float:
    """Unix seconds. The newest file's, unless given."""
    if text is not None:
        return parse_instant(text, "--taken")
    return max((_path(file).stat().st_mtime for file in files), default=0.0)


def _require_possible(lineage: Lineage, taken: float, *, guessed: bool) -> None:
    """UsageError for a time at which the files cannot have been made."""
    opened = [(at, shard) for shard in lineage if (at := lineage.opened_at(shard)) is not None]
    newest, shard = max(opened, default=(taken, ""))
    if taken < newest - CLOCKS_APART:
        wrong = f"shard {shard} opened at {instant(newest)}, later"
    elif not guessed and taken > time_now() + CLOCKS_APART:
        wrong = f"it is {instant(time_now())} now"
    else:
        return
    raise UsageError(
        f"the files cannot have been made at {instant(taken)}: {wrong}",
        "say when they were made: --taken TIME, as in --taken 2026-09-22T09:14:00Z",
    )


def _path(text: str) -> Path:
    return Path("/dev/stdin" if text == STDIN else text)


def require_listing(selection: FilesSelection) -> None:
    """UsageError for a value of `--shards` that names neither shards nor a file."""
    for text in selection.listing:
        if not _path(text).exists():
            raise UsageError(
                f"--shards {text}: no such file, and no shards have such a name",
                f"shards are {TAKES}; a file is what aws kinesis list-shards printed",
            )


def _read(text: str) -> Printed:
    name = "standard input" if text == STDIN else text
    return Printed(name, content(_path(text), "name the file again"))


def _with_rows(
    kept: Snapshot, locator: Locator, given: Sequence[tuple[str, Printed]], observer: Observer
) -> Snapshot:
    """The same snapshot with the rows of the files. given: the table that is named, and its file.

    UsageError for a store whose rows cannot be read from files.
    """
    if locator.medium == "dynamodb":
        kept = replace(kept, images=_of_tables(locator, given))
        if csv := [file.name for _, file in given if is_csv(file.content)]:
            observer.note(
                f"{csv[0]}: CSV has the rows that were on the screen, and does not say whether "
                "there are more; a row that is missing looks like a position that was never stored"
            )
        return kept
    if named := [table for table, _ in given if table]:
        raise UsageError(
            f"--rows {named[0]}=…: the positions of {locator.text} are in no DynamoDB table",
            "leave the table's name out",
        )
    files = [file for _, file in given]
    if locator.medium not in READERS:
        raise UsageError(
            f"--rows: the positions of {locator.text} are read from no file",
            "leave --rows out: the store itself is read",
        )
    images, store = READERS[locator.medium](locator, files)
    return replace(kept, images=tuple(images), store={**kept.store, **store})


def _require_own(held: Snapshot, names: str) -> None:
    """UsageError for rows of other applications or streams alone. names: of the files."""
    locator, stream = held.locator, held.lineage.stream.name
    heads = locator.spec.heads(locator.options, stream)
    shape = locator.spec.tables(locator.target, locator.options)[0]
    if not held.images or shape.hash not in heads:
        return
    wanted = heads[shape.hash]
    found = sorted({image.attributes[shape.hash]["S"] for image in held.images})
    # MySQL compares mostly without regard to case; a consumer group's leases are APP#STREAM.
    if not any(wanted.casefold() == n.casefold() or n.endswith(f"#{stream}") for n in found):
        raise UsageError(
            f"{names}: {count(len(held.images), 'row')} of {shape.hash} {listed_names(found, 3)}, "
            f"and none of {wanted}",
            f"name application and stream of these rows, or save those of {wanted}; for a new "
            "application: fix --dry-run --bootstrap",
        )


def _of_tables(locator: Locator, given: Sequence[tuple[str, Printed]]) -> tuple[Image, ...]:
    """The rows of the consumer's tables. UsageError if those of one that it needs are not given."""
    spec = locator.spec
    shapes = spec.tables(locator.target, locator.options)
    beside = consumer_of(locator).side_tables(locator.target)
    names = [*(shape.name for shape in shapes), *(side.name for side in beside)]
    files: dict[str, list[Printed]] = {name: [] for name in names}
    for table, file in given:
        if (table or names[0]) not in files:
            raise UsageError(
                f"--rows {table}={file.name}: {locator.text} has no table {table}",
                f"it has {', '.join(files)}",
            )
        files[table or names[0]].append(file)
    if missing := [shape.name for shape in shapes if not files[shape.name]]:
        scan = command_line("aws", "dynamodb", "scan", "--table-name", missing[0])
        raise UsageError(
            f"--rows: those of table {missing[0]} are missing",
            f"add --rows {missing[0]}=FILE with the output of: {scan}",
        )
    found = [row for shape in shapes for row in rows_of_table(files[shape.name], shape, spec)]
    of_shards = [row.attributes for row in found if "shardId-" in row.key]
    left_out = spec.of_every_shard - {name for row in of_shards for name in row}
    if of_shards and left_out:
        raise UsageError(
            f"{files[names[0]][0].name}: no row has {min(left_out)}: a projection left it out",
            f"save the output of: {_printing(locator)}",
        )
    for side in beside:
        shape = TableShape(side.name, prefix=f"{side.name}/", hash=side.key)
        if files[side.name]:
            wanted = {shape.image_key(key) for key in side.rows}
            rows = rows_of_table(files[side.name], shape, spec)
            found += [image for image in rows if not wanted or image.key in wanted]
        else:
            why = f"the rows of {side.name} were not given (--rows {side.name}=FILE)"
            found.append(Image(f"{side.name}/", {"unread": {"S": why}}))
    return tuple(found)


Rows = tuple[Sequence[Image], Mapping[str, str]]
"""The rows, and what is known of the store's identity."""


def _of_redis(locator: Locator, files: Sequence[Printed]) -> Rows:
    (shape,) = locator.spec.tables("", locator.options)
    app = locator.options.get("app", "")
    return rows_of_redis(files, shape, locator.spec.position_attribute, app), {}


def _of_sql(locator: Locator, files: Sequence[Printed]) -> Rows:
    name = locator.options.get("table", locator.spec.default_table)
    (shape,) = locator.spec.tables(name, locator.options)
    return rows_of_sql(files, shape, locator.spec.position_attribute, _printing(locator)), {}


def _of_spark(locator: Locator, files: Sequence[Printed]) -> Rows:
    from reshardctl.stores.files.archive import of_tar
    from reshardctl.stores.files.tree import Tree

    select = consumer_of(locator).files()
    assert select is not None, "Spark keeps files"
    file, way_out = _alone(files), f"pack it anew: {_printing(locator)}"
    if locator.spec.log_table(locator.options) is not None:
        raise UsageError(
            f"--rows: {locator.text} keeps a part of its positions in a DynamoDB table",
            "leave --rows out: directory and table are read themselves",
        )
    tree = Tree(of_tar(file.name, unpacked(file, way_out), way_out), select)
    return tree.read(), tree.identity()


def _of_quickwit(locator: Locator, files: Sequence[Printed]) -> Rows:
    from reshardctl.consumers.quickwit.document import FILE, Document, is_file_of_an_index
    from reshardctl.stores.files.archive import Held
    from reshardctl.stores.files.blobs import Blob
    from reshardctl.stores.quickwit import Indexes

    index, source = (locator.options.get(name, "") for name in ("index", "source"))
    if not index:
        raise UsageError(
            f"--rows: {locator.text} does not say of which index the file is", "add ?index=INDEX"
        )
    file = _alone(files)
    content = unpacked(file, "")
    if not is_file_of_an_index(content):
        raise UsageError(
            f"{file.name} is no metastore file of an index",
            f"save the output of: {_printing(locator)}",
        )
    blobs = Held(file.name, {f"{index}/metastore.json": Blob(content, 0)})
    indexes = Indexes(blobs, partial(Document, FILE), index, source)
    return indexes.read(), indexes.identity()


def _alone(files: Sequence[Printed]) -> Printed:
    if len(files) > 1:
        raise UsageError(f"--rows: {len(files)} files are given", "name one")
    return files[0]


READERS: Mapping[str, Callable[[Locator, Sequence[Printed]], Rows]] = {
    "redis": _of_redis, "rediss": _of_redis, "postgres": _of_sql, "mysql": _of_sql,
    "files": _of_spark, "s3files": _of_spark,
    "quickwit-files": _of_quickwit, "quickwit-s3": _of_quickwit,
}
"""How the rows of each other medium are read."""


def _printing(locator: Locator) -> str:
    """The command whose output holds the rows."""
    table = locator.options.get("table", locator.spec.default_table)
    columns = f"SELECT namespace, shard_id, sequence_number FROM {table}"  # noqa: S608
    match locator.medium:
        case "dynamodb":
            shapes = locator.spec.tables(locator.target, locator.options)
            return command_line("aws", "dynamodb", "scan", "--table-name", shapes[0].name)
        case "redis" | "rediss":
            return printing_keys(locator.options.get("app", ""))
        case "postgres":
            return command_line("psql", "--csv", "-c", columns)
        case "mysql":
            return command_line("mysql", "--batch", "-e", columns)
        case "quickwit-s3" | "quickwit-files":
            index = locator.options.get("index", "INDEX")
            file = f"{locator.target.partition('#')[0].rstrip('/')}/{index}/metastore.json"
            if locator.medium == "quickwit-files":
                return command_line("cat", file)
            return command_line("aws", "s3", "cp", f"s3://{file}", "-")
        case _:
            return command_line("tar", "czf", "FILE", "-C", locator.target, ".")

