"""The provider of everything that is made in AWS: it names one region, and the one account in which it may act."""

from collections.abc import Mapping

import pulumi_aws as aws

from experiment.cluster import EksCluster


def provider(cluster: EksCluster, tags: Mapping[str, str]) -> aws.Provider:
    """Return the provider; who signs in is the business of the environment, never of the state.

    Args:
        cluster: where.
        tags: a second net below what each resource is tagged with by itself.
    """
    return aws.Provider(
        "aws",
        region=cluster.region,
        allowed_account_ids=[cluster.account] if cluster.account is not None else None,
        default_tags=aws.ProviderDefaultTagsArgs(tags=tags),
    )
