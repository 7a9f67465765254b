"""From a validated request to its answer: prompts to ids, lengths checked, sequences run, text pieced together."""

import asyncio
import zlib
from collections.abc import AsyncGenerator
from contextlib import aclosing
from dataclasses import dataclass

from rehearsal.engine.answers import Ids, Part, Usage
from rehearsal.engine.conversation import turns
from rehearsal.engine.driver import Delta, Engine, Watch
from rehearsal.engine.errors import ApiError, dead_engine, refused
from rehearsal.engine.output import TextOutput
from rehearsal.engine.protocol import Generation
from rehearsal.engine.request import Copies, FinishReason, Sampling
from rehearsal.engine.requests import ChatRequest, CompletionRequest
from rehearsal.engine.settings import Settings
from rehearsal.engine.tokenizer import VOCABULARY, Tokenizer


@dataclass(frozen=True)
class Piece:
    """A part of the output, the engine's own time of its newest token in seconds, and the sequence's length by then."""

    part: Part
    at_s: float
    made: int


class Run:
    """All sequences of one request: every prompt, `n` times each."""

    def __init__(
        self, request: Generation, prompts: list[list[int]], max_tokens: list[int], request_id: str, server: "Server"
    ) -> None:
        self.request = request
        self.ids = Ids(prompts, wanted=bool(request.return_token_ids))
        self.id = request_id
        self.usage = Usage(prompt=sum(len(prompt) for prompt in prompts))
        self._max_tokens = max_tokens
        self._server = server
        self._copies = request.n or 1
        self._families = [Copies(self._copies, self._copies) for _ in prompts]
        self._outputs = [
            TextOutput(
                server.tokenizer,
                request.stops,
                keep_stop=request.include_stop_str_in_output,
                min_tokens=request.min_tokens,
            )
            for _ in range(len(prompts) * self._copies)
        ]

    @property
    def choices(self) -> int:
        """How many sequences there are."""
        return len(self._outputs)

    def prompt_of(self, index: int) -> list[int]:
        """Return the prompt of a sequence."""
        return self.ids.prompts[index // self._copies]

    async def pieces(self) -> AsyncGenerator[Piece, None]:
        """Yield the output of all sequences as it comes.

        Raises:
            ApiError: The engine has died, or does not take a sequence.
        """
        if self.choices == 1:
            async with aclosing(self._sequence(0)) as pieces:
                async for piece in pieces:
                    yield piece
            return
        arrived: asyncio.Queue[Piece | Exception | None] = asyncio.Queue()

        async def pump(index: int) -> None:
            try:
                async with aclosing(self._sequence(index)) as pieces:
                    async for piece in pieces:
                        arrived.put_nowait(piece)
                arrived.put_nowait(None)
            except Exception as e:
                arrived.put_nowait(e)

        pumps = [asyncio.create_task(pump(index)) for index in range(self.choices)]
        try:
            ended = 0
            while ended < self.choices:
                came = await arrived.get()
                if isinstance(came, Exception):
                    raise came
                if came is None:
                    ended += 1
                else:
                    yield came
        finally:
            for task in pumps:
                task.cancel()
            await asyncio.gather(*pumps, return_exceptions=True)

    async def whole(self) -> list[Part]:
        """Run everything and return the finished sequences in order."""
        ends: dict[int, Part] = {}
        async with aclosing(self.pieces()) as pieces:
            async for piece in pieces:
                if piece.part.finish is not None:
                    ends[piece.part.index] = piece.part
        return [
            Part(index, output.text, output.tokens, ends[index].finish, ends[index].stop_reason)
            for index, output in enumerate(self._outputs)
        ]

    async def _sequence(self, index: int) -> AsyncGenerator[Piece, None]:
        engine, settings = self._server.engine, self._server.settings
        self._check(index)
        output = self._outputs[index]
        name = f"{self.id}-{index}"
        seed = zlib.crc32(f"{settings.seed}/{self.request.seed}/{index % self._copies}".encode())
        sampling = Sampling(
            max_tokens=self._max_tokens[index // self._copies],
            min_tokens=self.request.min_tokens,
            ignore_eos=self.request.ignore_eos,
            stop_token_ids=frozenset(self.request.stop_token_ids or ()),
            seed=seed,
            end_of_text=settings.profile.end_of_text,
        )
        first = True
        waiting: list[int] = []
        family = self._families[index // self._copies]
        generated = engine.generate(name, self.prompt_of(index), sampling, family, self._watch())
        async with aclosing(generated) as deltas:
            async for delta in deltas:
                if first and settings.show_cached and index == 0:
                    self._note_cached(engine.cached_tokens(name))
                waiting += delta.tokens
                if not first and delta.finish is None and len(waiting) < settings.stream_interval:
                    continue
                first = False
                yield self._piece(index, output, waiting, delta)
                waiting = []

    def _check(self, index: int) -> None:
        """Refuse what vLLM refuses when a sequence is on its way to the engine; others may run by then."""
        self.request.check_for_engine(self.id)
        prompt = self.prompt_of(index)
        if not prompt:
            raise ApiError("The decoder prompt cannot be empty")
        if max(prompt) >= VOCABULARY:
            raise ApiError(f"Token id {max(prompt)} is out of vocabulary")

    def _watch(self) -> Watch | None:
        """Return what finds a stop string as soon as the engine has its last token."""
        if not self.request.stops:
            return None
        text = TextOutput(self._server.tokenizer, self.request.stops, min_tokens=self.request.min_tokens)

        def reached(token: int) -> bool:
            text.add([token], final=False)
            return text.stopped_by is not None

        return reached

    def _note_cached(self, cached: int) -> None:
        """Keep what usage says of the prefix cache; what was put into it is told in chats only, as in vLLM."""
        self.usage.cached = cached
        if isinstance(self.request, ChatRequest):
            settings, prompt = self._server.settings, len(self.prompt_of(0))
            whole = prompt - prompt % settings.block_size if settings.prefix_caching else 0
            self.usage.created = max(0, whole - cached)

    def _piece(self, index: int, output: TextOutput, tokens: list[int], delta: Delta) -> Piece:
        before = len(output.tokens)
        text = output.add(tokens, final=delta.finish is not None, stop_token=delta.stop_reason is not None)
        new = output.tokens[before:]
        self.usage.completion += len(new)
        finish: FinishReason | None = delta.finish
        reason: int | str | None = delta.stop_reason
        if output.stopped_by is not None:
            finish, reason = FinishReason.STOP, output.stopped_by
        return Piece(Part(index, text, new, finish.value if finish else None, reason), delta.at_s, len(output.tokens))


@dataclass
class Server:
    """What answering needs: settings, tokenizer and engine."""

    settings: Settings
    tokenizer: Tokenizer
    engine: Engine

    def completion(self, request: CompletionRequest, request_id: str) -> Run:
        """Prepare a completion.

        Raises:
            ApiError: The request is refused.
        """
        self._check_alive()
        asked = request.prompts()
        prompts = [
            self.tokenizer.encode(prompt, special=request.add_special_tokens)
            if isinstance(prompt, str)
            else list(prompt)
            for prompt in asked
        ]
        texts = [isinstance(prompt, str) for prompt in asked]
        return self._run(request, prompts, texts, request.max_tokens, "max_tokens", request_id)

    def chat(self, request: ChatRequest, request_id: str) -> Run:
        """Prepare a chat answer.

        Raises:
            ApiError: The request is refused.
        """
        self._check_alive()
        conversation = turns(request.messages, self.settings.names[0])
        prompt = self.tokenizer.encode_chat(conversation, reply=request.add_generation_prompt)
        limit, field = request.max_tokens, "max_tokens"
        if request.max_completion_tokens is not None:
            limit, field = request.max_completion_tokens, "max_completion_tokens"
        return self._run(request, [prompt], [True], limit, field, request_id)

    def _check_alive(self) -> None:
        if self.engine.dead:
            raise dead_engine()

    def _run(
        self,
        request: Generation,
        prompts: list[list[int]],
        texts: list[bool],
        limit: int | None,
        field: str,
        request_id: str,
    ) -> Run:
        length = self.settings.limits.max_model_len
        asked = limit or 0
        if asked > length:
            message = (
                f"{field}={asked} cannot be greater than max_model_len={length}. Please request fewer output tokens."
            )
            raise refused(message, parameter=field, value=asked)
        for prompt, text in zip(prompts, texts, strict=True):
            _check_length(len(prompt), asked, length, text=text)
        allowed = [length - len(prompt) if limit is None else min(length - len(prompt), limit) for prompt in prompts]
        for most in allowed:
            request.check(most)
        return Run(request, prompts, allowed, request_id, self)


def _check_length(prompt: int, asked: int, length: int, *, text: bool) -> None:
    """Refuse a prompt that leaves no room for the output that was asked for, in vLLM's words."""
    room = length - asked
    if prompt <= room:
        return
    # vLLM's tokenizer stops at one token more than would fit, so of a text it only knows a lower bound.
    count = room + 1 if text else prompt
    least = "at least " if count == room + 1 else ""
    message = (
        f"This model's maximum context length is {length} tokens. However, you requested {asked} output tokens "
        f"and your prompt contains {least}{count} input tokens, for a total of {least}{count + asked} tokens. "
        "Please reduce the length of the input prompt or the number of requested output tokens."
    )
    raise refused(message, parameter="input_tokens", value=count)
