"""The environment in which an AWS client sees the demo's servers, and nothing else of AWS."""

from __future__ import annotations

import os
import shlex
from collections.abc import Iterator, Mapping

from reshardctl.demo.scene import REGION
from reshardctl.demo.servers import LOOPBACK, Endpoints

# Without CBOR: the Kinesis here speaks JSON only. The first is read by version 1 of the Java SDK,
# the second by version 2 (AWS SDK for Java developer guides).
_NO_CBOR = {"AWS_CBOR_DISABLE": "true", "CBOR_ENABLED": "false"}


def settings(endpoints: Endpoints) -> dict[str, str]:
    """Variables that point any AWS client at the servers."""
    return {
        "AWS_ENDPOINT_URL_KINESIS": endpoints.kinesis,
        "AWS_ENDPOINT_URL_DYNAMODB": endpoints.dynamodb,
        "AWS_ACCESS_KEY_ID": "demo",
        "AWS_SECRET_ACCESS_KEY": "demo",
        "AWS_DEFAULT_REGION": REGION,
        "AWS_REGION": REGION,
        "AWS_EC2_METADATA_DISABLED": "true",
        # The operator's profile must not affect this, nor break it.
        "AWS_CONFIG_FILE": os.devnull,
        "AWS_SHARED_CREDENTIALS_FILE": os.devnull,
        "NO_PROXY": LOOPBACK,
        "no_proxy": LOOPBACK,
        **_NO_CBOR,
    }


def child_environment(parent: Mapping[str, str], endpoints: Endpoints) -> dict[str, str]:
    """The parent's environment without its AWS settings."""
    kept = {name: value for name, value in parent.items() if not name.startswith("AWS_")}
    return kept | settings(endpoints)


# Any terminal's own, which nobody but its shell knows. One of them can lead past the endpoints:
# AWS_IGNORE_CONFIGURED_ENDPOINT_URLS (AWS SDKs and Tools Reference Guide).
_FORGET = (
    "for _aws in $(env | sed -n 's/^\\(AWS_[A-Za-z0-9_]*\\)=.*/\\1/p'); do unset \"$_aws\"; done"
)


def exports(endpoints: Endpoints) -> Iterator[str]:
    """Lines for any POSIX shell: they replace its AWS settings by those of the demo."""
    yield _FORGET
    for name, value in settings(endpoints).items():
        yield f"export {name}={shlex.quote(value)}"
