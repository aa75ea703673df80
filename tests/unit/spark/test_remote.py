"""A Spark Connect server's address. Needs no PySpark."""

from __future__ import annotations

import pytest

from reshardctl.errors import CannotTell, UsageError
from reshardctl.spark.session import PORT, check, reach, shown

PROXIES = ("grpc_proxy", "https_proxy", "http_proxy", "GRPC_PROXY", "HTTPS_PROXY", "HTTP_PROXY")


def test_a_server_that_is_not_there_is_told_at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    """Nothing listens on port 1."""
    for name in PROXIES:
        monkeypatch.delenv(name, raising=False)
    with pytest.raises(CannotTell) as told:
        reach("sc://127.0.0.1:1/;token=s3cr3t")
    assert told.value.what.startswith("nothing answers at sc://127.0.0.1:1/;token=***: ")
    assert "15002" in (told.value.next or "")


def test_behind_a_proxy_nobody_but_the_client_can_tell(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("https_proxy", "http://proxy:1")
    reach("sc://nowhere.invalid:1")


@pytest.mark.parametrize(("remote", "place"), [
    ("sc://h", ("h", PORT)), ("sc://h:1/;use_ssl=true", ("h", 1)), ("sc://[::1]:2", ("::1", 2)),
])  # fmt: skip
def test_host_and_port(remote: str, place: tuple[str, int]) -> None:
    assert check(remote) == place


@pytest.mark.parametrize("remote", ["h:1", "http://h", "sc://", "sc://h:x", "sc://h:99999"])
def test_what_is_no_address(remote: str) -> None:
    with pytest.raises(UsageError, match="is no address"):
        check(remote)


def test_a_token_is_not_shown() -> None:
    assert shown("sc://h:1/;token=a b;user_id=me") == "sc://h:1/;token=***;user_id=me"
