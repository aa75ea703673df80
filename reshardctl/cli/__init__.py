"""The command line: one file per command, each of which parses, calls, renders and exits."""

from __future__ import annotations

import sys

CANCELLED = 130
"""Exit.CANCELLED, known before anything is imported."""


def main() -> None:
    """The `reshardctl` command."""
    from reshardctl.console.interrupt import ignore_signals, treat_sigterm_as_ctrl_c

    code = CANCELLED
    try:
        treat_sigterm_as_ctrl_c()
        from reshardctl.console.streams import missing_stream

        code = missing_stream()
        if code == 0:
            from reshardctl.cli.app import run

            code = run(sys.argv[1:])
    except KeyboardInterrupt:  # outside the command, which handles its own
        code = CANCELLED
    finally:
        ignore_signals()
    sys.exit(code)
