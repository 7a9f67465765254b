"""Real vLLM 0.31.0 in the rehearsal: its installation, a tiny model for it, and the stand-in held against it."""

from rehearsal.vllm.environment import Environment, VllmError, ensure_environment

__all__ = ["Environment", "VllmError", "ensure_environment"]
