"""A plan as a script of commands of the store's own client, where we may not write ourselves.

`bash FILE` writes what `fix` would write, in its order; `bash FILE undo` takes it back. Each
command has the guard that `fix` sends: it writes if its rows are as they were read, all of them or
none. Otherwise it fails, which ends the script. A text with a character that a shell or a client
could take for more than a part of a value is refused.
"""

from __future__ import annotations

import json
import shlex
from collections.abc import Callable, Sequence
from typing import Any

from msgspec import Struct

from reshardctl.consumers.locator import Locator
from reshardctl.errors import UsageError
from reshardctl.model import (
    AttributeValue,
    Create,
    Delete,
    Image,
    Step,
    Update,
    Write,
    changed,
    table_of,
)
from reshardctl.model.images import ENDS, OTHER_COLUMNS, SAME_KEY, UNGUARDED
from reshardctl.model.times import instant
from reshardctl.planning.decision import Nothing, Plan
from reshardctl.planning.restore import Restore, steps_back
from reshardctl.render.document import Document
from reshardctl.render.escape import escape
from reshardctl.render.words import CLIENTS, by_arn
from reshardctl.report.report import Report

Command = Callable[[Step], str]
"""The lines that make the writes of a step."""


class UnwritableError(Exception):
    """Why no command can make a write."""


def aws_cli(document: Document[Any]) -> str:
    """Of the AWS CLI, for DynamoDB."""
    return _script(document, "aws-cli", _of_dynamodb)


def psql(document: Document[Any]) -> str:
    """Of psql, for PostgreSQL."""
    return _script(document, "psql", lambda locator, _report: _of_sql(locator, POSTGRES))


def mysql(document: Document[Any]) -> str:
    """Of mysql, for MySQL and MariaDB."""
    return _script(document, "mysql", lambda locator, _report: _of_sql(locator, MYSQL))


def redis_cli(document: Document[Any]) -> str:
    """Of redis-cli."""
    return _script(document, "redis-cli", _of_redis)


def _script(
    document: Document[Any], form: str, client: Callable[[Locator, Report], Command]
) -> str:
    report = document.by_hand()
    said = "".join(f"#   {escape(line)}\n" for line in document.lines())
    if report is None:
        return f"#!/usr/bin/env bash\n# There is no plan:\n{said}exit 1\n"
    locator = report.snapshot.locator
    if report.options.redacted:
        raise UsageError(
            f"--format {form}: {locator.text} is redacted, and no store has its names",
            "make the script from the real store",
        )
    if CLIENTS.get(locator.medium) != form:
        raise UsageError(
            f"--format {form}: that client does not write the store of {locator.text}",
            f"--format {CLIENTS[locator.medium]}" if locator.medium in CLIENTS else
            f"no client's commands have the guards and locks that a fix needs there: {_OTHERWISE}",
        )
    head = _HEAD.format(
        consumer=escape(locator.text), stream=report.snapshot.lineage.stream.arn,
        read=instant(report.snapshot.now), lines=said,
    )
    if not isinstance(report.decision, Plan | Nothing):
        return f"{head}exit 1  # there is no plan\n"
    steps = report.decision.steps if isinstance(report.decision, Plan) else ()
    if not steps:
        return f"{head}# There is nothing to write.\n"
    command = client(locator, report)
    back = steps_back(steps, Restore.of(locator.spec))
    return (
        f'{head}case "${{1:-write}}" in\nwrite)\n{_commands(steps, command)};;\n'
        f'undo)\n{_commands(back, command)};;\n'
        '*)\n  echo "usage: bash $0 [undo]" >&2\n  exit 2\n  ;;\nesac\n'
    )


_OTHERWISE = (
    "save the plan with --dry-run --out FILE, and let somebody who may write run "
    "reshardctl fix --plan FILE"
)
_HEAD = """\
#!/usr/bin/env bash
# What reshardctl would write to {consumer}
# of stream {stream}, as of {read}:
#
{lines}#
# Stop the application first, and start it again when the last command has succeeded.
# A command writes if its rows are as they were read. If not, it fails, and this script ends: what
# was written before it stays. Then inspect again, and make a new script.
#
#   bash FILE         writes the positions
#   bash FILE undo    takes all of that back, in reverse order
set -euo pipefail

"""


def _commands(steps: Sequence[Step], command: Command) -> str:
    """The commands, each under what it does."""
    parts = []
    for step in steps:
        try:
            parts.append(f"# {escape(step.title)}\n{command(step)}\n\n")
        except UnwritableError as why:
            raise UsageError(
                f"{step.title}: no command can be printed: {why}", _OTHERWISE,
            ) from None
    return "".join(parts)


def _printed(text: str) -> str:
    """The text. UnwritableError if it could be taken for more than one line of text."""
    if not text.isprintable():
        raise UnwritableError(f"{text!r} holds a character that is not printed")
    return text


def _of_dynamodb(locator: Locator, report: Report) -> Command:
    from reshardctl.stores.dynamodb import request

    shapes = locator.spec.tables(locator.target, locator.options)
    arn = report.snapshot.store.get("arn", "").split(":")
    if len(arn) < 6:
        raise UsageError(
            "--format aws-cli: the region of the table is not known",
            "name the table by its ARN; in region and account of the stream: "
            f"{shlex.quote(by_arn(report.snapshot))}",
        )
    region = arn[3]

    def command(step: Step) -> str:
        asked = [request(write, table_of(shapes, write.key)) for write in step.writes]
        if len(asked) == 1:
            ((name, arguments),) = asked
            operation = f"{name.lower()}-item"
        else:
            operation = "transact-write-items"
            arguments = {"TransactItems": [{name: given} for name, given in asked]}
        try:
            given = json.dumps(arguments)
        except TypeError:
            raise UnwritableError("a row holds bytes") from None
        words = ["aws", "dynamodb", operation, "--region", region, "--cli-input-json", given]
        return shlex.join(words)

    return command


LUA = """\
for i, key in ipairs(KEYS) do
  local kind, now = redis.call("TYPE", key)["ok"], ""
  if kind ~= "none" then now = kind end
  if kind == "string" then now = "=" .. redis.call("GET", key) end
  if now ~= ARGV[3 * i - 2] then return key .. " is not as it was read; nothing was written" end
end
for i, key in ipairs(KEYS) do
  local seen, value, ends = ARGV[3 * i - 2], ARGV[3 * i - 1], ARGV[3 * i]
  if value == "" then redis.call("DEL", key)
  elseif seen ~= "" then redis.call("SET", key, string.sub(value, 2), "KEEPTTL")
  elseif ends == "" then redis.call("SET", key, string.sub(value, 2))
  else redis.call("SET", key, string.sub(value, 2), "PXAT", ends) end
end
return "written"
"""
"""For each key three arguments: its value as read and as it shall be, each behind `=` and empty for
no key, and when a created key's time to live ends, in Unix milliseconds. A lone command of Redis is
done whole, before any other (EVAL, Redis' documentation)."""


def _of_redis(locator: Locator, _report: Report) -> Command:
    from reshardctl.stores.redis import TARGET, redis_key

    (shape,) = locator.spec.tables("", locator.options)
    number, app = locator.spec.position_attribute, locator.options.get("app", "")
    place = TARGET.match(locator.target)
    assert place is not None, "the store was read"
    words = ["redis-cli", "-h", place["host"].strip("[]"), "-p", place["port"] or "6379",
             "-n", place["db"] or "0"]  # fmt: skip
    words += ["--user", place["user"]] if place["user"] else []
    words += ["--tls"] if locator.medium == "rediss" else []

    def value(row: Image | None) -> str:
        if row is None:
            return ""
        if "S" not in row.attributes.get(number, {}):
            raise UnwritableError("what the key holds is no text")
        return f"={_printed(row.attributes[number]['S'])}"

    def command(step: Step) -> str:
        keys = [_printed(redis_key(shape, app, write.key).decode()) for write in step.writes]
        arguments = []
        for write in step.writes:
            then = changed(write.before, write)
            ends = write.change.attributes.get(ENDS, {}) if isinstance(write.change, Create) else {}
            arguments += [value(write.before), value(then), ends.get("N", "")]
        asked = [*words, "EVAL", LUA, str(len(keys)), *keys, *arguments]
        return f'[ "$({shlex.join(asked)} | tee /dev/stderr)" = written ]'

    return command


class Sql(Struct, frozen=True):
    """A kind of database.

    client: the program with its options. address: the options for host, port, user and database,
    and the usual port. quote: around names. as_text: a column as the text that was read. begin:
    begins a transaction. checked: a statement, and the text of an error → the same, failing with
    that error unless it writes exactly one row.
    """

    client: tuple[str, ...]
    address: tuple[str, str, str, str, int]
    quote: str
    as_text: str
    begin: str
    checked: Callable[[str, str], str]

    def name(self, text: str) -> str:
        """A name in quotes."""
        return f"{self.quote}{_plain(text).replace(self.quote, 2 * self.quote)}{self.quote}"


POSTGRES = Sql(
    ("psql", "--no-psqlrc", "--quiet", "--output=/dev/null", "--set=ON_ERROR_STOP=1"),
    ("--host", "--port", "--username", "--dbname", 5432), '"', "{}::text", "BEGIN",
    # The text depends on the count, so that it is made only if it is wanted, and fails then.
    lambda statement, why: (
        f"WITH written AS ({statement} RETURNING 1)\n"
        f"SELECT CASE count(*) WHEN 1 THEN 1 ELSE CAST({why} || count(*) AS integer) END\n"
        "FROM written;"
    ),
)
MYSQL = Sql(
    ("mysql", "--protocol=tcp", "--default-character-set=utf8mb4"),
    ("--host", "--port", "--user", "--database", 3306), "`", "CAST({} AS CHAR)",
    "START TRANSACTION",
    # What is no statement cannot be prepared; the error repeats it.
    lambda statement, why: (
        f"{statement};\n"
        f"SET @reshardctl = IF(ROW_COUNT() = 1, 'DO 0', CONCAT({why}, ROW_COUNT()));\n"
        "PREPARE reshardctl FROM @reshardctl;"
    ),
)


def _of_sql(locator: Locator, kind: Sql) -> Command:
    from reshardctl.stores.sql.server import address_of

    spec, place = locator.spec, address_of(locator.target, "")
    host, port, user, database, usual = kind.address
    words = [*kind.client, f"{host}={place.host}", f"{port}={place.port or usual}",
             f"{database}={place.database}"]  # fmt: skip
    words += [f"{user}={place.user}"] if place.user else []
    name = locator.options.get("table", spec.default_table)
    name = name.lower() if kind is POSTGRES else name
    (shape,) = spec.tables(name, locator.options)
    table, number = ".".join(map(kind.name, name.split("."))), spec.position_attribute

    def statement(write: Write) -> str:
        for why in (UNGUARDED, SAME_KEY):
            if write.before is not None and why in write.before.attributes:
                raise UnwritableError("its table or its row cannot be guarded")
        key = shape.parts(write.key)
        held = [f"{kind.name(column)} = {_quoted(part)}" for column, part in key.items()]
        if write.before is not None and number in write.guard:
            seen, column = write.before.attributes.get(number), kind.name(number)
            text = kind.as_text.format(column)
            held.append(f"{column} IS NULL" if seen is None else f"{text} = {_value(seen)}")
        where = " AND ".join(held)
        match write.change:
            case Create(attributes):
                if attributes.get(OTHER_COLUMNS):
                    raise UnwritableError("the row has more columns than the library's own")
                row = {**{column: {"S": part} for column, part in key.items()}, **attributes}
                names, values = ", ".join(map(kind.name, row)), ", ".join(map(_value, row.values()))
                return f"INSERT INTO {table} ({names}) VALUES ({values})"  # noqa: S608
            case Update(values, remove):
                pairs = {n: _value(v) for n, v in values.items()} | dict.fromkeys(remove, "NULL")
                sets = ", ".join(f"{kind.name(n)} = {value}" for n, value in pairs.items())
                return f"UPDATE {table} SET {sets} WHERE {where}"  # noqa: S608
            case Delete():
                return f"DELETE FROM {table} WHERE {where}"  # noqa: S608

    def command(step: Step) -> str:
        lines = [f"{shlex.join(words)} <<'SQL'", f"{kind.begin};"]
        for write in step.writes:
            why = _quoted(f"{write.key} is not as it was read; nothing was written; rows: ")
            lines.append(kind.checked(statement(write), why))
        return "\n".join([*lines, "COMMIT;", "SQL"])

    return command


def _value(value: AttributeValue) -> str:
    """A value as a literal of SQL."""
    if "S" not in value:
        raise UnwritableError("a column holds no text")
    return _quoted(value["S"])


def _quoted(text: str) -> str:
    """A text as a literal of SQL."""
    return "'" + _plain(text).replace("'", "''") + "'"


def _plain(text: str) -> str:
    """A text without a character that some databases, as they are set, take for an escape."""
    if "\\" in text:
        raise UnwritableError(f"{text!r} holds a backslash")
    return _printed(text)
