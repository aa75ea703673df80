"""Reads the configuration file."""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path

from reshardctl import given_secrets
from reshardctl.codec.strict import CONFIGURATION, or_another_kind
from reshardctl.config.entries import Config
from reshardctl.config.lines import lines
from reshardctl.config.reading import read
from reshardctl.config.sourced_value import MEND, Spot
from reshardctl.errors import UsageError
from reshardctl.stores.given_file import content

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
