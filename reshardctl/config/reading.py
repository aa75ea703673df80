"""Reads the configuration file into entries.

Strict: whatever is not understood is an error with its line.
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Mapping
from pathlib import Path

from msgspec.structs import replace

from reshardctl import given_secrets
from reshardctl.codec.strict import CONFIGURATION, or_another_kind
from reshardctl.config.entries import SERVICES, Config, Consumer, Reach, Stream
from reshardctl.config.nearest import from_folder_of
from reshardctl.config.sourced import MEND, Spot, lines
from reshardctl.consumers.locator import Locator, parse
from reshardctl.consumers.registry import consumer_of
from reshardctl.diagnosis.rules import RULES
from reshardctl.diagnosis.rules.base import Suppression
from reshardctl.errors import UsageError
from reshardctl.model import shard_id
from reshardctl.model.phrases import did_you_mean
from reshardctl.model.times import parse_seconds
from reshardctl.stores.given_file import content

CheckOptions = Callable[[str, str | None], object]

_REACH = ("region", "profile", "role_arn", "endpoint_url")
_OURS = ("policy", "accept", "journal", "watch", "fail-on", "probe")
_FAIL_ON = ("error", "warning", "info", "never")
_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9_.-]*\Z", re.ASCII)
_ROLE = re.compile(r"arn:[\w-]+:iam::\d{12}:role/[\w+=,.@/-]+\Z", re.ASCII)
_REGION = re.compile(r"[a-z]{2}(?:-[a-z]+)+-\d+\Z", re.ASCII)


def read(whole: Spot, check: CheckOptions) -> Config:
    """Reads a document. Raises UsageError."""
    whole.table(("defaults", "streams", "consumers", "suppress"))
    defaults = (_or_empty(whole, "defaults")).table((*_REACH, *_OURS))
    common = _reach(defaults, Reach())
    streams = {
        name: _stream(name, spot, common) for name, spot in _or_empty(whole, "streams").members()
    }
    consumers: dict[str, Consumer] = {}
    for name, spot in _or_empty(whole, "consumers").members():
        consumers[name] = _consumer(name, spot, streams, defaults, check)
        _alone(consumers[name], consumers, spot)
    spots = (whole / "suppress").elements() if whole.has("suppress") else []
    return Config(
        whole.file, streams, consumers, tuple(_suppression(spot, consumers) for spot in spots)
    )


def _or_empty(whole: Spot, key: str) -> Spot:
    spot = whole / key
    return spot if whole.has(key) else Spot(spot.file, spot.lines, spot.path, {})


def _stream(name: str, spot: Spot, common: Reach) -> Stream:
    spot.table(("stream", "created", *_REACH))
    _name(name, spot)
    return Stream(
        name,
        (spot / "stream").string() if spot.has("stream") else name,
        _reach(spot, common),
        (spot / "created").moment() if spot.has("created") else None,
        spot.origin,
    )


def _consumer(
    name: str, spot: Spot, streams: Mapping[str, Stream], defaults: Spot, check: CheckOptions
) -> Consumer:
    spot.table(("stream", "locator", *_OURS, *_REACH), needed=("stream", "locator"))
    _name(name, spot)
    if name in streams:
        spot.wrong("a stream has this name, too", "call one of them otherwise")
    named = (spot / "stream").string()
    if named not in streams:
        known = ", ".join(streams) or "none"
        (spot / "stream").wrong(
            f"there is no [streams.{named}]",
            did_you_mean(named, streams, f"add it, or name one of: {known}"),
        )
    settings = {key: _setting(key, spot, defaults) for key in _OURS}
    texts = {
        key: value.string() if value is not None and key != "probe" else ""
        for key, value in settings.items()
    }
    for key in ("policy", "accept"):
        if (value := settings[key]) is not None:
            policy = texts["policy"] if key == "policy" else "lossless"
            _understood(value, check, policy, texts["accept"] if key == "accept" else None)
    probe, locator = settings["probe"], _locator(spot / "locator")
    reach = _of_its_table(_reach(spot, streams[named].reach), locator, spot)
    return Consumer(
        name, streams[named], locator, texts["policy"] or "lossless",
        texts["accept"], from_folder_of(spot.file, texts["journal"]),
        reach, spot.origin,
        {key: "" if value is None else value.origin for key, value in settings.items()},
        _watch(settings["watch"], locator),
        "" if settings["fail-on"] is None else settings["fail-on"].one_of(_FAIL_ON),
        None if probe is None else probe.boolean(),
    )


def _of_its_table(reach: Reach, locator: Locator, spot: Spot) -> Reach:
    """The reach in the region that the ARN of the table names, if the locator has one."""
    if not locator.region:
        return reach
    if spot.has("region") and reach.region != locator.region:
        (spot / "region").wrong(
            f"the ARN in its locator names {locator.region}", "leave one of them out"
        )
    sources = {**reach.sources, "region": (spot / "locator").origin}
    return replace(reach, region=locator.region, sources=sources)


def _watch(spot: Spot | None, locator: Locator) -> str:
    """How long to watch before a write: no shorter than what proves that it is stopped."""
    if spot is None:
        return ""
    try:
        seconds = parse_seconds(spot.string())
    except UsageError as error:
        spot.wrong(error.what, error.next)
    needed = math.ceil(consumer_of(locator).watch_needed(locator.options))
    if seconds < needed:
        spot.wrong(
            f"{spot.value} is too short to show that the consumer is stopped",
            f"write {needed}s or more; fix --assume-stopped is for one that you know to be stopped",
        )
    return spot.string()


def _setting(key: str, spot: Spot, defaults: Spot) -> Spot | None:
    return next((table / key for table in (spot, defaults) if table.has(key)), None)


def _understood(spot: Spot, check: CheckOptions, policy: str, accept: str | None) -> None:
    try:
        check(policy, accept)
    except UsageError as error:
        spot.wrong(error.what, error.next)


def _locator(spot: Spot) -> Locator:
    try:
        locator = parse(spot.string())
        consumer_of(locator).validate_options(locator.options)
    except UsageError as error:
        spot.wrong(error.what, error.next)
    if locator.medium == "files":
        beside = from_folder_of(spot.file, locator.target)
        return locator if beside == locator.target else locator.elsewhere(beside, locator.options)
    return locator


def _reach(spot: Spot, outer: Reach) -> Reach:
    """How AWS is reached; what is not set here is as outside. "" means the environment's own."""
    texts = {"region": outer.region, "profile": outer.profile, "role_arn": outer.role}
    sources = dict(outer.sources)
    shapes = {"region": _REGION, "role_arn": _ROLE}
    for key in texts:
        if spot.has(key):
            texts[key] = (spot / key).string(empty=True)
            sources[key] = (spot / key).origin
            if texts[key] and key in shapes and not shapes[key].match(texts[key]):
                (spot / key).wrong(f"{texts[key]!r} is none", _EXAMPLES[key])
    endpoints = dict(outer.endpoints)
    if spot.has("endpoint_url"):
        endpoints = _endpoints(spot / "endpoint_url")
        sources["endpoint_url"] = (spot / "endpoint_url").origin
    return Reach(texts["region"], texts["profile"], texts["role_arn"], endpoints, sources)


_EXAMPLES = {
    "region": "as in eu-west-1", "role_arn": "as in arn:aws:iam::123456789012:role/reshardctl",
}


def _endpoints(spot: Spot) -> dict[str, str]:
    """One URL for every service, or a table of service and URL."""
    if not isinstance(spot.value, dict):
        return dict.fromkeys(SERVICES, _url(spot))
    return {service: _url(url) for service, url in spot.table(SERVICES).members()}


def _url(spot: Spot) -> str:
    url = spot.string()
    if "@" in url:
        spot.wrong(
            "no user or password is taken in a URL",
            "credentials come from the environment or the profile",
        )
    if not url.startswith(("http://", "https://")):
        spot.wrong("no http:// or https:// URL", "as in https://vpce-1.kinesis.eu-west-1.example")
    return url


def _name(name: str, spot: Spot) -> None:
    if not _NAME.match(name):
        spot.wrong("not a name: letters, digits, dots, - and _ only, as it is typed in a shell")


def _alone(new: Consumer, others: Mapping[str, Consumer], spot: Spot) -> None:
    """Refuses two consumers that write one table: they would overwrite each other.

    Applications that read several streams keep them in one table (KCL 2.3+, multi-stream mode): the
    same table for different streams is allowed.
    """
    for other in others.values():
        if other is new or other.stream.name != new.stream.name or _store(other) != _store(new):
            continue
        (spot / "locator").wrong(
            f"table {new.locator.target} is that of {other.name} ({other.origin}) as well, for the "
            "same stream",
            "leave one of them; only a multi-stream table serves several, each of another stream",
        )


def _store(consumer: Consumer) -> tuple[str, ...]:
    reach = consumer.reach
    endpoint = reach.endpoints.get("dynamodb", "")
    return (
        consumer.locator.medium,
        consumer.locator.target,
        reach.region,
        reach.profile,
        reach.role,
        endpoint,
    )


def _suppression(spot: Spot, consumers: Mapping[str, Consumer]) -> Suppression:
    spot.table(("consumer", "rule", "shards", "until", "why"), needed=("consumer", "rule"))
    for key, example in (
        ("why", 'why = "replayed by hand, ticket 4711"'), ("until", "until = 2026-12-31"),
    ):
        if not spot.has(key):
            spot.wrong(f"a suppression without {key}", f"add one, as in {example}")
    name, code = (spot / "consumer").string(), (spot / "rule").string()
    if name not in consumers:
        known = ", ".join(consumers) or "none"
        (spot / "consumer").wrong(
            f"there is no [consumers.{name}]", did_you_mean(name, consumers, f"known are {known}")
        )
    if code not in {rule.code for rule in RULES}:
        advice = did_you_mean(code, (r.code for r in RULES), "reshardctl rule   # lists them")
        (spot / "rule").wrong(f"{code!r} is no rule", advice)
    shards = (spot / "shards").elements() if spot.has("shards") else []
    if spot.has("shards") and not shards:
        (spot / "shards").wrong("is empty", "leave it out for every shard")
    until, day = (spot / "until").end()
    return Suppression(
        name, code, frozenset(_shard(shard) for shard in shards), until, (spot / "why").string(),
        spot.origin, day,
    )


def _shard(spot: Spot) -> str:
    """A shard's number, or its id."""
    value = spot.value
    if isinstance(value, int) and not isinstance(value, bool) and 0 <= value < 10**12:
        return str(shard_id(value))
    if isinstance(value, str) and re.fullmatch(r"shardId-\d{12}", value, re.ASCII):
        return value
    return spot.wrong("not a shard", "write it as 12 or 'shardId-000000000012'")


LARGEST = 4_000_000
"""Bytes of the largest file; one with thousands of consumers is smaller."""

_STRING = re.compile(r"""(["'])(.*?)(?:\1|$)""", re.MULTILINE)
"""What may be a string: secrets in a broken file are masked, too."""
_WHERE = re.compile(r"\s*\(at line (\d+), column (\d+)\)\Z")


def load(path: Path, check: Callable[[str, str | None], object]) -> Config:
    """Reads a file. check: raises UsageError for a policy or an acceptance that cannot be read.

    Raises UsageError, which names the line if there is one.
    """
    text = _text(path)
    given_secrets.keep(content for _, content in _STRING.findall(text))
    name = str(path)
    with or_another_kind(text, name, "a configuration", CONFIGURATION):
        return _parsed(text, name, check)


def _parsed(text: str, name: str, check: Callable[[str, str | None], object]) -> Config:
    import tomllib

    try:
        values = tomllib.loads(text)
    except tomllib.TOMLDecodeError as error:
        reason = str(error)
        if match := _WHERE.search(reason):
            where = f"{name}:{match[1]}:{match[2]}"
            raise UsageError(f"{where}: not TOML: {reason[: match.start()]}", MEND) from None
        raise UsageError(f"{name}: not TOML: {reason}", MEND) from None
    except ValueError:  # Python's limit of digits, which the parser lets through
        raise UsageError(f"{name}: not TOML: a number has more digits than 4,300", MEND) from None
    except RecursionError:
        raise UsageError(f"{name}: nested too deep", MEND) from None
    return read(Spot(name, lines(text), (), values), check)


def _text(path: Path) -> str:
    source = content(path, "name the file with --config, or give a locator", LARGEST)
    try:
        return source.decode("utf-8").replace("\r\n", "\n")
    except UnicodeDecodeError as error:
        raise UsageError(f"{path}: not UTF-8 at byte {error.start}", "save it as UTF-8") from None
