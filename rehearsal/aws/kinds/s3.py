"""Buckets and what guards them."""

from rehearsal.aws.kinds.kind import Kind, Made, Making, Resource, Values, put
from rehearsal.aws.requests import listed
from rehearsal.aws.services import Services


def _bucket(new: Making) -> Made:
    return Made(new.name, {"arn": f"arn:aws:s3:::{new.name}", "bucket": new.name})


def _look(services: Services, resource: Resource) -> Values | None:
    return None if services.find("s3", "HeadBucket", Bucket=resource.id) is None else {}


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
    return Kind(
        type_,
        required=frozenset({"bucket"}),
        fixed=frozenset({"bucket"}),
        make=_of_bucket,
        delete=lambda services, resource: services.ask("s3", deletion, Bucket=resource.id),
        change=put(type_),
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
