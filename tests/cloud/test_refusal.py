"""What AWS refuses is said in one sentence, with its remedy."""

import pytest
from botocore import exceptions
from botocore.exceptions import ClientError

from cloud.refusal import AWSRefusedError, explain, explained


def refused(code: str, message: str = "", operation: str = "DescribeInstances") -> AWSRefusedError:
    return explain(ClientError({"Error": {"Code": code, "Message": message}}, operation), "ec2", "eu-south-2")


@pytest.mark.parametrize("code", ["ExpiredToken", "ExpiredTokenException", "RequestExpired"])
def test_a_sign_in_that_has_expired(code: str) -> None:
    assert refused(code).message == "The sign-in at AWS has expired."
    assert "aws sso login" in refused(code).remedy


def test_an_action_that_is_not_allowed_is_named_as_the_answer_names_it() -> None:
    said = "User: arn:aws:iam::1:user/x is not authorized to perform: iam:PassRole on resource: r because no policy"

    assert refused("AccessDenied", said).message == "iam:PassRole is not allowed to you in eu-south-2."
    assert refused("AccessDenied", said).denied == "iam:PassRole"


def test_an_action_that_the_answer_does_not_name_is_the_one_that_was_asked() -> None:
    assert refused("UnauthorizedOperation", "You are not authorized.").denied == "ec2:DescribeInstances"


@pytest.mark.parametrize("code", ["Throttling", "ThrottlingException", "RequestLimitExceeded"])
def test_throttling(code: str) -> None:
    assert "too often" in refused(code).message


@pytest.mark.parametrize(
    "code", ["OptInRequired", "AuthFailure", "UnrecognizedClientException", "InvalidClientTokenId"]
)
def test_a_region_that_is_off(code: str) -> None:
    error = refused(code)

    assert "eu-south-2" in error.message
    assert "urn it on" in error.remedy


def test_anything_else_is_told_in_the_services_words() -> None:
    assert refused("DependencyViolation", "resource sg-1 has a dependent object").message == (
        "ec2 in eu-south-2 refused DescribeInstances: resource sg-1 has a dependent object"
    )


@pytest.mark.parametrize(
    ("error", "said"),
    [
        (exceptions.NoCredentialsError(), "No credentials for AWS were found."),
        (exceptions.ProfileNotFound(profile="lab"), "The config profile (lab) could not be found."),
        (exceptions.TokenRetrievalError(provider="sso", error_msg="x"), "The sign-in at AWS has expired."),
        (exceptions.EndpointConnectionError(endpoint_url="https://x"), "ec2 in r cannot be reached."),
    ],
)
def test_what_never_reached_aws(error: exceptions.BotoCoreError, said: str) -> None:
    with pytest.raises(AWSRefusedError) as caught, explained("ec2", "r"):
        raise error

    assert caught.value.message == said
    assert caught.value.remedy
