import socket
import sys
import time

import pytest

from rehearsal.engine.arrival import Arrival, Arrivals

LATE_S = 0.05


@pytest.mark.skipif(sys.platform != "linux", reason="the kernel's stamps are Linux's")
def test_a_request_that_is_read_late_is_known_to_have_come_earlier() -> None:
    with Arrivals(socket.AF_INET) as listener:
        listener.bind(("127.0.0.1", 0))
        listener.listen()
        with socket.create_connection(listener.getsockname()) as client:
            connection, _ = listener.accept()
            assert isinstance(connection, Arrival)
            with connection:
                assert listener.of[connection.fileno()] is connection
                for _ in range(100):  # the kernel begins to stamp a moment after it was first asked to
                    client.send(b"x")
                    connection.recv(10)
                    if connection.at_ns is not None:
                        break
                    time.sleep(0.01)
                before = time.monotonic_ns()
                client.send(b"request")
                after = time.monotonic_ns()
                time.sleep(LATE_S)
                assert connection.recv(10) == b"request"
                assert connection.at_ns is not None
                assert before - 1_000_000 < connection.at_ns < after + LATE_S * 1e9 / 2
