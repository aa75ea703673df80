"""kinesis-local 0.6.2 (kinesis-mock, by others) on this machine: a second opinion on Kinesis."""

from __future__ import annotations

from contextlib import AbstractContextManager
from pathlib import Path

from tests.proof.libraries.kinesis_local.built import HERE, PACKAGE
from tests.proof.libraries.second_opinion.emulator import (
    ACCOUNT,
    CREATE_MS,
    DELETE_MS,
    REGION,
    RESHARD_MS,
    SHARD_LIMIT,
    listening,
)

# Its README, "Service Configuration". The ports are names only: loopback.js takes free ones.
_SETTINGS = {
    "KINESIS_MOCK_TLS_PORT": "4567",
    "KINESIS_MOCK_PLAIN_PORT": "4568",
    "KINESIS_MOCK_CERT_PATH": str(PACKAGE / "server.json"),
    "AWS_ACCOUNT_ID": ACCOUNT,
    "AWS_REGION": REGION,
    "SHARD_LIMIT": str(SHARD_LIMIT),
    "CREATE_STREAM_DURATION": f"{CREATE_MS}ms",
    "DELETE_STREAM_DURATION": f"{DELETE_MS}ms",
    "SPLIT_SHARD_DURATION": f"{RESHARD_MS}ms",
    "MERGE_SHARDS_DURATION": f"{RESHARD_MS}ms",
    "UPDATE_SHARD_COUNT_DURATION": f"{RESHARD_MS}ms",
}
_COMMAND = ["node", "--require", str(HERE / "loopback.js"), str(PACKAGE / "main.js")]


def kinesis_local(log: Path) -> AbstractContextManager[str]:
    """The URL of an emulator that lives as long as the context, on loopback only."""
    plain = f"LISTENING {_SETTINGS['KINESIS_MOCK_PLAIN_PORT']} "
    return listening(_COMMAND, _SETTINGS, log, plain)
