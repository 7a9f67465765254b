"""Fills the metrics: from the engine's steps and ends, from HTTP requests, and from the process itself."""

import gc
import os
import platform
import resource
import time
from dataclasses import dataclass
from pathlib import Path

from rehearsal.engine.core import Core, Step
from rehearsal.engine.metrics import Registry, labels
from rehearsal.engine.request import FinishReason, Request

UNCOUNTED = ("/metrics", "/health", "/load", "/ping", "/version", "/server_info")
"""Parts of paths; vLLM searches for them, so that one anywhere in a path is enough."""


@dataclass
class Observations:
    """Keeps a registry up to date."""

    registry: Registry
    core: Core

    def step(self, step: Step) -> None:
        """Count a step that came back, as vLLM counts it: only if it gave a token to someone."""
        outcome = step.outcome
        if not outcome.tokens:
            return
        registry = self.registry
        registry.add("prompt_tokens_total", outcome.prompt_tokens)
        registry.add("generation_tokens_total", len(outcome.tokens))
        cached = sum(token.request.cached_at_first or 0 for token in outcome.tokens if token.first)
        registry.observe("iteration_tokens_total", outcome.prompt_tokens - cached + len(outcome.tokens))
        for token in outcome.tokens:
            request = token.request
            if token.first:
                cached = request.cached_at_first or 0
                registry.add("prompt_tokens_by_source_total", len(request.prompt) - cached, source="local_compute")
                registry.add("prompt_tokens_by_source_total", cached, source="local_cache_hit")
                registry.add("prompt_tokens_cached_total", cached)
                registry.observe("time_to_first_token_seconds", step.at_s - request.arrival_s)
            else:
                registry.observe("inter_token_latency_seconds", step.at_s - request.last_token_s)
        for request in outcome.ended:
            self._finished(request, step.at_s)

    def _finished(self, request: Request, now: float) -> None:
        registry = self.registry
        registry.add("request_success_total", 1, finished_reason=(request.finish or FinishReason.STOP).value)
        first = request.first_token_s or now
        scheduled = request.scheduled_s or now
        made = len(request.output)
        registry.observe("e2e_request_latency_seconds", now - request.arrival_s)
        registry.observe("request_queue_time_seconds", scheduled - request.queued_s)
        registry.observe("request_prefill_time_seconds", first - scheduled)
        registry.observe("request_inference_time_seconds", now - scheduled)
        registry.observe("request_decode_time_seconds", now - first)
        registry.observe("request_num_preemptions", request.preemptions)
        registry.observe("request_prefill_kv_computed_tokens", len(request.prompt) - (request.cached_at_first or 0))
        registry.observe("request_prompt_tokens", len(request.prompt))
        registry.observe("request_generation_tokens", made)
        registry.observe("request_time_per_output_token_seconds", (now - first) / (made - 1) if made > 1 else 0)
        registry.observe("request_params_max_tokens", request.sampling.max_tokens)
        copies = request.copies
        copies.left -= 1
        copies.longest = max(copies.longest, made)
        if copies.left == 0:
            registry.observe("request_max_num_generation_tokens", copies.longest)
            registry.observe("request_params_n", copies.count)

    def http(
        self, route: str | None, path: str, method: str, status: int, asked: int, answered: int, seconds: float
    ) -> None:
        """Count an HTTP request with the sizes that its headers named, in bytes.

        Without a `route` it is counted under `none`; whether it is counted at all is a matter of `path` then.
        """
        if any(uncounted in (route or path) for uncounted in UNCOUNTED):
            return
        handler = route or "none"
        families = self.registry.families
        group = f"{status // 100}xx"
        key = {"handler": handler, "method": method}
        families["http_requests_total"].at(labels({**key, "status": group})).value += 1
        families["http_request_size_bytes"].observe(asked, labels({"handler": handler}))
        families["http_response_size_bytes"].observe(answered, labels({"handler": handler}))
        families["http_request_duration_highr_seconds"].observe(seconds, ())
        families["http_request_duration_seconds"].observe(seconds, labels(key))

    def text(self) -> str:
        """Return a scrape."""
        self._engine_state()
        self._process_state()
        return self.registry.text()

    def _engine_state(self) -> None:
        registry, scheduler = self.registry, self.core.scheduler
        registry.set("num_requests_running", len(scheduler.running))
        registry.set("num_requests_waiting", len(scheduler.waiting))
        registry.set("num_requests_waiting_by_reason", len(scheduler.waiting), reason="capacity")
        registry.set("engine_sleep_state", 1, sleep_state="awake")
        registry.set("kv_cache_usage_perc", scheduler.pool.usage())
        registry.engine("prefix_cache_queries_total").value = scheduler.counters.prefix_queries
        registry.engine("prefix_cache_hits_total").value = scheduler.counters.prefix_hits
        registry.engine("num_preemptions_total").value = scheduler.counters.preemptions

    def _process_state(self) -> None:
        families = self.registry.families
        for generation, stats in enumerate(gc.get_stats()):
            key = labels({"generation": str(generation)})
            families["python_gc_objects_collected_total"].at(key).value = stats["collected"]
            families["python_gc_objects_uncollectable_total"].at(key).value = stats["uncollectable"]
            families["python_gc_collections_total"].at(key).value = stats["collections"]
        major, minor, patch = platform.python_version_tuple()
        info = {
            "implementation": platform.python_implementation(),
            "major": major,
            "minor": minor,
            "patchlevel": patch,
            "version": platform.python_version(),
        }
        families["python_info"].series.clear()
        families["python_info"].at(labels(info)).value = 1
        pages = Path("/proc/self/statm").read_text().split()
        page = os.sysconf("SC_PAGE_SIZE")
        ticks = int(Path("/proc/self/stat").read_text().rpartition(")")[2].split()[19])
        uptime = float(Path("/proc/uptime").read_text().split()[0])
        started = time.time() - uptime + ticks / os.sysconf("SC_CLK_TCK")
        usage = resource.getrusage(resource.RUSAGE_SELF)
        for name, value in (
            ("process_virtual_memory_bytes", int(pages[0]) * page),
            ("process_resident_memory_bytes", int(pages[1]) * page),
            ("process_start_time_seconds", started),
            ("process_cpu_seconds_total", usage.ru_utime + usage.ru_stime),
            ("process_open_fds", len(os.listdir("/proc/self/fd"))),  # noqa: PTH208
            ("process_max_fds", resource.getrlimit(resource.RLIMIT_NOFILE)[0]),
        ):
            families[name].at(()).value = value
