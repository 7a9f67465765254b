"""Nodes close together, and what keeps them apart."""

from experiment.catalogue.instances import instance_types
from experiment.nodes import InstanceGroup, Nodes, groups
from experiment.problem import Problem


def efa_stays_in_one_subnet(nodes: Nodes) -> list[Problem]:
    """EFA's traffic is not routed: it reaches the nodes of one subnet, and few types have it."""
    found = []
    for name, group in groups(nodes):
        if not isinstance(group, InstanceGroup) or not group.efa:
            continue
        path = f"nodes.{name}.efa"
        known = instance_types().get(group.instance)
        if group.spread:
            why = "EFA's traffic does not leave its subnet, and the nodes would be in one of each zone"
            found.append(Problem(path, f"true with nodes.{name}.spread true", why, "Take spread: false."))
        if known is not None and not known.efa:
            why = f"{group.instance} has no Elastic Fabric Adapter"
            found.append(
                Problem(path, f"true with {group.instance}", why, "Leave efa out, or take a type that has it.")
            )
    return found


def a_placement_group_is_in_one_zone(nodes: Nodes) -> list[Problem]:
    """And it cannot take in capacity that was reserved outside it."""
    found = []
    for name, group in groups(nodes):
        if not isinstance(group, InstanceGroup) or not group.placement_group:
            continue
        path = f"nodes.{name}.placement_group"
        if group.spread:
            why = "a cluster placement group lies in one zone"
            found.append(Problem(path, f"true with nodes.{name}.spread true", why, "Take spread: false."))
        if group.reservation is not None:
            why = "the reservation was not made in the placement group of this experiment, so no instance would start"
            remedy = "Leave placement_group out; the instances of one reservation are as close as AWS placed it."
            found.append(Problem(path, f"true with nodes.{name}.reservation {group.reservation}", why, remedy))
    return found


RULES = (efa_stays_in_one_subnet, a_placement_group_is_in_one_zone)
