"""How many tokens the engine may have in flight, which is what a sliding layer must keep beyond its window."""

from dataclasses import dataclass

from experiment.errors import SplitbedError

CPU_BATCHED_TOKENS = 2048
"""Tokens of one batch for each rank of a CPU server, unless given (`engine/arg_utils.py: get_batch_defaults`)."""

CPU_SEQUENCES = 128
"""Requests of one batch for each rank of a CPU server, unless given."""


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
            no such inputs, or all are switched off.
        chunked_prefill: whether a prompt may be read in pieces.

    Raises:
        SplitbedError: a batch would hold fewer tokens than requests, or less than a prompt that may not be cut.
    """
    world = pipeline * tensor
    seqs = CPU_SEQUENCES * world if max_num_seqs is None else max_num_seqs
    if max_num_batched_tokens is None:
        tokens = CPU_BATCHED_TOKENS * world
        if not chunked_prefill:
            tokens = max(tokens, max_model_len)
        tokens = min(max(tokens, multimodal_tokens), seqs * max_model_len)
    else:
        tokens = max_num_batched_tokens
    if max_num_seqs is None:
        seqs = min(seqs, tokens)
    if tokens < seqs:
        raise SplitbedError(
            f"max-num-batched-tokens {tokens} is less than max-num-seqs {seqs}.",
            "Raise the one or lower the other; the engine does not start like this.",
        )
    if not chunked_prefill and tokens < max_model_len:
        raise SplitbedError(
            f"max-num-batched-tokens {tokens} is less than max-model-len {max_model_len} without chunked prefill.",
            "Raise it, lower the length, or leave chunked prefill on.",
        )
    return Scheduling(max_num_batched_tokens=tokens, max_num_seqs=seqs, concurrent_batches=pipeline)
