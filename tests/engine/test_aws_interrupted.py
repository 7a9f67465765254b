"""What a person breaks off, or what AWS or a colleague takes away meanwhile, comes to its end all the same."""

import json
from datetime import UTC, datetime, timedelta

import pytest

from tests.engine.aws_stack import AwsStack
from tests.engine.conftest import BroughtStack
from tests.engine.engine_stack import HOURS, SKIP, UNCHANGED, good
from tests.engine.in_cluster import everything
from tests.engine.planted_token import TOKEN, keeps_to_itself, seen_in

pytestmark = [pytest.mark.engine, pytest.mark.long, pytest.mark.aws]

STACK = "gemma-1b-split"
STEPS = 10
"""Between two interruptions, of those that change something."""
SOON_S = 300.0
"""A destroy that nothing answers; what the doubles take for each thing is nothing."""


def test_an_up_in_pieces_keeps_a_token_to_itself_and_is_ended_by_aws(aws_stack: BroughtStack) -> None:
    """Interrupted at every tenth step and continued, with a token in its configuration, until its end date comes."""
    ours = aws_stack(STACK, model__token_secret={"config": "hub"})
    ours.keep_secret("hub", TOKEN)
    seen = good(ours.pulumi("preview", "--diff"))
    assert "hub-token" in seen.said
    assert not seen_in(seen.said)

    pieces = 1
    ran = ours.pulumi("up", *SKIP, interrupt_at=STEPS)
    while ran.status != 0:
        assert pieces < 40, ran.said
        ran = ours.pulumi("up", *SKIP, interrupt_at=STEPS)
        pieces += 1
    assert pieces > 5, "it was interrupted"
    good(ours.pulumi("preview", *UNCHANGED))
    assert len(ours.instances()) == 3

    # The token is in the one Secret that is made for it.
    found = everything(ours.api)
    holding = [one["metadata"]["name"] for items in found.values() for one in items if seen_in(json.dumps(one))]
    assert holding == ["hub-token"]
    keeps_to_itself(ours)

    # At the end date the nodes go, with nobody at the keyboard.
    ours.world.enforcer.advance_to(datetime.now(UTC) + timedelta(hours=HOURS, minutes=1))
    assert set(ours.world.enforcer.ran.values()) == {"done"}
    assert ours.instances() == set()
    assert ours.api.get("/api/v1/nodes")["items"] == []

    # No node is left, and so no controller that would answer.
    gone = good(ours.pulumi("destroy", *SKIP))
    assert gone.seconds < SOON_S
    _nothing_is_left(ours)


def test_a_destroy_in_pieces_leaves_nothing(aws_stack: BroughtStack) -> None:
    """Broken off by Ctrl-C at every tenth step; Pulumi may call that a success, so the state is asked."""
    ours = aws_stack(STACK)
    good(ours.pulumi("up", *SKIP))
    pieces = 0
    while ours.resources():
        assert pieces < 40
        ours.pulumi("destroy", *SKIP, interrupt_at=STEPS)
        pieces += 1
    assert pieces > 5, "it was interrupted"
    _nothing_is_left(ours)


def test_a_cluster_deleted_behind_pulumis_back_is_destroyed(aws_stack: BroughtStack) -> None:
    ours = aws_stack(STACK)
    good(ours.pulumi("up", *SKIP))
    services = ours.world.services
    for group in services.ask("eks", "ListNodegroups", clusterName=ours.cluster)["nodegroups"]:
        services.ask("eks", "DeleteNodegroup", clusterName=ours.cluster, nodegroupName=group)
    services.ask("eks", "DeleteCluster", name=ours.cluster)
    gone = good(ours.pulumi("destroy", *SKIP))
    assert gone.seconds < SOON_S
    _nothing_is_left(ours)


def _nothing_is_left(ours: AwsStack) -> None:
    assert ours.resources() == []
    left = good(ours.splitbed("sweep", str(ours.file), "--json"))
    assert json.loads(left.said)["leftovers"] == []
