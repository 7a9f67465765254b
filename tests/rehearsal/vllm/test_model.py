import json
import re
from pathlib import Path
from typing import Any

import pytest
from rich.console import Console

from rehearsal.engine.tokenizer import _PIECE, Tokenizer
from rehearsal.progress import ConsoleProgress
from rehearsal.vllm import model
from rehearsal.vllm.model import ensure_model

pytestmark = pytest.mark.thorough


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return ensure_model(tmp_path_factory.mktemp("home"), ConsoleProgress(Console(quiet=True)))


def test_it_is_made_once(made: Path, recorder: Any) -> None:
    before = (made / "config.json").stat().st_mtime_ns
    assert ensure_model(made.parents[2], recorder) == made
    assert (made / "config.json").stat().st_mtime_ns == before
    assert recorder.text == ""


def test_every_id_has_one_text(made: Path) -> None:
    vocabulary = json.loads((made / "tokenizer.json").read_text())["model"]["vocab"]
    config = json.loads((made / "config.json").read_text())
    assert sorted(vocabulary.values()) == list(range(config["vocab_size"]))


def test_special_tokens_have_the_stand_ins_numbers(made: Path) -> None:
    vocabulary = json.loads((made / "tokenizer.json").read_text())["model"]["vocab"]
    standin = Tokenizer()
    for number in (1, 2, 105, 106):
        assert vocabulary[standin.piece(number)] == number


def test_text_is_cut_as_the_stand_in_cuts_it(made: Path) -> None:
    pattern = json.loads((made / "tokenizer.json").read_text())["pre_tokenizer"]["pattern"]["Regex"]
    assert pattern == _PIECE.pattern


def test_every_ordinary_text_is_one_piece(made: Path) -> None:
    vocabulary = json.loads((made / "tokenizer.json").read_text())["model"]["vocab"]
    piece = re.compile(model._PIECE)
    whole = [text for text in vocabulary if piece.fullmatch(text) is None]
    assert set(whole) == set(model._SPECIAL.values())
