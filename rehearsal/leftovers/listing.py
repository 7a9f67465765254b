"""One look at the whole machine, and the difference between two."""

from collections.abc import Mapping
from dataclasses import dataclass

from rehearsal.leftovers import files, network, nftables
from rehearsal.leftovers.processes import Process, Processes

# Of these, other people's come and go; what has gone is no change that we could have made.
_PASSING = frozenset({"process", "listening socket", "control group"})


@dataclass(frozen=True)
class Listing:
    """Everything found on the machine at one time.

    Attributes:
        processes: those that may be ours.
        things: all else, as descriptions by kind.
    """

    processes: frozenset[Process]
    things: Mapping[str, frozenset[str]]

    @classmethod
    def take(cls) -> "Listing":
        """Look at the machine; takes well below a second."""
        things = {
            "mount": frozenset(files.mounts()),
            "network interface": frozenset(network.links()),
            "address": frozenset(network.addresses()),
            "route": frozenset(network.routes()),
            "iptables rule": frozenset(network.iptables()),
            "nftables object": frozenset(nftables.objects()),
            "network namespace": frozenset(network.network_namespaces()),
            "kernel setting": frozenset(files.kernel_settings()),
            "file": frozenset(files.directories()),
            "file of the cache": frozenset(files.cache()),
        }
        # Last: the programs that were asked above have ended by now.
        processes = Processes.take()
        things["listening socket"] = frozenset(network.listening(processes.may_be_ours))
        things["control group"] = frozenset(files.cgroups(processes.may_be_ours))
        return cls(processes.ours(), things)


def diff(before: Listing, after: Listing) -> list[str]:
    """Return a sentence for each thing that is left, and each that is missing."""
    known = {(process.pid, process.started) for process in before.processes}
    left = sorted(
        f"process left: {process}" for process in after.processes if (process.pid, process.started) not in known
    )
    for kind, things in after.things.items():
        earlier = before.things.get(kind, frozenset())
        left += [f"{kind} left: {thing}" for thing in sorted(things - earlier)]
        if kind not in _PASSING:
            left += [f"{kind} missing: {thing}" for thing in sorted(earlier - things)]
    return left
