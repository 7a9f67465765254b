"""What AWS refuses, in a sentence with a remedy.

AWSRefusedError
    AWS did not do, or not answer, what it was asked.
"""

import re
from collections.abc import Iterator
from contextlib import contextmanager

from botocore import exceptions
from botocore.exceptions import BotoCoreError, ClientError

from experiment.errors import SplitbedError
from experiment.printable import printable

_SIGN_IN = "Sign in, for example by `aws sso login`, and name a profile by AWS_PROFILE if you have several."
_EXPIRED = frozenset({"ExpiredToken", "ExpiredTokenException", "RequestExpired", "TokenRefreshRequired"})
_NOBODY = frozenset({"InvalidClientTokenId", "UnrecognizedClientException", "AuthFailure", "InvalidAccessKeyId"})
_DENIED = frozenset(
    {"AccessDenied", "AccessDeniedException", "UnauthorizedOperation", "AuthorizationError", "NotAuthorized"}
)
_THROTTLED = frozenset(
    {"Throttling", "ThrottlingException", "RequestLimitExceeded", "TooManyRequestsException", "SlowDown"}
)
_GONE = frozenset(
    {"NoSuchEntity", "ResourceNotFoundException", "QueueDoesNotExist", "AWS.SimpleQueueService.NonExistentQueue"}
)
_OFF = frozenset({"OptInRequired", "RegionDisabledException"})
_ACTION = re.compile(r"perform:? ([a-z0-9-]+:[A-Za-z0-9]+)")


class AWSRefusedError(SplitbedError):
    """AWS did not do, or not answer, what it was asked.

    Attributes:
        denied: the action that is not allowed, if that is why.
        gone: whether that is why: what it was asked about is not there, not yet or not any more.
    """

    def __init__(self, message: str, remedy: str, denied: str | None = None, *, gone: bool = False) -> None:
        super().__init__(message, remedy)
        self.denied, self.gone = denied, gone


@contextmanager
def explained(service: str, region: str) -> Iterator[None]:
    """Turn what boto3 raises into what a person can mend.

    Args:
        service: whom is asked, as IAM calls it in its actions.
        region: where.

    Raises:
        AWSRefusedError: in place of any error of boto3.
    """
    try:
        yield
    except (ClientError, BotoCoreError) as error:
        raise explain(error, service, region) from error


def explain(error: ClientError | BotoCoreError, service: str, region: str) -> AWSRefusedError:
    """Return the error in a person's words."""
    if isinstance(error, ClientError):
        return _of_the_service(error, service, region)
    match error:
        case exceptions.NoCredentialsError() | exceptions.PartialCredentialsError():
            return AWSRefusedError("No credentials for AWS were found.", _SIGN_IN)
        case exceptions.ProfileNotFound():
            return AWSRefusedError(f"{error}.", "See `aws configure list-profiles`.")
        case exceptions.TokenRetrievalError() | exceptions.SSOTokenLoadError() | exceptions.UnauthorizedSSOTokenError():
            return AWSRefusedError("The sign-in at AWS has expired.", _SIGN_IN)
        case exceptions.CredentialRetrievalError():
            return AWSRefusedError("The credentials for AWS could not be had.", _SIGN_IN)
        case exceptions.EndpointConnectionError() | exceptions.ConnectTimeoutError() | exceptions.ReadTimeoutError():
            return AWSRefusedError(
                f"{service} in {region} cannot be reached.", "Check the name of the region, the network and its proxy."
            )
        case _:
            return AWSRefusedError(
                f"{service} in {region} was not asked: {printable(str(error))}", "See `aws sts get-caller-identity`."
            )


def _of_the_service(error: ClientError, service: str, region: str) -> AWSRefusedError:
    code = error.response.get("Error", {}).get("Code", "")
    text = error.response.get("Error", {}).get("Message", "")
    if code in _EXPIRED:
        return AWSRefusedError("The sign-in at AWS has expired.", _SIGN_IN)
    if code in _OFF:
        return AWSRefusedError(
            f"The region {region} is off in this account.", "Turn it on in the account's settings, or take another."
        )
    if code in _NOBODY:
        return AWSRefusedError(
            f"AWS does not know these credentials in {region}.",
            f"If they work elsewhere, the region is off in this account: turn it on. Else: {_SIGN_IN}",
        )
    if code in _DENIED:
        said = _ACTION.search(text)
        action = said[1] if said else f"{service}:{error.operation_name}"
        return AWSRefusedError(
            f"{action} is not allowed to you in {region}.",
            f"Have {action} added to your role's policy, or sign in with another one.",
            denied=action,
        )
    if code in _THROTTLED:
        return AWSRefusedError(
            f"{service} in {region} has been asked too often and answers no more.",
            "Wait a minute and run the same again.",
        )
    return AWSRefusedError(
        f"{service} in {region} refused {error.operation_name}: {printable(text or code)}",
        "Mend that and run again.",
        gone=code in _GONE,
    )
