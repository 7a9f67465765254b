"""`python3 -m rehearsal.engine serve MODEL ...`: what the stand-in image has as `vllm`."""

import asyncio
import logging
import sys
from collections.abc import Sequence

from rehearsal.engine import arguments
from rehearsal.engine.memory import MemoryRefusalError
from rehearsal.engine.profile import ProfileError
from rehearsal.engine.serve import follow, lead
from rehearsal.engine.settings import SettingsError, settings


def main(argv: Sequence[str] | None = None) -> int:
    """Run a command line and return its exit code."""
    args = arguments.parse(sys.argv[1:] if argv is None else argv)
    if args.subparser is None:
        arguments.parser().print_help()
        return 0
    if args.subparser != "serve":
        print(f"vllm {args.subparser}: the stand-in engine only serves", file=sys.stderr)
        return 1
    logging.basicConfig(
        stream=sys.stdout, level=logging.INFO, format="%(levelname)s %(asctime)s %(message)s", datefmt="%m-%d %H:%M:%S"
    )
    try:
        found = settings(args)
        return asyncio.run(follow(found) if found.headless else lead(found))
    except (SettingsError, ProfileError, MemoryRefusalError) as e:
        print(f"ValueError: {e}", file=sys.stderr)
    except OSError as e:
        print(f"{type(e).__name__}: {e}", file=sys.stderr)
    return 1


if __name__ == "__main__":
    sys.exit(main())
