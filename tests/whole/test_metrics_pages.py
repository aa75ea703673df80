"""The alert rules, the dashboard and the page name metrics that are written, and all of them."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest

from reshardctl.render.formats.openmetrics import FAMILIES

DOCS = Path(__file__).resolve().parents[2] / "docs"
NAME = re.compile(r"\breshardctl_[a-z_]+\b")
PAGES = ("metrics/alerts.yml", "metrics/dashboard.json", "watching.md")


@pytest.mark.parametrize("page", PAGES)
def test_every_metric_that_is_named_is_written(page):
    named = set(NAME.findall((DOCS / page).read_text("utf-8")))
    assert named and named <= set(FAMILIES)


@pytest.mark.parametrize("page", ["metrics/dashboard.json", "watching.md"])
def test_every_metric_that_is_written_is_shown(page):
    assert set(NAME.findall((DOCS / page).read_text("utf-8"))) == set(FAMILIES)


def test_a_dashboard_can_be_imported():
    dashboard = json.loads((DOCS / "metrics/dashboard.json").read_text("utf-8"))
    ids = [panel["id"] for panel in dashboard["panels"]]
    assert len(ids) == len(set(ids)) and dashboard["title"] and dashboard["schemaVersion"]
    assert all(target["expr"] for panel in dashboard["panels"] for target in panel["targets"])


def test_alert_rules_have_what_prometheus_asks_for():
    yaml = pytest.importorskip("yaml")
    (group,) = yaml.safe_load((DOCS / "metrics/alerts.yml").read_text("utf-8"))["groups"]
    assert group["rules"]
    for rule in group["rules"]:
        assert {"alert", "expr", "labels", "annotations"} <= set(rule)
        assert rule["labels"]["severity"] in ("warning", "critical")
