"""Every recorded metric is there under its name, kind, help and labels, and moves as it should."""

import asyncio
import re
from pathlib import Path

import pytest
from aiohttp import ClientSession

from rehearsal.engine import assembly
from rehearsal.engine.metrics import number, one_two_five
from tests.rehearsal.engine.conftest import MODEL, Running, Start

CHAT = {"model": MODEL, "messages": [{"role": "user", "content": "Say something, please."}], "max_tokens": 8}


async def scrape(running: Running) -> str:
    async with ClientSession() as client, client.get(f"{running.url}/metrics") as answer:
        assert answer.headers["content-type"] == "text/plain; version=0.0.4; charset=utf-8"
        return await answer.text()


async def as_recorded(running: Running) -> str:
    """Do what was done before the recorded scrape: list the models, one chat of 8 tokens, two bad chats."""
    async with ClientSession() as client:
        await client.get(f"{running.url}/v1/models")
        for more in ({"stream": True}, {"model": "nope"}, {"max_tokens": 5000}):
            async with client.post(f"{running.url}/v1/chat/completions", json={**CHAT, **more}) as answer:
                await answer.read()
    return await scrape(running)


def values(text: str) -> dict[str, float]:
    samples = (line.rpartition(" ") for line in text.splitlines() if not line.startswith("#"))
    return {name: float(value) for name, _, value in samples}


async def test_names_and_kinds(start: Start, recordings: Path) -> None:
    text = await as_recorded(await start())
    found = re.findall(r"^# TYPE (\S+) (\S+)$", text, flags=re.MULTILINE)
    recorded = [tuple(line.split()) for line in (recordings / "metric-names.txt").read_text().splitlines()]
    assert found == recorded


async def test_samples_and_helps_are_the_recorded_ones(start: Start, recordings: Path) -> None:
    text = await as_recorded(await start())

    def shape(scrape: str) -> list[str]:
        lines = [line if line.startswith("#") else line.rpartition(" ")[0] for line in scrape.splitlines()]
        # The Python version, the size of the cache and what the CPU can do are this machine's own.
        own = r'(patchlevel|minor|version|kv_\w+|num_gpu_blocks|mamba_ssm_cache_dtype)="[^"]*"'
        return [re.sub(own, r"\1", line) for line in lines]

    assert shape(text) == shape((recordings / "metrics.txt").read_text())


async def test_counts_are_the_recorded_ones(start: Start, recordings: Path) -> None:
    found = values(await as_recorded(await start()))
    recorded = values((recordings / "metrics.txt").read_text())
    # Lengths of the prompt, sizes and times differ; everything that counts requests and tokens does not.
    same = [
        name
        for name in recorded
        if "_created" not in name
        and re.search(r"_count|request_success|generation_tokens_(total|sum|bucket)|http_requests_total|running", name)
    ]
    assert len(same) > 30
    assert {name: found[name] for name in same} == {name: recorded[name] for name in same}
    labels = f'{{engine="0",model_name="{MODEL}"}}'
    prompt = found[f"vllm:prompt_tokens_total{labels}"]
    assert found[f"vllm:prefix_cache_queries_total{labels}"] == prompt
    assert found[f"vllm:request_prompt_tokens_sum{labels}"] == prompt
    assert found[f"vllm:iteration_tokens_total_sum{labels}"] == prompt + 8
    assert found['http_response_size_bytes_sum{handler="/v1/chat/completions"}'] == 316


async def test_prefix_hits_are_counted(start: Start) -> None:
    running = await start()
    async with ClientSession() as client:
        for _ in range(2):
            body = {"prompt": list(range(300, 600)), "max_tokens": 2, "ignore_eos": True}
            await client.post(f"{running.url}/v1/completions", json=body)
    found = values(await scrape(running))
    labels = f'{{engine="0",model_name="{MODEL}"}}'
    assert found[f"vllm:prefix_cache_queries_total{labels}"] == 600
    assert found[f"vllm:prefix_cache_hits_total{labels}"] == 256
    assert found[f"vllm:prompt_tokens_cached_total{labels}"] == 256
    assert found[f"vllm:request_prefill_kv_computed_tokens_sum{labels}"] == 344
    by = 'vllm:prompt_tokens_by_source_total{engine="0",model_name="%s",source="%s"}'
    assert found[by % (MODEL, "local_compute")] == 344
    assert found[by % (MODEL, "local_cache_hit")] == 256


async def test_a_step_counts_the_prompt_without_what_was_cached(start: Start) -> None:
    running = await start()
    name = f'vllm:iteration_tokens_total_sum{{engine="0",model_name="{MODEL}"}}'
    sums = []
    async with ClientSession() as client:
        for _ in range(2):
            body = {"prompt": list(range(300, 600)), "max_tokens": 1, "ignore_eos": True}
            await client.post(f"{running.url}/v1/completions", json=body)
            sums.append(values(await scrape(running))[name])
    assert sums == [301, 301 + 44 + 1]


async def test_the_latency_without_labels_is_there_before_any_request(start: Start) -> None:
    text = await scrape(await start())
    assert "# TYPE http_request_duration_highr_seconds_created gauge" in text
    assert values(text)["http_request_duration_highr_seconds_count"] == 0


@pytest.mark.parametrize(("flags", "dtype"), [("fpu avx512f", "auto"), ("avx512_bf16 fpu", "float32")])
async def test_the_cache_is_described_as_on_this_cpu(
    start: Start, monkeypatch: pytest.MonkeyPatch, tmp_path: Path, flags: str, dtype: str
) -> None:
    cpu = tmp_path / "cpuinfo"
    cpu.write_text(f"processor : 0\nflags\t\t: {flags}\n")
    monkeypatch.setattr(assembly, "CPU", cpu)
    assert f'mamba_ssm_cache_dtype="{dtype}"' in await scrape(await start())


def test_numbers_are_written_as_the_prometheus_client_does() -> None:
    assert number(0) == "0.0"
    assert number(13694) == "13694.0"
    assert number(1985077248) == "1.985077248e+09"
    assert number(1796007950.6474335) == "1.7960079506474335e+09"
    assert number(4.628900001080183e-05) == "4.628900001080183e-05"
    assert number(float("inf")) == "+Inf"


def test_token_buckets_go_up_to_the_context_length() -> None:
    assert one_two_five(4096) == [1, 2, 5, 10, 20, 50, 100, 200, 500, 1000, 2000]


# No model of ours has these parts: a peer's cache, images, an estimate of floating point work.
IDLE = re.compile(
    r"^vllm:(estimated_|external_prefix_|mm_cache_|engine_sleep_state|cache_config_info)|^python_|^process_"
)
GAUGES = ("num_requests_running", "num_requests_waiting", "num_requests_waiting_by_reason", "kv_cache_usage_perc")


@pytest.mark.thorough
async def test_every_metric_moves_when_its_cause_is_there(start: Start, recordings: Path) -> None:
    """Streams that do not fit the cache together: one waits, one is preempted, and one finds its prefix."""
    timing = '{"step_s":0.002,"end_of_text":0,"jitter":0}'
    cache = ("--max-model-len=512", "--kv-cache-memory-bytes=20000000")
    running = await start(*cache, SPLITBED_STANDIN_PARAMETERS=timing)
    blocks = running.server.engine.core.scheduler.pool.capacity
    before = values(await scrape(running))

    async def stream(client: ClientSession, seed: int) -> None:
        body = {"prompt": list(range(seed, seed + 250)), "max_tokens": 200, "ignore_eos": True}
        async with client.post(f"{running.url}/v1/completions", json=body) as answer:
            assert (await answer.json())["usage"]["completion_tokens"] == 200

    highest = dict.fromkeys(GAUGES, 0.0)
    async with ClientSession() as client:
        streams = [asyncio.create_task(stream(client, 1000 * seed)) for seed in range(1, blocks + 2)]
        while not all(one.done() for one in streams):
            found = values(await scrape(running))
            for gauge in GAUGES:
                seen = max(value for name, value in found.items() if name.startswith(f"vllm:{gauge}{{"))
                highest[gauge] = max(highest[gauge], seen)
            await asyncio.sleep(0.01)
        await asyncio.gather(*streams)
        await stream(client, 1000 * (blocks + 1))  # the latest prompt again
    after = values(await scrape(running))
    assert all(value > 0 for value in highest.values()), highest
    assert all(after[name] == 0 for name in after if name.startswith(tuple(f"vllm:{gauge}{{" for gauge in GAUGES)))
    moved = {re.split(r"[{ ]|_(?:sum|count|bucket)\b", name)[0] for name in after if after[name] != before.get(name, 0)}
    kinds = dict(line.split() for line in (recordings / "metric-names.txt").read_text().splitlines())
    due = {name for name in kinds if not name.endswith("_created") and not IDLE.match(name)}
    still = due - moved - {f"vllm:{gauge}" for gauge in GAUGES}
    assert still == set()
