"""`python3 -m benchmark run`: the command of the benchmark Job, and of anybody with a server's URL."""

import argparse
import os
import shlex
import sys
from collections.abc import Sequence
from pathlib import Path

from pydantic import JsonValue, TypeAdapter, ValidationError

from benchmark.planfile import read_plan
from benchmark.run import Run, this_client
from experiment.asked import Asked
from experiment.errors import SplitbedError
from experiment.record import Client

REFUSED = 2


class TopologyError(SplitbedError):
    """What the stack tells of itself cannot be read."""


def main(argv: Sequence[str] | None = None) -> int:
    """Run the command; exit code 0: all measured, 1: not all, 2: refused, 128 + n: stopped by signal n."""
    parser = argparse.ArgumentParser(prog="python3 -m benchmark", description="Measure an OpenAI-compatible server.")
    commands = parser.add_subparsers(required=True, metavar="COMMAND")
    run = commands.add_parser("run", help="measure what a plan asks for and has no record yet")
    run.add_argument("--plan", type=Path, required=True, help="the plan, a JSON file")
    run.add_argument("--url", required=True, help="the server, such as http://127.0.0.1:8000")
    run.add_argument("--results", type=Path, required=True, help="directory for the records")
    run.add_argument(
        "--replica", action="append", default=[], help="a replica's own address; may be given again, one for each"
    )
    run.add_argument("--asked", type=Path, help="what the stack asked for, a JSON file; in a pod of its cluster only")
    run.add_argument(
        "--print-records", action="store_true", help="print every record of the run at its end, one a line"
    )
    arguments = parser.parse_args(argv)
    client = this_client()
    try:
        code = Run(
            plan=read_plan(arguments.plan),
            url=arguments.url,
            results=arguments.results,
            replicas=arguments.replica,
            asked=_read_asked(arguments.asked),
            topology=_read_topology(os.environ.get("SPLITBED_TOPOLOGY")),
            client=client,
            print_records=arguments.print_records,
            say=_say,
            complain=_complain,
        ).carry_out()
    except SplitbedError as error:
        _complain(str(error))
        return REFUSED
    if code:
        _complain(_how_to_resume(arguments, client))
    return code


def _read_topology(text: str | None) -> dict[str, JsonValue] | None:
    if text is None:
        return None
    try:
        return TypeAdapter(dict[str, JsonValue]).validate_json(text)
    except ValidationError:
        raise TopologyError(f"SPLITBED_TOPOLOGY: {text!r} is no JSON object.", "Unset it, or mend it.") from None


def _read_asked(path: Path | None) -> Asked | None:
    if path is None:
        return None
    try:
        return Asked.model_validate_json(path.read_bytes())
    except OSError as error:
        raise TopologyError(f"--asked {path}: {error.strerror or error}.", "Leave it out, or name a file.") from None
    except ValidationError as error:
        first = error.errors()[0]
        where = ".".join(str(part) for part in first["loc"]) or "the whole"
        raise TopologyError(f"--asked {path}: {where}: {first['msg']}.", "Let Splitbed write it.") from None


def _how_to_resume(arguments: argparse.Namespace, client: Client) -> str:
    if client.pod:
        return "To resume (finished repeats are kept): set the stack's benchmark.attempt one higher, then `up`."
    words = ["python3", "-m", "benchmark", "run", "--plan", str(arguments.plan), "--url", arguments.url]
    words += ["--results", str(arguments.results)]
    words += [word for replica in arguments.replica for word in ("--replica", replica)]
    command = shlex.join([*words, *(["--print-records"] if arguments.print_records else [])])
    return f"To resume (finished repeats are kept), run again: {command}"


def _say(line: str) -> None:
    print(line, flush=True)


def _complain(line: str) -> None:
    print(line, file=sys.stderr, flush=True)


if __name__ == "__main__":
    sys.exit(main())
