"""The services of AWS as a program calls them, at the doubles' own address."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from threading import Lock
from typing import Any

import boto3
from botocore import xform_name
from botocore.config import Config
from botocore.exceptions import ClientError

from rehearsal.aws.consistency import PROPAGATING
from rehearsal.aws.models import complaints
from rehearsal.aws.requests import ACCOUNT, ITSELF, Request

CREDENTIALS = {"AWS_ACCESS_KEY_ID": "rehearsal", "AWS_SECRET_ACCESS_KEY": "rehearsal"}
Params = Mapping[str, Any]
_TRIES = 10

_SESSION = boto3.Session("rehearsal", "rehearsal", region_name="us-east-1")
"""One for all: to read AWS's models takes seconds."""


class RefusedError(Exception):
    """A service refused a request; the message is as the provider words it."""

    def __init__(self, operation: str, code: str, text: str) -> None:
        super().__init__(f"{operation}: {code}: {text}")
        self.code = code


@dataclass
class Failure:
    """A refusal on demand.

    Attributes:
        code: as the service would give it, such as `VpcLimitExceeded`.
        text: its words.
        times: how often it comes yet.
        only: which requests it meets.
    """

    code: str
    text: str
    times: int = 1
    only: Callable[[Params], bool] = lambda _: True


@dataclass
class Services:
    """Calls operations by their requests, each held against botocore's model first."""

    address: str
    region: str
    failures: dict[str, Failure] = field(default_factory=dict)
    _clients: dict[str, Any] = field(default_factory=dict)
    _lock: Lock = field(default_factory=Lock)

    def client(self, service: str) -> Any:
        """Return a client of boto3, one for all threads, as boto3 allows for clients but not for sessions."""
        with self._lock:
            if service not in self._clients:
                self._clients[service] = _SESSION.client(  # type: ignore[call-overload]
                    service,
                    region_name=self.region,
                    endpoint_url=self.address,
                    # A cluster that really starts takes half a minute, and more on a busy machine.
                    config=Config(retries={"total_max_attempts": 1}, max_pool_connections=50, read_timeout=600),
                )
            return self._clients[service]

    def call(self, service: str, operation: str, params: Params) -> dict[str, Any]:
        """Call one operation by its name in the models, such as `CreateVpc`.

        Raises:
            RefusedError: the model forbids the request, the service refuses it, or it is to fail.
        """
        called = f"{service}.{operation}"
        failure = self.failures.get(called)
        if failure is not None and failure.times > 0 and failure.only(params):
            failure.times -= 1
            raise RefusedError(called, failure.code, failure.text)
        if wrong := complaints(service, operation, params):
            raise RefusedError(called, "ValidationException", "; ".join(wrong))
        try:
            answer: dict[str, Any] = getattr(self.client(service), xform_name(operation))(**params)
        except ClientError as error:
            said = error.response["Error"]
            raise RefusedError(called, str(said["Code"]), str(said.get("Message", ""))) from None
        return answer

    def ask(self, service: str, operation: str, **params: Any) -> dict[str, Any]:
        """Call one operation with its parameters as keywords; raises as `call`."""
        return self.call(service, operation, params)

    def find(self, service: str, operation: str, **params: Any) -> dict[str, Any] | None:
        """Ask for a thing; None if it is not there. Raises as `call` for any other refusal."""
        try:
            return self.call(service, operation, params)
        except RefusedError as error:
            if gone(error):
                return None
            raise

    def send(self, requests: list[Request], itself: Callable[[dict[str, Any]], str]) -> list[dict[str, Any]]:
        """Send the requests that make a resource, and return their answers; raises as `call`.

        Args:
            requests: in order.
            itself: reads the resource's id from the first one's answer, for those that follow.
        """
        answers: list[dict[str, Any]] = []
        name = ITSELF
        for request in requests:
            if request.when != "create":
                continue
            answers.append(self._patiently(request.service, request.operation, _named(request.params, name)))
            if len(answers) == 1:
                name = itself(answers[0])
        return answers

    def _patiently(self, service: str, operation: str, params: Params) -> dict[str, Any]:
        """Call as the real provider does: what a new role is not yet known for is asked again."""
        for _ in range(_TRIES - 1):
            try:
                return self.call(service, operation, params)
            except RefusedError as error:
                if not any(words in str(error) for words in PROPAGATING):
                    raise
        return self.call(service, operation, params)


def arn(service: str, region: str, what: str) -> str:
    """Return the ARN of something in the doubles' account."""
    return f"arn:aws:{service}:{region}:{ACCOUNT}:{what}"


def gone(error: RefusedError) -> bool:
    """Tell whether a refusal says that the thing is not there."""
    # A request for the head of something has no body that could tell more than the status.
    return error.code == "404" or any(word in error.code for word in ("NotFound", "NoSuch", "NonExistent"))


def _named(params: Params, name: str) -> dict[str, Any]:
    return {key: name if value == ITSELF else value for key, value in params.items()}
