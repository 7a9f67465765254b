"""What a bucket's policy says of requests as pods make them; moto, which reads no conditions, takes each for all."""

import json
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any
from unittest.mock import patch

from moto.iam.access_control import IAMPolicy, PermissionResult
from moto.s3.models import FakeBucket

_OF_PLAIN_REQUESTS = {"Bool": {"aws:SecureTransport": "false"}}


@contextmanager
def over_tls() -> Iterator[None]:
    """Have S3 take every request for one over TLS until the end of the block.

    The doubles are reached without it; what a policy says of plain requests would otherwise refuse all.
    """

    def permission(self: FakeBucket, action: str, resource: str) -> Any:
        document = json.loads(self.policy) if self.policy else {}
        statements = [one for one in document.get("Statement", []) if one.get("Condition") != _OF_PLAIN_REQUESTS]
        if not statements:
            return PermissionResult.NEUTRAL
        return IAMPolicy(json.dumps({**document, "Statement": statements})).is_action_permitted(action, resource)

    with patch.object(FakeBucket, "get_permission", permission):
        yield
