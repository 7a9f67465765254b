"""Buckets and what guards them."""

from rehearsal.aws.kinds.kind import Changing, Kind, Made, Making, Resource, Values
from rehearsal.aws.requests import listed, requests
from rehearsal.aws.services import RefusedError, Services, gone


def _bucket(new: Making) -> Made:
    # The request that made it has its new.name; it is read by the caller from there.
    return Made(new.name, {"arn": f"arn:aws:s3:::{new.name}", "bucket": new.name})


def _look(services: Services, resource: Resource) -> Values | None:
    try:
        services.ask("s3", "HeadBucket", Bucket=resource.id)
    except RefusedError as error:
        if gone(error) or error.code == "404":
            return None
        raise
    return {}


def _delete(services: Services, resource: Resource) -> None:
    if resource.state.get("forceDestroy"):
        for one in services.ask("s3", "ListObjectsV2", Bucket=resource.id).get("Contents", []):
            services.ask("s3", "DeleteObject", Bucket=resource.id, Key=one["Key"])
    services.ask("s3", "DeleteBucket", Bucket=resource.id)


def _tag(services: Services, resource: Resource, tags: Values) -> None:
    services.ask("s3", "PutBucketTagging", Bucket=resource.id, Tagging={"TagSet": listed(tags)})


def _of_bucket(new: Making) -> Made:
    return Made(new.inputs["bucket"], {})


def _guard(type_: str, deletion: str) -> Kind:
    """Return a kind that a bucket has one of: to change it is to put another in its place."""

    def change(change: Changing) -> None:
        change.services.send(requests(type_, change.news), lambda _: "")

    return Kind(
        type_,
        required=frozenset({"bucket"}),
        fixed=frozenset({"bucket"}),
        make=_of_bucket,
        delete=lambda services, resource: services.ask("s3", deletion, Bucket=resource.id),
        change=change,
        computed=(),
    )


BUCKET = "aws:s3/bucket:Bucket"

KINDS = (
    Kind(
        BUCKET,
        required=frozenset(),
        fixed=frozenset({"bucket", "bucketPrefix"}),
        make=_bucket,
        delete=_delete,
        look=_look,
        tag=_tag,
        computed=("arn", "bucket"),
    ),
    _guard("aws:s3/bucketPolicy:BucketPolicy", "DeleteBucketPolicy"),
    _guard("aws:s3/bucketPublicAccessBlock:BucketPublicAccessBlock", "DeletePublicAccessBlock"),
    _guard(
        "aws:s3/bucketServerSideEncryptionConfiguration:BucketServerSideEncryptionConfiguration",
        "DeleteBucketEncryption",
    ),
)
