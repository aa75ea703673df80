"""The choices of output and exit code, by the words of the options."""

from __future__ import annotations

from enum import StrEnum


class FormatName(StrEnum):
    """Formats of a report."""

    TEXT = "text"
    CONCISE = "concise"
    JSON = "json"
    JSONL = "jsonl"
    MARKDOWN = "markdown"
    GITHUB = "github"
    JUNIT = "junit"
    SARIF = "sarif"
    DIFF = "diff"


class MetricsFormat(StrEnum):
    """Formats of metrics, which hold numbers for monitoring and no report."""

    OPENMETRICS = "openmetrics"


class FailOn(StrEnum):
    """Severity from which `inspect` exits 1."""

    ERROR = "error"
    WARNING = "warning"
    INFO = "info"
    NEVER = "never"


class ColorMode(StrEnum):
    """When to use colour."""

    AUTO = "auto"
    ALWAYS = "always"
    NEVER = "never"
