"""The AWS account: region, profile, role, endpoints, and what reading may cost."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Account:
    """How AWS is reached, as the options give it; the rest comes from the environment."""

    region: str | None = None
    profile: str | None = None
    role: str | None = None
    endpoints: Sequence[str] = ()
    budget: str | None = None
    """The value of `--probe-budget`: what reading records may cost."""

    def argv(self) -> list[str]:
        """The same as options, for commands that we print."""
        named = (
            ("--region", self.region), ("--profile", self.profile), ("--role-arn", self.role),
            ("--probe-budget", self.budget),
        )
        argv = [word for name, value in named if value for word in (name, value)]
        return argv + [word for url in self.endpoints for word in ("--endpoint-url", url)]
