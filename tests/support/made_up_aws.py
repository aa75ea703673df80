"""AWS settings of no account, in place of the machine's."""

from __future__ import annotations

import os

MADE_UP = {
    "AWS_ACCESS_KEY_ID": "testing",
    "AWS_SECRET_ACCESS_KEY": "testing",
    "AWS_DEFAULT_REGION": "us-east-1",
    "AWS_CONFIG_FILE": os.devnull,
    "AWS_SHARED_CREDENTIALS_FILE": os.devnull,
    "AWS_EC2_METADATA_DISABLED": "true",
}


def environment_without(*prefixes: str) -> dict[str, str]:
    """The variables of this process, but for names with these prefixes.

    Safe in a thread: pytest sets and removes PYTEST_CURRENT_TEST meanwhile, and a walk over
    `os.environ.items()` ends with a KeyError where a variable goes.
    """
    names = [name for name in list(os.environ) if not name.startswith(prefixes)]
    values = {name: os.environ.get(name) for name in names}
    return {name: value for name, value in values.items() if value is not None}
