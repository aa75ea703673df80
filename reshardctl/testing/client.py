"""The fake in boto3's calling style, without HTTP: `fake.client().list_shards(...)`."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from datetime import UTC, datetime
from types import SimpleNamespace
from typing import Any

from reshardctl.testing.constraints import REQUIRED, missing_parameters, unknown_parameters
from reshardctl.testing.errors import ApiError, NoAnswerError
from reshardctl.testing.requests import Answer

_TIMES = frozenset({"StreamCreationTimestamp", "ApproximateArrivalTimestamp"})
_ENDPOINT = "https://kinesis.{region}.amazonaws.com"
_ACTIONS = {re.sub(r"(?<!^)(?=[A-Z])", "_", name).lower(): name for name in REQUIRED}


class Client:
    """Calls the fake and raises botocore's exceptions; it does not retry.

    Exceptions: ClientError, ParamValidationError, EndpointConnectionError (nothing was done) and
    ReadTimeoutError (the answer was lost). Timestamps are returned as aware datetimes, blobs as
    bytes, absent values are left out.
    """

    def __init__(self, call: Callable[[str, Mapping[str, Any], str], Answer], region: str) -> None:
        self._call = call
        endpoint = _ENDPOINT.format(region=region)
        self.meta = SimpleNamespace(region_name=region, endpoint_url=endpoint)
        self.exceptions = _Exceptions()

    def __getattr__(self, name: str) -> Callable[..., Answer]:
        action = _ACTIONS.get(name)
        if action is None:
            raise AttributeError(f"'Kinesis' object has no attribute '{name}'")

        def method(**params: object) -> Answer:
            return self._request(action, params)

        return method

    def close(self) -> None:
        """Nothing to close."""

    def _request(self, action: str, params: dict[str, object]) -> Answer:
        _check_known(action, params)
        try:
            answer = self._call(action, _as_sent(params), self.meta.region_name)
        except ApiError as error:
            raise self.exceptions.from_code(error.code)(_error_shape(error), action) from None
        except NoAnswerError as broken:
            raise _broken(broken, self.meta.endpoint_url) from None
        parsed = {name: _as_parsed(value, name) for name, value in answer.items()}
        parsed = {name: value for name, value in parsed.items() if value is not None}
        parsed["ResponseMetadata"] = {"HTTPStatusCode": 200, "RetryAttempts": 0}
        return parsed


class _Exceptions:
    """`client.exceptions.X`: a subclass of ClientError for every code, made on demand."""

    def __init__(self) -> None:
        self._made: dict[str, type[Exception]] = {}

    @property
    def ClientError(self) -> type[Exception]:  # noqa: N802 - the name in boto3
        from botocore.exceptions import ClientError

        base: type[Exception] = ClientError
        return base

    def from_code(self, code: str) -> Callable[[dict[str, Any], str], Exception]:
        if code not in self._made:
            self._made[code] = type(code, (self.ClientError,), {})
        return self._made[code]

    def __getattr__(self, name: str) -> Callable[[dict[str, Any], str], Exception]:
        if name.startswith("_"):
            raise AttributeError(name)
        return self.from_code(name)


def _check_known(action: str, params: Mapping[str, Any]) -> None:
    problems = [f'Missing required parameter in input: "{name}"'
                for name in missing_parameters(action, params)]  # fmt: skip
    problems += [f'Unknown parameter in input: "{name}"'
                 for name in unknown_parameters(action, params)]  # fmt: skip
    if problems:
        from botocore.exceptions import ParamValidationError

        raise ParamValidationError(report="\n".join(problems))


def _broken(broken: NoAnswerError, endpoint: str) -> Exception:
    from botocore.exceptions import EndpointConnectionError, ReadTimeoutError

    kind = ReadTimeoutError if broken.executed else EndpointConnectionError
    made: Exception = kind(endpoint_url=endpoint, error=broken)
    return made


def _error_shape(error: ApiError) -> dict[str, Any]:
    return {
        "Error": {"Code": error.code, "Message": error.message},
        "ResponseMetadata": {"HTTPStatusCode": error.status, "RetryAttempts": 0},
        "message": error.message,
    }


def _as_blob(value: object) -> object:
    """Encodes text as UTF-8, which boto3 does for a blob."""
    return value.encode() if isinstance(value, str) else _as_sent(value)


def _as_sent(value: Any) -> Any:
    if isinstance(value, Mapping):
        return {k: _as_blob(v) if k == "Data" else _as_sent(v) for k, v in value.items()}
    if isinstance(value, list | tuple):
        return [_as_sent(item) for item in value]
    if isinstance(value, datetime):
        return value.timestamp()
    return bytes(value) if isinstance(value, bytearray) else value


def _as_parsed(value: object, name: str = "") -> object:
    if isinstance(value, dict):
        return {k: _as_parsed(v, k) for k, v in value.items() if v is not None}
    if isinstance(value, list):
        return [_as_parsed(item) for item in value]
    if name in _TIMES and isinstance(value, float):
        return datetime.fromtimestamp(value, UTC).astimezone()
    return value
