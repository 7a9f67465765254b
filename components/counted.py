"""What a daemon set of ours asks for: the figures that the plan counts, from the one place where they stand."""

from pulumi_kubernetes.core.v1 import ResourceRequirementsArgs

from experiment.catalogue.addons import addons


def resources(addon: str) -> ResourceRequirementsArgs:
    """Return the requests of an add-on's one container; its limits are the same, so that it takes no more of a node."""
    counted = addons()[addon]
    quantities = {"cpu": f"{counted.cpu_millicores}m", "memory": f"{counted.memory_mib}Mi"}
    return ResourceRequirementsArgs(requests=quantities, limits=quantities)
