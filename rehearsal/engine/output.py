"""Turns a request's tokens to text, piece by piece, and finds the strings that end it."""

from collections.abc import Sequence
from dataclasses import dataclass, field

from rehearsal.engine.tokenizer import Tokenizer


@dataclass
class TextOutput:
    """The text of one sequence. What could still become a stop string is held back."""

    tokenizer: Tokenizer
    stops: list[str]
    keep_stop: bool = False
    min_tokens: int = 0
    text: str = ""
    tokens: list[int] = field(default_factory=list)
    stopped_by: str | None = None
    _shown: int = 0

    def add(self, tokens: Sequence[int], *, final: bool, stop_token: bool = False) -> str:
        """Take tokens in and return the text that may now be shown; look at `stopped_by` afterwards.

        The last one's text is not shown if it is a `stop_token`, unless stop strings are kept too.
        """
        shown_tokens = tokens[:-1] if stop_token and not self.keep_stop else tokens
        for token in shown_tokens:
            self.tokens.append(token)
            before = len(self.text)
            self.text += self.tokenizer.decode([token])
            if self.stops and len(self.tokens) > self.min_tokens:
                self._look(before)
            if self.stopped_by is not None:
                final = True
                break
        else:
            self.tokens += tokens[len(shown_tokens) :]
        held = 0 if final or self.keep_stop else max((len(stop) - 1 for stop in self.stops), default=0)
        end = max(self._shown, len(self.text) - held)
        shown, self._shown = self.text[self._shown : end], end
        return shown

    def _look(self, before: int) -> None:
        found = []
        for order, stop in enumerate(self.stops):
            at = self.text.find(stop, max(0, before - len(stop) + 1))
            if at >= 0:
                found.append((order, at, stop))
        if found:
            _, at, stop = found[0]
            self.stopped_by = stop
            self.text = self.text[: at + len(stop) if self.keep_stop else at]
