"""A tiny Gemma 3 that real vLLM serves with random weights, and a tokenizer of its own.

Layers, KV heads and vocabulary are those of the 1B, so that the KV cache's arithmetic is its own; everything else is
as small as it goes, so that a step is overhead and little else. There are no weights: vLLM makes them up, always the
same (`--load-format dummy`). The tokenizer cuts text exactly as the stand-in's does, one token for each piece, so that
both engines count the same tokens in the same text; its vocabulary is made up.
"""

import hashlib
import json
import shutil
import tempfile
from collections.abc import Iterator, Mapping
from itertools import islice, product
from pathlib import Path

from rehearsal.locks import locked
from rehearsal.progress import Progress
from rehearsal.vllm.environment import writing

NAME = "gemma-3-1b-tiny"
VOCABULARY = 262_144
LAYERS = 26
MAX_LENGTH = 32_768

_SPECIAL = {0: "<pad>", 1: "<eos>", 2: "<bos>", 3: "<unk>", 105: "<start_of_turn>", 106: "<end_of_turn>"}
_PIECE = r" ?[^\W\d_]{1,6}| ?\d{1,3}| ?[^\s\w]| ?_|\s+"
_WORDS = ("user", "model", "system", "tool", "you", "are", "brief", "hello", "name", "one", "two", "three")
_SYLLABLES = tuple(c + v for c in "bdfgklmnprstvz" for v in "aeiou")
_TEMPLATE = (
    "{{ bos_token }}{% for message in messages %}"
    "<start_of_turn>{{ 'model' if message['role'] == 'assistant' else message['role'] }}\n"
    "{{ message['content'] if message['content'] is string else message['content'] | map(attribute='text') | join }}"
    "<end_of_turn>{% endfor %}{% if add_generation_prompt %}<start_of_turn>model\n{% endif %}"
)


def ensure_model(home: Path, progress: Progress) -> Path:
    """Return the model's directory, written in a second if it is not there.

    Raises:
        VllmError: the system refused to write it.
    """
    files = _files()
    digest = hashlib.sha256(json.dumps(files, sort_keys=True).encode()).hexdigest()[:12]
    directory = home / "models"
    target = directory / digest / NAME
    with locked(home / "locks" / "models", progress.note):
        if target.is_dir():
            return target
        with writing("The tiny model", directory):
            _write(files, target, directory)
    progress.note(f"tiny Gemma 3 of random weights: {target}")
    return target


def _write(files: Mapping[str, object], target: Path, directory: Path) -> None:
    directory.mkdir(parents=True, exist_ok=True)
    for abandoned in directory.glob(".making-*"):
        shutil.rmtree(abandoned)
    with tempfile.TemporaryDirectory(prefix=".making-", dir=directory, ignore_cleanup_errors=True) as workplace:
        made = Path(workplace) / target.parent.name / NAME
        made.mkdir(parents=True)
        for name, content in files.items():
            (made / name).write_text(json.dumps(content, indent=1, ensure_ascii=False))
        shutil.rmtree(target.parent, ignore_errors=True)
        made.parent.rename(target.parent)


def _files() -> dict[str, object]:
    return {
        "config.json": _config(),
        "generation_config.json": {"bos_token_id": 2, "eos_token_id": [1, 106], "pad_token_id": 0},
        "tokenizer.json": _tokenizer(),
        "tokenizer_config.json": {
            "tokenizer_class": "PreTrainedTokenizerFast",
            "bos_token": "<bos>",
            "eos_token": "<eos>",
            "pad_token": "<pad>",
            "unk_token": "<unk>",
            "clean_up_tokenization_spaces": False,
            "model_max_length": MAX_LENGTH,
            "chat_template": _TEMPLATE,
        },
    }


def _config() -> dict[str, object]:
    kinds = ["full_attention" if (layer + 1) % 6 == 0 else "sliding_attention" for layer in range(LAYERS)]
    return {
        "architectures": ["Gemma3ForCausalLM"],
        "model_type": "gemma3_text",
        "vocab_size": VOCABULARY,
        "hidden_size": 64,
        "intermediate_size": 128,
        "num_hidden_layers": LAYERS,
        "num_attention_heads": 4,
        "num_key_value_heads": 1,
        "head_dim": 256,
        "query_pre_attn_scalar": 256,
        "hidden_activation": "gelu_pytorch_tanh",
        "max_position_embeddings": MAX_LENGTH,
        "sliding_window": 512,
        "layer_types": kinds,
        "rope_parameters": {
            "full_attention": {"rope_type": "default", "rope_theta": 1_000_000.0},
            "sliding_attention": {"rope_type": "default", "rope_theta": 10_000.0},
        },
        "rms_norm_eps": 1e-6,
        "attention_bias": False,
        "attention_dropout": 0.0,
        "tie_word_embeddings": True,
        "bos_token_id": 2,
        "eos_token_id": [1, 106],
        "pad_token_id": 0,
        "torch_dtype": "bfloat16",
        "use_cache": True,
    }


def _pieces() -> Iterator[str]:
    """Yield the vocabulary's texts, without end for our purposes; some of them twice."""
    yield from ("\n", "\n\n", " ", "  ", "\t")
    for space in ("", " "):
        yield from (space + chr(code) for code in range(33, 127))
        yield from (f"{space}{number}" for number in range(1000))
        yield from (space + word for word in _WORDS)
    for length in (1, 2, 3):
        for syllables in product(_SYLLABLES, repeat=length):
            yield " " + "".join(syllables)


def _tokenizer() -> dict[str, object]:
    special = set(_SPECIAL.values())
    texts = (text for text in dict.fromkeys(_pieces()) if text not in special)
    ordinary = [number for number in range(VOCABULARY) if number not in _SPECIAL]
    vocabulary = {text: number for number, text in _SPECIAL.items()}
    vocabulary |= dict(zip(islice(texts, len(ordinary)), ordinary, strict=True))
    added = [
        {
            "id": number, "content": text, "single_word": False, "lstrip": False, "rstrip": False,
            "normalized": False, "special": True,
        }
        for number, text in _SPECIAL.items()
    ]  # fmt: skip
    return {
        "version": "1.0",
        "truncation": None,
        "padding": None,
        "added_tokens": added,
        "normalizer": None,
        "pre_tokenizer": {"type": "Split", "pattern": {"Regex": _PIECE}, "behavior": "Isolated", "invert": False},
        "post_processor": {
            "type": "TemplateProcessing",
            "single": [{"SpecialToken": {"id": "<bos>", "type_id": 0}}, {"Sequence": {"id": "A", "type_id": 0}}],
            "pair": [{"Sequence": {"id": "A", "type_id": 0}}, {"Sequence": {"id": "B", "type_id": 0}}],
            "special_tokens": {"<bos>": {"id": "<bos>", "ids": [2], "tokens": ["<bos>"]}},
        },
        "decoder": {"type": "Fuse"},
        "model": {"type": "WordLevel", "vocab": vocabulary, "unk_token": "<unk>"},
    }
