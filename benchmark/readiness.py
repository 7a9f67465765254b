"""Waiting until the server truly answers, and learning what it is.

`/health` alone proves nothing: a leader whose worker is gone keeps answering 200. A completion of one token
does.
"""

import asyncio
from collections.abc import Callable
from typing import Any

from benchmark.connection import Exchange
from benchmark.endpoint import ASK_TIMEOUT_S, Endpoint, json_object
from benchmark.prompt import PromptSource
from experiment.errors import SplitbedError
from experiment.record import Engine, Failure

POLL_S = 1.0
SAY_EVERY_S = 15.0
GATE_PROMPT_TOKENS = 8
GATE_TIMEOUT_S = 60.0
"""Enough for one token of the largest model on an idle CPU; a request of the plan may be allowed far longer."""


class NotReadyError(SplitbedError):
    """The server did not come to answer, or is not the one the plan means."""


class _NotYetError(Exception):
    """What was still missing at the last look."""


async def wait_ready(
    endpoint: Endpoint,
    model: str,
    ready_timeout_s: float,
    request_timeout_s: float,
    say: Callable[[str], None],
) -> Engine:
    """Look each second until the server serves `model` and completes a token; say at times what is missing.

    Raises:
        NotReadyError: not within `ready_timeout_s`, or it answers and will never serve this plan.
    """
    loop = asyncio.get_running_loop()
    begin_s = said_s = loop.time()
    look = _Look(endpoint, model, request_timeout_s)
    try:
        async with asyncio.timeout(ready_timeout_s):
            while True:
                try:
                    return await look.once()
                except (OSError, _NotYetError) as error:
                    look.missing = f"{look.step}: {error or type(error).__name__}"
                if loop.time() - said_s >= SAY_EVERY_S:
                    said_s = loop.time()
                    spent = f"{said_s - begin_s:.0f} of {ready_timeout_s:g} s"
                    say(f"waiting for {endpoint.url}, {spent}: {look.missing}")
                await asyncio.sleep(POLL_S)
    except TimeoutError:
        raise NotReadyError(
            f"{endpoint.url} was not ready within {ready_timeout_s:g} s; at the last look {look.missing}.",
            "Look at the engine's log, or give it more time with ready_timeout_s of the plan.",
        ) from None


async def gate(endpoint: Endpoint, model: str, request_timeout_s: float) -> Failure | None:
    """Complete one token on a new connection; return the failure, or nothing if it went well."""
    timeout_s = min(request_timeout_s, GATE_TIMEOUT_S)
    prompt = PromptSource("gate", GATE_PROMPT_TOKENS, 1).draw()
    try:
        connection = await endpoint.open(min(timeout_s, ASK_TIMEOUT_S))
    except OSError as error:
        return Failure(reason=f"no connection: {error or type(error).__name__}", status=None, stamps=None)
    try:
        answer = await endpoint.complete(connection, model, prompt, 1, timeout_s)
    finally:
        connection.abort()
    return answer if isinstance(answer, Failure) else None


class _Look:
    """One look after the other; `step` is what is being asked, `missing` what was not there."""

    def __init__(self, endpoint: Endpoint, model: str, request_timeout_s: float) -> None:
        self._endpoint = endpoint
        self._model = model
        self._request_timeout_s = request_timeout_s
        self.step = ""
        self.missing = "it had given no answer"

    async def once(self) -> Engine:
        self._answered(await self._ask("/health"))
        served = self._object(await self._ask("/v1/models")).get("data") or []
        names = [str(entry.get("id")) for entry in served if isinstance(entry, dict)]
        if self._model not in names:
            found = ", ".join(names) or "nothing"
            raise NotReadyError(
                f"{self._endpoint.url} serves {found}, the plan asks for {self._model}.",
                "Set the plan's model to the served name (--served-model-name of the engine).",
            )
        version = await self._ask("/version")
        number = None if version.status == 404 else self._object(version).get("version")
        standin = await self._ask("/splitbed/standin")
        # Only a clear "no such page" means a real engine: figures of a stand-in must never pass for real
        # ones.
        described = None if standin.status in (404, 405) else self._object(standin)
        await self._gate()
        return Engine(
            url=self._endpoint.url,
            model=self._model,
            version=None if number is None else str(number),
            simulated=described is not None,
            standin=described,
        )

    async def _gate(self) -> None:
        self.step = "a completion of one token"
        failure = await gate(self._endpoint, self._model, self._request_timeout_s)
        if failure is None:
            return
        if failure.status is not None and 400 <= failure.status < 500:
            raise NotReadyError(
                f"{self._endpoint.url} refuses a completion of one token: {failure.reason}.",
                "It must take a prompt of token ids, min_tokens and ignore_eos, as vLLM does.",
            )
        raise _NotYetError(failure.reason)

    async def _ask(self, path: str) -> Exchange:
        self.step = f"GET {path}"
        return await self._endpoint.ask(path)

    def _answered(self, exchange: Exchange) -> None:
        if exchange.error is not None or exchange.status != 200:
            raise _NotYetError(exchange.error or f"status {exchange.status}")

    def _object(self, exchange: Exchange) -> dict[str, Any]:
        self._answered(exchange)
        value = json_object(exchange)
        if value is None:
            raise _NotYetError("the answer is not a JSON object")
        return value
