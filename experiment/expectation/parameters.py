"""The numbers that predictions stand on: of m7g.2xlarge nodes from the posts, of GPUs from their data sheets."""

from experiment.expectation.parameter import ASSUMED, Parameter

SOFTWARE = Parameter(
    name="software for one token, one pod",
    value=48.0,
    unit="ms",
    source="the posts: 21 tokens/s in one pod, and 57 ms between tokens of the split less the 9 ms of its network",
)
"""A small model takes this long whatever its size: reading its weights hides behind it."""

BANDWIDTH = Parameter(
    name="memory bandwidth of a node",
    value=100.0,
    unit="GB/s",
    source="the 12B post: 24 GB in 241 ms, very roughly, by its author's own reckoning",
)

HOP = Parameter(
    name="one hop between stages for one token",
    value=4.5,
    unit="ms",
    source="the 1B post: 9 ms a token over two stages, which is a hop there and one back",
)

PREFILL = Parameter(
    name="prompt tokens of a 1B model read in a second",
    value=600.0,
    unit="tokens/s",
    source="the 1B post, one pod of 6 cores and the split alike",
)
PREFILL_PARAMETERS = 999_885_952
"""Parameters of the model that `PREFILL` was measured on."""

MORE_USERS = Parameter(
    name="what one more user adds to the time of a token",
    value=5.6,
    unit="ms",
    source="the 1B post: 8 users of one pod had 92 tokens/s, which is 87 ms a step, and one had 48 ms",
)

PROMPT_TRAFFIC = Parameter(
    name="traffic between two stages for one prompt token", value=4.5, unit="KB", source="the 1B post"
)
TOKEN_TRAFFIC = Parameter(
    name="traffic between two stages for one generated token", value=10.0, unit="KB", source="the 1B post, roughly"
)
TRAFFIC_HIDDEN_SIZE = 1152
"""Width of the model that the traffic was measured on; what stages send each other is as wide."""

_VLLMS_OWN = "sgl-project/sglang pull request 2904: vLLM's own all-reduce of 32 KiB on H100, January 2025"
NVLINK_2 = Parameter(name="all-reduce of 2 GPUs over NVLink", value=8.7, unit="us", source=_VLLMS_OWN)
NVLINK_4 = Parameter(name="all-reduce of 4 GPUs over NVLink", value=9.2, unit="us", source=_VLLMS_OWN)
PCIE_4 = Parameter(
    name="all-reduce of 4 GPUs over PCIe",
    value=22.3,
    unit="us",
    source="haohervchb/sglang-V100 pull request 2: NCCL, 16 KiB, four V100 behind one PCIe switch, September 2026; the "
    "whole of a 27B model's token took 10.3 ms on four RTX PRO 6000 (vllm-project/vllm issue 56128)",
)
PCIE_2 = Parameter(
    name="all-reduce of 2 GPUs over PCIe",
    value=PCIE_4.value,
    unit="us",
    source=f"{ASSUMED}: as of four, which have more peers to reach",
)
"""What is reduced for one token of one user: 16 KiB in a 70B model. A step of many tokens moves as many times more."""

POST_NVLINK_2 = Parameter(name="all-reduce of 2 GPUs over NVLink", value=60.0, unit="us", source="the GPU post")
POST_NVLINK_4 = Parameter(name="all-reduce of 4 GPUs over NVLink", value=100.0, unit="us", source="the GPU post")
POST_PCIE_4 = Parameter(name="all-reduce of 4 GPUs over PCIe", value=3000.0, unit="us", source="the GPU post")
"""What the GPU post reckons with. Nobody measured it, and it is not that of one token: it would be 480 ms of each."""

NVLINK_RANGE_US = (50.0, 200.0)
PCIE_RANGE_US = (2000.0, 8000.0)
"""From which to which an all-reduce takes, in microseconds, by the GPU post."""

GPU_BANDWIDTH = {
    "H100": Parameter(
        name="memory bandwidth of an H100 SXM",
        value=3350.0,
        unit="GB/s",
        source="NVIDIA's data sheet, by its resellers",
    ),
    "L40S": Parameter(
        name="memory bandwidth of an L40S", value=864.0, unit="GB/s", source="NVIDIA's data sheet, by its resellers"
    ),
    "RTX PRO Server 6000": Parameter(
        name="memory bandwidth of an RTX PRO 6000",
        value=1792.0,
        unit="GB/s",
        source=f"{ASSUMED}: announced for the workstation edition; the server edition may be slower",
    ),
}
