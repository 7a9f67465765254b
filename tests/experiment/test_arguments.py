import pytest

from experiment import arguments
from experiment.engine import Compilation, Engine, KvCacheBytes, KvCacheSpace, Model
from experiment.flags import catalogue
from experiment.resources import EngineResources
from experiment.topology import NoTopology, Replicas, Single, Split
from tests import golden

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


def test_argv_of_the_1b_post_is_the_golden_one(request: pytest.FixtureRequest) -> None:
    lines = {
        "split leader": arguments.serve("leader", MODEL, ENGINE, SPLIT),
        "split worker": arguments.serve("worker", MODEL, ENGINE, SPLIT),
        "single": arguments.serve("leader", MODEL, ENGINE, Single(kind="single")),
    }
    text = "".join(f"# {name}\n" + "".join(f"{argument}\n" for argument in argv) for name, argv in lines.items())
    golden.check(request, "argv-1b.txt", text)
    assert ENGINE.environment("cpu", 1)["VLLM_CPU_KVCACHE_SPACE"] == "4"


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
