"""Amazon Resource Names of what has no other name, or is named before it is there."""

ANY_ACCOUNT = "*"
"""In policies: they hold within their own account anyway, so an account that is not known yet need not be looked up."""


def partition(region: str) -> str:
    """Return the partition of a region: `aws`, `aws-cn` or `aws-us-gov`."""
    if region.startswith("cn-"):
        return "aws-cn"
    return "aws-us-gov" if region.startswith("us-gov-") else "aws"


def domain(region: str) -> str:
    """Return what the names of AWS's own services end with in a region."""
    return "amazonaws.com.cn" if partition(region) == "aws-cn" else "amazonaws.com"


def managed_policy(region: str, name: str) -> str:
    """Return the ARN of an IAM policy that AWS keeps, such as `AmazonEKSWorkerNodePolicy`."""
    return f"arn:{partition(region)}:iam::aws:policy/{name}"


def access_policy(region: str, name: str) -> str:
    """Return the ARN of an EKS access policy, such as `AmazonEKSClusterAdminPolicy`."""
    return f"arn:{partition(region)}:eks::aws:cluster-access-policy/{name}"


def node_group(region: str, cluster: str, group: str) -> str:
    """Return the pattern of a managed node group's ARN; EKS ends it with an id of its own."""
    return f"arn:{partition(region)}:eks:{region}:{ANY_ACCOUNT}:nodegroup/{cluster}/{group}/*"


def bucket(region: str, name: str) -> str:
    """Return the ARN of an S3 bucket."""
    return f"arn:{partition(region)}:s3:::{name}"
