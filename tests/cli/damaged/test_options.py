"""Random command lines from the real options of every command: documented codes, one clear error.

The values are of three kinds: what the option takes, what another option takes, and nonsense.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from random import Random

import click
import pytest

from tests.cli.damaged.endings import ended_badly
from tests.cli.lab import Lab, command

pytestmark = pytest.mark.timeout(300)

FEW, MANY = 60, 1500
LEFT_OUT = {"--every", "--help", "--role-arn", "--table-role-arn"}
"""`--every` goes on until Ctrl-C; a role is asked of a service that is not there."""
NOT_RUN = {"demo", "audit"}
"""A server of its own; a Spark session."""
PLAUSIBLE = {
    "--stream": ("orders", "arn:aws:kinesis:us-east-1:123456789012:stream/orders"),
    "--region": ("us-east-1", "eu-west-1"), "--table-region": ("us-east-1", "eu-west-1", ""),
    "--watch": ("30s", "10m"), "--wait": ("1m",),
    "--until": ("settled", "shards=3", "crossed"), "--accept": ("skip=12m,reread=3h,disorder",),
    "--policy": ("lossless", "latest", "at-timestamp=-90m", "at-timestamp=@reshard"),
    "--format": ("json", "text", "concise", "sarif", "openmetrics", "csv", "svg", "html"),
    "--shards": ("0", "0,1", "1-3"), "--rule": ("RSH203",), "--not-rule": ("RSH205",),
    "--set": ("0=TRIM_HORIZON", "1=LATEST"), "--shift": ("-2h",), "--sort": ("lag", "shard"),
    "--if-reshard": ("6", "split=0", "merge=1,2"), "--older-than": ("30d",),
    "--fail-on": ("warning",), "--probe-budget": ("calls=10,time=1m",), "--since": ("-2h",),
    "--created": ("2026-11-21T00:00:00Z",), "--recreated": ("2026-11-21T00:00:00Z",),
    "--color": ("never",), "--endpoint-url": ("kinesis=http://127.0.0.1:1",),
}  # fmt: skip
IMPLAUSIBLE = (
    "", " ", "-", "--", "x", "0", "-1", "1e999", "NaN", "9" * 400, "ü", "\udcff", "\x1b[2J",
    "a=b=c", "=", ",", "0-", "4-1", "0-99999999999", "json=", "=x", "kinesis=", "@reshard", "∞",
    "skip=", "reread=-1h", "2026-13-01T00:00:00Z", "0001-01-01T00:00:00+23:59", "s3://", "s3://b/k",
    "/dev/null", "no/such", "kcl://", "?", "%zz", "x" * 5000, "RSH999", "null", "[]",
)  # fmt: skip


def commands() -> dict[str, click.Command]:
    """Every command that is tried, groups taken apart."""
    whole = command()
    found: dict[str, click.Command] = {}
    for name, one in whole.commands.items():
        inside = getattr(one, "commands", None)
        if inside:
            found |= {f"{name} {verb}": inner for verb, inner in inside.items()}
        elif name not in NOT_RUN:
            found[name] = one
    return found


def line(dice: Random, lab: Lab, folder: Path) -> list[str]:
    """One command line."""
    name, one = dice.choice(sorted(commands().items()))
    words = name.split()
    for parameter in one.params:
        if parameter.param_type_name == "argument" and dice.random() < 0.9:
            words += _argument(dice, parameter, lab, folder)
    if dice.random() < 0.8 and any("--stream" in p.opts for p in one.params):
        words += ["--stream", "orders"]
    options = [p for p in one.params if p.param_type_name == "option" and not LEFT_OUT & {*p.opts}]
    for option in dice.sample(options, min(len(options), dice.choice((0, 1, 1, 2, 3, 5)))):
        words += _option(dice, option, folder)
    return words


def _argument(dice: Random, parameter: click.Parameter, lab: Lab, folder: Path) -> Iterator[str]:
    likely = {"shard": "0", "code": "RSH203", "stream": "orders", "journal": str(folder / "x")}
    name = str(parameter.name)
    if dice.random() < 0.2:
        yield dice.choice(IMPLAUSIBLE)
    else:
        yield next((value for key, value in likely.items() if key in name), lab.locator)


def _option(dice: Random, option: click.Parameter, folder: Path) -> Iterator[str]:
    flag = dice.choice([*option.opts, *option.secondary_opts])
    yield flag
    if getattr(option, "is_flag", False):
        return
    own = PLAUSIBLE.get(option.opts[0], (str(folder / "new"), str(folder / "text"), str(folder)))
    kind = dice.random()
    if kind < 0.5:
        yield dice.choice(own)
    elif kind < 0.65:
        yield dice.choice(dice.choice(list(PLAUSIBLE.values())))
    else:
        yield dice.choice(IMPLAUSIBLE)


@pytest.mark.usefixtures("in_tmp_path")
@pytest.mark.parametrize("seeds", [
    range(FEW), pytest.param(range(FEW, MANY), marks=pytest.mark.long),
], ids=["few", "many"])  # fmt: skip
def test_a_random_command_line(lab, tmp_path, seeds):
    for seed in seeds:
        folder = tmp_path / str(seed)
        folder.mkdir()
        (folder / "text").write_text("a text")
        words = line(Random(f"options {seed}"), lab, folder)
        before = lab.items()
        ended = lab.cli(*words)
        why = ended_badly(ended)
        assert not why, f"seed {seed}: {words}: {why}: {ended.err[:500]}"
        assert "--yes" in words or "-y" in words or lab.items() == before, words
