"""The values that a shell offers for options and arguments, without a call to AWS.

A shell waits for the answer at each Tab, so that nothing heavy is imported here. What cannot be
read offers nothing.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterable
from pathlib import Path
from typing import Any

from reshardctl.render.formats import BY_HAND, METRICS, REPORTS

POLICIES = ("lossless", "latest", "at-timestamp=", "latest-at-start")
"""The words of `--policy`; a test compares them with the policies."""

RULES = Path(__file__).parents[1] / "diagnosis" / "rules"
"""The folder with the rules, each of which begins with its code and name."""
_RULE = re.compile(r'^(?:@rule|elsewhere)\(\s*"(RSH\d+)", "([a-z0-9-]+)"', re.MULTILINE)

_SNAPSHOT = re.compile(r"snapshot\s?:\s?([^\s?'\"\\]+)")


def policies(incomplete: str) -> list[str]:
    """The policies; the time of `at-timestamp=` is typed by hand."""
    return _beginning(POLICIES, incomplete)


def formats(incomplete: str) -> list[str]:
    """The formats of a report, and of scripts that write a plan."""
    return _beginning([*REPORTS, *BY_HAND], incomplete)


def formats_and_metrics(incomplete: str) -> list[str]:
    """The formats of a report and of metrics."""
    return _beginning([*REPORTS, *METRICS], incomplete)


def rules(incomplete: str) -> list[tuple[str, str]]:
    """The code of each rule, with its name beside it."""
    files = (path.read_text(encoding="utf-8") for path in RULES.glob("*.py"))
    known = sorted(rule for text in files for rule in _RULE.findall(text))
    return [(code, name) for code, name in known if code.startswith(incomplete.upper())]


def journals(incomplete: str) -> list[str]:
    """The journals of this machine, the newest first."""
    from reshardctl.journal.log import SUFFIX, state_dir

    try:
        names = [path.name for path in state_dir(os.environ, Path.home()).iterdir()]
    except (OSError, RuntimeError):
        return []
    names = sorted((n.removesuffix(SUFFIX) for n in names if n.endswith(SUFFIX)), reverse=True)
    return _beginning(names, incomplete)


def consumers(ctx: Any, incomplete: str) -> list[str]:
    """The consumers and streams of the configuration file."""
    tables = _configured(ctx)
    return _beginning([*_table(tables, "consumers"), *_table(tables, "streams")], incomplete)


def streams(ctx: Any, incomplete: str) -> list[str]:
    """The streams of the configuration file, as AWS names them."""
    known = _table(_configured(ctx), "streams")
    named = (t.get("stream", name) if isinstance(t, dict) else name for name, t in known.items())
    return _beginning((name for name in named if isinstance(name, str)), incomplete)


def files(incomplete: str) -> list[str]:
    """The files whose paths begin so, and folders with their slash."""
    folder = "".join(incomplete.rpartition("/")[:2])
    try:
        with os.scandir(folder or ".") as entries:
            found = sorted(f"{folder}{each.name}{'/' * each.is_dir()}" for each in entries)
    except OSError:
        return []
    return _beginning(found, incomplete)


def shards_and_files(incomplete: str) -> list[str]:
    """What `--shards` takes, once a part of it is typed; before that the shards alone."""
    return [*shards(incomplete), *(files(incomplete) if incomplete else [])]


def shards(incomplete: str) -> list[str]:
    """The shards of the snapshot that the command line names; after a comma the next one."""
    from reshardctl.model.shards import short

    ahead, comma, last = incomplete.rpartition(",")
    taken = ahead.split(",")
    known = [short(shard) for shard in _shards_of_snapshot()]
    return [f"{ahead}{comma}{shard}" for shard in _beginning(known, last) if shard not in taken]


def _beginning(known: Iterable[str], incomplete: str) -> list[str]:
    """The names that begin so; a shell shows them as they are, so none that steers a terminal."""
    return [str(name) for name in known if name.startswith(incomplete) and name.isprintable()]


def _configured(ctx: Any) -> dict[str, Any]:
    """The tables of the configuration file, unchecked; none if it cannot be read."""
    import tomllib

    from reshardctl.config.nearest import distrusted, nearest

    file = named = ctx.params.get("config")
    if named is None and (file := nearest()) is not None and distrusted(file):
        return {}
    try:
        return {} if file is None else tomllib.loads(Path(file).read_text(encoding="utf-8"))
    except (OSError, ValueError, RecursionError):
        return {}


def _table(tables: dict[str, Any], name: str) -> dict[str, Any]:
    table = tables.get(name)
    return table if isinstance(table, dict) else {}


def _shards_of_snapshot() -> list[str]:
    """The ids of the shards of the snapshot on the command line.

    The whole command line is looked through, since bash splits words at colons.
    """
    import json

    line = os.environ.get("COMP_WORDS") or os.environ.get("_TYPER_COMPLETE_ARGS") or ""
    match = _SNAPSHOT.search(line)
    if match is None:
        return []
    try:
        return [str(shard[0]) for shard in json.loads(Path(match[1]).read_bytes())["shards"]]
    except (OSError, ValueError, LookupError, TypeError, RecursionError):
        return []
