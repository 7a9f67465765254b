"""Tokens of the served model to make prompts of, asked of the server itself."""

import json
from dataclasses import dataclass
from typing import Literal

from benchmark.connection import Exchange
from benchmark.endpoint import Endpoint, json_object

LEAST = 64
"""Fewer different tokens than that make no prompt whose nonce is its own."""
FIRST_TOKEN_ID, TOKEN_IDS = 1_000, 30_000
"""Ordinary words in every vocabulary we know of: above the special and byte tokens, below 32,000, the smallest size."""

TEXT = (
    "time year people way day man thing woman life child world school state family student group country problem hand "
    "part place case week company system program question work government number night point home water room mother "
    "area money story fact month lot right study book eye job word business issue side kind head house service friend "
    "father power hour game line end member law car city community name president team minute idea kid body "
    "information back parent face others level office door health person art war history party result change morning "
    "reason research girl guy moment air teacher force education foot boy age policy process music market sense nation "
    "plan college interest death experience effect use class control care field role effort rate heart drug show "
    "leader light voice wife police mind return price report decision son view relationship town road arm difference "
    "value building action season society tax director position player record paper space ground form event official "
    "matter center couple site project activity star table need court oil situation cost industry figure street image "
    "phone data picture practice piece land product doctor wall patient worker news test movie north love step"
)


@dataclass(frozen=True)
class Vocabulary:
    """Token ids of ordinary words, and whether the server named them or they are assumed."""

    ids: tuple[int, ...]
    source: Literal["tokenize", "assumed"]


ASSUMED = Vocabulary(tuple(range(FIRST_TOKEN_ID, FIRST_TOKEN_ID + TOKEN_IDS)), "assumed")


async def vocabulary(endpoint: Endpoint, model: str) -> Vocabulary:
    """Return the tokens of a text of ordinary words by `POST /tokenize`, or the assumed ones without such a page.

    Raises:
        OSError: no connection.
    """
    question = {"model": model, "prompt": TEXT, "add_special_tokens": False}
    found = _tokens(await endpoint.ask("/tokenize", json.dumps(question).encode()))
    ids = tuple(sorted(set(found)))
    return Vocabulary(ids, "tokenize") if len(ids) >= LEAST else ASSUMED


def _tokens(exchange: Exchange) -> list[int]:
    answer = json_object(exchange) if exchange.error is None and exchange.status == 200 else None
    tokens = (answer or {}).get("tokens")
    if not isinstance(tokens, list) or not all(isinstance(token, int) and token >= 0 for token in tokens):
        return []
    return tokens
