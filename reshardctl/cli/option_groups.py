"""The group in which `--help` and the documentation show each option."""

from __future__ import annotations

from collections.abc import Iterable
from enum import StrEnum
from typing import Any


class Group(StrEnum):
    """Groups of options, in the order in which they are shown."""

    TARGET = "Target"
    ACTION = "Action"
    CONSENT = "Consent"
    SAFETY = "Safety"
    OUTPUT = "Output"
    AWS = "AWS"
    GENERAL = "General"


_NAMES = {
    Group.TARGET: (
        "stream", "consumer", "config", "shards", "rule", "not-rule", "only-bad", "created",
        "recreated", "from", "form", "column", "account",
    ),
    Group.ACTION: (
        "dry-run", "out", "plan", "resume", "policy", "positions", "set", "shift", "bootstrap",
        "to", "probe", "count", "probe-budget", "wait", "until", "since", "if-reshard", "every",
        "against-stream", "master", "remote", "list", "show", "prune", "older-than",
        "whole-file", "serve", "online",
        "for",
    ),
    Group.CONSENT: ("accept", "yes"),
    Group.SAFETY: ("assume-stopped", "live", "watch", "journal", "read-only"),
    Group.OUTPUT: (
        "format", "output", "per-shard", "sort", "color", "verbose", "fail-on", "baseline",
        "keys", "rows", "page", "redact", "as", "quiet", "debug",
    ),
    Group.AWS: ("region", "profile", "role-arn", "endpoint-url"),
    Group.GENERAL: ("help", "version", "install-completion", "show-completion"),
}

GROUP_OF = {f"--{name}": group for group, names in _NAMES.items() for name in names}
"""The group of each option, by its long name."""


def long_name(option: Any) -> str:
    """The name of an option that begins with two dashes."""
    return next(str(name) for name in option.opts if name.startswith("--"))


def grouped(parameters: Iterable[Any]) -> list[tuple[str, list[Any]]]:
    """The title of each group that is not empty, with its parameters in their order.

    The arguments come first.
    """
    known = list(parameters)
    groups = [("Arguments", [each for each in known if each.param_type_name == "argument"])]
    options = [each for each in known if each.param_type_name != "argument"]
    groups += [
        (group.value, [each for each in options if GROUP_OF[long_name(each)] is group])
        for group in Group
    ]
    return [(title, members) for title, members in groups if members]
