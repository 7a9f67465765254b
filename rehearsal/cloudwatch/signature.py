"""Whether a request is signed as AWS asks for it, by the signer that boto3 has.

SignatureError
    it is not.
"""

import re
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta

from botocore.auth import SigV4Auth
from botocore.awsrequest import AWSRequest
from botocore.credentials import Credentials

_ALGORITHM = "AWS4-HMAC-SHA256"
_HEADER = re.compile(
    rf"{_ALGORITHM} Credential=(?P<key>[^/]+)/(?P<day>\d{{8}})/(?P<region>[^/]+)/(?P<service>[^/]+)/aws4_request, ?"
    r"SignedHeaders=(?P<headers>[a-z0-9;-]+), ?Signature=(?P<signature>[0-9a-f]{64})"
)
_SKEW = timedelta(minutes=5)


class SignatureError(Exception):
    """Why AWS would refuse the request."""


@dataclass(frozen=True, kw_only=True)
class Signed:
    """A request as it came.

    Attributes:
        url: whole, as the client meant it.
        headers: with names in lower case.
        body: as on the wire, so compressed if it was.
    """

    method: str
    url: str
    headers: Mapping[str, str]
    body: bytes


def check(request: Signed, credentials: Credentials, region: str, service: str, now: datetime) -> None:
    """Compute the signature anew, over the headers that the client says it signed.

    Raises:
        SignatureError: there is none, it is of another key, region, service or time, or it is wrong.
    """
    found = _HEADER.fullmatch(request.headers.get("authorization", ""))
    if found is None:
        raise SignatureError("Missing Authentication Token")
    if found["key"] != credentials.access_key:
        raise SignatureError("The security token included in the request is invalid")
    if (found["region"], found["service"]) != (region, service):
        raise SignatureError(f"Credential should be scoped to {region} and {service}")
    stamp = request.headers.get("x-amz-date", "")
    try:
        signed_at = datetime.strptime(stamp, "%Y%m%dT%H%M%SZ").replace(tzinfo=UTC)
    except ValueError:
        raise SignatureError("Date must be in ISO-8601 'basic format'") from None
    if abs(now - signed_at) > _SKEW or not stamp.startswith(found["day"]):
        raise SignatureError("Signature expired")
    if credentials.token and request.headers.get("x-amz-security-token") != credentials.token:
        raise SignatureError("The security token included in the request is invalid")
    names = found["headers"].split(";")
    if "host" not in names or "x-amz-date" not in names or any(name not in request.headers for name in names):
        raise SignatureError("'Host' and the date must be signed, and no header that is not there")
    if _signature(request, names, stamp, credentials, region, service) != found["signature"]:
        raise SignatureError("The request signature we calculated does not match the signature you provided")


def _signature(
    request: Signed, names: list[str], stamp: str, credentials: Credentials, region: str, service: str
) -> str:
    signer = SigV4Auth(credentials, service, region)
    headers = {name: request.headers[name] for name in names}
    again = AWSRequest(method=request.method, url=request.url, headers=headers, data=request.body)
    again.context["timestamp"] = stamp
    canonical = signer.canonical_request(again)
    signature: str = signer.signature(signer.string_to_sign(again, canonical), again)
    return signature
