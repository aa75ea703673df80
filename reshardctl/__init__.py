"""Repair a consumer's stored positions after its Kinesis stream was resharded.

The use cases of the command line, for Python: each is one function that takes a request and returns
a result, prints nothing, and asks through a callback. docs/python.md has an example of each.
"""

from __future__ import annotations

from importlib import import_module

__version__ = "0.2.0"

_HOMES = {
    "Account": "requests",
    "AuditRequest": "audit",
    "ExportRequest": "export",
    "Files": "requests",
    "FixRequest": "write_requests",
    "FixResult": "planned",
    "InspectRequest": "inspect",
    "Inspection": "inspect",
    "Observer": "observer",
    "Planned": "planned",
    "PruneRequest": "journals",
    "RebuildRequest": "rebuild",
    "Sink": "requests",
    "StatusRequest": "status",
    "StatusResult": "status",
    "UndoRequest": "undo_source",
    "UndoResult": "undo",
    "audit": "audit",
    "export": "export",
    "fix": "fix",
    "fix_many": "fix",
    "inspect": "inspect",
    "inspect_again": "inspect_again",
    "plan": "fix",
    "plan_many": "fix",
    "plan_rebuild": "rebuild",
    "prune": "journals",
    "rebuild": "rebuild",
    "status": "status",
    "undo": "undo",
}
"""Name → its module in `reshardctl.commands`, which is imported when the name is first used.
Type checkers read `__init__.pyi`."""

__all__ = [
    "Account",
    "AuditRequest",
    "ExportRequest",
    "Files",
    "FixRequest",
    "FixResult",
    "InspectRequest",
    "Inspection",
    "Observer",
    "Planned",
    "PruneRequest",
    "RebuildRequest",
    "Sink",
    "StatusRequest",
    "StatusResult",
    "UndoRequest",
    "UndoResult",
    "__version__",
    "audit",
    "export",
    "fix",
    "fix_many",
    "inspect",
    "inspect_again",
    "plan",
    "plan_many",
    "plan_rebuild",
    "prune",
    "rebuild",
    "status",
    "undo",
]


def __getattr__(name: str) -> object:
    if name not in _HOMES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(import_module(f"{__name__}.commands.{_HOMES[name]}"), name)


def __dir__() -> list[str]:
    return __all__
