"""`reshardctl demo`: shows the main commands at work, without an account."""

from __future__ import annotations

from typing import Annotated

import typer


def demo(
    serve: Annotated[
        bool,
        typer.Option(
            "--serve", help="Only keep the servers up until Ctrl-C, to try commands on them."
        ),
    ] = False,
    env: Annotated[
        bool,
        typer.Option(
            "--env", help="Print the environment that points AWS clients at a demo that is "
            "served: eval \"$(reshardctl demo --env)\"",
        ),
    ] = False,
) -> None:
    """See it work: a stream and a broken lease table on this machine, found, fixed and verified.

    No AWS account is touched. Needs pip install '.[demo]' in a checkout. Example: reshardctl demo
    """
    import time

    if env:
        from reshardctl.console.output import write
        from reshardctl.demo.servers import exports, kept

        write("".join(f"{line}\n" for line in exports(kept())))
        return
    from reshardctl.console.progress import phase

    phase("starting a Kinesis and a DynamoDB on 127.0.0.1")
    if serve:
        from reshardctl.demo.servers import keep

        keep(time.time())
        return
    from reshardctl.console.interrupt import end_as_by_ctrl_c
    from reshardctl.demo.show import show

    end_as_by_ctrl_c()
    show(time.time())
