"""Start the language host, print its port, and serve until the engine is gone."""

import os
import select
import signal
import sys
import threading
from concurrent.futures import ThreadPoolExecutor

import grpc
from pulumi.runtime.proto import language_pb2_grpc

from rehearsal.languagehost.server import ProgramServer

MAX_MESSAGE_BYTES = 400 * 1024 * 1024  # the engine's own limit
CALLS = 16  # at the same time: one for the program and one for each policy pack last as long as they run
DRAIN_S = 4.0  # a program that is still running is given this long; the engine kills after 5 s


def exit_with_parent() -> None:
    """End this process as soon as the engine that started it has ended, however it ended."""
    parent = os.pidfd_open(os.getppid())

    def watch() -> None:
        select.select([parent], [], [])
        os._exit(0)

    threading.Thread(target=watch, daemon=True).start()


def main() -> None:
    """Serve on a free loopback port."""
    exit_with_parent()
    server = grpc.server(
        ThreadPoolExecutor(max_workers=CALLS),
        options=[
            ("grpc.max_receive_message_length", MAX_MESSAGE_BYTES),
            ("grpc.max_send_message_length", MAX_MESSAGE_BYTES),
        ],
    )
    language_pb2_grpc.add_LanguageRuntimeServicer_to_server(ProgramServer(), server)
    port = server.add_insecure_port("127.0.0.1:0")
    server.start()
    stop = threading.Event()
    for number in (signal.SIGINT, signal.SIGTERM):  # the engine ends its plugins by SIGINT and waits 5 s
        signal.signal(number, lambda *_: stop.set())
    sys.stdout.write(f"{port}\n")
    sys.stdout.flush()
    stop.wait()
    server.stop(grace=DRAIN_S).wait()


if __name__ == "__main__":
    main()
