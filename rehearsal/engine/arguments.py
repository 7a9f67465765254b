"""The command line of `vllm serve` 0.31.0, built from the recorded flags.

`data/serve-flags.json` is the recording (flag, takes a value, choices); `data/flag-values.json` adds what kind of
value each one takes and which short forms it has. Unknown and malformed arguments are refused by argparse, as vLLM
does itself: usage and one line on stderr, exit code 2.
"""

import argparse
import json
import re
from collections import defaultdict
from collections.abc import Callable, Sequence
from functools import cache
from pathlib import Path
from typing import Any

from rehearsal.engine import VLLM_VERSION

DATA = Path(__file__).parent / "data"
SUBCOMMANDS = ("chat", "complete", "serve", "launch", "bench", "collect-env", "run-batch", "snapshot")
# Values vLLM puts in where a flag is left out, for the flags that this server honours.
DEFAULTS: dict[str, Any] = {
    "--port": 8000,
    "--pipeline-parallel-size": 1,
    "--tensor-parallel-size": 1,
    "--nnodes": 1,
    "--node-rank": 0,
    "--master-addr": "127.0.0.1",
    "--master-port": 29501,
    "--shutdown-timeout": 0,
    "--seed": 0,
    "--stream-interval": 1,
    "--response-role": "assistant",
    "--fingerprint-mode": "full",
    "--long-prefill-token-threshold": 0,
}


def human_readable_int(value: str) -> int:
    """Parse an integer that may have a decimal (k, m, g, t) or binary (K, M, G, T) suffix."""
    match = re.fullmatch(r"(\d+(?:\.\d+)?)([kKmMgGtT])", value.strip())
    if match is None:
        return int(value)
    number, suffix = match.groups()
    power = "kmgt".index(suffix.lower()) + 1
    if suffix.islower():
        return int(float(number) * 1000.0**power)
    if "." in number:
        raise argparse.ArgumentTypeError(
            f"Decimals are not allowed with binary suffixes like {suffix}. "
            f"Did you mean to use {number}{suffix.lower()} instead?"
        )
    return int(number) * (1 << 10 * power)


def human_readable_int_or_auto(value: str) -> int:
    """Parse a length; `auto` and -1 leave it to the model."""
    return -1 if value.strip().lower() in ("auto", "-1") else human_readable_int(value)


def _converted(convert: Callable[[str], Any], *, optional: bool) -> Callable[[str], Any]:
    def parse(value: str) -> Any:
        if optional and value in ("", "None"):
            return None
        try:
            return convert(value)
        except ValueError as e:
            raise argparse.ArgumentTypeError(f"Value {value} cannot be converted to {convert}.") from e

    return parse


def _json_value(value: str) -> Any:
    try:
        return json.loads(value)
    except json.JSONDecodeError as e:
        raise argparse.ArgumentTypeError(f"Value {value} cannot be converted to {json.loads}.") from e


def _keywords(kind: str) -> dict[str, Any]:
    """Translate a kind from `flag-values.json` to keywords of `add_argument`."""
    optional = kind.startswith("optional ")
    kind = kind.removeprefix("optional ")
    if kind == "append":
        return {"action": "append", "default": []}
    if kind == "json":
        return {"type": _json_value}
    if kind == "length":
        return {"type": human_readable_int_or_auto}
    if kind == "str?":
        return {"nargs": "?", "const": True}
    types: dict[str, Callable[[str], Any]] = {
        "int": int,
        "float": float,
        "str": str,
        "count": human_readable_int,
    }
    convert = types[kind.rstrip("+")]
    keywords: dict[str, Any] = {"type": _converted(convert, optional=True) if optional else convert}
    if kind.endswith("+"):
        keywords["nargs"] = "+"
    return keywords


def _add_flags(parser: argparse.ArgumentParser) -> None:
    flags: dict[str, dict[str, Any]] = json.loads((DATA / "serve-flags.json").read_text())
    values = json.loads((DATA / "flag-values.json").read_text())
    short: dict[str, list[str]] = defaultdict(list)
    for alias, flag in values["aliases"].items():
        short[flag].append(alias)
    for flag, facts in flags.items():
        if flag in values["aliases"] or flag in ("-h", "--help") or flag.startswith("--no-"):
            continue
        names = [flag, *short[flag]]
        keywords: dict[str, Any] = {"default": DEFAULTS.get(flag)}
        if not facts["takes_value"]:
            negatable = f"--no-{flag[2:]}" in flags
            keywords["action"] = argparse.BooleanOptionalAction if negatable else "store_true"
        elif facts["choices"]:
            choices = [None if choice == "None" else choice for choice in facts["choices"]]
            keywords["choices"] = choices
            if all(choice is None or str(choice).lstrip("-").isdigit() for choice in choices):
                keywords |= {"type": int, "choices": [int(c) for c in choices if c is not None]}
            elif None in choices:
                keywords["type"] = _converted(str, optional=True)
        else:
            keywords |= _keywords(values["values"][flag])
        parser.add_argument(*names, **keywords)


def _nested(keys: Sequence[str], value: Any) -> Any:
    for key in reversed(keys):
        value = {key: value}
    return value


def _merge(into: dict[str, Any], update: dict[str, Any]) -> None:
    for key, value in update.items():
        if isinstance(value, dict) and isinstance(into.get(key), dict):
            _merge(into[key], value)
        elif isinstance(value, list) and isinstance(into.get(key), list):
            into[key] += value
        else:
            into[key] = value


def _plain(value: str) -> Any:
    try:
        return json.loads(value)
    except json.JSONDecodeError:
        try:
            return human_readable_int(value)
        except (ValueError, argparse.ArgumentTypeError):
            return value


def normalised(argv: Sequence[str]) -> list[str]:
    """Rewrite what vLLM accepts beyond argparse: underscores in names, and `-cc.mode=2` for a JSON value."""
    args: list[str] = []
    for arg in argv:
        if arg.startswith("--"):
            name, equals, value = arg.partition("=")
            head, dot, rest = name.partition(".")
            args.append("--" + head[2:].replace("_", "-") + dot + rest + equals + value)
        else:
            args.append(arg)
    plain: list[str] = []
    dotted: dict[str, dict[str, Any]] = defaultdict(dict)
    position = 0
    while position < len(args):
        name, equals, value = args[position].partition("=")
        position += 1
        if not (name.startswith("-") and "." in name) or re.fullmatch(r"-\d*\.\d+", name):
            plain.append(args[position - 1])
            continue
        if not equals:
            value = args[position] if position < len(args) else ""
            position += 1
        key, *keys = name.removesuffix("+").split(".")
        parsed = value.split(",") if name.endswith("+") else _plain(value)
        _merge(dotted[key], _nested(keys, parsed))
    for key, tree in dotted.items():
        plain += [key, json.dumps(tree)]
    return plain


def _model_first(argv: list[str]) -> list[str]:
    """Turn the old `--model X` into the positional argument, as vLLM does with a warning."""
    for position, arg in enumerate(argv):
        if arg == "--model" and position + 1 < len(argv):
            return [argv[0], argv[position + 1], *argv[1:position], *argv[position + 2 :]]
        if arg.startswith("--model="):
            return [argv[0], arg.removeprefix("--model="), *argv[1:position], *argv[position + 1 :]]
    return argv


@cache
def parser() -> argparse.ArgumentParser:
    """Build the parser of `vllm`; only `serve` is of use here."""
    top = argparse.ArgumentParser(prog="vllm", description="vLLM CLI (stand-in)")
    top.add_argument("-v", "--version", action="version", version=VLLM_VERSION)
    subcommands = top.add_subparsers(dest="subparser")
    for name in SUBCOMMANDS:
        if name != "serve":
            subcommands.add_parser(name)
    serve = subcommands.add_parser("serve", usage="vllm serve [model_tag] [options]")
    serve.add_argument("model_tag", nargs="?")
    _add_flags(serve)
    return top


def parse(argv: Sequence[str]) -> argparse.Namespace:
    """Parse the arguments after `vllm`.

    Raises:
        SystemExit: 2 for an unknown or malformed argument, with argparse's message on stderr.
    """
    args = list(argv)
    if args[:1] == ["serve"]:
        args = _model_first(args)
    namespace = parser().parse_args(normalised(args))
    if namespace.subparser == "serve" and namespace.model_tag is not None:
        namespace.model = namespace.model_tag
    return namespace
