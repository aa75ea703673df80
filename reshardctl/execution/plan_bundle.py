"""Plans of several consumers in one file: each as in a file of its own, with its digest."""

from __future__ import annotations

import hashlib
import json
from collections import Counter
from collections.abc import Sequence
from pathlib import Path

from reshardctl.codec.strict import PLAN, PLANS, JsonPath, array, members, or_another_kind, parse
from reshardctl.execution import plan_file
from reshardctl.execution.plan_file import SavedPlan
from reshardctl.report.results import Saved
from reshardctl.stores.given_file import content
from reshardctl.stores.named_file import is_regular, replace_file
from reshardctl.stores.new_file import save_new

VERSION = "reshardctl/plans/1"


def save(plans: Sequence[SavedPlan], path: Path) -> Saved:
    """Save the plans to a new file, or to an existing pipe or device.

    Raises:
        UsageError: The file exists, or cannot be written; no plan was saved.
    """
    whole = text(plans)
    if is_regular(path):
        save_new(path, [whole], "no plan was saved", "--out")
    else:
        replace_file(path, whole)
    return Saved(str(path), hashlib.sha256(whole.encode()).hexdigest())


def text(plans: Sequence[SavedPlan]) -> str:
    """The file's content."""
    bodies = [json.loads(plan_file.text(plan)) for plan in plans]
    return json.dumps({"schema": VERSION, "plans": bodies}, indent=1, sort_keys=True) + "\n"


def names_of(plans: Sequence[SavedPlan]) -> list[str]:
    """What to call each plan's consumer: its locator, and its stream where that is not enough.

    A table that serves several streams has one locator.
    """
    often = Counter(plan.locator for plan in plans)
    return [
        plan.locator if often[plan.locator] == 1
        else f"{plan.locator} (stream {plan.stream.rpartition('/')[2]})"
        for plan in plans
    ]


def load(path: Path) -> list[SavedPlan]:
    """Read the plans of a file, or the one plan of a file that holds one.

    Raises:
        UsageError: The file has no plans, or was edited or damaged.
    """
    source = content(path, plan_file.MADE)
    with or_another_kind(source, str(path), "a saved plan", PLAN, PLANS):
        return _parsed(source, path)


def _parsed(source: bytes, path: Path) -> list[SavedPlan]:
    json_path = JsonPath(str(path), next=plan_file.NEW)
    body = parse(source, json_path)
    if not isinstance(body, dict) or body.get("schema") != VERSION:
        return [plan_file.parsed(source, str(path))]
    bodies = array(members(body, ("schema", "plans"), json_path)["plans"], json_path / "plans")
    return [
        plan_file.parsed(json.dumps(each, indent=1, sort_keys=True) + "\n", f"{path}: plan {n}")
        for n, each in enumerate(bodies, 1)
    ]
