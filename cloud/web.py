"""HTTPS questions to places that are not AWS."""

import asyncio
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Protocol

import aiohttp

from experiment.errors import SplitbedError

_TIMEOUT_S = 30
_LARGEST_BYTES = 4 * 2**20  # a manifest may have four MiB (OCI distribution specification)


@dataclass(frozen=True)
class Answer:
    """What came back; the names of headers are in lower case."""

    status: int
    headers: Mapping[str, str]
    body: bytes


class Get(Protocol):
    """Asks for a URL, following redirects; raises SplitbedError if there is no answer."""

    def __call__(self, url: str, headers: Mapping[str, str]) -> Answer:
        """Return the answer, whatever its status."""
        ...


def get(url: str, headers: Mapping[str, str]) -> Answer:
    """Ask over the network, by the proxy that the environment names; credentials do not follow to another host."""
    return asyncio.run(_get(url, headers))


async def _get(url: str, headers: Mapping[str, str]) -> Answer:
    limit = aiohttp.ClientTimeout(total=_TIMEOUT_S)
    host = url.split("/")[2]
    try:
        async with (
            aiohttp.ClientSession(trust_env=True, timeout=limit) as session,
            session.get(url, headers=headers) as said,
        ):
            body = await said.content.read(_LARGEST_BYTES)
            return Answer(said.status, {name.lower(): value for name, value in said.headers.items()}, body)
    except (aiohttp.ClientError, TimeoutError) as error:
        raise SplitbedError(
            f"{host} cannot be reached ({type(error).__name__}).", "Check the network and its proxy."
        ) from error
