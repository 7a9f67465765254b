"""What a rehearsal leaves on the machine: a full listing before, one after, and their difference.

    mark_command()                          # what this process starts from now on can be told from other people's
    before = Listing.take()
    ...
    left = diff(before, Listing.take())     # [] when the machine is as before; else one sentence per leftover

Listed are processes, mounts, network interfaces, addresses, routes and routing rules, iptables and nftables rules,
network namespaces, control groups, listening sockets, kernel settings that a kubelet would change, the directories
its daemons write to whatever they are told, what they leave in /tmp, and the running clusters and lock files of the
cache.

Other people use the machine too. What they do to its network, mounts and directories is reported all the same,
because nobody could tell it from ours. Processes, their sockets and their control groups come and go all the time,
and are reported only where they can be ours: see `rehearsal.leftovers.processes`. Kernel modules, which load
themselves when first used, and the built tools and images, which are kept on purpose, are not listed.
"""

from rehearsal.leftovers.errors import ListingError
from rehearsal.leftovers.listing import Listing, diff
from rehearsal.leftovers.processes import mark_command

__all__ = ["Listing", "ListingError", "diff", "mark_command"]
