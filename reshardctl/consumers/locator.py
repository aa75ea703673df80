"""Locators: one text that names a consumer's store and the options of its application.

The libraries' specs are found by name, by scheme and by the key of their tables.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from urllib.parse import parse_qsl, unquote

from reshardctl.codec.strict import JsonPath
from reshardctl.consumers.kcl.spec import KCL
from reshardctl.consumers.kinesis_consumer.spec import KINESIS_CONSUMER
from reshardctl.consumers.kinsumer.spec import KINSUMER
from reshardctl.consumers.quickwit.spec import QUICKWIT
from reshardctl.consumers.spark.spec import SPARK
from reshardctl.consumers.spec import Scheme, Spec
from reshardctl.errors import UsageError, command_line
from reshardctl.given_secrets import MASK
from reshardctl.model.phrases import similar
from reshardctl.model.tables import TableKey

SPECS: dict[str, Spec] = {
    spec.name: spec for spec in (KCL, KINSUMER, KINESIS_CONSUMER, SPARK, QUICKWIT)
}
SCHEMES: dict[str, Scheme] = {
    name: scheme for spec in SPECS.values() for name, scheme in spec.schemes.items()
}


def library_of(key: TableKey) -> Spec | None:
    """The library whose DynamoDB tables have such a primary key, if it is one we know."""
    with_tables = (spec for spec in SPECS.values() if spec.table_scheme)
    return next((spec for spec in with_tables if spec.table_key == key), None)


_SHAPE = re.compile(
    r"(?P<scheme>[a-z0-9+-]+):(?P<slashes>//)?(?P<target>[^?]*)(?:\?(?P<options>.*))?\Z", re.DOTALL
)
_ON_S3 = re.compile(r"(?P<scheme>[a-z]+):(?i:s3[an]?)://")
_PASSWORD = re.compile(r"(?P<user>[^/@:]*):(?P<password>[^/]*)@")
_NAME = re.compile(r"[A-Za-z0-9_.-]{3,255}\Z", re.ASCII)
"""A name of a DynamoDB table, as most applications' names are."""
_ARN = re.compile(
    r"arn:[a-z-]+:(?P<service>dynamodb|kinesis|s3):(?P<region>[^:]*):[^:]*:(?P<name>.+)"
)
_TABLE = re.compile(
    r"arn:[a-z-]+:dynamodb:(?P<region>[a-z]{2}(?:-[a-z]+)+-\d+):(?P<account>\d{12})"
    r":table/(?P<name>[\w.-]+)\Z",
    re.ASCII,
)
_LOOSE = re.compile(r"(?:([A-Za-z0-9+-]+):(//)?)?([^?]*)((?:\?.*)?)\Z", re.DOTALL)
"""Scheme, slashes, target, and the options with their question mark."""
_ALSO = {
    "ddb": "dynamodb", "dynamo": "dynamodb", "postgresql": "postgres", "s3a": "s3", "s3n": "s3",
}
"""Other words for a medium."""


@dataclass(frozen=True, slots=True)
class Locator:
    """A parsed locator.

    Attributes:
        text: What the operator wrote, with the password masked; reports repeat it. A path on S3 is
            spelled `spark+s3://`, however Spark spells it.
        target: What follows the scheme, without the password.
        password: "" where none was given; never shown.
        arn: Of the DynamoDB table with the positions, "" where the text has only its name.
    """

    text: str
    consumer: str
    medium: str
    target: str
    options: Mapping[str, str]
    password: str = field(default="", repr=False, compare=False)
    arn: str = ""

    @property
    def spec(self) -> Spec:
        """The spec of the library whose store it names."""
        return SPECS[self.consumer]

    @property
    def stop_words(self) -> tuple[str, ...]:
        """As `stop_words` of its text."""
        return stop_words(self.text)

    @property
    def region(self) -> str:
        """The region of its table, "" where the text does not name it."""
        return region_of_table(self.arn)

    @property
    def account(self) -> str:
        """The account of its table, "" where the text does not name it."""
        match = _TABLE.match(self.arn)
        return match["account"] if match else ""

    def elsewhere(self, target: str, options: Mapping[str, str]) -> Locator:
        """A locator of the same kind with another target and other options; no password, no ARN."""
        head = self.text[: self.text.index(":") + 1]
        slashes = "" if SCHEMES[head[:-1]].bare else "//"
        query = "&".join(f"{name}={value}" for name, value in options.items())
        text = f"{head}{slashes}{target}" + (f"?{query}" if query else "")
        return replace(self, text=text, target=target, options=options, password="", arn="")


def stop_words(text: str) -> tuple[str, ...]:
    """The option without which nothing is written into the store of a locator.

    It is the operator's word that the consumer is stopped, where the store cannot show that.
    """
    known_as = SCHEMES.get(text.partition(":")[0])
    if known_as is None:
        return ()
    spec = SPECS[known_as.consumer]
    silent = not spec.watchable and known_as.medium not in spec.switched
    return ("--assume-stopped",) if silent else ()


def region_of_table(arn: str) -> str:
    """The region that the ARN of a DynamoDB table names, "" for another text.

    DynamoDB Local puts no region into its ARNs.
    """
    match = _TABLE.match(arn)
    return match["region"] if match else ""


def looks_like_one(text: str) -> bool:
    """Whether a text is meant as a locator, rather than as a configured name."""
    match = _SHAPE.match(text)
    return match is not None and (match["slashes"] is not None or match["scheme"] in SCHEMES)


def parse_in(text: str, json_path: JsonPath) -> Locator:
    """Read the locator in a file; raises UsageError that names the file, too."""
    try:
        return parse(text)
    except UsageError as error:
        json_path.wrong(error.what, error.next)


def parse(text: str) -> Locator:
    """Read a locator; raises UsageError that names the wrong part and the reason."""
    text = _of_a_bucket(text)
    match = _SHAPE.match(text)
    if match is None or match["scheme"] not in SCHEMES:
        known = "known are " + ", ".join(_head(name) for name in SCHEMES)
        raise UsageError(
            f"{_masked(text)!r} is no locator" if match is None or match["slashes"] is None
            else f"{_masked(text)!r}: {match['scheme']}:// is not known",
            advice(text) or known,
        )
    scheme, target, query = match["scheme"], match["target"], "".join(text.partition("?")[1:])
    known_as = SCHEMES[scheme]
    if known_as.bare:
        target = (match["slashes"] or "") + target
    elif match["slashes"] is None:
        bare = _masked(f"{_head(scheme)}{target.lstrip('/')}{query}")
        raise UsageError(
            f"{_masked(text)!r}: // is missing after {scheme}:",
            f"write it as {(_filled([scheme], target, query) or [bare])[0]}",
        )
    password = arn = ""
    if known_as.medium == "dynamodb" and target.startswith("arn:"):
        target, arn = _named_by(target, known_as), target
    if known_as.server:
        text, target, password = _without_password(text, target)
    if not known_as.target.match(target):
        shown = _masked(f"{scheme}://{target}").partition("://")[2]
        meant = _filled([scheme], target, query) or _filled([scheme], f"/{target}", query)
        raise UsageError(
            f"{_masked(text)!r}: {shown!r} is no {known_as.what}",
            f"write it as {meant[0] if meant else known_as.example}",
        )
    given = options(text, match["options"] or "", known_as.example)
    return Locator(text, known_as.consumer, known_as.medium, target, given, password, arn)


def _named_by(arn: str, known_as: Scheme) -> str:
    """The target that the ARN of its table with the positions stands for."""
    match, ending = _TABLE.match(arn), SPECS[known_as.consumer].table_ending
    if match is None:
        raise UsageError(
            f"{arn!r} is no ARN of a DynamoDB table",
            "it has the form arn:aws:dynamodb:REGION:ACCOUNT:table/NAME"
            if arn.startswith("arn:aws:dynamodb:") else advice(arn) or f"as in {known_as.example}",
        )
    if not match["name"].endswith(ending):
        raise UsageError(
            f"{arn!r}: {known_as.consumer}'s table of positions is called NAME{ending}",
            f"name that table, or the application alone: {known_as.example}",
        )
    return match["name"].removesuffix(ending)


def _of_a_bucket(text: str) -> str:
    """`spark:s3a://BUCKET/PREFIX` as the locator that is read and written without Hadoop."""
    match = _ON_S3.match(text)
    if match is None or f"{match['scheme']}+s3" not in SCHEMES:
        return text
    return f"{match['scheme']}+s3://{text[match.end():]}"


def advice(text: str) -> str:
    """How to write what was most likely meant by a text that is no locator; "" for any other."""
    if text.endswith(".snapshot"):
        return f"write it as snapshot:{text}"
    if arn := _ARN.match(text):
        return _of_an_arn(text, arn)
    head, without_colon, rest = text.partition("//")
    known = SCHEMES.get(head)
    if without_colon and (not known.bare if known else _named(_meant(head))):
        return advice(f"{head}://{rest}")
    scheme, slashes, target, query = _LOOSE.match(text).groups()  # type: ignore[union-attr]
    word = _meant(scheme or "")
    if not slashes and not _named(word):  # a path or a name
        target = text
        word = "file" if "/" in text else "dynamodb" if _NAME.match(text) else ""
    meant = _filled(_named(word), target, query)
    if word in ("file", "hdfs"):
        meant.insert(0, _masked(f"{_head('spark')}{target if word == 'file' else text}"))
    if meant:
        first, *others = meant
        return f"write it as {first}" + (f", or {', '.join(others)}" if others else "")
    if not word:
        return f"write it as {SCHEMES['kcl'].example}"
    near = similar(word, SCHEMES)
    return f"did you mean {(_filled([near], target, query) or [_head(near)])[0]}?" if near else ""


def _of_an_arn(text: str, arn: re.Match[str]) -> str:
    """The same for an ARN, which names a table, a stream or a bucket."""
    name = arn["name"].partition("/")[2].partition("/")[0]
    if arn["service"] == "kinesis":
        found = command_line("reshardctl", "discover", name)
        return f"that is a stream: --stream {command_line(text)}; {found} finds its tables"
    if arn["service"] == "dynamodb":
        if not _TABLE.match(text):
            return f"{advice(name)}; it is in --table-region {arn['region']}"
        schemes = (each for each in _named("dynamodb")
                   if name.endswith(SPECS[SCHEMES[each].consumer].table_ending))  # fmt: skip
        return f"write it as {', or '.join(f'{_head(each)}{text}' for each in schemes)}"
    return advice(f"s3://{arn['name']}")


def _meant(scheme: str) -> str:
    """The word of a library or of a medium that a scheme stands for."""
    return _ALSO.get(scheme.lower(), scheme.lower())


def _named(word: str) -> list[str]:
    """The schemes of a library or of a medium."""
    return [
        name for name, known in SCHEMES.items()
        if word in (*name.split("+"), known.medium) and not known.bare
    ]


def _filled(schemes: Iterable[str], target: str, query: str) -> list[str]:
    """The locators that this target makes, as it is or without slashes before it."""
    for fit in (target, target.lstrip("/")):
        names = [name for name in schemes if SCHEMES[name].target.match(fit)]
        if names:
            return [_masked(f"{_head(name)}{fit}{query}") for name in names]
    return []


def _head(scheme: str) -> str:
    return f"{scheme}:" if SCHEMES[scheme].bare else f"{scheme}://"


def _without_password(text: str, target: str) -> tuple[str, str, str]:
    """The locator's text with its password masked, the target without it, the password."""
    match = _PASSWORD.match(target)
    if match is None:
        return text, target, ""
    given = match["password"]
    password = "" if given == MASK else unquote(given)
    bare = f"{match['user']}@{target[match.end():]}"
    return text.replace(f":{given}@", f":{MASK}@", 1), bare, password


def _masked(text: str) -> str:
    """Masks what may be a password in a text that cannot be parsed."""
    return re.sub(r"^([a-z0-9+-]+:(?://)?[^/@:?]*):.*@", rf"\1:{MASK}@", text)


def options(text: str, query: str, example: str) -> dict[str, str]:
    """The options after a question mark. text: the whole locator, for messages."""
    # A plus stays a plus: times have one in their zone.
    query = query.replace("+", "%2B")
    try:
        pairs = parse_qsl(query, keep_blank_values=True, strict_parsing=True) if query else []
    except ValueError:
        raise UsageError(
            f"{text!r}: its options are not name=value pairs joined by &", f"as in {example}"
        ) from None
    values: dict[str, str] = {}
    for name, value in pairs:
        if not value:
            raise UsageError(f"{text!r}: option {name} has no value", f"as in {example}")
        if name in values:
            raise UsageError(f"{text!r}: option {name} stands twice", "keep one")
        values[name] = value
    return values
