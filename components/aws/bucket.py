"""A bucket for results."""

from collections.abc import Mapping
from dataclasses import dataclass

import pulumi
import pulumi_aws as aws

from experiment import iam, ownership


@dataclass(frozen=True, kw_only=True)
class BucketArgs:
    """Whose results, and whether they outlive the stack."""

    prefix: str
    """What its name begins with; AWS adds what makes it unique."""
    keep: bool
    tags: Mapping[str, str]


class Bucket(pulumi.ComponentResource):
    """Encrypted, reached over TLS only, closed to the public.

    One that is kept is left where it is at destroy, with all that guards it; one that is not goes with its records.
    """

    def __init__(self, name: str, args: BucketArgs, opts: pulumi.ResourceOptions | None = None) -> None:
        super().__init__("splitbed:index:Bucket", name, None, opts)
        child = pulumi.ResourceOptions(parent=self, retain_on_delete=args.keep)
        kept = {ownership.KEPT: "results"} if args.keep else {}
        bucket = aws.s3.Bucket(
            f"{name}-bucket",
            bucket_prefix=args.prefix,
            force_destroy=not args.keep,
            tags={**args.tags, **kept},
            opts=child,
        )
        aws.s3.BucketPublicAccessBlock(
            f"{name}-public-access",
            bucket=bucket.bucket,
            block_public_acls=True,
            block_public_policy=True,
            ignore_public_acls=True,
            restrict_public_buckets=True,
            opts=child,
        )
        aws.s3.BucketServerSideEncryptionConfiguration(
            f"{name}-encryption",
            bucket=bucket.bucket,
            rules=[
                aws.s3.BucketServerSideEncryptionConfigurationRuleArgs(
                    apply_server_side_encryption_by_default=aws.s3.BucketServerSideEncryptionConfigurationRuleApplyServerSideEncryptionByDefaultArgs(
                        sse_algorithm="AES256"
                    )
                )
            ],
            opts=child,
        )
        aws.s3.BucketPolicy(
            f"{name}-tls",
            bucket=bucket.bucket,
            policy=pulumi.Output.json_dumps(
                iam.encrypted_transport(bucket.arn, pulumi.Output.concat(bucket.arn, "/*"))
            ),
            opts=child,
        )
        self.bucket_name: pulumi.Output[str] = bucket.bucket
        self.arn: pulumi.Output[str] = bucket.arn
        self.register_outputs({"bucket_name": self.bucket_name, "arn": self.arn})
