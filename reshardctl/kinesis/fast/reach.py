"""How any process reaches a stream."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from reshardctl.aws import client as aws
from reshardctl.errors import CannotTell
from reshardctl.kinesis.fast.answers import keep_records_raw
from reshardctl.kinesis.fast.whole import take_whole
from reshardctl.kinesis.transport import client_of


@dataclass(frozen=True, slots=True)
class Reach:
    """The way to Kinesis. It holds no secret: credentials are looked up where it is used.

    They come from boto3's default chain; those of `role_arn`, if it is given, are requested from
    STS with them and renewed before they expire. Without a region the environment's is taken.
    """

    region: str | None = None
    endpoint_url: str | None = None
    role_arn: str | None = None
    role_session_name: str | None = None
    role_external_id: str | None = None

    def session(self) -> Any:
        """A boto3 Session; a role is assumed at once. CannotTell if it cannot be."""
        import boto3

        session = boto3.Session(region_name=self.region)
        if self.role_arn is None:
            return session
        try:
            return aws.assumed(
                session, self.role_arn, region=self.region,
                name=self.role_session_name, external_id=self.role_external_id,
            )
        except (*aws.CAUGHT, ValueError) as error:
            raise CannotTell(
                f"role {self.role_arn} cannot be assumed: {aws.clean(str(error))}",
                "check the role and who may assume it",
            ) from None

    def client(self) -> Any:
        """A client of Kinesis that leaves its records raw. UsageError without a region."""
        client = client_of(self.session(), self.region, self.endpoint_url)
        keep_records_raw(client)
        take_whole(client)
        return client
