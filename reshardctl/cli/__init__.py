"""The command line: one file per command, each of which parses, calls, renders and exits.

No other room imports it. Read `app` first.
"""

from __future__ import annotations

import gc
import sys
import warnings
from typing import Any

CANCELLED = 130
"""Exit.CANCELLED, known before anything is imported."""
NEW_OBJECTS = 50_000
"""How many new objects make Python look for unreachable ones; its own limit is 700 or 2,000."""


def collect_seldom() -> None:
    """Has Python look for unreachable objects less often.

    A command keeps what it reads until it ends, and looking through it again and again costs a
    tenth to a third of the time that a stream of 100,000 shards takes (docs/evidence.md).
    """
    gc.set_threshold(NEW_OBJECTS)


def _log(*warning: Any, **_: object) -> None:
    """Has a warning of a library go to `--debug`: an operator can do nothing about it."""
    from reshardctl.aws.call_log import warned

    warned(*warning)


def main() -> None:
    """The `reshardctl` command."""
    from reshardctl.console.interrupt import end_as_by_ctrl_c, ignore_signals

    collect_seldom()
    code = CANCELLED
    try:
        end_as_by_ctrl_c()
        from reshardctl.console.failures import missing_stream, unfailing_stderr

        code = missing_stream()
        unfailing_stderr()
        if code == 0:
            from reshardctl.cli.app import run

            if not sys.warnoptions:
                warnings.showwarning = _log

            code = run(sys.argv[1:])
    except KeyboardInterrupt:  # outside the command, which handles its own
        code = CANCELLED
    finally:
        ignore_signals()
    sys.exit(code)
