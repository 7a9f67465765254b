"""All kinds that the double of the `aws` provider knows."""

from rehearsal.aws.kinds import autoscaling, ec2, eks, iam, logs, s3, schedules

KINDS = {kind.type: kind for module in (autoscaling, ec2, eks, iam, logs, s3, schedules) for kind in module.KINDS}
