"""How a view is wanted: for whom, how wide, and with which words to call us again."""

from __future__ import annotations

from dataclasses import dataclass

from reshardctl.exit import Exit


@dataclass(frozen=True, slots=True)
class Context:
    """again: the arguments that name consumer, stream and endpoints, for commands that we print.

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
    """The arguments that name the sink whose line is wanted; none for a fix."""

    @property
    def verb(self) -> str:
        """The verb that plans again."""
        return "rebuild" if self.sink else "fix"
