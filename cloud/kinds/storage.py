"""What keeps something: queues of failed attempts, and buckets of results."""

from collections.abc import Iterator, Sequence

from botocore.exceptions import ClientError

from cloud.account import Account
from cloud.kinds.kind import Kind
from cloud.refusal import explain
from cloud.thing import Thing, tag_map


def _queues(account: Account, region: str, _: Sequence[Thing]) -> Iterator[Thing]:
    for url in account.pages("sqs", region, "list_queues", "QueueUrls"):
        tags = account.seen("sqs", region, "list_queue_tags", QueueUrl=url)
        if tags is not None:
            yield Thing("queue", url, region, tags.get("Tags", {}))


def _buckets(account: Account, region: str, _: Sequence[Thing]) -> Iterator[Thing]:
    for one in account.pages("s3", region, "list_buckets", "Buckets", BucketRegion=region):
        try:
            tags = account.client("s3", region).get_bucket_tagging(Bucket=one["Name"])["TagSet"]
        except ClientError as error:
            # A bucket without tags is said by an error; one that may not be looked at is not of our making.
            if error.response["Error"]["Code"] in ("NoSuchTagSet", "AccessDenied", "NoSuchBucket"):
                continue
            raise explain(error, "s3", region) from error
        yield Thing("bucket", one["Name"], region, tag_map(tags))


def _delete_bucket(account: Account, thing: Thing) -> None:
    s3 = account.client("s3", thing.region)
    for page in s3.get_paginator("list_object_versions").paginate(Bucket=thing.id):
        for one in [*page.get("Versions", []), *page.get("DeleteMarkers", [])]:
            s3.delete_object(Bucket=thing.id, Key=one["Key"], VersionId=one["VersionId"])
    s3.delete_bucket(Bucket=thing.id)


QUEUE = Kind(
    "queue", _queues, lambda account, thing: account.client("sqs", thing.region).delete_queue(QueueUrl=thing.id)
)
BUCKET = Kind("bucket", _buckets, _delete_bucket)
