"""AWS's own policies, of which moto knows all and loads none unless told: those that EKS and its nodes are given."""

import json
from functools import cache
from typing import Any

from moto.backends import get_backend
from moto.iam.aws_managed_policies import aws_managed_policies_data
from moto.iam.models import AWSManagedPolicy

from rehearsal.aws.requests import ACCOUNT

_NAMES = ("AmazonEKS", "AmazonEC2ContainerRegistry")


@cache
def _known() -> dict[str, Any]:
    found = json.loads(aws_managed_policies_data)
    return {name: data for name, data in found.items() if name.startswith(_NAMES)}


def load() -> None:
    """Have them in the doubles' account."""
    iam = get_backend("iam")[ACCOUNT]["aws"]
    for name, data in _known().items():
        policy = AWSManagedPolicy.from_data(name, iam.account_id, iam.region_name, data)
        iam.managed_policies[policy.arn] = policy
