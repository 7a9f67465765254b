"""What the add-ons take of a node."""

from experiment.catalogue.addons import addons


def test_a_node_gives_the_daemon_sets_of_the_posts_what_eks_deploys() -> None:
    everywhere = [addon for addon in addons().values() if addon.kind == "daemonset" and addon.where == "all"]
    cpu = {addon.name: addon.cpu_millicores for addon in everywhere}

    assert cpu["vpc-cni"] == 50
    assert cpu["kube-proxy"] == 100
    assert sum(cpu.values()) < 7910 - 6000, "an engine pod of 6 cores must still fit beside them"


def test_dns_is_two_pods_of_a_tenth_of_a_core() -> None:
    dns = addons()["coredns"]

    assert (dns.kind, dns.replicas, dns.cpu_millicores, dns.memory_mib) == ("deployment", 2, 100, 70)


def test_every_add_on_names_its_source() -> None:
    assert all(addon.source for addon in addons().values())
    assert all(addon.replicas == 1 for addon in addons().values() if addon.kind == "daemonset")


def test_what_asks_for_nothing_is_said_to_ask_for_nothing() -> None:
    for addon in addons().values():
        if addon.cpu_millicores == 0:
            assert "asks for nothing" in addon.source, addon.name
