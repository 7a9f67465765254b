"""Nodes that AWS does not give: a person is told why in a sentence, and what to do."""

import json
import re

import pytest

from tests.engine.conftest import BroughtStack
from tests.engine.engine_stack import SKIP, UNCHANGED, good

pytestmark = [pytest.mark.engine, pytest.mark.long, pytest.mark.aws]

TAG_POLICY = (
    "Could not launch On-Demand Instances. TagPolicyException - The tag policy does not allow the specified value for "
    "the following tag key: 'CostCenter'. Launching EC2 instance failed."
)


def test_a_group_that_fails_is_explained_and_made_anew_as_it_says(aws_stack: BroughtStack) -> None:
    ours = aws_stack("gemma-1b-split")
    audit = ("audit", str(ours.file), "--region", ours.world.services.region, "--json")
    ours.world.estate.limit("m7g.2xlarge", 1, TAG_POLICY)
    failed = ours.pulumi("up", *SKIP)
    assert failed.status != 0
    assert "AsgInstanceLaunchFailures" in failed.said, "AWS's own words"
    assert "a tag policy of the organisation refuses the tags that instances are born with" in failed.said
    found = ours.splitbed(*audit)
    assert found.status != 0
    (finding,) = [one for one in json.loads(found.said)["findings"] if one["what"] == "lacks nodes"]
    assert finding["id"] == f"{ours.cluster}/engine"
    assert "a tag policy" in finding["said"]

    # The organisation lets it pass. The command is the one that was printed.
    ours.world.estate.limit("m7g.2xlarge", None)
    command = re.search(r"pulumi up --replace '([^']+)'", failed.said)
    assert command is not None
    good(ours.pulumi("up", *SKIP, "--replace", command[1]))
    assert len(ours.instances()) == 3
    good(ours.splitbed(*audit))
    good(ours.pulumi("preview", *UNCHANGED))
