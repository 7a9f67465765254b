"""What the three posts found about speed, one function each: the prediction beside the measurement."""

from experiment.expectation import cpu, gpu
from experiment.expectation.expectation import Expectation
from experiment.expectation.known import known
from experiment.expectation.parameter import Parameter
from experiment.expectation.parameters import (
    BANDWIDTH,
    HOP,
    MORE_USERS,
    POST_NVLINK_2,
    POST_NVLINK_4,
    POST_PCIE_4,
    PREFILL,
    SOFTWARE,
)

_POST_1B = "the 1B post (Don't split a model that fits)"
_POST_12B = "the 12B post (Fitting a 12B model into two small CPU nodes)"
_POST_GPU = "the GPU post (One big replica or many small ones)"


def one_user_of_the_1b() -> Expectation:
    """One pod gives one user of the 1B 21 tokens a second, held up by software and not by memory."""
    return Expectation(
        metric="gemma-3-1b, one pod, one user",
        unit="tokens/s",
        predicted=cpu.speed(known("google/gemma-3-1b-it")).tokens_s,
        measured=21.0,
        source=f"{_POST_12B}; from {SOFTWARE.name}",
        extrapolates=False,
        calibrated=True,
    )


def splitting_the_1b_costs_a_fifth() -> Expectation:
    """The single pod is 21 percent faster for one user than the split."""
    geometry = known("google/gemma-3-1b-it")
    return Expectation(
        metric="gemma-3-1b, one user: one pod by the split",
        unit="times",
        predicted=cpu.speed(geometry).tokens_s / cpu.speed(geometry, pipeline=2).tokens_s,
        measured=1.21,
        source=f"{_POST_1B}; from {SOFTWARE.name} and {HOP.name}",
        extrapolates=False,
        calibrated=True,
    )


def long_prompt_of_the_1b() -> Expectation:
    """A prompt of 3500 tokens takes about six seconds either way."""
    return Expectation(
        metric="gemma-3-1b, one pod, first token of 3500",
        unit="s",
        predicted=cpu.speed(known("google/gemma-3-1b-it")).first_token_s(3500),
        measured=6.0,
        source=f"{_POST_1B}; from {PREFILL.name}",
        extrapolates=False,
        calibrated=True,
    )


def second_turn_without_the_cache() -> Expectation:
    """A history of 2847 tokens that is not cached takes 4.5 to 4.9 seconds."""
    return Expectation(
        metric="gemma-3-1b, one pod, first token of 2847",
        unit="s",
        predicted=cpu.speed(known("google/gemma-3-1b-it")).first_token_s(2847),
        measured=4.7,
        source=f"{_POST_1B}, the middle of its range; from {PREFILL.name}",
        extrapolates=False,
    )


def eight_users_of_one_pod() -> Expectation:
    """Eight users of one pod with the 1B have 92 tokens a second together."""
    return Expectation(
        metric="gemma-3-1b, one pod, 8 users together",
        unit="tokens/s",
        predicted=cpu.speed(known("google/gemma-3-1b-it")).users_tokens_s(8),
        measured=92.0,
        source=f"{_POST_1B}; from {MORE_USERS.name}",
        extrapolates=False,
        calibrated=True,
    )


def eight_users_of_the_split() -> Expectation:
    """Eight users of the split, in its fast mode, have 84: it bought no throughput either."""
    return Expectation(
        metric="gemma-3-1b, split over two, 8 users together",
        unit="tokens/s",
        predicted=cpu.speed(known("google/gemma-3-1b-it"), pipeline=2).users_tokens_s(8),
        measured=84.0,
        source=f"{_POST_1B}; from {MORE_USERS.name} and {HOP.name}",
        extrapolates=False,
    )


def two_copies_double_the_throughput() -> Expectation:
    """Two copies should roughly double the capacity: an expectation of the post, not a result."""
    one = cpu.speed(known("google/gemma-3-1b-it"))
    return Expectation(
        metric="gemma-3-1b, two copies with 16 users by one with 8",
        unit="times",
        predicted=one.users_tokens_s(16, copies=2) / one.users_tokens_s(8),
        measured=None,
        source=f"{_POST_1B}, which expects about 2 and did not measure it",
        extrapolates=True,
    )


def one_user_of_the_12b() -> Expectation:
    """The split 12B gives 4.0 tokens a second: it is held up by memory, so 5 times slower than the 1B and not 12."""
    return Expectation(
        metric="gemma-4-12B, split over two, one user",
        unit="tokens/s",
        predicted=cpu.speed(known("google/gemma-4-12B-it"), pipeline=2).tokens_s,
        measured=4.0,
        source=f"{_POST_12B}; from {BANDWIDTH.name} and {HOP.name}",
        extrapolates=False,
        calibrated=True,
    )


def the_31b_on_four_nodes() -> Expectation:
    """A 31B on four such nodes lands nearer 1.5 tokens a second than 0.6; its author has not run it."""
    return Expectation(
        metric="gemma-4-31B, split over four, one user",
        unit="tokens/s",
        predicted=cpu.speed(known("google/gemma-4-31B-it"), pipeline=4).tokens_s,
        measured=None,
        source=f"{_POST_12B}, which says nearer 1.5 than 0.6; from {BANDWIDTH.name} and {HOP.name}",
        extrapolates=True,
    )


def all_reduces_of_a_70b(reduce: Parameter) -> Expectation:
    """By the post, all-reduces of 80 layers cost 16 ms on four GPUs over NVLink, 9.6 on two, 480 on four over PCIe."""
    return Expectation(
        metric=f"Llama 70B, by the GPU post: each {reduce.name} {reduce.value:g} us, those of a token",
        unit="ms",
        predicted=gpu.reduce_ms(80, reduce.value),
        measured=None,
        source=f"{_POST_GPU}: layers x 2 x latency, by latencies that nobody measured",
        extrapolates=True,
    )


def one_user_of_a_70b(tensor: int) -> Expectation:
    """One user of a 70B on H100; the post's 200 and 170 tokens a second are its author's illustration.

    They cannot be: four GPUs take 10.5 ms to read the weights for one token, which allows 95.
    """
    there = gpu.speed(known("meta-llama/Llama-3.1-70B-Instruct"), gpu_name="H100", interconnect="nvlink", tensor=tensor)
    return Expectation(
        metric=f"Llama 70B, {tensor} H100 over NVLink, one user",
        unit="tokens/s",
        predicted=there.tokens_s,
        measured=None,
        source="; ".join(f"{one.name}: {one.source}" for one in there.parameters),
        extrapolates=True,
    )


def posts() -> tuple[Expectation, ...]:
    """Return every finding, so that predictions stand beside what the posts measured, with their error."""
    return (
        one_user_of_the_1b(),
        splitting_the_1b_costs_a_fifth(),
        long_prompt_of_the_1b(),
        second_turn_without_the_cache(),
        eight_users_of_one_pod(),
        eight_users_of_the_split(),
        two_copies_double_the_throughput(),
        one_user_of_the_12b(),
        the_31b_on_four_nodes(),
        all_reduces_of_a_70b(POST_NVLINK_4),
        all_reduces_of_a_70b(POST_NVLINK_2),
        all_reduces_of_a_70b(POST_PCIE_4),
        one_user_of_a_70b(4),
        one_user_of_a_70b(2),
    )
