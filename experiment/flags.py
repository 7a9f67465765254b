"""The command line of `vllm serve`, as one version was seen to have it."""

import difflib
import json
from collections.abc import Mapping
from functools import cache
from importlib.resources import files

from pydantic import JsonValue
from pydantic_core import PydanticCustomError

from experiment.strict import Strict
from experiment.versions import VLLM_VERSION


class Flag(Strict):
    """One flag: whether it takes a value, and which, if they are numbered."""

    takes_value: bool
    choices: tuple[str, ...] | None


@cache
def catalogue() -> Mapping[str, Flag]:
    """Return all flags of the pinned version by their name on the command line, dashes included."""
    text = files("experiment").joinpath(f"data/vllm-{VLLM_VERSION}-serve-flags.json").read_text()
    return {
        name: Flag(takes_value=entry["takes_value"], choices=entry["choices"] and tuple(entry["choices"]))
        for name, entry in json.loads(text).items()
    }


def spell(name: str, value: JsonValue) -> tuple[str, ...]:
    """Return one flag as arguments: `--name=value`, bare for true, `--no-name` for false, JSON for a mapping or list.

    Args:
        name: without the leading dashes, for example `max-num-seqs`.
        value: what it is set to.

    Raises:
        PydanticCustomError: the version has no such flag, or it does not take this value.
    """
    if isinstance(value, bool):
        spelt = f"--{name}" if value else f"--no-{name}"
        flag = _known(spelt, name)
        if flag.takes_value:
            raise _refused(name, spelt, "takes a value, not true or false", f"Write {name}: <value>.")
        return (spelt,)
    flag = _known(f"--{name}", name)
    if not flag.takes_value:
        raise _refused(name, f"--{name}", "is a switch and takes no value", f"Write {name}: true or {name}: false.")
    if value is None:
        raise _refused(name, f"--{name}", "has no value", "Give one, or leave the flag out.")
    text = value if isinstance(value, str) else json.dumps(value, separators=(",", ":"))
    if "$(" in text:
        raise _refused(name, f"--{name}", "holds $(, which Kubernetes would expand", "Leave it out.")
    if flag.choices is not None and text not in flag.choices:
        raise _refused(name, f"--{name}", f"does not know {text!r}", f"Choose one of {', '.join(flag.choices)}.")
    return (f"--{name}={text}",)


def _known(spelt: str, name: str) -> Flag:
    flag = catalogue().get(spelt)
    if flag is not None and spelt.startswith("--"):
        return flag
    near = difflib.get_close_matches(spelt, catalogue(), n=1)
    hint = f"Did you mean {near[0].removeprefix('--')}?" if near else "See `vllm serve --help=all` for its flags."
    if name.startswith("-"):
        hint = f"Write {name.lstrip('-')}, without dashes."
    raise _refused(name, spelt, f"is no flag of vLLM {VLLM_VERSION}", hint)


def _refused(key: str, spelt: str, why: str, remedy: str) -> PydanticCustomError:
    return PydanticCustomError("flag", "{spelt} {why}", {"key": key, "spelt": spelt, "why": why, "remedy": remedy})
