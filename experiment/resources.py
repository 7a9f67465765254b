"""What a pod asks for, and how Kubernetes spells it."""

from typing import Self

from pydantic import Field, model_validator
from pydantic_core import PydanticCustomError

from experiment.strict import Strict

GPU = "nvidia.com/gpu"
"""Resource of one NVIDIA GPU, and key of the taint of nodes that have some."""


class PodResources(Strict):
    """CPU and memory of one pod; requests equal limits, so that two topologies are given the same."""

    cpu: float = Field(ge=0.01, le=1024, description="CPU cores, for example 6 or 0.3")
    memory_gib: float = Field(ge=0.01, le=65536, description="memory in GiB, /dev/shm included")

    @property
    def cpu_millicores(self) -> int:
        """Thousandths of a core, to which Kubernetes rounds."""
        return round(self.cpu * 1000)

    @property
    def memory_mib(self) -> int:
        """Whole MiB."""
        return round(self.memory_gib * 1024)

    def quantities(self) -> dict[str, str]:
        """Return the two amounts as Kubernetes writes them: `{"cpu": "300m", "memory": "1Gi"}`."""
        return {"cpu": cpu_quantity(self.cpu), "memory": memory_quantity(self.memory_gib)}


class EngineResources(PodResources):
    """Of an engine pod, whose shared memory is charged to the pod's own."""

    shared_memory_gib: float = Field(1, gt=0, description="size of /dev/shm in GiB; part of memory_gib")

    @model_validator(mode="after")
    def _shared_memory_is_part(self) -> Self:
        if self.shared_memory_gib >= self.memory_gib:
            raise PydanticCustomError(
                "shared_memory",
                "shared memory of {shared} GiB is charged to the pod, which has only {memory} GiB",
                {
                    "shared": f"{self.shared_memory_gib:g}",
                    "memory": f"{self.memory_gib:g}",
                    "remedy": "Raise memory_gib or lower shared_memory_gib.",
                },
            )
        return self


def cpu_quantity(cores: float) -> str:
    """Return cores as a Kubernetes quantity, to the thousandth: 6 is `6`, 0.3 is `300m`."""
    milli = round(cores * 1000)
    return f"{milli // 1000}" if milli % 1000 == 0 else f"{milli}m"


def memory_quantity(gib: float) -> str:
    """Return GiB as a Kubernetes quantity, to the MiB: 20 is `20Gi`, 0.5 is `512Mi`."""
    mib = round(gib * 1024)
    return f"{mib // 1024}Gi" if mib % 1024 == 0 else f"{mib}Mi"
