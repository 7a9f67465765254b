"""How an answer's parts look on the wire: chat and completions, streamed and plain."""

from dataclasses import replace
from typing import Any

from rehearsal.engine import answers
from rehearsal.engine.answers import Answer, Part, Usage
from rehearsal.engine.generation import Piece, Run, Server


class Shape:
    """How the parts of one kind of answer look."""

    kind = ""

    def __init__(self, server: Server, run: Run) -> None:
        settings = server.settings
        self.run = run
        self.answer = Answer(run.id, settings.names[0], settings.fingerprint)
        self.role = settings.response_role
        self.include_usage = run.request.include_usage or settings.force_usage
        self.continuous = run.request.continuous_usage or settings.force_usage

    def opening(self) -> list[dict[str, Any]]:
        """Return the chunks that come before the first output."""
        raise NotImplementedError

    def chunk(self, piece: Piece) -> dict[str, Any]:
        """Return the chunk of a piece of output."""
        raise NotImplementedError

    def body(self, parts: list[Part]) -> dict[str, Any]:
        """Return the plain answer."""
        raise NotImplementedError

    def _finished(self, chunk: dict[str, Any], piece: Piece) -> dict[str, Any]:
        """Add what a chunk carries at the end of a sequence, and usage if every chunk has it."""
        part = piece.part
        if self.continuous:
            chunk["usage"] = self._so_far(Usage(len(self.run.prompt_of(part.index)), piece.made))
        if part.finish is not None and not self.include_usage and self.answer.fingerprint is not None:
            chunk["system_fingerprint"] = self.answer.fingerprint
        return chunk

    def _so_far(self, usage: Usage) -> dict[str, Any]:
        """Return the counts as they come in each chunk."""
        return usage.short()

    def _ids(self, piece: Piece) -> list[int] | None:
        return list(piece.part.tokens) if self.run.ids.wanted else None


class ChatShape(Shape):
    """A chat: a chunk with the role comes first."""

    kind = answers.CHAT_CHUNK

    def opening(self) -> list[dict[str, Any]]:
        """Return the chunks that come before the first output."""
        ids = self.run.ids
        chunks = []
        for index in range(self.run.choices):
            chunk = answers.chat_first(self.answer, index, self.role, ids.prompts[0] if ids.wanted else None)
            if self.continuous:
                # Among its fields vLLM has usage before what it adds to the first chunk.
                tail = {key: chunk.pop(key) for key in ("prompt_token_ids", "prompt_text")}
                chunk |= {"usage": self._so_far(Usage(self.run.usage.prompt)), **tail}
            chunks.append(chunk)
        return chunks

    def _so_far(self, usage: Usage) -> dict[str, Any]:
        """Return the counts as they come in each chunk; only here vLLM has the empty details."""
        return {**usage.short(), "completion_tokens_details": None}

    def chunk(self, piece: Piece) -> dict[str, Any]:
        """Return the chunk of a piece of output."""
        return self._finished(answers.chat_chunk(self.answer, piece.part, self._ids(piece)), piece)

    def body(self, parts: list[Part]) -> dict[str, Any]:
        """Return the plain answer."""
        return answers.chat_body(self.answer, parts, self.role, self.run.usage, self.run.ids)


class CompletionShape(Shape):
    """A completion: the prompt is repeated before the output if that was asked for."""

    kind = answers.COMPLETION

    def __init__(self, server: Server, run: Run) -> None:
        super().__init__(server, run)
        self._echoed: set[int] = set()
        self._tokenizer = server.tokenizer

    def opening(self) -> list[dict[str, Any]]:
        """Return the chunks that come before the first output."""
        return []

    def _echoing(self, part: Part) -> Part:
        """Return the part with the prompt before it if that was asked for: as ids if ids are wanted, else as text."""
        if not self.run.request.echo:
            return part
        prompt = self.run.prompt_of(part.index)
        if self.run.ids.wanted:
            return replace(part, tokens=[*prompt, *part.tokens])
        return replace(part, text=self._tokenizer.decode(prompt) + part.text)

    def chunk(self, piece: Piece) -> dict[str, Any]:
        """Return the chunk of a piece of output."""
        index = piece.part.index
        first = index not in self._echoed
        self._echoed.add(index)
        prompt = None
        if first:
            piece = replace(piece, part=self._echoing(piece.part))
            prompt = self.run.prompt_of(index) if self.run.ids.wanted or self.run.request.echo else None
        return self._finished(answers.completion_chunk(self.answer, piece.part, prompt, self._ids(piece)), piece)

    def body(self, parts: list[Part]) -> dict[str, Any]:
        """Return the plain answer."""
        shown = [self._echoing(part) for part in parts]
        return answers.completion_body(self.answer, shown, self.run.usage, self.run.ids)
