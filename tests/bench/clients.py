"""Our client and its peers, as a user starts them from a command line, and what each says of every request.

All are given the same: so many users, each of whom asks again as soon as it is answered, replies of a fixed length, and
the engine's own count of tokens. Each names its requests, or is told their names, so that they are found among the
engine's stamps. What each calls time to first token and inter-token latency is taken from its own result file.
"""

import json
import sys
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import ClassVar, Protocol

from experiment.record import RepeatRecord, Reply, parse_record
from tests.bench.engine import MODEL

PROMPT_TOKENS = 64
OFFLINE = {"HF_HUB_OFFLINE": "1", "VLLM_NO_USAGE_STATS": "1", "DO_NOT_TRACK": "1"}


@dataclass(frozen=True)
class Load:
    """So many users, each with so many requests one after the other."""

    streams: int
    requests: int
    tokens: int


@dataclass(frozen=True)
class Seen:
    """What a client says of a request; `gaps_s` only if it keeps single ones, `itl_s` is their mean."""

    ttft_s: float
    itl_s: float
    gaps_s: tuple[float, ...] | None


class Client(Protocol):
    """A benchmark client."""

    name: ClassVar[str]
    environ: ClassVar[Mapping[str, str]]

    def command(self, url: str, load: Load, directory: Path) -> list[str]:
        """Return the argv that measures; its results go into the directory."""

    def results(self, load: Load, directory: Path) -> dict[str, Seen]:
        """Return what was measured, by the request's name."""


class Ours:
    """`splitbed bench`, without its calibration, which no peer has."""

    name: ClassVar[str] = "splitbed bench"
    environ: ClassVar[Mapping[str, str]] = {}

    def command(self, url: str, load: Load, directory: Path) -> list[str]:
        """See `Client`."""
        test = {
            "kind": "concurrency",
            "users": [load.streams],
            "prompt_tokens": PROMPT_TOKENS,
            "output_tokens": load.tokens,
            "requests": load.requests,
            "repeats": 1,
        }
        plan = {"run": "bench", "model": MODEL, "seed": 0, "tests": [test], "calibrate": False}
        plan |= {"request_timeout_s": 300.0, "ready_timeout_s": 60.0}
        (directory / "plan.json").write_text(json.dumps(plan))
        program = str(Path(sys.executable).with_name("splitbed"))
        return [program, "bench", url, "--plan", str(directory / "plan.json"), "--results", str(directory / "results")]

    def results(self, load: Load, directory: Path) -> dict[str, Seen]:
        """See `Client`."""
        record = self.record(load, directory)
        found = {}
        for request in record.requests:
            if isinstance(request.outcome, Reply):
                figures = request.outcome.figures
                found[request.id] = Seen(figures.ttft_s, figures.itl_s or 0.0, figures.gaps_s)
        return found

    def record(self, load: Load, directory: Path) -> RepeatRecord:
        """Return the record whole."""
        (path,) = (directory / "results").glob(f"bench/*/concurrency-{load.streams}-1.json")
        record = parse_record(path.read_bytes())
        assert isinstance(record, RepeatRecord)
        return record


@dataclass(frozen=True)
class VllmBench:
    """`vllm bench serve` of the real engine's environment."""

    python: Path
    tokenizer: Path
    name: ClassVar[str] = "vllm bench serve 0.31.0"
    environ: ClassVar[Mapping[str, str]] = OFFLINE

    def command(self, url: str, load: Load, directory: Path) -> list[str]:
        """See `Client`."""
        return [
            str(self.python), "-m", "vllm.entrypoints.cli.main", "bench", "serve",
            "--backend", "openai", "--base-url", url, "--model", MODEL, "--tokenizer", str(self.tokenizer),
            "--dataset-name", "random", "--random-input-len", str(PROMPT_TOKENS),
            "--random-output-len", str(load.tokens), "--ignore-eos", "--num-prompts", str(load.streams * load.requests),
            "--max-concurrency", str(load.streams), "--request-rate", "inf", "--request-id-prefix", "peer-",
            "--disable-tqdm", "--save-result", "--save-detailed", "--result-dir", str(directory),
            "--result-filename", "vllm.json",
        ]  # fmt: skip

    def results(self, load: Load, directory: Path) -> dict[str, Seen]:
        """See `Client`."""
        said = json.loads((directory / "vllm.json").read_text())
        pairs = zip(said["ttfts"], said["itls"], said["errors"], strict=True)
        return {
            f"peer-{number}": Seen(ttft_s, sum(gaps_s) / len(gaps_s), tuple(gaps_s))
            for number, (ttft_s, gaps_s, error) in enumerate(pairs)
            if gaps_s and not error
        }


@dataclass(frozen=True)
class Guidellm:
    """guidellm, with as many of its processes as there are cores: ten, its default, do not get ready on two."""

    environment: Path
    tokenizer: Path
    name: ClassVar[str] = "guidellm 0.8.1"
    environ: ClassVar[Mapping[str, str]] = OFFLINE | {"GUIDELLM__MAX_WORKER_PROCESSES": "2"}

    def command(self, url: str, load: Load, directory: Path) -> list[str]:
        """See `Client`."""
        return [
            str(self.environment / "bin" / "guidellm"), "run",
            "--backend", f"kind=openai_http,target={url},model={MODEL},request_format=/v1/completions",
            "--profile", f"kind=concurrent,streams={load.streams}",
            "--constraint", f"kind=max_requests,count={load.streams * load.requests}",
            "--tokenizer", f"kind=huggingface_auto,model={self.tokenizer}",
            "--data", f"kind=synthetic_text,prompt_tokens={PROMPT_TOKENS},output_tokens={load.tokens}",
            "--output", f"kind=json,path={directory / 'guidellm.json'}", "--disable-console",
        ]  # fmt: skip

    def results(self, load: Load, directory: Path) -> dict[str, Seen]:
        """See `Client`."""
        (benchmark,) = json.loads((directory / "guidellm.json").read_text())["benchmarks"]
        return {
            one["response_id"].removeprefix("cmpl-"): Seen(
                one["time_to_first_token_ms"] / 1000, one["inter_token_latency_ms"] / 1000, None
            )
            for one in benchmark["requests"]["successful"]
        }


@dataclass(frozen=True)
class Aiperf:
    """aiperf, with all its processes, without telemetry of GPUs and servers."""

    environment: Path
    tokenizer: Path
    name: ClassVar[str] = "aiperf 0.13.0"
    environ: ClassVar[Mapping[str, str]] = {"DO_NOT_TRACK": "1"}  # told to stay offline it refuses a path

    def command(self, url: str, load: Load, directory: Path) -> list[str]:
        """See `Client`."""
        return [
            str(self.environment / "bin" / "aiperf"), "profile", "--model", MODEL, "--url", url,
            "--endpoint-type", "completions", "--streaming", "--concurrency", str(load.streams),
            "--request-count", str(load.streams * load.requests), "--isl", str(PROMPT_TOKENS),
            "--osl", str(load.tokens), "--tokenizer", str(self.tokenizer), "--extra-inputs", "ignore_eos:true",
            "--extra-inputs", f"min_tokens:{load.tokens}", "--use-server-token-count", "--ui", "none",
            "--artifact-dir", str(directory / "aiperf"), "--no-gpu-telemetry", "--no-server-metrics",
        ]  # fmt: skip

    def results(self, load: Load, directory: Path) -> dict[str, Seen]:
        """See `Client`."""
        found = {}
        for line in (directory / "aiperf" / "profile_export.jsonl").read_text().splitlines():
            said = json.loads(line)
            metrics = said["metrics"]
            if "time_to_first_token" in metrics and "inter_chunk_latency" in metrics:
                gaps_s = tuple(gap / 1000 for gap in metrics["inter_chunk_latency"]["value"])
                ttft_s = metrics["time_to_first_token"]["value"] / 1000
                found[said["metadata"]["x_request_id"]] = Seen(ttft_s, sum(gaps_s) / len(gaps_s), gaps_s)
        return found
