"""Nodes and pods of the tracked stacks."""

import json
from datetime import UTC, datetime

from experiment.plan.machines import nodes
from experiment.plan.pods import pods
from experiment.settings import load
from tests.experiment.schedule.random_cases import Case
from tests.recording import stack_settings


def of(stack: str) -> Case:
    """Return a stack's nodes, and its pods in the order in which they are expected."""
    settings = load(json.dumps(stack_settings(stack)), datetime(2026, 11, 30, tzinfo=UTC))
    found = nodes(settings.nodes)
    return Case(found, pods(settings, found))
