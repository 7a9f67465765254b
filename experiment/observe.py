"""What else looks at the nodes while they work; nothing unless it is asked for, as it takes what is measured."""

from pydantic import Field

from experiment.strict import Strict

DCGM_PORT = 9400
"""Where the exporter of each node tells its metrics, in Prometheus' format."""


class Observe(Strict):
    """Exporters beside the engine."""

    dcgm: bool = Field(
        False,
        description="true or false: NVIDIA's DCGM exporter on every node with GPUs, for what each GPU does, needs and "
        "sends (EKS only); the plan counts it",
    )
