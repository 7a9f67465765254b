"""Have a model's files in a directory before its engine starts.

Ends with 0 when they are there, with 1 and one sentence, in the log and as the container's termination message, when
they are not to be had.
"""

import argparse
import os
import signal
import sys
import time
from collections.abc import Callable, Sequence
from pathlib import Path

from components.pod.weights import aws, hub, present, s3, store, token
from components.pod.weights.files import File
from components.pod.weights.patience import patiently
from components.pod.weights.refusal import RefusedError

MESSAGE = Path("/dev/termination-log")
PAUSE_S = 30.0
"""Between what is said and the end: a group is made anew for every end, and the source asked again."""


def main(arguments: Sequence[str]) -> int:
    """Fetch or look; return the exit status."""
    order = _parsed(arguments)
    # As a pod's first process it would not hear of its end; what it has fetched so far is kept as it is.
    signal.signal(signal.SIGTERM, lambda *_: os._exit(128 + signal.SIGTERM))
    try:
        if order.source == "directory":
            present.look(Path(order.into), order.uri)
        else:
            store.fill(Path(order.into), _source(order))
    except RefusedError as refusal:
        print(refusal, file=sys.stderr, flush=True)
        _leave(str(refusal))
        time.sleep(PAUSE_S)
        return 1
    return 0


def _parsed(arguments: Sequence[str]) -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="weights", description=__doc__)
    parser.add_argument("--source", choices=("hub", "s3", "directory"), required=True)
    parser.add_argument("--into", required=True, help="directory in which the engine looks for the model")
    parser.add_argument("--model", help="of the hub")
    parser.add_argument("--revision", default="main", help="of the hub's model")
    parser.add_argument("--uri", help="a prefix as s3://bucket/prefix, or what the node calls the directory")
    parser.add_argument("--region", default="", help="of the bucket")
    parser.add_argument("--token-arn", help="secret in Secrets Manager with the hub's token; else it is in HF_TOKEN")
    parser.add_argument("--token-held-in", default="model.token_secret", help="where a person puts another token")
    return parser.parse_args(arguments)


def _source(order: argparse.Namespace) -> Callable[[], Sequence[File]]:
    """Return what lists the files, asking again what is not answered."""
    if order.source == "s3":
        prefix = s3.Prefix(order.uri, order.region, aws.Rights())
        return lambda: patiently(order.uri, prefix.files)

    def of_hub() -> Sequence[File]:
        bearer = patiently("the hub's token", lambda: token.given(order.token_arn))
        return patiently(order.model, hub.Hub(order.model, order.revision, bearer, order.token_held_in).files)

    return of_hub


def _leave(sentence: str) -> None:
    """Leave the sentence where `kubectl describe pod` shows it."""
    try:
        MESSAGE.write_text(sentence)
    except OSError as error:
        print(f"it could not be left as the termination message ({error.strerror})", file=sys.stderr)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
