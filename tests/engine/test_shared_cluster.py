"""Two stacks on a cluster that was given: one brings the controller, the other uses it, neither touches the other."""

from pathlib import Path

import pytest

from rehearsal.aws.controlplane import ControlPlane
from rehearsal.cluster.api import Api
from tests.engine.engine_stack import SKIP, UNCHANGED, EngineStack, good
from tests.engine.in_cluster import everything

pytestmark = [pytest.mark.engine, pytest.mark.long]

OURS, THEIRS = "rehearsal-split", "rehearsal-single"


def test_neither_is_touched_by_the_other(
    given: ControlPlane, pretended: dict[str, Path], tmp_path_factory: pytest.TempPathFactory
) -> None:
    cluster = {"kind": "kubeconfig", "kubeconfig": str(given.kubeconfig)}
    ours, theirs = (EngineStack(name, tmp_path_factory.mktemp(name) / "s", pretended) for name in (OURS, THEIRS))
    ours.create(cluster=cluster)
    theirs.create(cluster=cluster)

    # To use a controller where there is none is refused.
    theirs.change(lws={"mode": "existing"})
    none = theirs.pulumi("up", *SKIP)
    assert none.status != 0
    assert "the cluster has no LeaderWorkerSet controller" in none.said

    # The other one's is neither installed over nor used without saying whose it is.
    good(ours.pulumi("up", *SKIP))
    before = _specified(given.api, OURS)
    theirs.change(lws={"mode": "install", "chart": str(pretended["chart"])})
    over = theirs.pulumi("up", *SKIP)
    assert over.status != 0
    assert f"of experiment '{OURS}' already" in over.said
    theirs.change(lws={"mode": "existing"})
    unsaid = theirs.pulumi("up", *SKIP)
    assert unsaid.status != 0
    assert f"lws: {{mode: existing, of: {OURS}}}" in unsaid.said
    assert [one for one in theirs.resources() if "kubernetes" in one] == []
    theirs.change(lws={"mode": "existing", "of": OURS})
    good(theirs.pulumi("up", *SKIP))
    assert _specified(given.api, OURS) == before
    for stack in (ours, theirs):
        good(stack.pulumi("preview", *UNCHANGED))

    # What brought the controller does not take it away from under the other one, and says who needs it.
    serving = _specified(given.api, THEIRS)
    early = ours.pulumi("destroy", *SKIP)
    assert early.status != 0
    assert f"destroy {THEIRS} first" in early.said
    assert _specified(given.api, THEIRS) == serving
    kept = [one for one in ours.resources() if "testbed-lws-" in one]
    assert any("CustomResourceDefinition" in one for one in kept)
    assert any("Deployment" in one for one in kept)

    # It is there again, whole, and goes once the other one is gone, who took nothing of it along.
    good(ours.pulumi("up", *SKIP))
    before = _specified(given.api, OURS)
    good(theirs.pulumi("destroy", *SKIP))
    assert theirs.resources() == []
    assert _specified(given.api, OURS) == before
    assert _specified(given.api, THEIRS) == {}
    good(ours.pulumi("preview", *UNCHANGED))
    good(ours.pulumi("destroy", *SKIP))
    assert ours.resources() == []


def _specified(api: Api, experiment: str) -> dict[str, tuple[str, int | None]]:
    """Return identity and generation of all that is labelled as an experiment's: another generation is another wish."""
    return {
        f"{path} {one['metadata'].get('namespace', '')}/{one['metadata']['name']}": (
            one["metadata"]["uid"],
            one["metadata"].get("generation"),
        )
        for path, items in everything(api).items()
        for one in items
        if (one["metadata"].get("labels") or {}).get("splitbed.dev/experiment") == experiment
        if not path.endswith(("/pods", "/events", "/endpoints", "/endpointslices"))
    }
