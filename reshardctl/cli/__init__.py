"""The command line: one file a verb, each of which parses, calls, renders and exits."""

from __future__ import annotations

import sys


def main() -> None:
    """The `reshardctl` command."""
    from reshardctl.cli.interrupt import treat_sigterm_as_ctrl_c

    treat_sigterm_as_ctrl_c()
    from reshardctl.cli.app import run

    sys.exit(run(sys.argv[1:]))
