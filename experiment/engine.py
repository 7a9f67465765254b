"""The engine: its image, its resources, its flags, its environment."""

import re
from math import isfinite
from typing import Annotated, Any, Literal

from pydantic import BeforeValidator, Field, JsonValue, field_validator
from pydantic_core import PydanticCustomError

from experiment import efa, flags
from experiment.catalogue.models import Geometry
from experiment.catalogue.models import model as known_model
from experiment.images import Image
from experiment.nodes import Device
from experiment.probes import Probes
from experiment.resources import EngineResources
from experiment.strict import Strict
from experiment.threads import Threads, variables
from experiment.token import TokenSecret
from experiment.weights import Weights

_SECRET_NAME = re.compile(r"TOKEN|SECRET|PASSWORD|PASSWD|CREDENTIAL|API_?KEY|ACCESS_?KEY|PRIVATE_?KEY")
_ENV_NAME = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")

OWN_FLAGS = frozenset(
    {
        "model", "served-model-name", "revision", "host", "port", "headless", "nnodes", "node-rank", "master-addr",
        "master-port", "pipeline-parallel-size", "tensor-parallel-size", "dtype", "max-model-len",
        "async-scheduling", "compilation-config", "kv-cache-memory-bytes", "shutdown-timeout", "api-key", "hf-token",
        "ssl-keyfile-password", "config", "data-parallel-size", "gpu-memory-utilization",
    }
)  # fmt: skip
"""Flags that follow from other settings, or that would put a secret on a command line."""

OWN_ENVIRONMENT = frozenset(
    {
        "VLLM_HOST_IP", "VLLM_CPU_KVCACHE_SPACE", "VLLM_NO_USAGE_STATS", "GLOO_SOCKET_IFNAME", "NCCL_SOCKET_IFNAME",
        "HOME", "USER", "PYTHONUNBUFFERED", "LWS_LEADER_ADDRESS", "LWS_GROUP_SIZE", "LWS_WORKER_INDEX", "LD_PRELOAD",
        "PATH",
    }
)  # fmt: skip
"""Variables that follow from other settings, or that break the image."""


class Model(Strict):
    """The model that is served."""

    name: str = Field(pattern=r"^[^\s$-][^\s$]*$", description="repository or path, for example google/gemma-3-1b-it")
    served_name: str = Field(
        pattern=r"^[^\s$-][^\s$]*$", max_length=200, description="the name under which clients ask for it"
    )
    revision: str | None = Field(None, pattern=r"^[A-Za-z0-9._/]+$", description="commit of the model's repository")
    gated: bool = Field(False, description="true or false: its licence must be accepted on the hub before it is served")
    geometry: Geometry | None = Field(
        None, description="its shape, for a model that the catalogue does not know by its name"
    )
    weights: Weights = Field(default_factory=lambda: Weights(), description="where its weights come from")
    token_secret: TokenSecret | None = Field(
        None,
        description="what holds the token that opens a gated model: the name of a Kubernetes Secret (its key `token`), "
        "the ARN of a secret in AWS Secrets Manager, or {config: KEY} for this stack's own configuration; never a "
        "token itself",
    )

    @property
    def known_geometry(self) -> Geometry | None:
        """The shape as given here or in the catalogue; none if nobody knows it."""
        return self.geometry or known_model(self.name)


class Compilation(Strict):
    """How the engine compiles the model: `-cc.mode` and `-cc.backend`."""

    mode: int = Field(ge=0, le=3, description="0 to 3")
    backend: Literal["eager", "inductor"] = Field(description="eager or inductor")


def _whole(gib: Any) -> Any:
    """Say what to do with a fraction: vLLM reads this variable by `int()`, and would end with an error of Python's."""
    if not isinstance(gib, float) or not isfinite(gib) or not 0 < gib < 2**16:
        return gib
    size = round(gib * 2**30)
    remedy = f"Write {size // 2**30}" if gib.is_integer() else f"Take {{kind: bytes, bytes: {size}}}, which is exact"
    raise PydanticCustomError("whole_gib", "VLLM_CPU_KVCACHE_SPACE is whole GiB", {"remedy": f"{remedy}."})


WholeGib = Annotated[int, BeforeValidator(_whole, json_schema_input_type=int)]


class KvCacheSpace(Strict):
    """The KV cache by the CPU backend's environment variable."""

    kind: Literal["space"] = Field(description="space (whole GiB), bytes (exact) or utilization (of a GPU)")
    gib: WholeGib = Field(ge=1, le=65536, description="whole GiB in each pod")


class KvCacheBytes(Strict):
    """The KV cache to the byte; the engine then skips its own estimate."""

    kind: Literal["bytes"] = Field(description="space (whole GiB), bytes (exact) or utilization (of a GPU)")
    bytes: int = Field(ge=1, lt=2**63, description="bytes in each pod")


class KvCacheUtilization(Strict):
    """On GPUs: what weights and activations leave of a share of their memory."""

    kind: Literal["utilization"] = Field(description="space (whole GiB), bytes (exact) or utilization (of a GPU)")
    fraction: float = Field(
        0.92, gt=0, le=1, description="share of each GPU's memory that the engine may take, weights included"
    )


KvCache = Annotated[KvCacheSpace | KvCacheBytes | KvCacheUtilization, Field(discriminator="kind")]


class Engine(Strict):
    """All pods of all topologies get the same engine, or a comparison would mean nothing."""

    version: Literal["0.31.0"] = Field(description='version of vLLM whose flags are meant: "0.31.0"')
    image: Image = Field(
        description="image of the engine, pinned, or one for each architecture as {arm64: ..., amd64: ...}; it also "
        "carries the benchmark's libraries"
    )
    resources: EngineResources = Field(description="what each pod is given")
    dtype: Literal["auto", "bfloat16", "float16", "float32", "half", "float"] = Field(
        "bfloat16", description="data type of weights and activations: auto, bfloat16, float16, float32, half or float"
    )
    max_model_len: int = Field(ge=1, lt=2**31, description="longest context in tokens, prompt and reply together")
    kv_cache: KvCache = Field(description="size of the KV cache, explicit so that all topologies have the same")
    threads: Threads = Field(
        "free",
        description="CPU threads that compute: free (the engine's own choice, as in the posts: all cores but one), "
        "within-quota (all of resources.cpu but one) or whole-cores (the same, bound to cores of the pod's own, "
        "which kubelets with the static CPU manager give it)",
    )
    compilation: Compilation | None = Field(None, description="compilation of the model; the engine's own if not given")
    async_scheduling: bool = Field(description="true or false; false in the posts")
    shutdown_timeout_s: int = Field(60, ge=0, le=3600, description="seconds in which running requests may finish")
    flags: dict[str, JsonValue] = Field(
        default_factory=dict, description="further flags by name without dashes, for example max-num-seqs: 8"
    )
    env: dict[str, str] = Field(default_factory=dict, description="further environment variables; values in quotes")
    probes: Probes = Field(default_factory=lambda: Probes(), description="scale of the probes")

    @field_validator("flags")
    @classmethod
    def _flags_are_known(cls, given: dict[str, JsonValue]) -> dict[str, JsonValue]:
        for name, value in given.items():
            if name.removeprefix("no-") in OWN_FLAGS:
                raise PydanticCustomError(
                    "own_flag",
                    "this flag is not to be set here",
                    {"key": name, "remedy": "It follows from model, topology or another key of engine; set it there."},
                )
            flags.spell(name, value)
        return given

    @field_validator("env")
    @classmethod
    def _environment_is_free(cls, given: dict[str, str]) -> dict[str, str]:
        for name, value in given.items():
            refusal = _refusal(name, value)
            if refusal:
                raise PydanticCustomError("env", "{why}", {"key": name, "why": refusal[0], "remedy": refusal[1]})
        return given

    def environment(self, device: Device, ranks: int, *, fabric: bool = False) -> dict[str, str]:
        """Return the variables that every pod gets, besides those that only the pod itself can know.

        Args:
            device: what computes.
            ranks: how many workers compute in one pod.
            fabric: whether the pod has an interface of the Elastic Fabric Adapter.
        """
        space = {"VLLM_CPU_KVCACHE_SPACE": str(self.kv_cache.gib)} if self.kv_cache.kind == "space" else {}
        return {
            "GLOO_SOCKET_IFNAME": "eth0",  # else it may pick the loopback or another card
            **({"NCCL_SOCKET_IFNAME": "eth0"} if device == "gpu" else {}),
            **(efa.ENVIRONMENT if fabric else {}),
            "HOME": "/tmp",  # noqa: S108  the only writable place of the pod
            "PYTHONUNBUFFERED": "1",
            "USER": "engine",  # libraries ask for a user's name, and the pod's number has none
            "VLLM_NO_USAGE_STATS": "1",
            **space,
            **variables(self.threads, self.resources.cpu, ranks),
            **self.env,
        }


def _refusal(name: str, value: str) -> tuple[str, str] | None:
    """Return why a variable cannot be set, and the remedy."""
    if _ENV_NAME.fullmatch(name) is None or "\x00" in value:
        return "this is no environment variable", "A name has letters, digits and underscores."
    if name in OWN_ENVIRONMENT:
        return (
            "this variable is not to be set here",
            "It follows from the pod or from another key of engine; leave it out.",
        )
    if _SECRET_NAME.search(name.upper()):
        return (
            "this looks like a secret, and a stack file is read by everyone",
            "Leave it out; serve a model that needs none, or one from a directory.",
        )
    return None
