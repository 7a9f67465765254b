"""Which addresses of a VPC go to which subnet."""

import ipaddress
from collections.abc import Sequence
from dataclasses import dataclass

# Of the network's last part, the smallest subnet that AWS has: a gateway to the internet takes one address of it.
_PUBLIC_PREFIX = 28


@dataclass(frozen=True, kw_only=True)
class Division:
    """A VPC's range, divided; the parts do not overlap.

    Attributes:
        private: range of the private subnet of each zone, in the zones' order; all are of one size.
        public: range of the one public subnet, which holds nothing but a gateway.
    """

    private: tuple[str, ...]
    public: str


def divide(cidr: str, zones: Sequence[str]) -> Division:
    """Divide a VPC's range into a private subnet for each zone and a small public one.

    The range is cut into as few equal parts as there must be (a power of two, one more than zones); the public subnet
    is the last sixteen addresses of all.

    Raises:
        ValueError: the parts would be smaller than AWS's smallest subnet, or there is no zone.
    """
    network = ipaddress.IPv4Network(cidr)
    if not zones:
        raise ValueError("no zone")
    prefix = network.prefixlen + len(zones).bit_length()
    if prefix > _PUBLIC_PREFIX:
        raise ValueError(f"{cidr} is too small for {len(zones)} zones")
    parts = list(network.subnets(new_prefix=prefix))
    *_, public = parts[-1].subnets(new_prefix=_PUBLIC_PREFIX)
    return Division(private=tuple(str(part) for part in parts[: len(zones)]), public=str(public))


_LEAST_PREFIX = 8


def is_nearly_the_world(cidr: str) -> bool:
    """Return whether a range, of IPv4 or IPv6, is so large that it keeps nobody out.

    Raises:
        ValueError: it is no range.
    """
    return ipaddress.ip_network(cidr, strict=False).prefixlen < _LEAST_PREFIX
