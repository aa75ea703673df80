"""What a command passes on of what its JVM says. Needs neither PySpark nor Java."""

from __future__ import annotations

import os
import signal
import sys
import threading
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

from reshardctl.spark.session import launched, pass_on


def test_what_java_says_of_every_start_is_left_out_and_nothing_else(tmp_path: Path) -> None:
    """As PySpark 4.3.0 prints it; a progress bar has no line end, and comes at once."""
    noise = b"WARNING: Using incubator modules: jdk.incubator.vector\n"
    out = (tmp_path / "stderr").open("wb")
    reading, writing = os.pipe()
    os.write(writing, noise + b"ERROR SparkContext: no\n\r[Stage 0:=>   (1 + 2) / 9]")
    os.close(writing)
    pass_on(reading, out.fileno())
    out.close()
    said = (tmp_path / "stderr").read_bytes()
    assert said == b"ERROR SparkContext: no\n\r[Stage 0:=>   (1 + 2) / 9]"


class Conf:
    """What of a SparkConf is used."""

    def __init__(self) -> None:
        self.set_to: dict[str, str] = {}

    def set(self, name: str, value: str) -> None:
        self.set_to[name] = value


@pytest.fixture
def pyspark(monkeypatch: pytest.MonkeyPatch) -> ModuleType:
    """A stand-in, of which a test sets `java_gateway.launch_gateway`."""
    whole, gateways = ModuleType("pyspark"), ModuleType("pyspark.java_gateway")
    vars(whole)["SparkConf"] = Conf
    monkeypatch.setitem(sys.modules, "pyspark", whole)
    monkeypatch.setitem(sys.modules, "pyspark.java_gateway", gateways)
    return gateways


@contextmanager
def all_passed_on() -> Iterator[None]:
    """Afterwards what was begun meanwhile has ended: nobody holds the writing end open."""
    before = set(threading.enumerate())
    yield
    for thread in set(threading.enumerate()) - before:
        thread.join(10)
        assert not thread.is_alive()


def test_a_jvm_is_started_with_the_settings_and_heard(
    pyspark: ModuleType, capfd: pytest.CaptureFixture[str]
) -> None:
    def launch(conf: Conf, popen: Mapping[str, Any]) -> str:
        own = os.dup(popen["stderr"])  # as a child process has it
        os.write(own, b"WARNING: Using incubator modules: jdk.incubator.vector\nERROR: no\n")
        os.close(own)
        return f"the gateway of {conf.set_to}"

    vars(pyspark)["launch_gateway"] = launch
    settings = {"spark.master": "local[2]", "spark.ui.enabled": "false"}
    with all_passed_on():
        gateway, conf = launched(settings)
    assert gateway == f"the gateway of {settings}" and conf.set_to == settings
    assert capfd.readouterr().err == "ERROR: no\n"


def test_a_jvm_that_does_not_start_leaves_nothing_open(
    pyspark: ModuleType, capfd: pytest.CaptureFixture[str]
) -> None:
    def launch(_conf: Conf, popen: Mapping[str, Any]) -> None:
        os.write(popen["stderr"], b"JAVA_HOME is not set\n")
        raise RuntimeError("Java gateway process exited before sending its port number")

    vars(pyspark)["launch_gateway"] = launch
    with all_passed_on(), pytest.raises(RuntimeError, match="exited before"):
        launched({})
    assert capfd.readouterr().err == "JAVA_HOME is not set\n"


@pytest.mark.parametrize("times", [1, 2])
def test_an_interrupt_waits_until_the_jvm_runs(pyspark: ModuleType, times: int) -> None:
    """Before that, PySpark 4.3.0 leaves a JVM that never ends; whoever asks twice need not wait."""
    began: list[str] = []

    def launch(_conf: Conf, _popen: Mapping[str, Any]) -> str:
        for _ in range(times):
            signal.raise_signal(signal.SIGTERM)
        began.append("the JVM")
        return "the gateway"

    vars(pyspark)["launch_gateway"] = launch
    before = signal.signal(signal.SIGTERM, signal.default_int_handler)
    try:
        with all_passed_on(), pytest.raises(KeyboardInterrupt):
            launched({})
        assert signal.getsignal(signal.SIGTERM) is signal.default_int_handler
    finally:
        signal.signal(signal.SIGTERM, before)
    assert began == ["the JVM"][: 2 - times]
