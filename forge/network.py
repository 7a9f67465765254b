"""Requests over the network, by the proxy that the environment names."""

import asyncio
from collections.abc import Mapping

import aiohttp

from forge.github import Answer, ForgeError

_TIMEOUT_S = 30


def send(method: str, url: str, headers: Mapping[str, str], body: bytes | None) -> Answer:
    """Send one request; see `forge.github.Send`."""
    return asyncio.run(_send(method, url, headers, body))


async def _send(method: str, url: str, headers: Mapping[str, str], body: bytes | None) -> Answer:
    limit = aiohttp.ClientTimeout(total=_TIMEOUT_S)
    try:
        # A redirect is not followed: it would carry the token along.
        async with (
            aiohttp.ClientSession(trust_env=True, timeout=limit) as session,
            session.request(method, url, headers=headers, data=body, allow_redirects=False) as said,
        ):
            found = {name.lower(): value for name, value in said.headers.items()}
            return Answer(said.status, found, await said.read())
    except (aiohttp.ClientError, TimeoutError) as error:
        host = url.split("/")[2]
        raise ForgeError(
            f"{host} cannot be reached ({type(error).__name__}).", "Check the network and its proxy."
        ) from None
