"""A simple deterministic tokenizer.

A token is a run of up to six letters, a run of up to three digits, or one other character, each with the space before
it if there is one; a run of further white space is a token too. Its id is a hash of its text, above the special ids.
So `"one two three"` is three tokens everywhere, and texts that are joined at a space tokenize as their parts do. Ids
are turned back to text as far as this process has seen them; an unseen id is shown as a made-up word.
"""

import re
import zlib
from collections.abc import Iterable, Sequence

from rehearsal.engine.conversation import Turn
from rehearsal.engine.errors import ApiError

VOCABULARY = 262_144
END_OF_TEXT = 1
BEGIN_OF_TEXT = 2
TURN_START = 105
TURN_END = 106
FIRST_WORD = 256
_SPECIAL = {
    END_OF_TEXT: "<eos>",
    BEGIN_OF_TEXT: "<bos>",
    TURN_START: "<start_of_turn>",
    TURN_END: "<end_of_turn>",
}
_PIECE = re.compile(r" ?[^\W\d_]{1,6}| ?\d{1,3}| ?[^\s\w]| ?_|\s+")
_SYLLABLES = tuple(c + v for c in "bdfgklmnprstvz" for v in "aeiou")
_REMEMBERED = 65_536


class Tokenizer:
    """Turns text to ids and back; remembers the text of ids it has seen."""

    def __init__(self) -> None:
        self._texts: dict[int, str] = {}

    def encode(self, text: str, *, special: bool = True) -> list[int]:
        """Return the ids of `text`, after one that begins it if `special`.

        Raises:
            ApiError: Half of a character is in it; the words are those of the library that real vLLM asks.
        """
        if is_broken(text):
            raise ApiError("TextEncodeInput must be Union[TextInputSequence, Tuple[InputSequence, InputSequence]]")
        ids = [BEGIN_OF_TEXT] if special else []
        for piece in _PIECE.findall(text):
            number = FIRST_WORD + zlib.crc32(piece.encode()) % (VOCABULARY - FIRST_WORD)
            if len(self._texts) < _REMEMBERED:
                self._texts.setdefault(number, piece)
            ids.append(number)
        return ids

    def encode_chat(self, turns: Iterable[Turn], *, reply: bool = True) -> list[int]:
        """Return the ids of a conversation in Gemma's turns, open for a reply if `reply`.

        Raises:
            ApiError: Half of a character is in it.
        """
        ids = [BEGIN_OF_TEXT]
        for turn in turns:
            role = "model" if turn.role == "assistant" else turn.role
            ids += [TURN_START, *self.encode(f"{role}\n{turn.text}", special=False), TURN_END]
        return [*ids, TURN_START, *self.encode("model\n", special=False)] if reply else ids

    def piece(self, number: int) -> str:
        """Return the text of one id; a special one shows its name."""
        return _SPECIAL.get(number) or self._texts.get(number) or word(number)

    def decode(self, ids: Sequence[int]) -> str:
        """Return the text of `ids` without special ones and those beyond the vocabulary.

        Raises:
            ApiError: One is beyond 32 bits; the words are those of the library that real vLLM asks.
        """
        if max(ids, default=0) >= 2**32:
            raise ApiError("number too large to fit in target type")
        return "".join(self.piece(number) for number in ids if number not in _SPECIAL and number < VOCABULARY)


def is_broken(text: str) -> bool:
    """Return whether half of a character, as JSON can write it, is in a text."""
    return any("\ud800" <= character <= "\udfff" for character in text)


def word(number: int) -> str:
    """Return a made-up word of one token, with the space before it."""
    first, second = divmod(number % len(_SYLLABLES) ** 2, len(_SYLLABLES))
    return f" {_SYLLABLES[first]}{_SYLLABLES[second]}"
