"""What servers counted, by the names of `experiment.catalogue.engines`."""

from pydantic import Field

from experiment.measure.part import Count, Part, Seconds, Signed

STEPS = "vllm:iteration_tokens_total_count"
QUERIES, HITS = "vllm:prefix_cache_queries_total", "vllm:prefix_cache_hits_total"
PROMPT_TOKENS, GENERATED_TOKENS = "vllm:prompt_tokens_total", "vllm:generation_tokens_total"
RUNNING, WAITING = "vllm:num_requests_running", "vllm:num_requests_waiting"

EACH_SECOND = (RUNNING, WAITING, "vllm:kv_cache_usage_perc", STEPS, GENERATED_TOKENS)
AROUND = (
    *EACH_SECOND,
    QUERIES,
    HITS,
    PROMPT_TOKENS,
    "vllm:prompt_tokens_cached_total",
    "vllm:iteration_tokens_total_sum",
    "vllm:num_preemptions_total",
    "vllm:request_success_total",
    "vllm:time_to_first_token_seconds_sum",
    "vllm:time_to_first_token_seconds_count",
    "vllm:inter_token_latency_seconds_sum",
    "vllm:inter_token_latency_seconds_count",
)
"""Read before and after each repeat; a server of a known version that lacks one is refused, never taken for zero."""

STARTED = "process_start_time_seconds"
OF_THE_PROCESS = (STARTED, "process_cpu_seconds_total", "process_resident_memory_bytes")
"""Not the engine's own, so they may be missing; the first tells a server that was started anew."""


class Scrape(Part):
    """One look at one server's `/metrics`: seconds of the client's clock when it was asked and had answered."""

    asked_s: Seconds
    answered_s: Seconds
    values: dict[str, Signed] = Field(description="summed over label sets, which data-parallel engines have several of")


class ServerCounters(Part):
    """What one server counted around and during a repeat."""

    address: str
    before: Scrape
    after: Scrape
    each_second: tuple[Scrape, ...]
    missed: Count = Field(description="looks during the repeat that were not answered in time")

    def change(self, name: str) -> float:
        """Return what a counter grew by.

        Raises:
            KeyError: it was not read.
        """
        return self.after.values[name] - self.before.values[name]


class Counters(Part):
    """All servers whose counters were read, or why none were; what was not read is unknown, not zero."""

    servers: tuple[ServerCounters, ...] = ()
    unknown: str | None = Field(None, description="why nothing was read")

    def change(self, name: str) -> float | None:
        """Return what a counter grew by on all servers together; none if it is not known."""
        if not self.servers:
            return None
        return sum(server.change(name) for server in self.servers)
