"""What this machine needs: programs, and the key of the stack's secrets."""

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any
from urllib.parse import parse_qs, urlsplit

from cloud.account import Account
from cloud.preflight.check import Check

Output = Callable[[Sequence[str]], str | None]
"""Returns what a program printed, none if it is not there or failed."""

_PROGRAMS = {
    "pulumi": (["pulumi", "version"], "Install Pulumi."),
    "aws": (["aws", "--version"], "Install the AWS CLI, version 2: Kubernetes is signed in to by it."),
}
_CLI_1 = re.compile(r"aws-cli/1\.")


def programs(output: Output) -> Iterator[Check]:
    """Check that the programs which `up` starts are there."""
    for name, (command, remedy) in _PROGRAMS.items():
        said = output(command)
        old = said is not None and bool(_CLI_1.search(said))
        yield Check(
            name,
            ok=said is not None and not old,
            said="not on PATH, or it does not run" if said is None else said.strip().splitlines()[0],
            remedy=remedy,
        )


def secrets(account: Account, document: Mapping[str, Any], environment: Mapping[str, str]) -> Iterator[Check]:
    """Check that the key by which the stack's secrets are encrypted is at hand; it is not used, and never shown.

    Args:
        account: for a key of AWS KMS.
        document: the stack file as Pulumi reads it.
        environment: variables of this process.
    """
    provider = str(document.get("secretsprovider", ""))
    if provider.startswith("awskms://"):
        yield _kms(account, provider)
        return
    if provider and not provider.startswith("passphrase"):
        yield Check("secrets", ok=True, said=f"kept by {provider.partition(':')[0]}, which was not asked")
        return
    if "encryptionsalt" not in document and not environment.get("PULUMI_BACKEND_URL", "").startswith(
        ("file:", "s3:", "azblob:", "gs:")
    ):
        yield Check(
            "secrets", ok=True, said="kept by Pulumi Cloud, or by the passphrase that `pulumi stack init` asks for"
        )
        return
    there = "PULUMI_CONFIG_PASSPHRASE" in environment or "PULUMI_CONFIG_PASSPHRASE_FILE" in environment
    yield Check(
        "secrets",
        ok=there,
        said="a passphrase is at hand" if there else "kept by a passphrase, and there is none in the environment",
        remedy="Set PULUMI_CONFIG_PASSPHRASE_FILE to the file that holds it.",
    )


def _kms(account: Account, provider: str) -> Check:
    parts = urlsplit(provider)
    key = f"{parts.netloc}{parts.path}"
    region = parse_qs(parts.query).get("region", [account.default_region or "us-east-1"])[0]
    state = account.ask("kms", region, "describe_key", KeyId=key)["KeyMetadata"]["KeyState"]
    return Check(
        "secrets",
        ok=state == "Enabled",
        said=f"the key {key} in {region} is {state.lower()}",
        remedy="Turn the key on, or change the stack's provider by `pulumi stack change-secrets-provider`.",
    )
