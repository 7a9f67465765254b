"""What runs in a rehearsal's pods: the stand-in, or real vLLM with a tiny model."""

import os
import platform
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import psutil

from rehearsal import cluster as clusters
from rehearsal.images import Image, standin_image, vllm_image
from rehearsal.progress import Progress
from rehearsal.vllm.environment import VERSION, ensure_environment
from rehearsal.vllm.model import LAYERS, ensure_model

_PACKAGES_AT = "/opt/splitbed/vllm"
_MODEL_AT = "/opt/splitbed/gemma-3-1b-tiny"
SERVED_NAME = "gemma-3-tiny-random-weights"
"""What real vLLM serves its model as: the name is in every record, so none can be taken for one of the 1B."""


@dataclass(frozen=True, kw_only=True)
class PodEngine:
    """An engine that is ready to be put on a cluster.

    Attributes:
        image: what its pods run.
        settings: what a stack needs for it, by dotted path.
        shown: directories of this machine that its nodes show to containers.
        about: what a reader of its figures must know.
    """

    image: Image
    settings: Mapping[str, Any] = field(default_factory=dict)
    shown: Mapping[str, str] = field(default_factory=dict)
    about: tuple[str, ...]

    def nodes(self) -> tuple[clusters.NodeSpec, ...]:
        """Return the nodes of a cluster for it."""
        return tuple(clusters.NodeSpec(node.name, node.labels, self.shown) for node in clusters.DEFAULT_NODES)


def standin(home: Path, progress: Progress) -> PodEngine:
    """Return the stand-in.

    Raises:
        SplitbedError: its image cannot be made.
    """
    image = standin_image(home, progress)
    about = ("engine: Splitbed's stand-in for vLLM; all figures are simulated", *machine())
    return PodEngine(image=image, settings={"engine.image": image.reference}, about=about)


def vllm(home: Path, progress: Progress) -> PodEngine:
    """Return real vLLM, installed if need be, with a tiny model of random weights.

    Raises:
        SplitbedError: it cannot be installed, or its image cannot be made.
    """
    environment = ensure_environment(home, progress)
    model = ensure_model(home, progress)
    image = vllm_image(_PACKAGES_AT, home, progress)
    return PodEngine(
        image=image,
        settings={
            "engine.image": image.reference,
            "model.name": _MODEL_AT,
            "model.served_name": SERVED_NAME,
            "engine.flags": {"load-format": "dummy"},
            # Left to itself each pod binds to the first core that it sees, and all of them see the same.
            "engine.env": {"VLLM_CPU_OMP_THREADS_BIND": "nobind", "OMP_NUM_THREADS": "1"},
            "engine.resources": {"cpu": 1, "memory_gib": 6, "shared_memory_gib": 1},
            "engine.probes.startup_s": 900,
            "nodes.engine.memory_gib": 7,
            "benchmark.ready_timeout_s": 900,
            "benchmark.request_timeout_s": 240,
        },
        shown={_PACKAGES_AT: str(environment.packages), _MODEL_AT: str(model)},
        about=(
            f"engine: vLLM {VERSION} for CPUs, itself",
            f"model: Gemma 3 with {LAYERS} layers as small as they go and random weights; it says nothing of the 1B",
            *machine(),
        ),
    )


ENGINES: Mapping[str, Callable[[Path, Progress], PodEngine]] = {"standin": standin, "vllm": vllm}


def machine() -> tuple[str, ...]:
    """Return what a reader of figures must know of this machine: what it is, and that everything shares it."""
    cores = len(os.sched_getaffinity(0))
    memory = psutil.virtual_memory().total / 1024**3
    return (
        f"machine: {_processor()}, {cores} cores, {memory:.0f} GiB, Linux {platform.release()}",
        f"all nodes, and the client, share these {cores} cores, so no figure tells what two machines would do",
    )


def _processor() -> str:
    for line in Path("/proc/cpuinfo").read_text().splitlines():
        key, _, value = line.partition(":")
        if key.strip() in ("model name", "Model"):
            return value.strip()
    return platform.machine()
