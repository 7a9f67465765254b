"""A virtual clock: an event loop whose time passes only while nothing is left to do, so that computing costs none.

Connections are the kernel's own, to servers in the same loop that are found by their host's name.
"""

import asyncio
import selectors
import socket
from collections.abc import Callable, Coroutine
from typing import Any, TypeVar

T = TypeVar("T")
Factory = Callable[[], asyncio.Protocol]

BEGIN_S = 1000.0
_PATIENCE_S = 20.0


class _Selector(selectors.DefaultSelector):
    def __init__(self) -> None:
        super().__init__()
        self.now_s = BEGIN_S

    def select(self, timeout: float | None = None) -> list[tuple[selectors.SelectorKey, int]]:
        """Look for what is ready, and if nothing is, let the time pass that the loop would wait."""
        events = super().select(0)
        if events or timeout == 0:
            return events
        if timeout is None:
            events = super().select(_PATIENCE_S)
            assert events, "nothing is left to happen, and somebody still waits"
            return events
        self.now_s += max(0.0, timeout)
        return []


class VirtualLoop(asyncio.SelectorEventLoop):
    """Its `time` is virtual; `hosts` says who answers at a host."""

    def __init__(self) -> None:
        self.clock = _Selector()
        super().__init__(self.clock)
        self.hosts: dict[str, Callable[[], Factory]] = {}

    def time(self) -> float:
        """Return the virtual time in seconds."""
        return self.clock.now_s

    def burn(self, seconds: float) -> None:
        """Let time pass while nobody in this loop gets anything done, as on a CPU that others use."""
        self.clock.now_s += seconds

    async def getaddrinfo(self, host: Any, port: Any, **more: Any) -> Any:
        """Name a host of this loop as if it were an address."""
        return [(socket.AF_UNIX, socket.SOCK_STREAM, 0, "", host)]

    async def sock_connect(self, sock: socket.socket, address: Any) -> None:
        """Connect to a server of this loop, by a socket of the kernel's that has no name of its own."""
        if address not in self.hosts:
            raise ConnectionRefusedError(111, f"nobody answers at {address}")
        with socket.socket(socket.AF_UNIX) as listener:
            listener.bind("")  # Linux picks an abstract name
            listener.listen()
            sock.connect(listener.getsockname())
            far, _ = listener.accept()
        far.setblocking(False)
        await self.connect_accepted_socket(self.hosts[address](), far)


def run(main: Callable[[VirtualLoop], Coroutine[Any, Any, T]]) -> T:
    """Run a coroutine on a virtual clock of its own."""
    with asyncio.Runner(loop_factory=VirtualLoop) as runner:
        loop = runner.get_loop()
        assert isinstance(loop, VirtualLoop)
        return runner.run(main(loop))
