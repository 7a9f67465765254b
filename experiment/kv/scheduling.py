"""How many tokens the engine may have in flight, which is what a sliding layer must keep beyond its window."""

from dataclasses import dataclass

from experiment.errors import SplitbedError

CPU_BATCHED_TOKENS = 2048
"""Tokens of one batch for each rank of a CPU server, unless given (`engine/arg_utils.py: get_batch_defaults`)."""

CPU_SEQUENCES = 128
"""Requests of one batch for each rank of a CPU server, unless given."""

_HUGE_GIB = 160
_LARGE_GIB = 70


@dataclass(frozen=True, kw_only=True)
class Scheduling:
    """What the scheduler is allowed.

    Attributes:
        max_num_batched_tokens: tokens of one batch.
        max_num_seqs: requests of one batch.
        concurrent_batches: batches that are in flight at once.
    """

    max_num_batched_tokens: int
    max_num_seqs: int
    concurrent_batches: int

    @property
    def tokens_in_flight(self) -> int:
        """Tokens that are scheduled and not yet settled, at most."""
        return self.max_num_batched_tokens * self.concurrent_batches


def cpu(
    *,
    max_model_len: int,
    pipeline: int = 1,
    tensor: int = 1,
    max_num_batched_tokens: int | None = None,
    max_num_seqs: int | None = None,
    multimodal_tokens: int = 0,
    chunked_prefill: bool = True,
    throughput: bool = False,
) -> Scheduling:
    """Return what vLLM 0.31.0 settles on for a CPU server.

    `--async-scheduling` is not asked for, since it changes nothing: the CPU platform turns it off whatever was given
    (`platforms/cpu.py: check_and_update_config`), so that there are as many batches as stages.

    Args:
        max_model_len: longest context in tokens.
        pipeline: number of stages.
        tensor: tensor-parallel ranks of each stage.
        max_num_batched_tokens: as given to the engine; its default without.
        max_num_seqs: as given to the engine; its default without.
        multimodal_tokens: tokens of the largest single input of a model whose attention looks both ways within an
            image or a video (Gemma 4: a video of 32 frames of 70 + 8 tokens), which must fit one batch; 0 if it has
            no such inputs, or all are switched off. Seen to be so with a vision configuration that has
            `num_soft_tokens`; without one vLLM warns that it cannot tell, and stays with its default.
        chunked_prefill: whether a prompt may be read in pieces.
        throughput: True with `--performance-mode throughput`, which doubles what is not given.

    Raises:
        SplitbedError: a batch would hold fewer tokens than requests, or less than a prompt that may not be cut.
    """
    world = pipeline * tensor * (2 if throughput else 1)
    tokens = CPU_BATCHED_TOKENS * world
    if not chunked_prefill:
        tokens = max(tokens, max_model_len)
    settled = _settled(
        tokens=max(tokens, multimodal_tokens),
        seqs=CPU_SEQUENCES * world,
        max_model_len=max_model_len,
        max_num_batched_tokens=max_num_batched_tokens,
        max_num_seqs=max_num_seqs,
        concurrent_batches=pipeline,
    )
    if not chunked_prefill and settled.max_num_batched_tokens < max_model_len:
        raise SplitbedError(
            f"max-num-batched-tokens {settled.max_num_batched_tokens} is less than max-model-len {max_model_len} "
            "without chunked prefill.",
            "Raise it, lower the length, or leave chunked prefill on.",
        )
    return settled


def gpu(
    *,
    max_model_len: int,
    memory_gib: float,
    name: str = "",
    pipeline: int = 1,
    max_num_batched_tokens: int | None = None,
    max_num_seqs: int | None = None,
    async_scheduling: bool = True,
) -> Scheduling:
    """Return what vLLM 0.31.0 settles on for an API server on GPUs.

    Args:
        max_model_len: longest context in tokens.
        memory_gib: memory that a program sees of one GPU.
        name: model of the GPU.
        pipeline: number of stages.
        max_num_batched_tokens: as given to the engine; its default without.
        max_num_seqs: as given to the engine; its default without.
        async_scheduling: False with `--no-async-scheduling`; it keeps one batch more in flight.

    Raises:
        SplitbedError: a batch would hold fewer tokens than requests.
    """
    if memory_gib >= _HUGE_GIB:
        tokens, seqs = 16384, 1024
    elif memory_gib >= _LARGE_GIB and "a100" not in name.lower():
        tokens, seqs = 8192, 1024
    else:
        tokens, seqs = 2048, 256
    return _settled(
        tokens=tokens,
        seqs=seqs,
        max_model_len=max_model_len,
        max_num_batched_tokens=max_num_batched_tokens,
        max_num_seqs=max_num_seqs,
        concurrent_batches=pipeline + async_scheduling,
    )


def _settled(
    *,
    tokens: int,
    seqs: int,
    max_model_len: int,
    max_num_batched_tokens: int | None,
    max_num_seqs: int | None,
    concurrent_batches: int,
) -> Scheduling:
    """Put what was given in the place of the defaults, which bow to each other (`engine/arg_utils.py`)."""
    most = seqs if max_num_seqs is None else max_num_seqs
    batch = min(tokens, most * max_model_len) if max_num_batched_tokens is None else max_num_batched_tokens
    if max_num_seqs is None:
        most = min(most, batch)
    if batch < most:
        raise SplitbedError(
            f"max-num-batched-tokens {batch} is less than max-num-seqs {most}.",
            "Raise the one or lower the other; the engine does not start like this.",
        )
    return Scheduling(max_num_batched_tokens=batch, max_num_seqs=most, concurrent_batches=concurrent_batches)
