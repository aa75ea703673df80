"""`reshardctl snapshot`: saves a stream and its consumers in one file."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from shlex import quote
from typing import TYPE_CHECKING, Annotated

import typer

from reshardctl.cli import completion
from reshardctl.cli.options import Account, Config, Files, ListedShards, Probe, ProbeBudget, Stream

if TYPE_CHECKING:
    from reshardctl.snapshot.file import SavedSnapshot


def snapshot(
    account: Account,
    files: Files,
    consumers: Annotated[
        list[str] | None,
        typer.Argument(
            metavar="CONSUMER...", show_default=False, autocompletion=completion.consumers,
            help="Whose positions to freeze with their stream: 'kcl://my-application', or names of "
            "consumers or of a stream in reshardctl.toml; none for the stream alone.",
        ),
    ] = None,
    stream: Stream = None,
    output: Annotated[
        Path | None, typer.Option("--output", "-o", metavar="FILE", help="Where to save it.")
    ] = None,
    shards: ListedShards = None,
    redact: Annotated[
        bool, typer.Option("--redact", help="Replace names, accounts and owners: for bug reports.")
    ] = False,
    config: Config = None,
    probe: Probe = None,
    probe_budget: ProbeBudget = None,
) -> None:
    """Freeze a stream's shards and its consumers' positions in one file. No credentials in it.

    inspect, status, explain, graph, export and fix --dry-run take it as snapshot:FILE; its time is
    their "now".
    Read-only. Example: reshardctl snapshot kcl://my-application --stream my-stream
    -o my-stream.snapshot
    """
    from reshardctl.cli.terminal import Terminal
    from reshardctl.commands.snapshot import SnapshotRequest
    from reshardctl.commands.snapshot import snapshot as take
    from reshardctl.console.output import show
    from reshardctl.errors import UsageError
    from reshardctl.snapshot.file import save
    from reshardctl.stores.named_file import check_new_file

    if output is None:
        raise UsageError("no file is named", "add -o FILE, e.g. -o my-stream.snapshot")
    check_new_file(output)
    request = SnapshotRequest(
        consumers=consumers or (), redact=redact, stream=stream, probe=probe, config=config,
        account=replace(account, budget=probe_budget), shards=shards or (), files=files,
    )
    saved = take(request, Terminal())
    save(saved, output)
    guessed = request.of_files and files.taken is None
    show(_described(saved, str(output), output.stat().st_size, guessed=guessed))


def _described(saved: SavedSnapshot, path: str, size: int, *, guessed: bool) -> Iterator[str]:
    """guessed: whether its time is taken from its newest file."""
    from reshardctl.commands.named import SCHEME
    from reshardctl.model.times import instant

    yield f"Saved {path} ({size:,} bytes, readable by you alone)."
    yield f"  stream    {saved.lineage.stream.name}: {len(saved.lineage)} shards"
    for kept in saved.consumers:
        probes = f", {len(kept.probes)} shards probed" if kept.probes else ""
        yield f"  consumer  {kept.locator.text}: {len(kept.images)} rows{probes}"
    if guessed:
        yield f"  as of     {instant(saved.taken)}, when the newest file was written; or --taken"
    if saved.redacted:
        yield "  Names, accounts and owners are replaced; shard ids, numbers and times are kept."
    elif saved.consumers:
        yield "  It holds the rows as they are, owners too; --redact makes one to show around."
    if saved.consumers:
        yield f"  reshardctl inspect {quote(SCHEME + path)}"
    else:
        yield f"  reshardctl graph {quote(SCHEME + path)}"
