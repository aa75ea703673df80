"""ferrokinesis 0.7.0 (Rust, by others) on this machine: a third opinion on Kinesis."""

from __future__ import annotations

from contextlib import AbstractContextManager
from pathlib import Path

from tests.proof.libraries.ferrokinesis.built import PROGRAM
from tests.proof.libraries.second_opinion.emulator import (
    ACCOUNT,
    CREATE_MS,
    DELETE_MS,
    REGION,
    RESHARD_MS,
    SHARD_LIMIT,
    listening,
)

# What src/main.rs reads.
_SETTINGS = {
    "AWS_ACCOUNT_ID": ACCOUNT,
    "AWS_REGION": REGION,
    "SHARD_LIMIT": str(SHARD_LIMIT),
    "CREATE_MS": str(CREATE_MS),
    "DELETE_MS": str(DELETE_MS),
    "RESHARD_MS": str(RESHARD_MS),
}


def ferrokinesis(log: Path, *, iterator_seconds: int = 300) -> AbstractContextManager[str]:
    """The URL of an emulator that lives as long as the context, on loopback only."""
    settings = _SETTINGS | {"ITERATOR_SECONDS": str(iterator_seconds)}
    return listening([str(PROGRAM)], settings, log)
