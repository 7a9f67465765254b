from typing import Any

import pytest

from experiment import arguments
from experiment.asked import Role
from experiment.engine import Compilation, Engine, KvCacheBytes, KvCacheSpace, Model
from experiment.flags import catalogue
from experiment.resources import EngineResources
from experiment.topology import NoTopology, Replicas, Single, Split
from tests import golden
from tests.experiment.stacks import settings_of
from tests.recording import STACKS

MODEL = Model(name="google/gemma-3-1b-it", served_name="gemma-3-1b-it")
# As the 1B post had it.
ENGINE = Engine(
    version="0.31.0",
    image="registry.example/vllm:v0.31.0",
    resources=EngineResources(cpu=6, memory_gib=20),
    dtype="bfloat16",
    max_model_len=4096,
    kv_cache=KvCacheSpace(kind="space", gib=4),
    compilation=Compilation(mode=2, backend="eager"),
    async_scheduling=False,
)
SPLIT = Split(kind="split", pipeline=2)


@pytest.mark.parametrize("stack", STACKS)
def test_argv_and_environment_of_a_stack_are_the_golden_ones(stack: str, request: pytest.FixtureRequest) -> None:
    settings = settings_of(stack)
    roles: tuple[Role, ...] = ("leader", "worker") if settings.topology.size > 1 else ("leader",)
    lines = {role: arguments.serve(role, settings.model, settings.engine, settings.topology) for role in roles}
    text = "".join(f"# {role}\n" + "".join(f"{argument}\n" for argument in argv) for role, argv in lines.items())
    environment = settings.engine.environment(settings.device, settings.topology.tensor)
    text += "# environment\n" + "".join(f"{name}={value}\n" for name, value in sorted(environment.items()))
    golden.check(request, f"argv-{stack}.txt", text)


def said(stack: str, **changes: Any) -> set[str]:
    settings = settings_of(stack, **changes)
    return set(arguments.serve("leader", settings.model, settings.engine, settings.topology))


def test_the_flags_of_the_1b_post() -> None:
    split = "--pipeline-parallel-size=2 --tensor-parallel-size=1 --nnodes=2 --node-rank=0"
    both = "--dtype=bfloat16 --max-model-len=4096 -cc.mode=2 -cc.backend=eager --no-async-scheduling"
    assert set(f"{split} {both}".split()) <= said("gemma-1b-split")
    single = said("gemma-1b-single")
    assert set(both.split()) <= single
    assert not [argument for argument in single if "parallel" in argument or "node" in argument]
    for stack in ("gemma-1b-split", "gemma-1b-single"):
        assert settings_of(stack).engine.environment("cpu", 1)["VLLM_CPU_KVCACHE_SPACE"] == "4"


def test_the_flags_of_the_12b_post() -> None:
    post = (
        '--kv-cache-memory-bytes=400000000 --max-model-len=2048 --limit-mm-per-prompt={"image":0,"audio":0,"video":0} '
        "-cc.mode=2 -cc.backend=eager --pipeline-parallel-size=2 --tensor-parallel-size=1 --no-async-scheduling "
        "--dtype=bfloat16"
    )
    assert set(post.split()) <= said("gemma-12b-split")


def test_the_flags_of_the_gpu_post() -> None:
    for stack, tensor in (("llama-70b-tp4x1", 4), ("llama-70b-tp2x2", 2)):
        argv = said(stack)
        assert {f"--tensor-parallel-size={tensor}", "--gpu-memory-utilization=0.92"} <= argv
        assert "/weights/hub/meta-llama--Meta-Llama-3.1-70B-Instruct/main" in argv
        assert not [argument for argument in argv if "pipeline" in argument or "kv-cache-memory" in argument]


def test_pipeline_over_two_nodes_with_tensor_inside_each() -> None:
    argv = said("llama-70b-tp2pp2")
    assert {"--pipeline-parallel-size=2", "--tensor-parallel-size=2", "--nnodes=2"} <= argv


def test_several_nodes_of_gpus_are_stages_of_tensor_parts() -> None:
    split = {"kind": "split", "pipeline": 2, "tensor": 4}
    argv = said("llama-70b-tp4x1", topology=split, nodes__engine__count=2)
    assert {"--pipeline-parallel-size=2", "--tensor-parallel-size=4", "--nnodes=2"} <= argv


def test_what_cards_without_p2p_need_can_be_set() -> None:
    flags, env = {"disable-custom-all-reduce": True}, {"NCCL_P2P_DISABLE": "1"}
    engine = settings_of("llama-70b-tp4x1", engine__flags=flags, engine__env=env).engine
    assert "--disable-custom-all-reduce" in said("llama-70b-tp4x1", engine__flags=flags)
    assert engine.environment("gpu", 4)["NCCL_P2P_DISABLE"] == "1"


def test_the_collective_library_of_gpus_is_told_the_pods_network_card() -> None:
    on_gpus, on_cpus = settings_of("llama-70b-tp4x1"), settings_of("gemma-1b-split")
    assert on_gpus.engine.environment("gpu", 4)["NCCL_SOCKET_IFNAME"] == "eth0"
    assert "NCCL_SOCKET_IFNAME" not in on_cpus.engine.environment("cpu", 1)
    assert on_cpus.engine.environment("cpu", 1)["GLOO_SOCKET_IFNAME"] == "eth0"


def test_threads_are_set_by_variables() -> None:
    pinned = settings_of("gemma-1b-split-pinned").engine.environment("cpu", 1)
    assert pinned["VLLM_CPU_OMP_THREADS_BIND"] == "auto"
    assert not [name for name in settings_of("gemma-1b-split").engine.environment("cpu", 1) if "OMP" in name]


def test_every_argument_is_a_flag_of_the_recorded_version() -> None:
    exact = ENGINE.model_copy(
        update={"kv_cache": KvCacheBytes(kind="bytes", bytes=400_000_000), "flags": {"max-num-seqs": 8}}
    )
    for role in ("leader", "worker"):
        argv = arguments.serve(role, MODEL, exact, SPLIT)
        for argument in argv[3:]:
            name, equals, _ = argument.partition("=")
            # vLLM reads `-cc.mode=2` as one key of the flag -cc.
            flag = catalogue()[name.partition(".")[0]]
            assert flag.takes_value == bool(equals), argument
        assert "--kv-cache-memory-bytes=400000000" in argv
    assert "VLLM_CPU_KVCACHE_SPACE" not in exact.environment("cpu", 1)


def test_leader_and_worker_differ_in_address_rank_and_headless_alone() -> None:
    leader, worker = (set(arguments.serve(role, MODEL, ENGINE, SPLIT)) for role in ("leader", "worker"))
    assert leader - worker == {"--host=0.0.0.0", "--port=8000", "--node-rank=0"}
    assert worker - leader == {"--headless", "--node-rank=$(LWS_WORKER_INDEX)"}


def test_single_and_split_differ_in_the_ranks_alone() -> None:
    single, split = (
        set(arguments.serve("leader", MODEL, ENGINE, topology)) for topology in (Single(kind="single"), SPLIT)
    )
    assert single < split
    assert {argument.partition("=")[0] for argument in split - single} == {
        "--pipeline-parallel-size",
        "--tensor-parallel-size",
        "--nnodes",
        "--node-rank",
        "--master-addr",
        "--master-port",
    }


def test_a_replica_is_a_single() -> None:
    replicas = Replicas(kind="replicas", count=3)
    assert arguments.serve("leader", MODEL, ENGINE, replicas) == arguments.serve(
        "leader", MODEL, ENGINE, Single(kind="single")
    )


def test_variables_are_expanded_by_kubernetes_never_by_a_shell() -> None:
    for argument in arguments.serve("worker", MODEL, ENGINE, SPLIT):
        assert "${" not in argument
        assert "$" not in argument.replace("$(LWS_LEADER_ADDRESS)", "").replace("$(LWS_WORKER_INDEX)", "")


@pytest.mark.parametrize("topology", [NoTopology(kind="none"), Single(kind="single")])
def test_a_group_of_one_has_no_worker(topology: NoTopology | Single) -> None:
    with pytest.raises(ValueError, match="no worker"):
        arguments.serve("worker", MODEL, ENGINE, topology)
