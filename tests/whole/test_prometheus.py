"""A real Prometheus takes the metrics, the alert rules and every query of the dashboard.

Debian's package `prometheus` has both programs. Where they are missing, the tests are skipped:
the Prometheus client library reads the same metrics in tests/cli/test_metrics.py.
"""

from __future__ import annotations

import json
import shutil
import socket
import subprocess
import threading
import time
import urllib.error
import urllib.parse
import urllib.request
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import pytest

from reshardctl.cli.app import run

ROOT = Path(__file__).resolve().parents[2]
METRICS = ROOT / "docs" / "metrics"
SNAPSHOT = ROOT / "tests" / "golden" / "files-0.2" / "kcl-redacted" / "stream.snapshot"
OPENMETRICS = "application/openmetrics-text; version=1.0.0; charset=utf-8"
LIMIT = 60.0
"""Seconds in which Prometheus has to start and scrape."""

pytestmark = pytest.mark.skipif(
    not (shutil.which("promtool") and shutil.which("prometheus")),
    reason="prometheus and promtool are not installed",
)


@pytest.fixture
def metrics(tmp_path: Path) -> Path:
    """Metrics of a stream of which two shards were never started."""
    file = tmp_path / "metrics.txt"
    assert run(["inspect", f"snapshot:{SNAPSHOT}", "--format", f"openmetrics={file}"]) == 1
    return file


def test_promtool_finds_no_fault(metrics: Path) -> None:
    rules = subprocess.run(
        ["promtool", "check", "rules", METRICS / "alerts.yml"],
        capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert rules.returncode == 0 and "SUCCESS" in rules.stdout, rules.stderr
    checked = subprocess.run(
        ["promtool", "check", "metrics"], input=metrics.read_bytes(), capture_output=True,
        check=False,
    )  # fmt: skip
    assert (checked.returncode, checked.stderr) == (0, b"")


@pytest.fixture
def prometheus(metrics: Path, tmp_path: Path) -> Iterator[str]:
    """The address of a Prometheus that scrapes the metrics every second, with the alert rules."""

    class Target(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            self.send_response(200)
            self.send_header("Content-Type", OPENMETRICS)
            self.end_headers()
            self.wfile.write(metrics.read_bytes())

        def log_message(self, template: str, *args: object) -> None:
            """Quiet."""

    target = ThreadingHTTPServer(("127.0.0.1", 0), Target)
    threading.Thread(target=target.serve_forever, args=(0.02,), daemon=True).start()
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    (tmp_path / "prometheus.yml").write_text(json.dumps({
        "global": {"scrape_interval": "1s", "evaluation_interval": "1s"},
        "rule_files": [str(METRICS / "alerts.yml")],
        "scrape_configs": [{
            "job_name": "reshardctl",
            "static_configs": [{"targets": [f"127.0.0.1:{target.server_address[1]}"]}],
        }],
    }))  # fmt: skip
    server = subprocess.Popen(
        [
            "prometheus", f"--config.file={tmp_path / 'prometheus.yml'}",
            f"--storage.tsdb.path={tmp_path / 'data'}", f"--web.listen-address=127.0.0.1:{port}",
        ],
        stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
    )  # fmt: skip
    try:
        yield f"http://127.0.0.1:{port}"
    finally:
        server.terminate()
        server.wait(LIMIT)
        target.shutdown()
        target.server_close()


def asked(address: str, path: str, **query: str) -> Any:
    """The data of an answer; `None` until Prometheus answers."""
    url = f"{address}/api/v1/{path}?{urllib.parse.urlencode(query)}"
    opener = urllib.request.build_opener(urllib.request.ProxyHandler({}))
    try:
        with opener.open(url, timeout=5) as answer:
            return json.load(answer)["data"]
    except urllib.error.HTTPError as error:
        if error.code != 503:  # not ready yet
            raise
    except OSError:
        pass
    return None


def test_prometheus_scrapes_the_metrics_and_runs_every_query(prometheus: str) -> None:
    finding: Any = None
    until = time.monotonic() + LIMIT
    while not (finding and finding["result"]) and time.monotonic() < until:
        time.sleep(0.2)
        finding = asked(prometheus, "query", query='reshardctl_finding{rule="RSH203"}')
    (series,) = finding["result"]
    assert series["value"][1] == "2"
    dashboard = json.loads((METRICS / "dashboard.json").read_text("utf-8"))
    for panel in dashboard["panels"]:
        for target in panel["targets"]:
            query = target["expr"].replace("$stream", ".*").replace("$consumer", ".*")
            assert asked(prometheus, "query", query=query)["resultType"] == "vector"
    (group,) = asked(prometheus, "rules")["groups"]
    assert group["rules"] and all(not rule.get("lastError") for rule in group["rules"])
