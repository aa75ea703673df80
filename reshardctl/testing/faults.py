"""Faults on demand: what goes wrong, at which call, how often."""

from __future__ import annotations

from collections.abc import Callable
from threading import Lock
from typing import Any

from msgspec import Struct
from msgspec.structs import replace

from reshardctl.testing.requests import Answer, ApiError, NoAnswerError, Request

Proceed = Callable[[Request], Answer]
Fault = Callable[[Request, Proceed], Answer]
"""Gets the request and the function that executes it; returns an answer or raises an error."""


class _Armed(Struct):
    action: str
    fault: Fault
    times: int | None
    after: int
    when: Callable[[Request], bool] | None

    def takes(self, request: Request) -> bool:
        if self.action not in ("*", request.action):
            return False
        if self.when is not None and not self.when(request):
            return False
        if self.after > 0:
            self.after -= 1
            return False
        if self.times is not None:
            self.times -= 1
        return True


class Faults:
    """The armed faults, oldest first; a call meets at most one of them."""

    def __init__(self) -> None:
        self._armed: list[_Armed] = []
        self._lock = Lock()

    def add(
        self,
        action: str,
        fault: str | Exception | Fault,
        *,
        times: int | None = 1,
        after: int = 0,
        when: Callable[[Request], bool] | None = None,
    ) -> None:
        """Arm a fault.

        Args:
            action: An API action or "*".
            fault: An error code ("LimitExceededException"), an exception (ApiError, NoAnswerError)
                or a function, such as those of this module.
            times: Number of calls it hits, None for all.
            after: Number of matching calls that pass before.
            when: Restricts which calls match.
        """
        with self._lock:
            self._armed.append(_Armed(action, _as_fault(fault), times, after, when))

    def clear(self) -> None:
        """Disarm everything."""
        with self._lock:
            self._armed.clear()

    def take(self, request: Request) -> Fault | None:
        """The fault that hits this request, if any; counts it."""
        with self._lock:
            for armed in self._armed:
                if armed.takes(request):
                    if armed.times == 0:
                        self._armed.remove(armed)
                    return armed.fault
        return None


def _as_fault(fault: str | Exception | Fault) -> Fault:
    if isinstance(fault, str):
        return _refusing(fault)
    if isinstance(fault, NoAnswerError):
        return timeout_after if fault.executed else _raising(fault)
    if isinstance(fault, Exception):
        return _raising(fault)
    return fault


def _refusing(code: str) -> Fault:
    def fault(request: Request, _proceed: Proceed) -> Answer:
        raise ApiError(code, _text(code, request))

    return fault


def _text(code: str, request: Request) -> str | None:
    """The message that names what was asked for, if the service's does; None: the usual one."""
    name = request.params.get("StreamName")
    arn = request.params.get("StreamARN")
    if code == "AccessDeniedException":
        stream_arn = f"arn:aws:kinesis:{request.region}:{request.account}:stream/{name or '*'}"
        return (
            f"User: arn:aws:iam::{request.account}:user/tester is not authorized to perform: "
            f"kinesis:{request.action} on resource: {arn or stream_arn} because no identity-based "
            f"policy allows the kinesis:{request.action} action"
        )
    if code == "LimitExceededException" and name is not None:
        return f"Rate exceeded for stream {name} under account {request.account}."
    return None


def _raising(error: Exception) -> Fault:
    def fault(_request: Request, _proceed: Proceed) -> Answer:
        raise error

    return fault


def timeout_before(_request: Request, _proceed: Proceed) -> Answer:
    """The connection breaks and nothing was done."""
    raise NoAnswerError(executed=False)


def timeout_after(request: Request, proceed: Proceed) -> Answer:
    """The request takes effect and its answer is lost."""
    proceed(request)
    raise NoAnswerError(executed=True)


def short_page(size: int) -> Fault:
    """A page of at most `size` shards or records, with the token to continue; 0 is allowed."""

    def fault(request: Request, proceed: Proceed) -> Answer:
        return proceed(replace(request, page=size))

    return fault


def cut_page(size: int) -> Fault:
    """A listing that silently stops after `size` shards: no token, no error."""

    def fault(request: Request, proceed: Proceed) -> Answer:
        answer = dict(proceed(request))
        answer["Shards"] = answer["Shards"][:size]
        answer.pop("NextToken", None)
        return answer

    return fault


def torn_listing(first_page: int | None = None) -> Fault:
    """A listing with page 1 (of `first_page` shards) from before a reshard; use times=None."""

    def fault(request: Request, proceed: Proceed) -> Answer:
        later = "NextToken" in request.params
        if later:
            return proceed(replace(request, view="after"))
        return proceed(replace(request, view="torn", page=first_page))

    return fault


def stale_listing(request: Request, proceed: Proceed) -> Answer:
    """A listing that does not have the last reshard yet."""
    return proceed(replace(request, view="before"))


def expired_token() -> dict[str, Any]:
    """Keyword arguments of `Faults.add`: the next continuation finds its NextToken expired."""
    return {
        "action": "ListShards",
        "fault": "ExpiredNextTokenException",
        "when": lambda request: "NextToken" in request.params,
    }
