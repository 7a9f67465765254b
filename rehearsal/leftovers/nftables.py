"""nftables as the kernel tells it, also where no `nft` program is installed."""

import socket
import struct
from collections.abc import Iterator

from rehearsal.leftovers.errors import ListingError

_NETLINK_NETFILTER = 12
_SUBSYSTEM = 10
_DUMP = 0x301  # NLM_F_REQUEST | NLM_F_ROOT | NLM_F_MATCH
_DONE, _ERROR = 3, 2
_TIMEOUT_S = 5
_TABLE, _CHAIN, _RULE, _SET = 1, 4, 7, 10  # NFT_MSG_GETTABLE and so on
_FAMILIES = {1: "inet", 2: "ip", 3: "arp", 5: "netdev", 7: "bridge", 10: "ip6"}
# Attribute numbers of names and handles, per kind of object.
_KINDS = {
    "table": (_TABLE, (1,), 4),
    "chain": (_CHAIN, (1, 3), 2),
    "rule": (_RULE, (1, 2), 3),
    "set": (_SET, (1, 2), 16),
}


def objects() -> Iterator[str]:
    """Yield every table, chain, rule and set by family, names and handle; nothing where the kernel has none.

    Raises:
        ListingError: the kernel does not answer, or lost part of its answer.
    """
    for kind, (message, names, handle) in _KINDS.items():
        for family, attributes in _dump(message):
            named = [attributes[name].rstrip(b"\0").decode() for name in names if name in attributes]
            number = int.from_bytes(attributes.get(handle, b""), "big")
            yield f"nft {kind} {_FAMILIES.get(family, family)} {' '.join(named)} handle {number}"


def _dump(message: int) -> Iterator[tuple[int, dict[int, bytes]]]:
    body = struct.pack("=BBH", 0, 0, 0)
    header = struct.pack("=IHHII", 16 + len(body), _SUBSYSTEM << 8 | message, _DUMP, 1, 0)
    try:
        netlink = socket.socket(socket.AF_NETLINK, socket.SOCK_RAW, _NETLINK_NETFILTER)
    except OSError:  # the kernel has no netfilter
        return
    with netlink:
        netlink.settimeout(_TIMEOUT_S)
        netlink.send(header + body)
        while True:
            data = _received(netlink)
            while data:
                length, kind = struct.unpack_from("=IH", data)
                if kind in (_DONE, _ERROR):
                    return
                yield data[16], _attributes(data[20:length])
                data = data[(length + 3) & ~3 :]


def _received(netlink: socket.socket) -> bytes:
    try:
        data = netlink.recv(1 << 17)
    except OSError as error:  # a time-out among them
        why = error.strerror or f"nothing came for {_TIMEOUT_S} s"
        raise ListingError(
            f"The kernel's nftables objects could not be listed: {why}.", "Run the same command again."
        ) from error
    if not data:
        raise ListingError("The kernel broke off the list of its nftables objects.", "Run the same command again.")
    return data


def _attributes(data: bytes) -> dict[int, bytes]:
    found = {}
    while len(data) >= 4:
        length, kind = struct.unpack_from("=HH", data)
        found[kind & 0x3FFF] = data[4:length]
        data = data[(length + 3) & ~3 :]
    return found
