"""The HTTP server: vLLM's routes, headers and streams over the simulated engine."""

import json
import logging
from functools import partial
from typing import Any, TypeVar

from aiohttp import web
from pydantic import TypeAdapter, ValidationError

from rehearsal.engine import VLLM_VERSION, answers
from rehearsal.engine.answers import compact, error_event, event
from rehearsal.engine.conversation import turns
from rehearsal.engine.errors import (
    UNREADABLE,
    ApiError,
    invalid,
    malformed_json,
    no_body,
    unexpected,
    unknown_model,
    wrong_media_type,
)
from rehearsal.engine.generation import Run, Server
from rehearsal.engine.listener import arrival
from rehearsal.engine.middleware import Middleware, as_json
from rehearsal.engine.observations import Observations
from rehearsal.engine.requests import (
    ChatRequest,
    CompletionRequest,
    DetokenizeRequest,
    TokenizeChatRequest,
    TokenizeRequest,
)
from rehearsal.engine.shapes import ChatShape, CompletionShape, Shape
from rehearsal.engine.stamps import Stamps

log = logging.getLogger("vllm")

Read = TypeVar("Read", CompletionRequest, ChatRequest, TokenizeRequest, DetokenizeRequest)

COMPLETION: TypeAdapter[CompletionRequest] = TypeAdapter(CompletionRequest)
CHAT: TypeAdapter[ChatRequest] = TypeAdapter(ChatRequest)
TOKENIZE: TypeAdapter[TokenizeRequest] = TypeAdapter(TokenizeRequest)
DETOKENIZE: TypeAdapter[DetokenizeRequest] = TypeAdapter(DetokenizeRequest)

JSON_TYPE = "application/json"
METRICS_TYPE = "text/plain; version=0.0.4; charset=utf-8"
MAX_BODY = 64 * 1024 * 1024


async def _expected(request: web.Request) -> None:
    """Let the client go on if it waits for that; any other expectation is passed over, as uvicorn does."""
    if request.headers.get("Expect", "").lower() == "100-continue":
        await request.writer.write(b"HTTP/1.1 100 Continue\r\n\r\n")
        request.writer.output_size = 0  # so far nothing of the answer is out


async def _json(request: web.Request) -> Any:
    """Return the body as far as its media type is one of JSON, which is not yet the one that is wanted, or None.

    Raises:
        ApiError: It is no JSON.
        web.HTTPBadRequest: It cannot be read at all.
    """
    try:
        text = await request.read()
        major, _, minor = request.content_type.partition("/")
        if not text or major != "application" or not (minor == "json" or minor.endswith("+json")):
            return None
        return json.loads(text)
    except json.JSONDecodeError as e:
        raise malformed_json(e) from None
    except (ValueError, RecursionError):
        raise web.HTTPBadRequest(reason=UNREADABLE) from None


class Api:
    """The routes of one server."""

    def __init__(self, server: Server, observations: Observations, stamps: Stamps) -> None:
        self.server = server
        self.settings = server.settings
        self.observations = observations
        self.stamps = stamps

    def application(self) -> web.Application:
        """Return the application to run."""
        around = Middleware(self.settings, self.observations)
        app = web.Application(client_max_size=MAX_BODY, middlewares=[around.guard, around.count])
        app.on_response_prepare.append(around.headers)
        get = app.router.add_get
        post = partial(app.router.add_post, expect_handler=_expected)
        get("/health", self.health, allow_head=False)
        get("/ping", self.health, allow_head=False)
        post("/ping", self.health)
        get("/version", self.version, allow_head=False)
        get("/load", self.load, allow_head=False)
        get("/v1/models", self.models, allow_head=False)
        get("/metrics", self.metrics, allow_head=False)
        get("/splitbed/standin", self.standin, allow_head=False)
        post("/v1/completions", self.completions)
        post("/v1/chat/completions", self.chat)
        post("/tokenize", self.tokenize)
        post("/detokenize", self.detokenize)
        return app

    async def _read(self, request: web.Request, model: TypeAdapter[Read]) -> Read:
        value = await _json(request)
        if request.headers.get("Content-Type", "").lower().partition(";")[0] != JSON_TYPE:
            raise wrong_media_type()
        if value is None:
            raise no_body()
        try:
            body = model.validate_python(value, from_attributes=True)
        except ValidationError as e:
            raise invalid(e) from None
        if body.model and body.model not in self.settings.names:
            raise unknown_model(body.model)
        return body

    async def health(self, _request: web.Request) -> web.Response:
        """Answer 200 as long as the engine has not noticed that it is dead."""
        return web.Response(status=503 if self.server.engine.dead else 200)

    async def version(self, _request: web.Request) -> web.Response:
        """Name the version that is stood in for."""
        return as_json({"version": VLLM_VERSION})

    async def load(self, _request: web.Request) -> web.Response:
        """Answer as a server that does not track its load."""
        return as_json({"server_load": 0})

    async def models(self, _request: web.Request) -> web.Response:
        """List the served names."""
        settings = self.settings
        return as_json(answers.model_list(settings.names, settings.model, settings.limits.max_model_len))

    async def metrics(self, _request: web.Request) -> web.Response:
        """Return a scrape."""
        body = self.observations.text().encode()
        return web.Response(body=body, headers={"Content-Type": METRICS_TYPE})

    async def standin(self, _request: web.Request) -> web.Response:
        """Say that this is a stand-in, and with which parameters; real vLLM has no such path."""
        settings = self.settings
        parameters = settings.profile.model_dump(mode="json", exclude={"name"})
        return as_json(
            {
                "profile": settings.profile.name,
                "parameters": parameters,
                "seed": settings.seed,
                "stages": settings.stages,
                "tensor": settings.tensor,
            }
        )

    async def tokenize(self, request: web.Request) -> web.Response:
        """Return the ids of a prompt or a conversation."""
        body = await self._read(request, TOKENIZE)
        tokenizer = self.server.tokenizer
        if isinstance(body, TokenizeChatRequest):
            conversation = turns(body.messages, self.settings.names[0])
            ids = tokenizer.encode_chat(conversation, reply=body.add_generation_prompt)
        else:
            ids = tokenizer.encode(body.prompt, special=body.add_special_tokens)
        return as_json(
            {
                "count": len(ids),
                "max_model_len": self.settings.limits.max_model_len,
                "tokens": ids,
                "token_strs": [tokenizer.piece(number) for number in ids] if body.return_token_strs else None,
            }
        )

    async def detokenize(self, request: web.Request) -> web.Response:
        """Return the text of ids."""
        body = await self._read(request, DETOKENIZE)
        return as_json({"prompt": self.server.tokenizer.decode(body.tokens)})

    async def completions(self, request: web.Request) -> web.StreamResponse:
        """Complete one or more prompts."""
        body = await self._read(request, COMPLETION)
        run = self.server.completion(body, f"cmpl-{request.headers.get('X-Request-Id', body.request_id)}")
        return await self._answer(request, run, CompletionShape(self.server, run))

    async def chat(self, request: web.Request) -> web.StreamResponse:
        """Answer a conversation."""
        body = await self._read(request, CHAT)
        run = self.server.chat(body, f"chatcmpl-{request.headers.get('X-Request-Id', body.request_id)}")
        return await self._answer(request, run, ChatShape(self.server, run))

    async def _answer(self, request: web.Request, run: Run, shape: Shape) -> web.StreamResponse:
        self.stamps.note("read", run.id, size=request.content_length or 0, arrived_ns=arrival(request))
        try:
            if run.request.stream:
                return await self._stream(request, run, shape)
            body = compact(shape.body(await run.whole()))
            self.stamps.note("write", run.id, size=len(body), tokens=run.usage.completion)
            return web.Response(body=body, content_type="application/json")
        finally:
            self.stamps.note("end", run.id)

    async def _stream(self, request: web.Request, run: Run, shape: Shape) -> web.StreamResponse:
        response = web.StreamResponse(headers={"Content-Type": "text/event-stream; charset=utf-8"})
        response.enable_chunked_encoding()
        await response.prepare(request)
        self.stamps.note("headers", run.id)

        async def write(data: bytes, tokens: int = 0, engine_s: float | None = None) -> None:
            self.stamps.note("write", run.id, len(data), tokens, engine_s)
            await response.write(data)

        try:
            begun = False
            async for piece in run.pieces():
                if not begun:
                    for opening in shape.opening():
                        await write(event(opening))
                    begun = True
                await write(event(shape.chunk(piece)), len(piece.part.tokens), piece.at_s)
            if shape.include_usage:
                await write(event(shape.answer.usage_chunk(shape.kind, run.usage)))
        except ApiError as e:
            await write(error_event(e.body()))
        except ConnectionResetError:
            return response  # the client is gone; nobody is left to tell
        except Exception as e:
            log.error("%s: %s", type(e).__name__, e)
            await write(error_event(unexpected(e).body()))
        await write(answers.DONE)
        await response.write_eof()
        return response
