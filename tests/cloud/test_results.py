"""Records in a bucket that moto plays."""

import hashlib
from pathlib import PurePosixPath
from typing import Any

import pytest

from cloud.account import Account
from cloud.refusal import AWSRefusedError
from cloud.results import NoBucketError, Stored, StoredResults, bucket_of
from tests.cloud.conftest import REGION

pytestmark = pytest.mark.thorough

RECORD = "1/0123456789ab/one-user-1.json"


@pytest.fixture
def s3(account: Account) -> Any:
    return account.client("s3", REGION)


def made(s3: Any, bucket: str, experiment: str | None = None) -> None:
    s3.create_bucket(Bucket=bucket)
    if experiment:
        tags = [{"Key": "splitbed:experiment", "Value": experiment}]
        s3.put_bucket_tagging(Bucket=bucket, Tagging={"TagSet": tags})


def test_records_of_a_run_are_told_from_what_else_is_there(account: Account, s3: Any) -> None:
    made(s3, "mine")
    for key in (f"e/{RECORD}", "e/1/0123456789ab/failed/one-user-2-1.json", "e/1/notes.txt", "e/10/x.json", "f/1/y"):
        s3.put_object(Bucket="mine", Key=key, Body=key.encode())
    stored = StoredResults(account, REGION, "mine", "e")
    records, others = stored.records("1")
    assert [str(record.path) for record in records] == [
        "1/0123456789ab/failed/one-user-2-1.json",
        RECORD,
    ]
    assert others == ["e/1/notes.txt"]
    first = records[1]
    assert first.md5 == hashlib.md5(f"e/{RECORD}".encode(), usedforsecurity=False).hexdigest()
    assert first.size == len(f"e/{RECORD}")
    assert stored.read(first) == f"e/{RECORD}".encode()
    assert stored.place("1") == "s3://mine/e/1"


def test_a_record_in_parts_has_no_digest(account: Account, s3: Any) -> None:
    made(s3, "mine")
    key = f"e/{RECORD}"
    upload = s3.create_multipart_upload(Bucket="mine", Key=key)["UploadId"]
    part = s3.upload_part(Bucket="mine", Key=key, UploadId=upload, PartNumber=1, Body=b"one")
    s3.complete_multipart_upload(
        Bucket="mine", Key=key, UploadId=upload,
        MultipartUpload={"Parts": [{"PartNumber": 1, "ETag": part["ETag"]}]},
    )  # fmt: skip
    records, _ = StoredResults(account, REGION, "mine", "e").records("1")
    assert records == [Stored(path=PurePosixPath(RECORD), size=3, md5=None)]


def test_a_bucket_that_is_not_there_is_said_in_a_sentence(account: Account) -> None:
    with pytest.raises(AWSRefusedError, match="does not exist"):
        StoredResults(account, REGION, "nobodys", "e").records("1")


def test_the_bucket_that_a_stack_has_made_is_known_by_its_tag(account: Account, s3: Any) -> None:
    made(s3, "exp-e-0001", "e")
    made(s3, "exp-f-0001", "f")
    made(s3, "untagged")
    assert bucket_of(account, REGION, "e") == "exp-e-0001"
    with pytest.raises(NoBucketError, match="No bucket in us-east-1 has the tag splitbed:experiment=g"):
        bucket_of(account, REGION, "g")
    made(s3, "exp-e-0002", "e")
    with pytest.raises(NoBucketError, match="exp-e-0001, exp-e-0002"):
        bucket_of(account, REGION, "e")
