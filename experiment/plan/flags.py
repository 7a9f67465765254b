"""The engine's further flags, as far as a plan depends on them."""

import json
import re
from typing import Any

from experiment.engine import Engine
from experiment.errors import SplitbedError

_ENCODED = ("image", "audio", "video")


def whole(engine: Engine, name: str) -> int | None:
    """Return a flag that is a whole number; None if it was not given.

    Raises:
        SplitbedError: it is written in another way, which the engine may still know.
    """
    value = engine.flags.get(name)
    if value is None:
        return None
    if isinstance(value, int) or (isinstance(value, str) and value.isdecimal()):
        return int(value)
    raise SplitbedError(f"engine.flags.{name}: found {value!r}: the plan reads whole numbers only.", "Write it out.")


def text(engine: Engine, name: str, default: str) -> str:
    """Return a flag that is text."""
    value = engine.flags.get(name)
    return value if isinstance(value, str) else default


def is_set(engine: Engine, name: str, value: bool) -> bool:
    """Tell whether a switch was set so, as `name: value` or as `no-name: not value`."""
    return engine.flags.get(name) is value or engine.flags.get(f"no-{name}") is (not value)


def inputs_off(engine: Engine) -> bool:
    """Tell whether images, sound and video are all switched off, so that their encoders are not loaded."""
    if is_set(engine, "language-model-only", True):
        return True
    limits: Any = engine.flags.get("limit-mm-per-prompt")
    if isinstance(limits, str):
        try:
            limits = json.loads(limits)
        except ValueError:
            return False
    return isinstance(limits, dict) and all(limits.get(kind) == 0 for kind in _ENCODED)


def model_dtype(engine: Engine) -> str:
    """Return the data type of activations; the checkpoint's own is bfloat16 in every model of the catalogue."""
    return {"auto": "bfloat16", "half": "float16", "float": "float32"}.get(engine.dtype, engine.dtype)


def weights_dtype(engine: Engine) -> str:
    """Return what linear layers are kept in."""
    quantization = text(engine, "quantization", "")
    return quantization if quantization in ("fp8", "int8") else model_dtype(engine)


def partition(engine: Engine) -> list[int] | None:
    """Return the layers of each stage as `VLLM_PP_LAYER_PARTITION` has them.

    Raises:
        SplitbedError: that is no list of whole numbers.
    """
    given = engine.env.get("VLLM_PP_LAYER_PARTITION")
    if given is None:
        return None
    if not re.fullmatch(r"\d{1,4}(,\d{1,4})*", given):
        raise SplitbedError(
            f"engine.env.VLLM_PP_LAYER_PARTITION: found {given!r}: it is no list of layers for each stage.",
            "Write for example 24,24.",
        )
    return [int(part) for part in given.split(",")]
