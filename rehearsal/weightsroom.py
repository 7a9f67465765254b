"""The directory of a rehearsal's nodes that holds weights."""

import os
from pathlib import Path

from experiment import machines
from rehearsal.cluster.layout import Layout


def make(layout: Layout, node: str) -> Path:
    """Do what user data does on a node of EKS: the directory is there, and belongs to the user of our containers."""
    directory = layout.on_node(node, machines.WEIGHTS)
    directory.mkdir(parents=True, exist_ok=True)
    os.chown(directory, machines.OWNER, machines.OWNER)
    return directory
