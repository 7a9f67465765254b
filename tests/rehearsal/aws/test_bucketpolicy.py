"""A bucket's policy against requests, on moto."""

import json

import boto3
import pytest
from botocore.exceptions import ClientError
from moto import mock_aws

from rehearsal.aws import bucketpolicy

PLAIN = {
    "Effect": "Deny",
    "Principal": "*",
    "Action": "s3:*",
    "Resource": ["arn:aws:s3:::bucket", "arn:aws:s3:::bucket/*"],
    "Condition": {"Bool": {"aws:SecureTransport": "false"}},
}


def put(*statements: object) -> None:
    s3 = boto3.client("s3", region_name="us-east-1")
    s3.create_bucket(Bucket="bucket")
    s3.put_bucket_policy(Bucket="bucket", Policy=json.dumps({"Version": "2012-10-17", "Statement": statements}))
    s3.put_object(Bucket="bucket", Key="k", Body=b"")


@pytest.mark.thorough
@mock_aws
def test_what_is_denied_to_plain_requests_is_denied_to_those_alone() -> None:
    with bucketpolicy.over_tls():
        put(PLAIN)
    with pytest.raises(ClientError, match="PutObject"):
        boto3.client("s3", region_name="us-east-1").put_object(Bucket="bucket", Key="k", Body=b"")


@pytest.mark.thorough
@mock_aws
def test_what_is_denied_to_all_stays_denied() -> None:
    always = {key: value for key, value in PLAIN.items() if key != "Condition"}
    with bucketpolicy.over_tls(), pytest.raises(ClientError, match="PutObject"):
        put(PLAIN, always)
