"""Names of the Kubernetes objects of one experiment.

A LeaderWorkerSet derives pod, StatefulSet and label names from its own, so that name must be short and a DNS-1035
label, and it may not end in `-<number>`: the workers of `x` are the set `x-0`, which is also how the leaders of a set
`x-0` would be called.
"""

import hashlib
import re

PREFIX = "exp-"
LONGEST = 45
_DIGEST_DIGITS = 7


def object_name(experiment: str) -> str:
    """Return the name of the namespace and of the LeaderWorkerSet: prefixed, at most 45 characters.

    Args:
        experiment: a name of lower-case letters, digits and hyphens; it may begin with a digit.
    """
    plain = f"{PREFIX}{experiment}".rstrip("-")
    if len(plain) <= LONGEST and not re.search(r"-\d+$", plain):
        return plain
    digest = hashlib.sha256(experiment.encode()).hexdigest()[:_DIGEST_DIGITS]
    return f"{plain[: LONGEST - _DIGEST_DIGITS - 2].rstrip('-')}-x{digest}"


def logs_namespace(experiment: str) -> str:
    """Return the name of the namespace of the log shipper, who may more than the experiment's own pods."""
    return f"{object_name(experiment)}-logs"


def service_name(experiment: str) -> str:
    """Return the name of the leader's Service; the set's own name belongs to its headless Service."""
    return f"{object_name(experiment)}-leader"


def measured_service_name(experiment: str) -> str:
    """Return the name of the benchmark's own Service, where the leader's is sticky and that is not to be measured."""
    return f"{object_name(experiment)}-measured"


def job_name(run: str, plan_hash: str, attempt: int) -> str:
    """Return the name of one attempt at one run of one plan: another of the three is another Job."""
    return f"bench-{run}-{plan_hash}-a{attempt}"


def volume_name(experiment: str, what: str) -> str:
    """Return the name of the volume of results; it changes with `what` it is, which of a volume cannot be changed."""
    return f"{object_name(experiment)}-results-{hashlib.sha256(what.encode()).hexdigest()[:_DIGEST_DIGITS]}"


def directory_name(experiment: str, what: str) -> str:
    """Return the name of the volume, and of the claim, of a directory that every node has."""
    return f"{object_name(experiment)}-{what}"


def run_pattern() -> str:
    """Return the pattern of a Job's pods' names, from which run, plan and attempt are read by these names.

    A Job's pod is called after it, with a hyphen and five characters of Kubernetes' own.
    """
    return r"^bench-(?P<run>[a-z0-9-]+)-(?P<plan>[0-9a-f]{12})-a(?P<attempt>[0-9]+)-[a-z0-9]{5}$"


def group_pattern(experiment: str) -> str:
    """Return the pattern of the pods' names of a LeaderWorkerSet, from which group and worker are read.

    A leader is the set's own pod, with the group's number; the others are of a set that is called after it.
    """
    return rf"^{object_name(experiment)}-(?P<group>[0-9]+)(?:-(?P<worker>[0-9]+))?$"


def benchmark_role_name(experiment: str) -> str:
    """Return the name of the benchmark's rights outside the namespace, where every experiment's are."""
    return f"{object_name(experiment)}-benchmark"
