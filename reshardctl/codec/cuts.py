"""Cuts in the files that reshardctl writes, and back, strictly.

A snapshot has an object with all of a `Cut` except `quiet`. A plan and the frontier of a sink have
a list: each of their cuts is a shard's beginning, its end or a record.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from reshardctl.codec.strict import JsonPath, boolean, integer, members, moment_or_none, string
from reshardctl.model import DONE, START, Cut, Rank, at_number, is_number


def cut_object(cut: Cut) -> dict[str, Any]:
    """A cut as an object."""
    return {
        "rank": cut.rank.name, "number": cut.text or str(cut.number), "sub": cut.sub,
        "time": cut.time, "by_time": cut.by_time,
    }


def cut_of_object(value: object, json_path: JsonPath) -> Cut:
    """Reads what `cut_object` wrote. UsageError for anything else."""
    body = members(value, ("rank", "number", "sub", "time", "by_time"), json_path)
    rank, number = (
        string(body["rank"], json_path / "rank"),
        string(body["number"], json_path / "number"),
    )
    if rank not in Rank.__members__:
        (json_path / "rank").wrong(f"no place in a shard is called {rank!r}")
    if not is_number(number):
        (json_path / "number").wrong(f"not a decimal number: {number!r}")
    return Cut(
        Rank[rank], int(number), integer(body["sub"], json_path / "sub"),
        number if int(number) else "", moment_or_none(body["time"], json_path / "time"),
        boolean(body["by_time"], json_path / "by_time"),
    )


def cut_list(cut: Cut) -> list[Any]:
    """A cut as rank, text of its number and sub-sequence number."""
    return [cut.rank.name, cut.text, cut.sub]


def cut_of_list(value: object, json_path: JsonPath) -> Cut:
    """Reads what `cut_list` wrote. UsageError for anything else."""
    match value:
        case ["START", "", 0]:
            return START
        case ["DONE", "", 0]:
            return DONE
        case ["INSIDE", str(number), int(sub)] if is_number(number):
            return at_number(number, sub)
        case _:
            return json_path.wrong("not a place")


def quiet_cut_list(cut: Cut) -> list[Any]:
    """A cut as `cut_list` writes it, with `quiet` in Unix seconds, or null."""
    return [*cut_list(cut), cut.quiet]


def cut_of_quiet_list(value: object, json_path: JsonPath) -> Cut:
    """Reads what `quiet_cut_list` wrote; an end may have its last record's number."""
    match value:
        case ["DONE", str(text), 0, None] if not text or is_number(text.partition("/")[0]):
            return Cut(DONE.rank, text=text)
        case ["START" | "INSIDE", _, _, quiet]:
            cut = cut_of_list(value[:3], json_path)
            return replace(cut, quiet=moment_or_none(quiet, json_path / 3))
        case _:
            return json_path.wrong("not a place")
