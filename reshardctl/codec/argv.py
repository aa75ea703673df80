"""Spells requests as command lines, by the options that are declared at their fields.

A field says once which option it is; the commands that are suggested, and the options that exclude
each other, come from there. The parameters of the command line stay in `cli/`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import field, fields, is_dataclass
from typing import Any

from msgspec import Struct

OPTION = "option"


class Option(Struct, frozen=True):
    """An option, as `option` declares it."""

    name: str
    ending: str
    no: str
    spell: Callable[[Any], str]
    usual: object
    commas: bool
    empty: bool

    def words(self, value: object) -> list[str]:
        """What is typed for a value."""
        if value is True or value is False:
            return [self.name if value else self.no]
        several = isinstance(value, Sequence) and not isinstance(value, str)
        texts = [self.spell(each) for each in value] if several else [self.spell(value)]  # type: ignore[attr-defined]
        texts = [",".join(texts)] if self.commas else texts
        if self.ending:
            return [f"{self.name}{self.ending}{text}" for text in texts]
        return [word for text in texts for word in (self.name, text)]


def option(
    name: str, default: object = None, *, no: str = "", spell: Callable[[Any], str] = str,
    usual: object = None, commas: bool = False, empty: bool = False,
) -> Any:
    """A field of a request that is an option of a command.

    name: with dashes; `--shift=` if its value begins with one. no: how False is typed. spell: how a
    value is typed; without a secret. usual: a value that goes without saying. commas: whether
    several values are one word; else the option is repeated. empty: whether "" is a value.
    """
    plain = name.rstrip("=")
    kind = Option(plain, name[len(plain) :], no, spell, usual, commas, empty)
    return field(default=default, metadata={OPTION: kind})


def words(request: object, only: Iterable[str] | None = None) -> tuple[str, ...]:
    """What is typed for a request: its options that are not at their defaults, as it has them.

    only: the names of those that are wanted, in the order that is wanted.
    """
    typed = {kind.name: (kind, value) for kind, value in _given(request) if value != kind.usual}
    wanted = [typed[name] for name in (typed if only is None else only) if name in typed]
    return tuple(word for kind, value in wanted for word in kind.words(value))


def given(request: object) -> frozenset[str]:
    """The names of a request's options that are not at their defaults; `--no-probe` is another."""
    return frozenset(kind.no if value is False else kind.name for kind, value in _given(request))


def options_of(kind: type) -> tuple[str, ...]:
    """The names of the options that a class of requests declares, without those of its parts."""
    return tuple(each.metadata[OPTION].name for each in fields(kind) if OPTION in each.metadata)


def with_value(argv: Sequence[str], name: str, value: str) -> list[str]:
    """The arguments with this value of an option, at their end, in place of another."""
    return [*without(argv, name), name, value]


def without(argv: Sequence[str], name: str) -> tuple[str, ...]:
    """The arguments without this option and its value."""
    at = argv.index(name) if name in argv[:-1] else len(argv)
    return (*argv[:at], *argv[at + 2 :])


def _given(request: Any) -> Iterator[tuple[Option, object]]:
    for each in fields(request):
        value, kind = getattr(request, each.name), each.metadata.get(OPTION)
        if kind is None and is_dataclass(value):
            yield from _given(value)
        elif kind is not None and value != each.default and (
            value or value is False or (kind.empty and value == "")
        ):
            yield kind, value
