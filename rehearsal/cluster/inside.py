"""The first process inside a cluster's namespaces; when it ends, everything in them ends.

Run by `up` as `python -m rehearsal.cluster.inside <plan> <descriptor that up holds>` below `unshare`.
"""

import subprocess
import sys
from pathlib import Path

from rehearsal.cluster import namespaces
from rehearsal.cluster.plan import Plan
from rehearsal.cluster.supervisor import Supervisor, say


def main() -> None:
    """Set the namespaces up and supervise the plan's programs."""
    plan_path, hold = Path(sys.argv[1]), int(sys.argv[2])
    plan = Plan.load(plan_path)
    say("setting up the namespaces")
    namespaces.make_private()
    namespaces.place(plan.binds, plan_path.with_name("stage"))
    namespaces.pin_kernel_settings(plan_path.with_name("kernel"))
    subprocess.run(["ip", "link", "set", "lo", "up"], check=True)
    for address in plan.addresses:
        subprocess.run(["ip", "address", "add", f"{address}/32", "dev", "lo"], check=True)
    Path("/proc/sys/net/ipv4/ip_forward").write_text("1")
    enter = {node: namespaces.entering(namespaces.node_namespace(node, plan.binds)) for node in plan.nodes}
    Supervisor(plan_path, hold, enter, say).run()


if __name__ == "__main__":
    main()
