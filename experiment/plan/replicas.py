"""Advice on copies of a model: whether more and smaller ones would serve better, and what each keeps for itself."""

from collections.abc import Iterator

from experiment.expectation import gpu
from experiment.expectation.parameters import NVLINK_RANGE_US, PCIE_RANGE_US
from experiment.plan.facts import Facts
from experiment.plan.spending import instance_of
from experiment.rounding import counted
from experiment.topology import Replicas, Single
from experiment.warning import Warning as Warned

_CROSSOVER = "16 to 32"


def warnings(facts: Facts) -> Iterator[Warned]:
    """Return what speaks for more copies, or against how they are reached."""
    yield from _half_the_gpus(facts)
    yield from _bus(facts)
    yield from _own_caches(facts)


def _half_the_gpus(facts: Facts) -> Iterator[Warned]:
    topology = facts.settings.topology
    if not isinstance(topology, Single) or not _halves(facts):
        return
    yield Warned(
        "replicas-serve-better",
        f"The model also fits on {counted(topology.tensor // 2, 'GPU')}, so these {topology.tensor} could hold two "
        f"copies. For one user one copy answers sooner; from about {_CROSSOVER} requests at once two give more, and "
        "one of them survives a lost GPU (the GPU post, whose figures are its author's illustration). Compare with "
        f"topology: {{kind: replicas, count: 2, tensor: {topology.tensor // 2}}}.",
        {"gpus": topology.tensor},
    )


def _bus(facts: Facts) -> Iterator[Warned]:
    """The GPU post's arithmetic: layers x 2 x the latency of one all-reduce, at every token.

    The post's conclusion, never four GPUs over PCIe where two would do, is of its latencies, a hundred times those that
    were measured for one token. So it is no mistake, and how much it costs many users is for the benchmark to say.
    """
    instance, geometry = instance_of(facts.settings.nodes.engine), facts.geometry
    tensor = facts.settings.topology.tensor
    if instance is None or geometry is None or instance.interconnect != "pcie":
        return
    pcie, nvlink = gpu.latency(tensor, "pcie"), gpu.latency(tensor, "nvlink")
    if pcie is None or nvlink is None:
        return
    each = 2 * geometry.layers
    here, there = (gpu.reduce_ms(geometry.layers, one.value) for one in (pcie, nvlink))
    fits = facts.memory is not None and facts.memory.fit == "fits" and facts.cache is not None and facts.cache.fits
    why = f", and it would fit on {tensor // 2}" if _halves(facts) else ", and it fits on no fewer" if fits else ""
    yield Warned(
        "tensor-parallel-over-pcie",
        f"{tensor} GPUs of {instance.name} reduce over PCIe {each} times a token{why}. For one user that is about "
        f"{here:.1f} ms a token, where NVLink takes {there:.1f} (measured on other machines). Prompts and many users "
        f"at once move more each time, and it is they whom PCIe holds up. The GPU post reckons with "
        f"{_ms(PCIE_RANGE_US)} ms each time over PCIe and {_ms(NVLINK_RANGE_US)} over NVLink, which nobody measured.",
        {"all_reduces_per_token": each, "gpus": tensor, "pcie_ms": round(here, 2), "nvlink_ms": round(there, 2)},
    )


def _ms(range_us: tuple[float, float]) -> str:
    return " to ".join(f"{us / 1000:g}" for us in range_us)


def _halves(facts: Facts) -> bool:
    """Tell whether half of the GPUs would hold the model and one longest request."""
    return facts.half is not None and facts.half.fit == "fits"


def _own_caches(facts: Facts) -> Iterator[Warned]:
    settings = facts.settings
    if not isinstance(settings.topology, Replicas) or settings.service.sticky_s is not None:
        return
    yield Warned(
        "prefix-cache-per-copy",
        f"Each of the {settings.topology.count} copies has a prefix cache of its own: a conversation that comes to "
        "another copy pays for its whole history again. service.sticky_s keeps a client at one copy.",
        {"copies": settings.topology.count},
    )
