"""When the kernel had a request, however late this process came to read it: the beginning of what is told as truth.

Made apart from the client's own stamps and by another of Linux' options (SO_TIMESTAMPNS), so that a mistake in one does
not hide in the other.
"""

import socket
import struct
import time
from contextlib import suppress
from typing import Any
from weakref import WeakValueDictionary

_SO_TIMESTAMPNS = 35  # asm-generic/socket.h; Python does not name it
_TIMESPEC = struct.Struct("@ll")


class Arrivals(socket.socket):
    """A listening socket. `of` has its open connections by descriptor, which is what asyncio tells of a socket."""

    def __init__(self, family: int) -> None:
        super().__init__(family)
        self.of: WeakValueDictionary[int, Arrival] = WeakValueDictionary()

    def accept(self) -> tuple[socket.socket, Any]:
        """See `socket.accept`."""
        plain, address = super().accept()
        made = Arrival(plain.family, plain.type, plain.proto, plain.detach())
        with suppress(OSError):
            made.setsockopt(socket.SOL_SOCKET, _SO_TIMESTAMPNS, 1)
        self.of[made.fileno()] = made
        return made, address


class Arrival(socket.socket):
    """A connection; `at_ns` is when the kernel had what was read last, of the monotonic clock, none if it tells not."""

    at_ns: int | None = None

    def recv(self, size: int, flags: int = 0) -> bytes:
        """See `socket.recv`; asyncio reads by it."""
        data, told, _, _ = self.recvmsg(size, socket.CMSG_SPACE(_TIMESPEC.size), flags)
        self.at_ns = None
        for _, kind, stamp in told:
            if kind == _SO_TIMESTAMPNS:
                seconds, ns = _TIMESPEC.unpack(stamp)
                self.at_ns = seconds * 1_000_000_000 + ns - _ahead_ns()
        return data


def _ahead_ns() -> int:
    """Return by how much the system's clock is ahead of the monotonic one: of a few looks, the least interrupted."""
    looks = ((time.monotonic_ns(), time.time_ns(), time.monotonic_ns()) for _ in range(3))
    before, now, after = min(looks, key=lambda look: look[2] - look[0])
    return now - (before + after) // 2
