"""What was run on what: all that records say of engine, machines, client and prompts, with their versions."""

from collections.abc import Callable, Iterable
from dataclasses import dataclass

from experiment.record import RepeatRecord
from report.verdict.reading import Arm

_Of = Callable[[RepeatRecord], Iterable[str]]
NOT_KNOWN = "not recorded"


@dataclass(frozen=True)
class Provenance:
    """Of one topology.

    Attributes:
        facts: name and values; values that differ between records are all there.
        commands: live command lines of the engine, by pod.
        proven: what was held against the stack before measuring, and was as it asked.
        unproven: what could not be looked at.
    """

    topology: str
    facts: tuple[tuple[str, str], ...]
    commands: tuple[tuple[str, str], ...]
    proven: tuple[str, ...]
    unproven: tuple[str, ...]


def provenance(arm: Arm) -> Provenance:
    """Collect it from all records of a topology, or from a typed result's own words."""
    records = [record for run in arm.runs for record in run.records]
    typed = [run.about for run in arm.runs if run.about is not None]
    if not records:
        facts = [(name, _joined(getattr(one, name) for one in typed)) for name in ("model", "engine", "hardware")]
        return Provenance(arm.label, (*facts, ("source, typed", _joined(one.source for one in typed))), (), (), ())
    proofs = [record.proof for record in records if record.proof is not None]
    commands = {pod: " ".join(words) for proof in proofs for pod, words in proof.arguments.items()}
    moments = [record.started_at for record in records]
    facts = [(name, _joined(value for record in records for value in of(record))) for name, of in _FACTS]
    when = f"{min(moments):%Y-%m-%d %H:%M} to {max(moments):%Y-%m-%d %H:%M} UTC"
    return Provenance(
        topology=arm.label,
        facts=(*facts, ("measured", when), ("runs, repeats", f"{len(arm.runs)}, {len(records)}")),
        commands=tuple(sorted(commands.items())),
        proven=tuple(dict.fromkeys(line for proof in proofs for line in proof.proven)),
        unproven=tuple(dict.fromkeys(line for proof in proofs for line in proof.unproven)),
    )


def _engine(record: RepeatRecord) -> Iterable[str]:
    version = record.engine.version or "of unknown version"
    if record.engine.simulated:
        profile = (record.engine.standin or {}).get("profile", "not told")
        yield f"simulated: stand-in of vLLM {version}, profile {profile}"
    else:
        yield f"vLLM {version}"


def _cache(record: RepeatRecord) -> Iterable[str]:
    for server in record.proof.servers if record.proof is not None else ():
        if server.kv_tokens is not None:
            yield f"{server.kv_tokens:,} tokens of KV cache, at most {server.max_model_len or '?'} a request"


def _machines(record: RepeatRecord) -> Iterable[str]:
    for pod in record.pods.pods:
        yield f"{pod.role} on {pod.node} ({', '.join(filter(None, (pod.instance_type or 'type not known', pod.zone)))})"


def _client(record: RepeatRecord) -> Iterable[str]:
    client = record.client
    yield f"{client.pod or client.host} on {client.node}" if client.node else client.host


def _prompts(record: RepeatRecord) -> Iterable[str]:
    yield {"tokenize": "of tokens that the server named", "assumed": "of assumed tokens"}[record.prompt_ids]


_FACTS: tuple[tuple[str, _Of], ...] = (
    ("model", lambda record: [record.engine.model]),
    ("engine", _engine),
    ("image", lambda record: (f"{pod.image} ({pod.image_id})" for pod in record.pods.pods)),
    ("server", _cache),
    ("machines", _machines),
    ("client", _client),
    ("prompts", _prompts),
    ("plan", lambda record: [record.plan_hash]),
    ("record schema", lambda record: [f"version {record.schema_version}"]),
)


def _joined(values: Iterable[str]) -> str:
    return "; ".join(dict.fromkeys(values)) or NOT_KNOWN
