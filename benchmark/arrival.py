"""When the kernel had what a socket reads: a client that comes late still knows when it came.

Linux stamps each segment as it arrives (SO_TIMESTAMPING) and hands the stamp out with the data, for TCP the last
segment's of what is read. Where it does not (another system, another kind of socket), there is none, and the moment of
reading has to do.
"""

import asyncio
import socket
import struct
import sys
import time
from contextlib import suppress
from typing import Any, Self
from weakref import WeakValueDictionary

_SO_TIMESTAMPING = 37  # asm-generic/socket.h; Python does not name it
_RX_SOFTWARE, _SOFTWARE = 1 << 3, 1 << 4  # linux/net_tstamp.h: stamp what arrives, and hand that stamp out
_FLAGS = _RX_SOFTWARE | _SOFTWARE
_STAMP = struct.Struct("@ll")  # the first timespec of three is the software's
_SPACE = socket.CMSG_SPACE(3 * _STAMP.size)
_LARGEST = 1 << 16  # of one read; asyncio would ask for four times as much, which is allocated each time


class StampedSocket(socket.socket):
    """A socket whose reads remember when the kernel had what they brought; for asyncio to read from."""

    arrived_ns: int | None = None
    """The stamp of what was read last, of the system's clock; none if it has none."""

    @classmethod
    def taking_over(cls, other: socket.socket) -> Self:
        """Return the same connection with stamps; `other` is no more."""
        taken = cls(other.family, other.type, other.proto, other.detach())
        taken.stamp()
        return taken

    def stamp(self) -> None:
        """Have arrivals stamped from now on, if the system can."""
        if sys.platform == "linux":
            with suppress(OSError):
                self.setsockopt(socket.SOL_SOCKET, _SO_TIMESTAMPING, _FLAGS)

    def recv(self, size: int, flags: int = 0) -> bytes:
        """See `socket.recv`."""
        data, told, _, _ = self.recvmsg(min(size, _LARGEST), _SPACE, flags)
        self.arrived_ns = _arrived_ns(told)
        return data

    def recv_into(self, buffer: Any, size: int = 0, flags: int = 0) -> int:
        """See `socket.recv_into`; asyncio reads so what TLS decrypts."""
        view = memoryview(buffer)[: size or None]
        count, told, _, _ = self.recvmsg_into([view], _SPACE, flags)
        self.arrived_ns = _arrived_ns(told)
        return count

    @property
    def age_s(self) -> float | None:
        """How long ago the kernel had what was read last; none if that is not known.

        A system's clock may be set; it is asked right after a read, so that a step is seen as an age that cannot be,
        which is the caller's to refuse.
        """
        return None if self.arrived_ns is None else (time.time_ns() - self.arrived_ns) / 1e9


def _arrived_ns(told: list[tuple[int, int, bytes]]) -> int | None:
    for level, kind, data in told:
        if kind == _SO_TIMESTAMPING and level == socket.SOL_SOCKET:
            seconds, ns = _STAMP.unpack_from(data)
            return (seconds * 1_000_000_000 + ns) or None
    return None


class StampedListener(socket.socket):
    """A listening socket whose connections are stamped; for a server that tells when a request was there.

    `sources` has those that are open by their descriptor, which is what asyncio tells of a connection's socket.
    """

    def __init__(self, *arguments: Any) -> None:
        super().__init__(*arguments)
        self.sources: WeakValueDictionary[int, StampedSocket] = WeakValueDictionary()

    def accept(self) -> tuple[socket.socket, Any]:
        """See `socket.accept`."""
        connection, address = super().accept()
        stamped = StampedSocket.taking_over(connection)
        self.sources[stamped.fileno()] = stamped
        return stamped, address


async def connected(host: str, port: int) -> StampedSocket:
    """Connect to the first address of the host that answers.

    Raises:
        OSError: not resolved, or none answers; what the last one said.
    """
    loop = asyncio.get_running_loop()
    failure = OSError(f"{host} has no address")
    for family, kind, protocol, _, address in await loop.getaddrinfo(host, port, type=socket.SOCK_STREAM):
        made = StampedSocket(family, kind, protocol)
        try:
            made.setblocking(False)
            made.stamp()
            await loop.sock_connect(made, address)
        except OSError as error:
            made.close()
            failure = error
        except BaseException:
            made.close()
            raise
        else:
            return made
    raise failure
