"""The Hugging Face Hub: which commit a model is at, and who may read it."""

import json
import os
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from cloud.web import Get
from experiment.errors import SplitbedError

_HUB = "https://huggingface.co"


class HubError(SplitbedError):
    """A model is not to be had from the Hub."""


@dataclass(frozen=True)
class HubModel:
    """A model at one moment.

    Attributes:
        revision: the commit that its main branch is at.
        gated: whether its files are given only to those who have accepted its licence.
    """

    revision: str
    gated: bool


def address(environment: Mapping[str, str] = os.environ) -> str:
    """Return the Hub's address; `HF_ENDPOINT` names a mirror, as for Hugging Face's own tools."""
    return environment.get("HF_ENDPOINT", _HUB).rstrip("/")


def token(environment: Mapping[str, str] = os.environ) -> str | None:
    """Return this machine's token, from where Hugging Face's own tools look for it; none if there is none."""
    if environment.get("HF_TOKEN"):
        return environment["HF_TOKEN"].strip()
    home = environment.get("HF_HOME", str(Path.home() / ".cache" / "huggingface"))
    path = Path(environment.get("HF_TOKEN_PATH", f"{home}/token"))
    return (path.read_text().strip() or None) if path.is_file() else None


def look_up(model: str, get: Get, hub: str, bearer: str | None = None) -> HubModel:
    """Return where a model's main branch is.

    Args:
        model: as `google/gemma-3-1b-it`.
        get: asks the network.
        hub: its address.
        bearer: a token, for what is private.

    Raises:
        HubError: there is no such model, or not for this token.
    """
    answer = get(f"{hub}/api/models/{model}/revision/main", _signed(bearer))
    if answer.status in (401, 403, 404):
        raise HubError(
            f"The Hub has no model {model}, or not for {'this token' if bearer else 'those who do not sign in'}.",
            "Check model.name; for a private model set HF_TOKEN.",
        )
    if answer.status != 200:
        raise HubError(f"The Hub answers {answer.status} for {model}.", "Run the same again later.")
    try:
        said: Any = json.loads(answer.body)
        return HubModel(said["sha"], bool(said.get("gated")))
    except (ValueError, KeyError, TypeError, AttributeError):
        raise HubError(f"The Hub's answer for {model} names no commit.", "Run the same again later.") from None


def readable(model: str, revision: str, get: Get, hub: str, bearer: str | None) -> str | None:
    """Return why the files of a model cannot be read, none if they can; asks for one small file.

    Args:
        model: as `google/gemma-3-1b-it`.
        revision: a commit or a branch.
        get: asks the network.
        hub: its address.
        bearer: the token to read it by; it is never part of what is returned.
    """
    status = get(f"{hub}/{model}/resolve/{revision}/config.json", _signed(bearer)).status
    match status:
        case 200:
            return None
        case 401 if bearer is None:
            return "it is given only to those who sign in"
        case 401:
            return "the Hub does not know this token"
        case 403:
            return "the owner of this token may not read it"
        case 404:
            return "there is no such revision with a config.json"
        case _:
            return f"the Hub answers {status}"


def _signed(bearer: str | None) -> dict[str, str]:
    return {"Authorization": f"Bearer {bearer}"} if bearer else {}
