"""A token of the hub's that a test plants, and who gets to see it."""

import base64

from tests.engine.engine_stack import EngineStack

TOKEN = "hf_" + "planted" * 5  # a test's, good for nothing
_SPELLINGS = (TOKEN, base64.b64encode(TOKEN.encode()).decode())  # a Secret's data are the second


def seen_in(text: str) -> bool:
    """Tell whether a text has the token, as it is or as a Secret has it."""
    return any(spelling in text for spelling in _SPELLINGS)


def keeps_to_itself(stack: EngineStack) -> None:
    """Assert that it is in nothing that was printed, written down or kept in the state, and on no command line."""
    written = [path for path in stack.root.rglob("*") if path.is_file()]
    assert any(path.suffix == ".json" for path in written)
    assert [path for path in written if seen_in(path.read_bytes().decode(errors="replace"))] == []
    assert any("rehearsal.languagehost" in argv for argv in stack.argvs.all), "command lines were seen"
    assert [argv for argv in stack.argvs.all if seen_in(argv)] == []
