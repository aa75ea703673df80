"""How a result is shown: width, colour, characters, and the arguments of suggested commands."""

from __future__ import annotations

from dataclasses import dataclass

from reshardctl.exit import Exit


@dataclass(frozen=True, slots=True)
class Context:
    """suggested_command: arguments that name consumer, stream and endpoints in printed commands.

    width: columns of the terminal; never more than 100 are used. ascii: nothing beyond ASCII is
    written. exit: the code that the command will end with.
    """

    suggested_command: tuple[str, ...] = ()
    width: int = 80
    color: bool = False
    ascii: bool = False
    verbose: bool = False
    exit: Exit = Exit.OK
    sink: tuple[str, ...] = ()
    """The arguments that name the sink whose positions are wanted; none for a fix."""
    name: str = ""
    """What to call the consumer among several; "" for one alone."""
    per_shard: bool = False
    """Whether metrics have a series for each shard."""
    earlier: str = ""
    """The metrics that these replace: a consumer that cannot be judged keeps its timestamp."""

    @property
    def verb(self) -> str:
        """The command that makes such a plan again."""
        return "rebuild" if self.sink else "fix"
