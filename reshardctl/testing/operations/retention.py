"""IncreaseStreamRetentionPeriod and DecreaseStreamRetentionPeriod.

An increase restores nothing; a decrease drops at once (both API references).
"""

from __future__ import annotations

from reshardctl.testing.errors import invalid, not_active
from reshardctl.testing.requests import Answer, Request
from reshardctl.testing.service import Service
from reshardctl.testing.stream import Stream

_LEAST_HOURS = 24


def increase_retention(service: Service, request: Request) -> Answer:
    """IncreaseStreamRetentionPeriod."""
    stream, hours = _stream(service, request)
    if hours < stream.retention_hours:
        invalid(
            f"Requested retention period ({hours} hours) for stream {stream.name} can not be "
            f"shorter than existing retention period ({stream.retention_hours} hours). "
            "Use DecreaseRetentionPeriod API."
        )
    stream.retention_hours = hours
    return {}


def decrease_retention(service: Service, request: Request) -> Answer:
    """DecreaseStreamRetentionPeriod."""
    stream, hours = _stream(service, request)
    if hours > stream.retention_hours:
        invalid(
            f"Requested retention period ({hours} hours) for stream {stream.name} can not be "
            f"longer than existing retention period ({stream.retention_hours} hours). "
            "Use IncreaseRetentionPeriod API."
        )
    stream.retention_hours = hours
    return {}


def _stream(service: Service, request: Request) -> tuple[Stream, int]:
    stream, hours = service.stream_of(request), request.params["RetentionPeriodHours"]
    if stream.status != "ACTIVE":
        not_active(stream.name, stream.account, stream.status)
    if hours < _LEAST_HOURS:
        invalid(
            f"Minimum allowed retention period is {_LEAST_HOURS} hours. Requested retention "
            f"period ({hours} hours) is too short."
        )
    return stream, hours
