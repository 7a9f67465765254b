"""Text of somebody else's, made fit for a terminal: a server must not be able to write what it likes there."""

import unicodedata


def printable(text: str) -> str:
    """Return the text with everything but line ends and tabs that a terminal would obey written out as an escape."""
    return "".join(
        character if character in "\n\t" or unicodedata.category(character)[0] != "C" else _written(character)
        for character in text.replace("\r\n", "\n")
    )


def _written(character: str) -> str:
    return character.encode("unicode_escape").decode("ascii")
