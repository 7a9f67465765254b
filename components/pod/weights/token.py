"""The hub's token: from a variable that Kubernetes filled from a Secret, or from Secrets Manager."""

import json
import os
import re

from components.pod.weights import aws, web
from components.pod.weights.refusal import RefusedError

_TOKEN = re.compile(r"[\x21-\x7e]+")
_KEY = "token"


def given(arn: str | None) -> str | None:
    """Return the token, none if the pod was given none. It is never printed.

    Args:
        arn: of a secret in Secrets Manager; None for the variable HF_TOKEN.

    Raises:
        RefusedError: the secret cannot be read, or holds no token.
        UnreachableError: no answer.
    """
    if arn is None:
        token, where = os.environ.get("HF_TOKEN"), "The Secret's key token"
        if token is None:
            return None
    else:
        token, where = _of_secret(_asked(arn)), f"The secret {arn}"
    token = token.strip()
    if _TOKEN.fullmatch(token) is None:
        raise RefusedError(
            f"{where} holds no token of the hub, because it is empty or has blanks or line breaks in it: write the "
            "token alone into it"
        )
    return token


def _asked(arn: str) -> str:
    region = arn.split(":")[3]
    body = json.dumps({"SecretId": arn}).encode()
    url = f"{aws.endpoint('secretsmanager', region)}/"
    headers = {"Content-Type": "application/x-amz-json-1.1", "X-Amz-Target": "secretsmanager.GetSecretValue"}
    signed = aws.signed(
        aws.Rights().credentials(),
        "POST",
        url,
        region=region,
        service="secretsmanager",
        headers=headers,
        body=body,
    )
    try:
        with web.opened(url, {}, private=signed, body=body) as answer:
            return str(json.load(answer)["SecretString"])
    except web.AnswerError as error:
        raise RefusedError(
            f"The secret {arn} cannot be read, because Secrets Manager answers {error.status} ({_kind(error.body)}): "
            "check that it is there and, if it has a key of its own in KMS, that this pod's role may decrypt with it"
        ) from None
    except (ValueError, KeyError, TypeError):
        raise RefusedError(
            f"The secret {arn} holds no token of the hub, because it has no text: write the token into it as a string"
        ) from None


def _kind(body: bytes) -> str:
    """Return the name of an error of AWS's; not its text."""
    try:
        return str(json.loads(body)["__type"]).rpartition("#")[2][:80]
    except (ValueError, KeyError, TypeError):
        return "it does not say why"


def _of_secret(text: str) -> str:
    """Return the token of a secret that is one, or that is a JSON object with it under `token`."""
    try:
        told = json.loads(text)
    except ValueError:
        return text
    return str(told[_KEY]) if isinstance(told, dict) and _KEY in told else text
