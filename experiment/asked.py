"""What a stack asked for, by which the benchmark tells that what runs is that.

Travels in the Job's zip and runs in the engine's image: standard library and pydantic only.
"""

from typing import Literal

from pydantic import Field

from experiment.strict import Strict

Role = Literal["leader", "worker"]

# Expanded by Kubernetes in a container's args, from variables that the LeaderWorkerSet controller puts before our own.
LEADER_ADDRESS = "$(LWS_LEADER_ADDRESS)"
WORKER_INDEX = "$(LWS_WORKER_INDEX)"


class Asked(Strict):
    """The engine's pods as the stack asked for them.

    Arguments are the engine's whole command line as in the pods' template, where `LEADER_ADDRESS` and `WORKER_INDEX`
    stand for what is put in for each pod.
    """

    experiment: str
    set_name: str = Field(description="name of the LeaderWorkerSet")
    groups: int = Field(ge=1)
    size: int = Field(ge=1, description="pods of a group")
    http_port: int
    agent_port: int = Field(description="where each pod's agent tells its counters")
    arguments: dict[Role, tuple[str, ...]]
    image: str
    version: str = Field(description="of the engine")
    max_model_len: int
    kv_tokens: int | None = Field(description="size of the KV cache in tokens; none if it was not worked out exactly")
    instance: str | None = Field(description="EC2 instance type of the engine's nodes; none of nodes that were there")
    zones: tuple[str, ...] = Field(description="where these may be; empty of nodes that were there")

    def expanded(self, group: int, worker: int, namespace: str) -> tuple[str, ...]:
        """Return the command line of one pod, as the controller and Kubernetes make it.

        Raises:
            KeyError: no such pod was asked for.
        """
        leader = f"{self.set_name}-{group}.{self.set_name}.{namespace}"
        return tuple(
            argument.replace(LEADER_ADDRESS, leader).replace(WORKER_INDEX, str(worker))
            for argument in self.arguments["worker" if worker else "leader"]
        )

    @property
    def pods(self) -> int:
        """How many pods there are."""
        return self.groups * self.size

    def to_json(self) -> str:
        """Return the text that `Asked.model_validate_json` reads back."""
        return self.model_dump_json(indent=2) + "\n"
