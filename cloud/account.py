"""An AWS account, as the credentials at hand open it."""

import os
from typing import Any

import boto3
from botocore.config import Config

from cloud.refusal import AWSRefusedError, explained
from experiment import arn

_HOME = {"aws": "us-east-1", "aws-cn": "cn-north-1", "aws-us-gov": "us-gov-west-1"}
"""The region of a partition that is always on; what has no region is asked there."""

_ACTIONS = {"elb": "elasticloadbalancing", "elbv2": "elasticloadbalancing", "service-quotas": "servicequotas"}
"""Services that IAM calls otherwise than boto3 does."""


class Account:
    """Clients of services by region, and questions asked through them with their errors explained.

    A call that is throttled is repeated by botocore, up to ten attempts with growing pauses.
    """

    def __init__(self, profile: str | None = None, session: boto3.Session | None = None) -> None:
        with explained("sts", "AWS"):
            self._session = session or boto3.Session(profile_name=profile)
        self._clients: dict[tuple[str, str], Any] = {}

    @property
    def default_region(self) -> str | None:
        """The region of the environment or the profile; none if neither names one."""
        return os.environ.get("AWS_REGION") or self._session.region_name

    def client(self, service: str, region: str) -> Any:
        """Return a client of boto3; its calls raise what boto3 raises."""
        if (service, region) not in self._clients:
            with explained(service, region):
                self._clients[service, region] = self._session.client(  # type: ignore[call-overload]
                    service,
                    region_name=region,
                    config=Config(retries={"mode": "standard", "max_attempts": 10}, connect_timeout=10),
                )
        return self._clients[service, region]

    def ask(self, service: str, region: str, operation: str, **arguments: Any) -> Any:
        """Call one operation, named as boto3's method is.

        Raises:
            AWSRefusedError: it was refused.
        """
        with explained(_ACTIONS.get(service, service), region):
            return getattr(self.client(service, region), operation)(**arguments)

    def seen(self, service: str, region: str, operation: str, **arguments: Any) -> Any:
        """Ask about one thing of a list; None if it is not there.

        AWS's lists are ahead of its answers and behind them: what was just made is not known everywhere yet, and what
        others have deleted meanwhile is listed for a while.

        Raises:
            AWSRefusedError: it was refused for another reason.
        """
        try:
            return self.ask(service, region, operation, **arguments)
        except AWSRefusedError as error:
            if error.gone:
                return None
            raise

    def pages(self, service: str, region: str, operation: str, key: str, **arguments: Any) -> list[Any]:
        """Return everything below a key of all pages of an operation; raises as `ask`."""
        with explained(_ACTIONS.get(service, service), region):
            client = self.client(service, region)
            if not client.can_paginate(operation):
                found: list[Any] = getattr(client, operation)(**arguments)[key]
                return found
            return [one for page in client.get_paginator(operation).paginate(**arguments) for one in page.get(key, [])]

    def identity(self, region: str) -> tuple[str, str]:
        """Return the number of the account and the ARN of who is signed in."""
        said = self.ask("sts", region, "get_caller_identity")
        return said["Account"], said["Arn"]

    def regions(self, near: str) -> list[str]:
        """Return the regions that are on in this account, of the partition of the one that is named."""
        said = self.ask("ec2", home(near), "describe_regions")
        return sorted(one["RegionName"] for one in said["Regions"])


def home(region: str) -> str:
    """Return where a region's partition answers for what has no region of its own."""
    return _HOME[arn.partition(region)]
