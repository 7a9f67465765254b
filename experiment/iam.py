"""IAM documents. Values may be anything that becomes text later, so these are data and not yet JSON."""

from collections.abc import Mapping, Sequence

Document = Mapping[str, object]
Statement = Mapping[str, object]

_VERSION = "2012-10-17"


def policy(*statements: Statement) -> Document:
    """Return a policy of these statements."""
    return {"Version": _VERSION, "Statement": list(statements)}


def allow(actions: Sequence[str], resources: Sequence[object], **conditions: Mapping[str, object]) -> Statement:
    """Return a statement that allows actions on resources.

    Args:
        actions: such as `s3:PutObject`.
        resources: ARNs or patterns of them.
        conditions: by operator, such as `StringLike={"s3:prefix": "run/*"}`; all must hold.
    """
    return {"Effect": "Allow", "Action": list(actions), "Resource": list(resources)} | _condition(conditions)


def trust(service: str, *, tagged_session: bool = False, **conditions: Mapping[str, object]) -> Document:
    """Return the policy by which a service of AWS may take a role.

    Args:
        service: such as `scheduler.amazonaws.com`.
        tagged_session: EKS Pod Identity tags its sessions with cluster, namespace and service account.
        conditions: by operator; all must hold.
    """
    statement: dict[str, object] = {
        "Effect": "Allow",
        "Principal": {"Service": service},
        "Action": ["sts:AssumeRole", "sts:TagSession"] if tagged_session else "sts:AssumeRole",
    }
    return policy(statement | _condition(conditions))


def encrypted_transport(bucket_arn: object, objects_arn: object) -> Document:
    """Return the policy of a bucket that answers over TLS only."""
    return policy(
        {
            "Effect": "Deny",
            "Principal": "*",
            "Action": "s3:*",
            "Resource": [bucket_arn, objects_arn],
            "Condition": {"Bool": {"aws:SecureTransport": "false"}},
        }
    )


def _condition(conditions: Mapping[str, Mapping[str, object]]) -> dict[str, object]:
    return {"Condition": dict(conditions)} if conditions else {}
