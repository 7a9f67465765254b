"""Records in S3: a bucket, the right to a run's own prefix, and the containers that carry them there."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import pulumi
from pulumi_kubernetes.core.v1 import EmptyDirVolumeSourceArgs, VolumeArgs

from components import carrier
from components.aws.bucket import Bucket, BucketArgs
from components.aws.pod_role import PodRole, PodRoleArgs
from components.carrier import CarrierArgs
from components.records import VOLUME, Records
from experiment import arn, iam, names, upload
from experiment.benchmark import S3Results

# A bucket's name has at most 63 characters, of which Pulumi and AWS take 26 to make it unique.
_LONGEST_PREFIX = 37


@dataclass(frozen=True, kw_only=True)
class BucketResultsArgs:
    """Which bucket, for which run, written by whose pods."""

    experiment: str
    run: str
    results: S3Results
    region: str
    cluster_name: str
    namespace: str
    service_account: str
    image: str
    """Of the AWS CLI."""
    after: Sequence[pulumi.Resource]
    """The cluster."""
    tags: Mapping[str, str]


class BucketResults(pulumi.ComponentResource):
    """The records of a run, below its own prefix of a bucket that is given or made here."""

    def __init__(self, name: str, args: BucketResultsArgs, opts: pulumi.ResourceOptions | None = None) -> None:
        super().__init__("splitbed:index:BucketResults", name, None, opts)
        self._name, self._args = name, args
        bucket_arn = self._bucket()
        prefix = upload.prefix(args.experiment, args.run)
        role = PodRole(
            f"{name}-role",
            PodRoleArgs(
                cluster_name=args.cluster_name,
                namespace=args.namespace,
                service_account=args.service_account,
                purpose=f"Records of {args.experiment}, run {args.run}",
                statements=[
                    iam.allow(["s3:GetObject", "s3:PutObject"], [pulumi.Output.concat(bucket_arn, f"/{prefix}/*")]),
                    iam.allow(["s3:ListBucket"], [bucket_arn], StringLike={"s3:prefix": [prefix, f"{prefix}/*"]}),
                ],
                after=args.after,
                tags=args.tags,
            ),
            pulumi.ResourceOptions(parent=self),
        )
        self.records = Records(
            volume=VolumeArgs(name=VOLUME, empty_dir=EmptyDirVolumeSourceArgs()),
            carriers=carrier.containers(
                CarrierArgs(image=args.image, region=args.region, bucket=self.bucket_name, prefix=prefix, run=args.run)
            ),
            after=[role],
        )
        self.register_outputs({"bucket_name": self.bucket_name})

    def _bucket(self) -> pulumi.Input[str]:
        args = self._args
        self.bucket_name: pulumi.Input[str]
        if args.results.bucket is not None:
            self.bucket_name = args.results.bucket
            return arn.bucket(args.region, args.results.bucket)
        bucket = Bucket(
            f"{self._name}-own",
            BucketArgs(
                prefix=f"{names.object_name(args.experiment)[: _LONGEST_PREFIX - 1].rstrip('-')}-",
                keep=args.results.keep,
                tags=args.tags,
            ),
            pulumi.ResourceOptions(parent=self),
        )
        self.bucket_name = bucket.bucket_name
        return bucket.arn
