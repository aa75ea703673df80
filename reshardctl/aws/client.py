"""What every AWS service shares here: clients, error codes, pauses, clean messages."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from botocore.config import Config
from botocore.exceptions import (
    BotoCoreError,
    ClientError,
    ConnectTimeoutError,
    EndpointConnectionError,
    HTTPClientError,
    IncompleteReadError,
    NoCredentialsError,
    NoRegionError,
    ProfileNotFound,
    ProxyConnectionError,
    ResponseStreamingError,
)
from botocore.exceptions import ConnectionError as BrokenConnectionError
from botocore.parsers import ResponseParserError

from reshardctl.aws import call_log
from reshardctl.aws.malformed_answers import refuse_malformed
from reshardctl.errors import CannotTell, UsageError
from reshardctl.model.retry import FailureKind, Retry

if TYPE_CHECKING:
    from boto3.session import Session as Session

ATTEMPTS = 8
"""How often a call is tried in all."""
LONGEST_PAUSE = 5.0
"""Seconds; the pauses between attempts double up to it."""
CONNECT_TIMEOUT = 5
READ_TIMEOUT = 20
CONNECTIONS = 40
"""Calls of one client that are made at the same time, each on a connection that is kept."""

CAUGHT = (ClientError, BotoCoreError, ResponseParserError)
"""What boto3 raises for a well-formed call."""
UNSENT = (ConnectTimeoutError, EndpointConnectionError, ProxyConnectionError)
"""No connection was made: the service never received the call."""
LOST = (
    BrokenConnectionError,
    HTTPClientError,
    IncompleteReadError,
    ResponseStreamingError,
    ResponseParserError,
)
"""The call may have arrived; the answer did not."""

# "Common Errors" of the Kinesis and DynamoDB API references.
THROTTLES = frozenset({
    "KMSThrottlingException",
    "LimitExceededException",
    "ProvisionedThroughputExceededException",
    "RequestLimitExceeded",
    "Throttling",
    "ThrottlingException",
})
DENIALS = frozenset({
    "AccessDenied",
    "AccessDeniedException",
    "KMSAccessDeniedException",
    "NotAuthorized",
    "UnauthorizedOperation",
})
_CREDENTIALS = frozenset({
    "ExpiredToken",
    "ExpiredTokenException",
    "IncompleteSignature",
    "IncompleteSignatureException",
    "InvalidClientTokenId",
    "InvalidSignatureException",
    "MissingAuthenticationToken",
    "MissingAuthenticationTokenException",
    "OptInRequired",
    "RequestExpired",
    "RequestTimeTooSkewed",
    "SignatureDoesNotMatch",
    "UnrecognizedClientException",
})
# By name: SSO and token errors moved between releases of botocore.
_CREDENTIAL_ERRORS = frozenset({
    "CredentialRetrievalError",
    "LoginRefreshRequired",
    "PartialCredentialsError",
    "RefreshWithMFAUnsupportedError",
    "SSOError",
    "SSOTokenLoadError",
    "TokenRetrievalError",
    "UnauthorizedSSOTokenError",
})
# Of InvalidSignatureException; "Troubleshoot signed requests" of the IAM user guide has them. The
# code is of "Error responses", Amazon S3 API Reference.
_OTHER_CLOCK = ("Signature expired:", "Signature not yet current:")
_OTHER_CLOCK_CODE = "RequestTimeTooSkewed"
_ACCESS_KEY = re.compile(r"\b(A[KS]IA|AROA|AIDA)[A-Z0-9]{8,}")
SET_A_REGION = "add --region, or set AWS_DEFAULT_REGION"
"""The next step without a region; `commands/connect.py` adds the one that an ARN names."""


def client_of(
    session: Session, service: str, region: str | None, endpoint_url: str | None, target: str
) -> Any:
    """boto3's client, which resolves, signs and sends; its own retries are off.

    target: the service or table, for messages. UsageError without a region, or with a profile or an
    endpoint that boto3 refuses.
    """
    config = Config(
        retries={"mode": "standard", "total_max_attempts": 1},
        connect_timeout=CONNECT_TIMEOUT,
        read_timeout=READ_TIMEOUT,
        max_pool_connections=CONNECTIONS,
    )
    try:
        client = session.client(
            service, region_name=region, endpoint_url=endpoint_url, config=config
        )
        refuse_malformed(client)
        call_log.follow(client)
        return client
    except NoRegionError:
        raise UsageError(f"no region is set for {target}", SET_A_REGION) from None
    except (BotoCoreError, ValueError) as error:
        raise UsageError(
            f"{target} cannot be reached: {clean(str(error))}",
            "check --region, and the endpoint if one is set: AWS_ENDPOINT_URL",
        ) from None


def session_of(
    profile: str | None, region: str | None, role: str | None, sts: str | None
) -> Session:
    """A session of this profile, or of the role that it assumes; `None` leaves a choice to boto3.

    sts: the endpoint of STS. Raises UsageError for a configuration that cannot be read, CannotTell
    for a role that cannot be assumed.
    """
    try:
        session = own_session(profile, region)
    except ProfileNotFound as error:
        if profile is None:
            raise UsageError(f"AWS_PROFILE: {error}", "check its name") from None
        raise UsageError(
            f"profile {profile}: {error}", "check its name: --profile or --table-profile"
        ) from None
    except BotoCoreError as error:
        raise UsageError(
            f"the configuration of AWS cannot be read: {error}",
            "mend that file, or name another one in AWS_CONFIG_FILE",
        ) from None
    if role is None:
        return session
    try:
        return assumed(session, role, region=region, endpoint_url=sts)
    except (*CAUGHT, ValueError) as error:
        raise CannotTell(
            f"role {role} cannot be assumed: {clean(str(error))}",
            "check the role and who may assume it",
        ) from None


def own_session(profile: str | None, region: str | None) -> Session:
    """boto3's session; a region that is set and empty is not set. Raises what boto3 raises.

    botocore takes an empty AWS_DEFAULT_REGION for a region, and does not look at the profile's
    (ChainProvider and EnvironmentProvider of botocore.configprovider).
    """
    import boto3
    from botocore.session import get_session

    session = boto3.Session(profile_name=profile, region_name=region or None)
    for setting in ("region", None):  # without the variable; then without the profile's
        if session.region_name != "":
            break
        bare = get_session({"region": (setting, None, None, None)})
        session = boto3.Session(profile_name=profile, botocore_session=bare)
    return session


def assumed(
    session: Session,
    role: str,
    *,
    region: str | None = None,
    endpoint_url: str | None = None,
    name: str | None = None,
    external_id: str | None = None,
) -> Session:
    """A session of the role, which is assumed at once and renews its credentials by itself.

    endpoint_url: of STS. name: of the role's session, shown in CloudTrail. Raises what boto3
    raises.
    """
    import boto3
    from botocore.credentials import (
        CredentialProvider,
        CredentialResolver,
        DeferredRefreshableCredentials,
    )
    from botocore.session import get_session

    sts = session.client("sts", endpoint_url=endpoint_url)
    refuse_malformed(sts)
    call_log.follow(sts)
    asked = {"RoleArn": role, "RoleSessionName": name or "reshardctl"}
    if external_id is not None:
        asked["ExternalId"] = external_id

    def credentials() -> dict[str, str]:
        answer = sts.assume_role(**asked)["Credentials"]
        return {
            "access_key": answer["AccessKeyId"],
            "secret_key": answer["SecretAccessKey"],
            "token": answer["SessionToken"],
            "expiry_time": answer["Expiration"].isoformat(),
        }

    class AssumedRole(CredentialProvider):  # type: ignore[misc]
        """The only provider of the new session: the role's credentials."""

        METHOD = "assume-role"

        def load(self) -> DeferredRefreshableCredentials:
            """Credentials that are asked of STS at their first use, and before they expire."""
            return DeferredRefreshableCredentials(credentials, self.METHOD)

    credentials()
    base = get_session({"region": (None, None, None, None)})  # the session has read the settings
    base.register_component("credential_provider", CredentialResolver([AssumedRole()]))
    return boto3.Session(botocore_session=base, region_name=region or session.region_name)


def retry(
    boto: Any, first: float, sleep: Callable[[float], None],
    kind_of: Callable[[Exception], FailureKind],
) -> Retry:
    """Up to ATTEMPTS attempts at the calls of a boto3 client.

    first: seconds before the second attempt; the later pauses double up to LONGEST_PAUSE.
    """
    pauses = tuple(min(first * 2**n, LONGEST_PAUSE) for n in range(ATTEMPTS - 1))
    return Retry(pauses, sleep, CAUGHT, kind_of, boto.meta.endpoint_url)


def about_credentials(error: Exception) -> bool:
    """Whether the call failed because of its credentials, or those of a role to be assumed."""
    if isinstance(error, ClientError):
        operation = error.operation_name
        borrowed = operation.startswith("AssumeRole") or operation == "GetRoleCredentials"
        return borrowed or code_of(error) in _CREDENTIALS
    return isinstance(error, NoCredentialsError) or type(error).__name__ in _CREDENTIAL_ERRORS


def without_credentials(error: Exception, where: str = "") -> CannotTell:
    """The error to raise then, in our words: the service's own may repeat parts of a key."""
    told = any(phrase in message_of(error) for phrase in _OTHER_CLOCK)
    if told or code_of(error) == _OTHER_CLOCK_CODE:
        return CannotTell(
            f"{where}AWS refuses the time of the request ({code_of(error)}): this machine's clock "
            "is more than five minutes wrong",
            "set the clock (timedatectl status), then run this again",
        )
    return CannotTell(
        f"{where}the AWS credentials are missing, have expired or are not accepted "
        f"({code_of(error)})",
        "renew them (aws sso login, or new AWS_* variables), then run this again",
    )


def code_of(error: Exception) -> str:
    """The service's error code, or the exception's name."""
    if isinstance(error, ClientError):
        return str(error.response.get("Error", {}).get("Code", "")) or "unknown error"
    return type(error).__name__


def message_of(error: Exception) -> str:
    """The service's own words, or the exception's."""
    if isinstance(error, ClientError):
        return str(error.response.get("Error", {}).get("Message", ""))
    return str(error)


def failed_inside(error: Exception) -> bool:
    """Whether the service answered with an error on its side (5xx)."""
    if not isinstance(error, ClientError):
        return False
    status: int = error.response.get("ResponseMetadata", {}).get("HTTPStatusCode", 0)
    return status >= 500


def clean(text: str) -> str:
    """The text without access keys."""
    return _ACCESS_KEY.sub("(access key)", text)


def allow(actions: tuple[str, ...], *resources: str) -> str:
    """The policy statement that permits `actions` on the resources, as one line of JSON."""
    resource = resources[0] if len(resources) == 1 else list(resources)
    return json.dumps({"Effect": "Allow", "Action": list(actions), "Resource": resource})
