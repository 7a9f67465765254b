"""Keys of the labels and annotations by which our objects find one another, and people find our objects."""

EXPERIMENT = "splitbed.dev/experiment"
ROLE = "splitbed.dev/role"
"""Of an engine pod: leader or worker."""
GROUP = "splitbed.dev/group"
"""Of a node: system or engine."""
OWNER = "splitbed.dev/owner"
PURPOSE = "splitbed.dev/purpose"
END_DATE = "splitbed.dev/end-date"

COMPONENT = "app.kubernetes.io/component"
ARCHITECTURE = "kubernetes.io/arch"
HOSTNAME = "kubernetes.io/hostname"

# Put on its pods by the LeaderWorkerSet controller.
LWS_NAME = "leaderworkerset.sigs.k8s.io/name"
LWS_GROUP = "leaderworkerset.sigs.k8s.io/group-index"
LWS_WORKER = "leaderworkerset.sigs.k8s.io/worker-index"
"""Of a pod within its group; 0 is the leader."""
LWS_REVISION = "leaderworkerset.sigs.k8s.io/template-revision-hash"
"""Of a pod's group: the template it was made from."""
