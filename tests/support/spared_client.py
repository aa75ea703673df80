"""A client of boto3 that does without what no server of the tests asks for.

To sign a request, to look for the endpoint that it was told, and to name itself takes as long as
the answer.
"""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any
from unittest.mock import patch

SPARED = ("dynamodb", "kinesis")
"""Of S3 the endpoint has the bucket in it, and signatures are in links."""


def spare(client: Any, access_key: str) -> None:
    """Has a client of DynamoDB or Kinesis send its key and its region unsigned."""
    meta = client.meta
    if meta.service_model.service_name not in SPARED:
        return
    service = meta.service_model.service_id.hyphenize()
    credential = f"Credential={access_key}/20260101/{meta.region_name}/{service}/aws4_request"
    url, agent = meta.endpoint_url, client._user_agent_creator

    def name(request: Any, **_: Any) -> None:
        request.headers["Authorization"] = f"AWS4-HMAC-SHA256 {credential}, Signature=none"

    created = f"request-created.{service}"
    meta.events.unregister(created, client._request_signer.handler)
    # Not in botocore 1.36, the oldest that is allowed.
    if (rebuild := getattr(agent, "rebuild_and_replace_user_agent_handler", None)) is not None:
        meta.events.unregister(created, rebuild)
    meta.events.register(created, name)
    client._resolve_endpoint_ruleset = lambda *_, **__: (url, {}, {})
    client._user_agent_creator = SimpleNamespace(to_string=lambda: "reshardctl-tests")


def spare_numbers() -> Any:
    """A patch under which botocore numbers its calls without asking the system for chance."""
    return patch("botocore.endpoint.uuid", SimpleNamespace(uuid4=lambda: "a-call-of-a-test"))
